"""Addresses of the log-in by scanning; below /wechat/ stand callbacks that have no session."""

from __future__ import annotations

from django.urls import path

from wechat import provider

urlpatterns = [
    path("", provider.begin, name="wecom_login"),
    path("callback/", provider.callback, name="wecom_callback"),
]

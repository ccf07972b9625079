"""Addresses of the log-in: by name only those of allauth that the house has; signing up has none."""

from __future__ import annotations

from allauth.account.views import reauthenticate
from django.contrib import admin
from django.urls import include, path

from projects.login import oidc, page

urlpatterns = [
    path("admin/login/", page.LogInPage.as_view(), name="account_login"),
    path("admin/logout/", admin.site.logout, name="account_logout"),
    path("account/confirm/", reauthenticate, name="account_reauthenticate"),
    path("account/second/", include("allauth.mfa.urls")),
    path("account/link/<str:token>/", page.by_link, name="account_link"),
    path("account/oidc/", oidc.begin, name="oidc_login"),
    path("account/oidc/callback/", oidc.callback, name="oidc_callback"),
]

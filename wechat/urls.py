"""Routes below `wechat/`; WeCom may have been given the address with or without the slash."""

from django.urls import path

from wechat.callback import callback

urlpatterns = [path("callback/", callback), path("callback", callback)]

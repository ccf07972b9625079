"""Routes below `wechat/`; WeCom may have been given the address with or without the slash."""

from django.urls import path

from wechat.aibot.callback import bot_callback as aibot
from wechat.inbound.callback import callback
from wechat.outbound import answers

CALLBACKS = {"callback/": callback, "callback": callback, "aibot/": aibot, "aibot": aibot}

urlpatterns = [
    *(path(route, view) for route, view in CALLBACKS.items()),
    path("answers/<uuid:pk>/", answers.page, name="wechat-answer"),
    path("answers/<uuid:pk>/xlsx/", answers.file, name="wechat-answer-file"),
]

"""Routes below `wechat/`; WeCom may have been given the address with or without the slash."""

from django.urls import path

from wechat import answers
from wechat.aibot.callback import callback as aibot
from wechat.callback import callback

urlpatterns = [
    path("callback/", callback),
    path("callback", callback),
    path("aibot/", aibot),
    path("aibot", aibot),
    path("answers/<uuid:pk>/", answers.page, name="wechat-answer"),
]

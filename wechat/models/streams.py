"""Answers of the smart bot."""

from __future__ import annotations

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedTextField
from projects.models import Project
from wechat.models.inbox import InboxMessage


class Stream(models.Model):
    """The answer of the smart bot to one message, fetched by WeCom until it is finished (wecom.md 5).

    `stream_id` is also the id of its feedback, set in the first answer, so a vote finds its conversation
    whenever it comes. `expired_at`: WeCom was told that no more follows here, so the answer goes by
    `response_url`. `delivered_at`: the finished answer was fetched, or handed to the outbox.

    Over the long connection `req_id` names the request that is answered, and `opened_at` says that WeCom took
    the first answer (only that one sets the id of the feedback).
    """

    stream_id = models.CharField(max_length=64, unique=True)
    inbox = models.OneToOneField(InboxMessage, models.CASCADE, related_name="stream")
    content = EncryptedTextField(blank=True)
    response_url = EncryptedTextField(blank=True)
    req_id = models.CharField(max_length=128, blank=True)
    opened_at = models.DateTimeField(null=True)
    conversation_id = models.UUIDField(null=True)
    project = models.ForeignKey(Project, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=now)
    finished_at = models.DateTimeField(null=True)
    expired_at = models.DateTimeField(null=True)
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "iit_wechat_streams"
        verbose_name = _("answer of the smart bot")
        verbose_name_plural = _("answers of the smart bot")
        indexes = [
            models.Index(
                fields=["finished_at"],
                name="iit_stream_unfetched",
                condition=models.Q(delivered_at__isnull=True),
            )
        ]

    def __str__(self) -> str:
        return self.stream_id

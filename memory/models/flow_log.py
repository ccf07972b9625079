"""The flow log (seed 002, 3.3): raw conversation that the LLM never reads."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models.functions import Now
from django.utils.timezone import localtime, now
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedTextField, RandomUuid
from projects.models import Project
from projects.scoping import BlindingRule, OwnQuerySet


class ConversationQuerySet(OwnQuerySet["ConversationHistory"]):
    """Conversations of people; of who is or was unblinded, the unblinded see them alone."""

    blinding_rule = BlindingRule(made="created_at", person="user_id")


class ConversationHistory(models.Model):
    """One message of a conversation.

    `intent` is the first intent; `entities` = {intents, record_ids, visits, fields} (design.md 3).
    Only `memory.log.flow_log` reads this table; on PostgreSQL it is partitioned by month, and nothing points
    at it.
    """

    class Role(models.TextChoices):
        USER = "user", _("User")
        ASSISTANT = "assistant", _("Assistant")

    class Feedback(models.TextChoices):
        UP = "thumbs_up", _("Helpful")
        DOWN = "thumbs_down", _("Not helpful")

    class Reason(models.TextChoices):
        TOO_LONG = "too_long", _("Too long")
        INACCURATE = "inaccurate", _("Inaccurate")
        UNCLEAR = "unclear", _("Unclear")

    id = models.UUIDField(
        primary_key=True, default=uuid.uuid4, db_default=RandomUuid(), editable=False
    )
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    user_id = models.CharField(_("user"), max_length=150)
    record_id = models.CharField(_("subject"), max_length=100, null=True, blank=True)
    role = models.CharField(_("role"), max_length=16, choices=Role.choices)
    content = EncryptedTextField(_("content"))
    intent = models.CharField(_("intent"), max_length=32, null=True, blank=True)
    entities = models.JSONField(_("entities"), null=True, blank=True)
    feedback = models.CharField(
        _("feedback"), max_length=16, null=True, blank=True, choices=Feedback.choices
    )
    feedback_reason = models.CharField(
        _("feedback reason"), max_length=16, null=True, blank=True, choices=Reason.choices
    )
    created_at = models.DateTimeField(_("time"), default=now, db_default=Now())

    objects = ConversationQuerySet.as_manager()

    class Meta:
        db_table = "iit_conversation_history"
        ordering = ["-created_at"]
        verbose_name = _("conversation message")
        verbose_name_plural = _("conversations")
        indexes = [
            models.Index(fields=["project", "user_id"], name="iit_conv_user"),
            models.Index(fields=["project", "record_id"], name="iit_conv_record"),
            models.Index(fields=["created_at"], name="iit_conv_time"),
            # The list as it is read, by study and by person: a far page is found in the index alone.
            models.Index(fields=["project", "-created_at", "-id"], name="iit_conv_newest"),
            models.Index(fields=["project", "user_id", "-created_at", "-id"], name="iit_conv_own"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {localtime(self.created_at):%Y-%m-%d %H:%M}"

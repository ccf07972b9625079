"""Traces of the assistant's reasoning (seed 002, 5.1) and the tokens it used."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Value
from django.db.models.functions import Now
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedJSONField, EncryptedTextField, RandomUuid
from core.language.values import PLACEHOLDER
from projects.models import Project
from projects.scoping import BlindingRule, OwnQuerySet

OPEN = "open"
"""The thought of a trace's items that name words which were not understood."""


class TraceQuerySet(OwnQuerySet["AgentTrace"]):
    """Traces of people; of who is or was unblinded, the unblinded see them alone."""

    blinding_rule = BlindingRule(made="created_at", person="user_id")


class Complaint(models.TextChoices):
    """What its reader found wrong with an answer."""

    DOWN = "thumbs_down", _("👎")
    TOO_LONG = "too_long", _("Too long")
    INACCURATE = "inaccurate", _("Inaccurate")
    UNCLEAR = "unclear", _("Unclear")


class AgentTrace(models.Model):
    """How an answer came about: for the console only, de-identified, also for failures (decisions.md).

    `model`: the one that answered last; `models_asked` [{purpose, provider, model}]: all, in order.
    """

    id = models.UUIDField(
        primary_key=True, default=uuid.uuid4, db_default=RandomUuid(), editable=False
    )
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="traces", verbose_name=_("project")
    )
    user_id = models.CharField(_("user"), max_length=150)
    query = EncryptedTextField(_("question, de-identified"))
    intent_type = models.CharField(_("intent"), max_length=32, null=True, blank=True)
    trace = EncryptedJSONField(_("trace"))
    token_usage = models.PositiveIntegerField(_("tokens"), null=True, blank=True)
    duration = models.PositiveIntegerField(_("duration (ms)"), null=True, blank=True)
    success = models.BooleanField(_("success"))
    created_at = models.DateTimeField(_("time"), auto_now_add=True, db_default=Now())

    prompt_version = models.CharField(
        _("prompt version"), max_length=255, blank=True, default="", db_default=""
    )
    model = models.CharField(_("model"), max_length=100, blank=True, default="", db_default="")
    models_asked = models.JSONField(
        _("models asked"), default=list, db_default=Value([], models.JSONField()), blank=True
    )
    left_out = models.JSONField(
        _("left out of the prompt"),
        default=list,
        db_default=Value([], models.JSONField()),
        blank=True,
    )
    replaced = models.JSONField(
        _("replaced by the privacy gate"),
        default=list,
        db_default=Value([], models.JSONField()),
        blank=True,
    )

    is_open = models.BooleanField(
        _("not understood"),
        default=False,
        db_default=False,
        help_text=_("Asked back, or about something that the study does not collect."),
    )

    # The answer's row in the flow log, which no reader of traces opens; null for what had none.
    answer_id = models.UUIDField(null=True, blank=True, editable=False, db_index=True)
    complaint = models.CharField(
        _("what was wrong"), max_length=16, choices=Complaint, blank=True, default="", db_default=""
    )

    objects = TraceQuerySet.as_manager()

    class Meta:
        db_table = "iit_agent_trace"
        ordering = ["-created_at"]
        verbose_name = _("trace")
        verbose_name_plural = _("traces")
        indexes = [
            models.Index(fields=["project", "created_at"], name="iit_trace_time"),
            models.Index(fields=["user_id"], name="iit_trace_user"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {localtime(self.created_at):%Y-%m-%d %H:%M}"


class OpenQuestion(AgentTrace):
    """A question without an answer, or with one that was found wrong: for those who teach the house words.

    (design.md 5a.1)
    """

    class Meta:
        proxy = True
        ordering = ["-created_at"]
        verbose_name = _("unanswered question")
        verbose_name_plural = _("unanswered questions")

    @property
    def words(self) -> list[str]:
        """The words that were not understood; those that name nobody."""
        told = [
            str(item.get("observation", "")) for item in self.trace if item.get("thought") == OPEN
        ]
        return [word for word in told if word and not PLACEHOLDER.search(word)]

"""Traces of the assistant's reasoning (seed 002, 5.1) and the tokens it used."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from projects.access import OwnQuerySet
from projects.models import Project


class AgentTrace(models.Model):
    """How an answer came about: for the console only, de-identified, also for failures (decisions.md)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="traces", verbose_name=_("project")
    )
    user_id = models.CharField(_("user"), max_length=150)
    query = models.TextField(_("question, de-identified"))
    intent_type = models.CharField(_("intent"), max_length=32, null=True, blank=True)
    trace = models.JSONField(_("trace"))
    token_usage = models.PositiveIntegerField(_("tokens"), null=True, blank=True)
    duration = models.PositiveIntegerField(_("duration (ms)"), null=True, blank=True)
    success = models.BooleanField(_("success"))
    created_at = models.DateTimeField(_("time"), auto_now_add=True)

    prompt_version = models.CharField(_("prompt version"), max_length=64, blank=True)
    model = models.CharField(_("model"), max_length=100, blank=True)
    left_out = models.JSONField(_("left out of the prompt"), default=list, blank=True)
    replaced = models.JSONField(_("replaced by the privacy gate"), default=list, blank=True)

    objects = OwnQuerySet.as_manager()

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


class LlmUsage(models.Model):
    """Tokens of one LLM call: the daily caps are counted here.

    `replaced` [{kind, digest}]: what the gate took out of a job's request; of a chat message the trace has it.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    user_id = models.CharField(_("user"), max_length=150, blank=True)
    purpose = models.CharField(_("purpose"), max_length=32)
    model = models.CharField(_("model"), max_length=100)
    prompt_version = models.CharField(_("prompt version"), max_length=64, blank=True)
    input_tokens = models.PositiveIntegerField(_("tokens in"), default=0)
    output_tokens = models.PositiveIntegerField(_("tokens out"), default=0)
    duration = models.PositiveIntegerField(_("duration (ms)"), default=0)
    ok = models.BooleanField(_("success"), default=True)
    replaced = models.JSONField(_("replaced by the privacy gate"), default=list, blank=True)
    at = models.DateTimeField(_("time"), auto_now_add=True)

    class Meta:
        db_table = "iit_llm_usage"
        ordering = ["-at"]
        verbose_name = _("LLM usage")
        verbose_name_plural = _("LLM usage")
        indexes = [models.Index(fields=["project", "at"], name="iit_usage_time")]

    def __str__(self) -> str:
        return f"{self.model} {localtime(self.at):%Y-%m-%d %H:%M}"

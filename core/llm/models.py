"""What was asked of models, call by call."""

from __future__ import annotations

from django.db import models
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from projects.models import Project


class LlmUsage(models.Model):
    """Tokens of one LLM call: the daily caps are counted here.

    `purpose`: what the call was for; `model_purpose`: which of the study's models was asked
    (projects.endpoints.Purpose), `provider`: by which preset.
    `replaced` [{kind, digest}]: what the gate took out of a job's request; of a chat message the trace has it.
    """

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    user_id = models.CharField(_("user"), max_length=150, blank=True)
    purpose = models.CharField(_("purpose"), max_length=32)
    model_purpose = models.CharField(_("model for"), max_length=16, blank=True)
    provider = models.CharField(_("provider"), max_length=32, blank=True)
    model = models.CharField(_("model"), max_length=100)
    prompt_version = models.CharField(_("prompt version"), max_length=255, blank=True)
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


class LlmCheck(models.Model):
    """What `manage.py llm_check` found of one of a study's models, the newest alone.

    `endpoint`: address and model that were asked; the finding holds for no other. `mode`: the structured mode
    that works best, "" where none does. `found`: ability → how many of ten; `prompts`: the versions asked with.
    """

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    model_purpose = models.CharField(_("model for"), max_length=16)
    endpoint = models.CharField(_("endpoint"), max_length=400)
    mode = models.CharField(_("structured mode"), max_length=16, blank=True)
    found = models.JSONField(_("of ten probes"), default=dict, blank=True)
    prompts = models.CharField(_("prompt version"), max_length=255, blank=True)
    at = models.DateTimeField(_("time"), auto_now=True)

    class Meta:
        db_table = "iit_llm_check"
        ordering = ["project", "model_purpose"]
        verbose_name = _("check of the endpoint")
        verbose_name_plural = _("checks of the endpoints")
        constraints = [
            models.UniqueConstraint(fields=["project", "model_purpose"], name="iit_llm_check_once"),
        ]

    def __str__(self) -> str:
        return f"{self.model_purpose} {localtime(self.at):%Y-%m-%d %H:%M}"

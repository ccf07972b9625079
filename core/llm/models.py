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


class ModelAcceptance(models.Model):
    """One run of the frozen set of questions on the demo study by a study's models, and who signed for it.

    `endpoints`: ability → preset, address and model as asked; `prompts`: the versions asked with;
    `fingerprint`: of both, the acceptance holds for no other. `cases`: question, verdict and replies of each,
    about the demo study alone. `least`: the share that must pass, `most_wrong`: replies that may be wrong.
    `digest`: SHA-256 of all that, as the audit trail has it. Nothing but the signature is written later.
    """

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    fingerprint = models.CharField(_("fingerprint"), max_length=64)
    endpoints = models.JSONField(_("endpoint"), default=dict)
    prompts = models.CharField(_("prompt version"), max_length=255)
    cases = models.JSONField(_("cases"), default=list)
    total = models.PositiveIntegerField(_("cases in all"))
    passed = models.PositiveIntegerField(_("passed three times"))
    wrong = models.PositiveIntegerField(_("wrong replies"))
    least = models.FloatField(_("share that must pass"))
    most_wrong = models.PositiveIntegerField(_("wrong replies allowed"), default=0)
    started_at = models.DateTimeField(_("started"))
    ended_at = models.DateTimeField(_("ended"))
    by = models.CharField(_("run by"), max_length=150)
    digest = models.CharField(_("SHA-256 of the content"), max_length=64)
    signed_by = models.CharField(_("signed by"), max_length=150, blank=True)
    signed_at = models.DateTimeField(_("signed at"), null=True, blank=True)

    class Meta:
        db_table = "iit_model_acceptance"
        ordering = ["-ended_at", "-pk"]
        verbose_name = _("model acceptance")
        verbose_name_plural = _("model acceptances")
        indexes = [models.Index(fields=["project", "-ended_at"], name="iit_acceptance_time")]

    def __str__(self) -> str:
        return f"{self.passed}/{self.total} {localtime(self.ended_at):%Y-%m-%d %H:%M}"

    @property
    def is_passed(self) -> bool:
        """Whether both bounds were kept."""
        share = self.passed / self.total if self.total else 0.0
        return share >= self.least and self.wrong <= self.most_wrong


class LlmCanary(models.Model):
    """The daily ten probes of a study's models, one row a day of the study's zone.

    `met`: how many of ten were right; empty where the models were away or the tokens of the day used up: that
    says nothing of them. `endpoint`: the fingerprint of the endpoints that were asked.
    """

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    day = models.DateField(_("day"))
    endpoint = models.CharField(_("fingerprint"), max_length=64)
    met = models.PositiveSmallIntegerField(_("of ten probes"), null=True, blank=True)
    at = models.DateTimeField(_("time"), auto_now=True)

    class Meta:
        db_table = "iit_llm_canary"
        ordering = ["-day"]
        verbose_name = _("daily check of the model")
        verbose_name_plural = _("daily checks of the models")
        constraints = [
            models.UniqueConstraint(fields=["project", "day"], name="iit_llm_canary_once"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {'-' if self.met is None else self.met}/10"

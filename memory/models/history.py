"""The history book (seed 002, 4.1): weekly reports, their versions and what they were made of."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedJSONField, RandomUuid
from memory.models.versioned import Versioned
from projects.models import Project
from projects.scoping import BlindingRule, ScopedQuerySet


class ReportQuerySet(ScopedQuerySet["WeeklyReport"]):
    """Reports of a study; those of its time without blinding are for the unblinded."""

    blinding_rule = BlindingRule(made="created_at")


class WeeklyReport(Versioned):
    """What happened in a week of the study; week 1 starts on the study's start date (decisions.md).

    Beyond the documented columns: `version`; `counted_at` is set when every figure could be read,
    `narrated_at` when the week's conversations were distilled (only then the flow log's retention begins),
    `log_purged_at` when they were deleted; `tried_at` spreads the retries.
    """

    id = models.UUIDField(
        primary_key=True, default=uuid.uuid4, db_default=RandomUuid(), editable=False
    )
    project = models.ForeignKey(
        Project,
        models.CASCADE,
        related_name="weekly_reports",
        db_index=False,  # the documented index is in Meta
        verbose_name=_("project"),
    )
    week_number = models.PositiveIntegerField(_("week"))
    week_start = models.DateTimeField(_("from"))
    week_end = models.DateTimeField(_("to"))
    summary = models.TextField(_("report"))
    metrics = models.JSONField(_("figures"), null=True, blank=True)
    created_by = models.CharField(_("author"), max_length=150)

    counted_at = models.DateTimeField(_("figures counted"), null=True, blank=True)
    narrated_at = models.DateTimeField(_("conversations summarised"), null=True, blank=True)
    log_purged_at = models.DateTimeField(_("conversations deleted"), null=True, blank=True)
    tried_at = models.DateTimeField(null=True, blank=True)

    objects = ReportQuerySet.as_manager()

    class Meta:
        db_table = "iit_weekly_reports"
        ordering = ["project", "-week_number"]
        verbose_name = _("weekly report")
        verbose_name_plural = _("weekly reports")
        constraints = [models.UniqueConstraint("project", "week_number", name="iit_week_once")]
        indexes = [models.Index(fields=["project"], name="iit_week_project")]

    def __str__(self) -> str:
        return f"W{self.week_number}"


class WeeklyReportVersion(models.Model):
    """What a report said, who wrote it and when; the report itself holds the current text only.

    `composed` is a machine's text as a whole and what later edits are compared with. Where a person had
    changed sections, it is `proposed` only and `merged` is what was kept of both.
    """

    class Kind(models.TextChoices):
        COMPOSED = "composed", _("Composed")
        PROPOSED = "proposed", _("Proposed")
        MERGED = "merged", _("Merged")
        EDITED = "edited", _("Edited")

    report = models.ForeignKey(WeeklyReport, models.CASCADE, related_name="versions")
    version = models.PositiveIntegerField(_("version"))
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    content = models.TextField(_("report"), blank=True)
    author = models.CharField(_("author"), max_length=150)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        db_table = "iit_weekly_report_versions"
        ordering = ["report", "-version"]
        verbose_name = _("weekly report version")
        verbose_name_plural = _("weekly report versions")
        constraints = [models.UniqueConstraint("report", "version", name="iit_week_version_once")]

    def __str__(self) -> str:
        return f"v{self.version}"


class WeeklyNote(models.Model):
    """What one part of a week's conversations came to, so that a large week goes on where it stopped.

    `entries` = [{section, text, date, speaker, row}], each checked against the message it cites. The part
    ends with the message (`until_at`, `until_id`); the next one begins after it.
    """

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    week_number = models.PositiveIntegerField(_("week"))
    part = models.PositiveIntegerField(_("part"))
    rows = models.PositiveIntegerField(_("messages"))
    until_at = models.DateTimeField(_("until"))
    until_id = models.UUIDField()
    entries = EncryptedJSONField(_("entries"), default=list, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        db_table = "iit_weekly_notes"
        ordering = ["project", "-week_number", "part"]
        verbose_name = _("weekly note")
        verbose_name_plural = _("weekly notes")
        constraints = [
            models.UniqueConstraint("project", "week_number", "part", name="iit_week_part_once")
        ]

    def __str__(self) -> str:
        return f"W{self.week_number}/{self.part}"


class FeedbackTally(models.Model):
    """A user's 👍/👎 of answers whose flow-log rows were deleted: the profile's 反馈统计 goes on counting."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    user_id = models.CharField(_("user"), max_length=150)
    up = models.PositiveIntegerField("👍", default=0)
    down = models.PositiveIntegerField("👎", default=0)

    class Meta:
        db_table = "iit_feedback_tally"
        verbose_name = _("feedback count")
        verbose_name_plural = _("feedback counts")
        constraints = [models.UniqueConstraint("project", "user_id", name="iit_tally_once")]

    def __str__(self) -> str:
        return f"{self.user_id} 👍 {self.up} / 👎 {self.down}"

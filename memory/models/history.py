"""The history book (seed 002, 4.1): weekly reports."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.access import ScopedQuerySet
from projects.models import Project


class WeeklyReport(models.Model):
    """What happened in a week of the study; week 1 starts on the study's start date (decisions.md)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="weekly_reports", verbose_name=_("project")
    )
    week_number = models.PositiveIntegerField(_("week"))
    week_start = models.DateTimeField(_("from"))
    week_end = models.DateTimeField(_("to"))
    summary = models.TextField(_("report"))
    metrics = models.JSONField(_("figures"), null=True, blank=True)
    created_by = models.CharField(_("author"), max_length=150)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_weekly_reports"
        ordering = ["project", "-week_number"]
        verbose_name = _("weekly report")
        verbose_name_plural = _("weekly reports")
        constraints = [models.UniqueConstraint("project", "week_number", name="iit_week_once")]
        indexes = [models.Index(fields=["project"], name="iit_week_project")]

    def __str__(self) -> str:
        return f"W{self.week_number}"

"""Reminders of visits that ask for an answer."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from engines.models.runs import TaskRun
from projects.models import Member, Project


class VisitReminder(models.Model):
    """That a member was asked about a visit on a day, and what they answered (issue 17, Visits).

    One row a member, visit and day, so that a schedule that fires twice asks once. Not a row of WeCom's: the
    channel's card points here. `quiet_until`: the last day on which nobody is asked for this visit again;
    `is_again`: whether "tomorrow" was kept.
    """

    class Answer(models.TextChoices):
        DONE = "done", _("Done")
        RESCHEDULE = "reschedule", _("Asked to reschedule")
        TOMORROW = "tomorrow", _("Remind tomorrow")

    COLOURS: dict[str, Any] = {
        Answer.DONE: "success",
        Answer.RESCHEDULE: "warning",
        Answer.TOMORROW: "info",
    }

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    run = models.ForeignKey(TaskRun, models.CASCADE, related_name="+")
    member = models.ForeignKey(Member, models.CASCADE, related_name="+")
    record_id = models.CharField(_("subject"), max_length=100)
    visit = models.CharField(_("visit"), max_length=64)
    opens = models.DateField(_("window opens"))
    closes = models.DateField(_("window closes"))
    asked_on = models.DateField(_("asked"))
    answer = models.CharField(_("answer"), max_length=16, choices=Answer.choices, blank=True)
    answered_at = models.DateTimeField(_("answered"), null=True)
    quiet_until = models.DateField(null=True)
    is_again = models.BooleanField(default=False)

    class Meta:
        db_table = "iit_visit_reminders"
        ordering = ["pk"]
        verbose_name = _("visit reminder")
        verbose_name_plural = _("visit reminders")
        constraints = [
            models.UniqueConstraint(
                fields=["member", "record_id", "visit", "asked_on"], name="iit_visit_asked_once"
            )
        ]
        indexes = [models.Index(fields=["project", "record_id", "visit"], name="iit_visit_asked")]

    def __str__(self) -> str:
        return f"{self.record_id} {self.visit} {self.asked_on}"

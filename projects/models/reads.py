"""Reads of subject data on their way into the audit trail."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models.project import Project


class Read(models.Model):
    """That somebody was shown a subject's data once; kept until the hour is over (`projects.reads`).

    A row of its own and no counter: whoever reads waits for nobody, and a process that dies loses none.
    """

    project = models.ForeignKey(Project, models.CASCADE, db_index=False, related_name="+")
    record_id = models.CharField(_("subject"), max_length=100)
    actor = models.CharField(_("who"), max_length=150)
    login = models.CharField(_("through login"), max_length=150, blank=True)
    door = models.CharField(max_length=16)
    at = models.DateTimeField(_("time"), db_index=True)

    class Meta:
        db_table = "iit_reads"

    def __str__(self) -> str:
        return f"{self.actor} {self.record_id}"

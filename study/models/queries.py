"""Queries that people ask in REDCap itself (Data Resolution Workflow)."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedTextField
from projects.models import Project
from projects.scoping import BlindingRule, RecordQuerySet
from study.models.source import Subject


class RedcapQueryQuerySet(RecordQuerySet["RedcapQuery"]):
    """Queries are seen by those who see their subject; every query has one.

    What was read before the study was blinded is not masked: a blinded reader sees it once it was read again.
    """

    owner_path = "record_id"
    blinding_rule = BlindingRule(made="read_at", marked="unblinds")

    def waiting(self, at: datetime | None = None) -> Self:
        """Those that are open in REDCap (`at`: were so then), of subjects that it has, where they are read."""
        there = Subject.objects.filter(
            project=OuterRef("project_id"), record_id=OuterRef("record_id"), is_present=True
        )
        is_open = ~Q(state=RedcapQuery.State.CLOSED)
        if at is not None:
            is_open = (is_open | Q(closed_at__gte=at)) & Q(opened_at__lt=at)
        return self.filter(is_open, Exists(there), project__reads_queries=True)


class RedcapQuery(models.Model):
    """One data query of REDCap, as last read; nothing of it is ever written back.

    It exists so that nobody is asked twice: REDCap's core API has no queries, and what its external module told
    must outlast an outage. `event`, `instrument`, `instance`: as exported rows have them, "" where a row has
    none, so that a query and a finding about the same place can be told. `text`: the last comment without
    identifiers, "" where it could not be made safe. `closed_at`: when it was no longer among the open ones.
    """

    class State(models.TextChoices):
        OPEN = "open", _("Still open in REDCap")
        ANSWERED = "answered", _("Answered in REDCap")
        CLOSED = "closed", _("Closed in REDCap")

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False, verbose_name=_("project")
    )
    status_id = models.PositiveBigIntegerField(_("number in REDCap"))
    record_id = models.CharField(_("subject"), max_length=100)
    event = models.CharField(_("event"), max_length=100, blank=True)
    instrument = models.CharField(_("form"), max_length=100, blank=True)
    instance = models.CharField(_("instance"), max_length=16, blank=True)
    field = models.CharField(_("field"), max_length=100, blank=True)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.OPEN)
    text = EncryptedTextField(_("last comment"), blank=True)
    opened_by = models.CharField(_("asked by"), max_length=150, blank=True)
    assigned = models.CharField(_("assignee"), max_length=150, blank=True)
    opened_at = models.DateTimeField(_("asked"))
    last_at = models.DateTimeField(_("last comment at"))
    read_at = models.DateTimeField(_("read"))
    closed_at = models.DateTimeField(_("no longer open"), null=True)
    unblinds = models.BooleanField(default=False, editable=False)

    objects = RedcapQueryQuerySet.as_manager()

    class Meta:
        db_table = "iit_redcap_queries"
        ordering = ["opened_at", "pk"]
        verbose_name = _("query of REDCap")
        verbose_name_plural = _("queries of REDCap")
        constraints = [
            models.UniqueConstraint("project", "status_id", name="iit_redcap_query_once")
        ]
        indexes = [models.Index(fields=["project", "record_id"], name="iit_redcap_query_record")]

    def __str__(self) -> str:
        return f"{self.record_id} #{self.status_id}"

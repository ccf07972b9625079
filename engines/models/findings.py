"""Findings (seed 002, 3.2) and what later runs observed about them."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Value
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedTextField, RandomUuid
from engines.models.runs import Review, TaskRun
from projects.models import Project
from projects.scoping import BlindingRule, RecordQuerySet


class FindingQuerySet(RecordQuerySet["PendingAction"]):
    """Findings are seen by those who see their subject."""

    owner_path = "task_run__triggered_by"
    blinding_rule = BlindingRule(made="created_at", marked="unblinds")

    def unclosed(self, at: datetime | None = None) -> Self:
        """Those that wait for a person, now or at an earlier time: what a data change resolved does too.

        Nobody has to do anything about a subject that REDCap has no more.
        """
        there = self.exclude(state=PendingAction.State.GONE)
        if at is None:
            return there.filter(open_key__isnull=False)
        return there.filter(created_at__lt=at).exclude(resolved_at__lt=at)


class PendingAction(models.Model):
    """A finding that waits for a person.

    `open_key` is the hash of what the finding is about while it is open and NULL when it is closed: a plain
    UNIQUE then keeps one open finding per fact (`engines.sop.same_fact`), and where a rule tells no typed fact
    one per (project, skill, node, rule key, record, event, instrument, instance) (decisions.md, "findings
    doubled"). `fact` keeps that hash when the finding is closed. `witnesses` are the rules that say it holds,
    each [skill, node, rule key, event, instrument, instance]: it resolves when the last of them passes.
    One of a record that was deleted in REDCap keeps its key: it stands as it stood when the record comes back.
    `review` is the one whose approval closed it: a later run that sees the same on the same values does not
    open it again.
    """

    class Kind(models.TextChoices):
        VIOLATION = "violation", _("Violation")
        WARNING = "warning", _("Warning")
        REVIEW_REQUIRED = "review_required", _("Review required")

    class Severity(models.TextChoices):
        ERROR = "error", _("Error")
        WARNING = "warning", _("Warning")
        INFO = "info", _("Info")

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        CONFIRMED = "confirmed", _("Confirmed")
        QUERIED = "queried", _("Query sent")
        ANSWERED = "answered", _("Query answered")
        DATA_CHANGED = "data_changed", _("Resolved by data change, to be confirmed")
        GONE = "gone", _("Record deleted in REDCap")
        CLOSED = "closed", _("Closed")
        REJECTED = "rejected", _("Rejected as a false alarm")

    COLOURS = {
        State.OPEN: "danger",
        State.CONFIRMED: "danger",
        State.QUERIED: "info",
        State.ANSWERED: "warning",
        State.DATA_CHANGED: "warning",
        State.GONE: "",
        State.CLOSED: "success",
        State.REJECTED: "",
    }

    id = models.UUIDField(
        primary_key=True, default=uuid.uuid4, db_default=RandomUuid(), editable=False
    )
    project = models.ForeignKey(
        Project,
        models.CASCADE,
        related_name="findings",
        db_index=False,
        verbose_name=_("project"),
    )
    task_run = models.ForeignKey(
        TaskRun, models.CASCADE, related_name="findings", verbose_name=_("run")
    )
    record_id = models.CharField(_("subject"), max_length=100, null=True, blank=True)
    action_type = models.CharField(_("kind"), max_length=32, choices=Kind.choices)
    field = models.CharField(_("field"), max_length=100, null=True, blank=True)
    message = EncryptedTextField(_("message"))
    severity = models.CharField(_("severity"), max_length=16, choices=Severity.choices)
    resolved_by = models.CharField(_("resolved by"), max_length=150, null=True, blank=True)
    resolved_at = models.DateTimeField(_("resolved"), null=True, blank=True)
    resolution = EncryptedTextField(_("resolution"), null=True, blank=True)
    created_at = models.DateTimeField(_("found"), auto_now_add=True, db_default=Now())

    state = models.CharField(
        _("state"), max_length=16, choices=State.choices, default=State.OPEN, db_default=State.OPEN
    )
    assignee = models.CharField(
        _("assignee"), max_length=150, blank=True, default="", db_default=""
    )
    due_on = models.DateField(_("due date"), null=True, blank=True)
    open_key = models.CharField(max_length=64, null=True, unique=True)
    fact = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    witnesses = models.JSONField(
        default=list, db_default=Value([], models.JSONField()), editable=False
    )
    skill_type = models.CharField(_("skill"), max_length=100, db_default="")
    skill_version = models.PositiveIntegerField(_("skill version"), default=1, db_default=1)
    node = models.CharField(_("node"), max_length=100, db_default="")
    rule_key = models.CharField(_("rule"), max_length=100, db_default="")
    event = models.CharField(_("event"), max_length=100, blank=True, default="", db_default="")
    instrument = models.CharField(_("form"), max_length=100, blank=True, default="", db_default="")
    instance = models.CharField(_("instance"), max_length=16, blank=True, default="", db_default="")
    outcome = models.CharField(_("outcome"), max_length=16, blank=True, default="", db_default="")
    reason = models.CharField(_("reason"), max_length=32, blank=True, default="", db_default="")
    value = EncryptedTextField(_("value"), blank=True, default="", db_default="")
    detail = EncryptedTextField(_("detail"), blank=True, default="", db_default="")
    review = models.ForeignKey(
        Review,
        models.SET_NULL,
        related_name="+",
        null=True,
        blank=True,
        db_index=False,
        verbose_name=_("closed by review"),
    )

    unblinds = models.BooleanField(
        _("rests on a blinded field"), default=False, db_default=False, editable=False
    )

    objects = FindingQuerySet.as_manager()

    class Meta:
        db_table = "iit_pending_actions"
        ordering = ["-created_at"]
        verbose_name = _("finding")
        verbose_name_plural = _("findings")
        indexes = [
            models.Index(fields=["project", "action_type"], name="iit_finding_kind"),
            models.Index(fields=["record_id"], name="iit_finding_record"),
            models.Index(fields=["-created_at", "-id"], name="iit_finding_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.record_id or ''} {self.message}".strip()


class FindingEvent(models.Model):
    """What happened to a finding: observed again, resolved by data change, closed, reopened."""

    finding = models.ForeignKey(PendingAction, models.CASCADE, related_name="events")
    task_run = models.ForeignKey(TaskRun, models.SET_NULL, null=True, related_name="+")
    what = models.CharField(_("what"), max_length=32)
    by = models.CharField(_("by"), max_length=150)
    note = EncryptedTextField(_("note"), blank=True)
    at = models.DateTimeField(_("time"), auto_now_add=True)

    class Meta:
        db_table = "iit_finding_events"
        ordering = ["at", "pk"]
        verbose_name = _("finding event")
        verbose_name_plural = _("finding events")
        constraints = [
            models.UniqueConstraint("finding", "task_run", "what", name="iit_observed_once")
        ]

    def __str__(self) -> str:
        return f"{self.what} {self.by}"

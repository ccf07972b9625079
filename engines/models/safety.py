"""Clocks of serious events, and the register of protocol deviations."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedTextField
from engines.models.findings import PendingAction
from projects.models import Project
from projects.scoping import BlindingRule, RecordQuerySet


class _Marked(BlindingRule):
    """Only what rests on a blinded field can tell an arm, whenever the row was made: it is kept up to date."""

    def condition(self, since: datetime | models.F, project: Any) -> models.Q:
        return models.Q(**{self.marked: True})


class ClockQuerySet(RecordQuerySet["SafetyClock"]):
    """Clocks are seen by those who see their subject; every clock has one."""

    owner_path = "record_id"
    blinding_rule = _Marked(made="created_at", marked="unblinds")

    def running(self) -> ClockQuerySet:
        """Those whose report is still to be made, the first due first."""
        return self.filter(state=SafetyClock.State.RUNNING).order_by("due_at", "pk")


class SafetyClock(models.Model):
    """The time within which one serious event is to be reported to one recipient.

    It exists because REDCap tells when a report was made, never that one is late. One row an event's row
    in REDCap and recipient; worked out anew whenever the readings change, so nobody edits it.
    `first_read_at`: when the row was first read as serious; `started_from` says whether that or the entered
    date starts the clock.
    """

    class Recipient(models.TextChoices):
        PI = "pi", _("Principal investigator")
        SPONSOR = "sponsor", _("Sponsor")
        ETHICS = "ethics", _("Ethics committee")

    class State(models.TextChoices):
        RUNNING = "running", _("To be reported")
        REPORTED = "reported", _("Reported")
        WITHDRAWN = "withdrawn", _("No longer serious, in REDCap or asked for")

    class Source(models.TextChoices):
        KNOWN = "known", _("when it became known")
        READ = "read", _("when it was first read from REDCap")

    COLOURS = {State.RUNNING: "warning", State.REPORTED: "success", State.WITHDRAWN: ""}

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False, verbose_name=_("project")
    )
    record_id = models.CharField(_("subject"), max_length=100)
    event = models.CharField(_("event"), max_length=100, blank=True)
    instrument = models.CharField(_("form"), max_length=100, blank=True)
    instance = models.CharField(_("instance"), max_length=16, blank=True)
    recipient = models.CharField(_("report to"), max_length=16, choices=Recipient.choices)
    hours = models.PositiveIntegerField(_("hours allowed"))
    first_read_at = models.DateTimeField(_("first read"))
    started_at = models.DateTimeField(_("started"))
    started_from = models.CharField(_("counted from"), max_length=8, choices=Source.choices)
    due_at = models.DateTimeField(_("report due"))
    state = models.CharField(
        _("state"), max_length=16, choices=State.choices, default=State.RUNNING
    )
    reported_on = models.DateField(_("reported"), null=True)
    is_unreadable = models.BooleanField(_("report date unreadable"), default=False)
    unblinds = models.BooleanField(default=False, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ClockQuerySet.as_manager()

    class Meta:
        db_table = "iit_safety_clocks"
        ordering = ["due_at", "pk"]
        verbose_name = _("clock of a serious event")
        verbose_name_plural = _("clocks of serious events")
        constraints = [
            models.UniqueConstraint(
                fields=["project", "record_id", "event", "instrument", "instance", "recipient"],
                name="iit_safety_clock_once",
            )
        ]
        indexes = [models.Index(fields=["state", "due_at"], name="iit_safety_clock_due")]

    def __str__(self) -> str:
        return f"{self.record_id} {self.get_recipient_display()}"

    def is_overdue(self, at: datetime) -> bool:
        """Whether the report is still to be made and its time is over."""
        return self.state == self.State.RUNNING and self.due_at <= at


class ClockStage(models.Model):
    """That a clock came to a point of which people are told, and when they were; each once.

    It exists because the sweep that finds it knows no channel, and one that fires twice must tell once. A due
    time that is put off by newer data can come near and pass again; a clock that runs again has come to none.
    """

    class Stage(models.TextChoices):
        STARTED = "started", _("Started")
        SOON = "soon", _("Soon due")
        OVERDUE = "overdue", _("Report overdue")

    clock = models.ForeignKey(SafetyClock, models.CASCADE, related_name="stages")
    stage = models.CharField(max_length=16, choices=Stage.choices)
    due_at = models.DateTimeField()
    created_at = models.DateTimeField(default=now)
    told_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "iit_safety_clock_stages"
        ordering = ["pk"]
        verbose_name = _("stage of a clock")
        verbose_name_plural = _("stages of clocks")
        constraints = [
            models.UniqueConstraint(
                fields=["clock", "stage", "due_at"], name="iit_safety_stage_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["id"],
                name="iit_safety_stage_untold",
                condition=models.Q(told_at__isnull=True),
            )
        ]

    def __str__(self) -> str:
        return f"{self.stage} {self.due_at}"


class DeviationQuerySet(RecordQuerySet["Deviation"]):
    """Deviations are seen by those who see their subject and their finding."""

    owner_path = "finding__task_run__triggered_by"
    blinding_rule = BlindingRule(made="found_at", marked="unblinds")


class Deviation(models.Model):
    """A protocol deviation: proposed from a finding, confirmed with a grade or rejected by a person.

    It exists because a finding is about data and ends with them; a deviation has happened and is reported
    to the ethics committee. One row a finding. `text` is what the finding said when it was proposed.
    """

    class State(models.TextChoices):
        PROPOSED = "proposed", _("To be confirmed as a deviation")
        CONFIRMED = "confirmed", _("Confirmed as a deviation")
        REJECTED = "rejected", _("No deviation")

    class Grade(models.TextChoices):
        MAJOR = "major", _("Major")
        MINOR = "minor", _("Minor")

    class Source(models.TextChoices):
        WINDOW = "window", _("Visit window")
        RULE = "rule", _("Rule of the study")
        SAFETY = "safety", _("Late safety report")

    COLOURS = {State.PROPOSED: "warning", State.CONFIRMED: "danger", State.REJECTED: ""}
    GRADE_COLOURS = {Grade.MAJOR: "danger", Grade.MINOR: "info"}

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", db_index=False, verbose_name=_("project")
    )
    finding = models.OneToOneField(
        PendingAction, models.CASCADE, related_name="deviation", verbose_name=_("finding")
    )
    record_id = models.CharField(_("subject"), max_length=100, blank=True)
    source = models.CharField(_("source"), max_length=16, choices=Source.choices)
    text = EncryptedTextField(_("what happened"))
    found_at = models.DateTimeField(_("found"))
    state = models.CharField(
        _("state"), max_length=16, choices=State.choices, default=State.PROPOSED
    )
    grade = models.CharField(_("grade"), max_length=16, choices=Grade.choices, blank=True)
    reason = EncryptedTextField(_("reason"), blank=True)
    measure = EncryptedTextField(_("corrective action"), blank=True)
    decided_by = models.CharField(_("decided by"), max_length=150, blank=True)
    decided_at = models.DateTimeField(_("decided at"), null=True)
    unblinds = models.BooleanField(default=False, editable=False)
    created_at = models.DateTimeField(_("proposed"), auto_now_add=True)

    objects = DeviationQuerySet.as_manager()

    class Meta:
        db_table = "iit_deviations"
        ordering = ["-found_at", "pk"]
        verbose_name = _("protocol deviation")
        verbose_name_plural = _("protocol deviations")
        indexes = [models.Index(fields=["project", "state"], name="iit_deviation_state")]

    def __str__(self) -> str:
        return f"{self.record_id} {self.text}".strip()

    @property
    def mark(self) -> str:
        """What stands decided, told apart from any other decision: for who decides about what was shown."""
        return f"{self.state} {self.decided_at.isoformat()}" if self.decided_at else self.state

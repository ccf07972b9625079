"""What we keep of the study's data source: dictionary, subjects, sync state, visit plan."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedTextField
from projects.models.project import Project
from projects.scoping import ScopedQuerySet, SiteQuerySet


class Dictionary(models.Model):
    """The last data dictionary read from REDCap, so that labels and rules survive its outage.

    `answers`: what administrators said of dates that may identify somebody: field -> study.identity.Answer.
    They stand here because they decide how the dictionary is read, and are read with it.
    """

    project = models.OneToOneField(
        Project, models.CASCADE, primary_key=True, verbose_name=_("project")
    )
    content = models.JSONField(_("content"), default=dict)
    digest = models.CharField(_("digest"), max_length=64, blank=True)
    read_at = models.DateTimeField(_("read"), null=True, blank=True)
    answers = models.JSONField(_("answers about identifying fields"), default=dict, blank=True)

    class Meta:
        db_table = "iit_dictionaries"
        verbose_name = _("data dictionary")
        verbose_name_plural = _("data dictionaries")

    def __str__(self) -> str:
        return self.project.code


class Subject(models.Model):
    """Which record belongs to which site, and the identifiers that must not leave the house.

    `identifiers` is JSON {field: value} of the fields that the dictionary marks `identifier`; the
    privacy gate masks them wherever they occur and names are resolved to records with them.

    `site_waiting`: what REDCap says where many subjects would move at once; None where nothing waits
    (`study.roster`). `moved_at`: when the subject came to another site without being asked about.
    """

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="subjects", db_index=False, verbose_name=_("project")
    )
    record_id = models.CharField(_("subject"), max_length=100)
    site = models.CharField(_("site"), max_length=100, blank=True)
    identifiers = EncryptedTextField(_("identifiers"), default="{}")
    is_present = models.BooleanField(_("present in REDCap"), default=True)
    site_waiting = models.CharField(
        _("site that waits for confirmation"), max_length=100, null=True, blank=True
    )
    moved_at = models.DateTimeField(null=True, blank=True)
    synced_at = models.DateTimeField(_("read"))

    objects = SiteQuerySet.as_manager()

    class Meta:
        db_table = "iit_subjects"
        ordering = ["record_id"]
        verbose_name = _("subject")
        verbose_name_plural = _("subjects")
        constraints = [models.UniqueConstraint("project", "record_id", name="iit_subject_once")]
        indexes = [models.Index(fields=["project", "site"])]

    def __str__(self) -> str:
        return self.record_id


class SyncState(models.Model):
    """How far the readings of a study are, and why they are no further: an incomplete read never looks clean.

    `cursor` is the time of the last entry that was read of REDCap's log, as REDCap writes it; "" where it was
    never read. `is_incomplete` stands from the begin of a reading to its success. `lease_until`: one reading a
    study at a time. `drained_until`: the same for the subjects that REDCap's trigger named; `is_told`: a worker
    was woken for these, or the one at work looks again. `queries_at`: when REDCap's own queries were read last;
    `queries_cause`: why they were read no later.
    """

    class Cause(models.TextChoices):
        """Why the last reading failed."""

        SETUP = "setup", _("not set up")
        REFUSED = "refused", _("REDCap refuses the token (403)")
        SERVER = "server", _("REDCap answers with an error")
        TIMEOUT = "timeout", _("REDCap does not answer in time")
        NETWORK = "network", _("REDCap cannot be reached")
        UNREADABLE = "unreadable", _("the answer is not what REDCap promises")
        EMPTY = "empty", _("REDCap shows nothing where subjects are known")
        COLUMNS = "columns", _("REDCap does not show all fields")
        OTHER = "other", _("the token opens another REDCap project, which nobody has confirmed")

    project = models.OneToOneField(
        Project, models.CASCADE, primary_key=True, verbose_name=_("project")
    )
    roster_at = models.DateTimeField(_("roster read"), null=True, blank=True)
    polled_at = models.DateTimeField(_("changes read"), null=True, blank=True)
    swept_at = models.DateTimeField(_("full sweep"), null=True, blank=True)
    records = models.PositiveIntegerField(_("records"), default=0)
    cause = models.CharField(_("cause"), max_length=16, choices=Cause.choices, blank=True)
    error = models.TextField(_("last error"), blank=True)
    failed_at = models.DateTimeField(_("last failure"), null=True, blank=True)
    is_incomplete = models.BooleanField(_("incomplete"), default=False)
    cursor = models.CharField(_("log read until"), max_length=32, blank=True)
    design = models.CharField(_("dictionary of the sweep"), max_length=64, blank=True)
    queries_at = models.DateTimeField(_("queries read"), null=True, blank=True)
    queries_cause = models.CharField(
        _("why queries were not read"),
        max_length=16,
        choices=Cause.choices,
        blank=True,
        default="",
        db_default="",
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    drained_until = models.DateTimeField(null=True, blank=True)
    is_told = models.BooleanField(default=False, db_default=False)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_sync_state"
        verbose_name = _("sync state")
        verbose_name_plural = _("sync states")

    def __str__(self) -> str:
        return self.project.code

    @property
    def is_failing(self) -> bool:
        """Whether the last reading of REDCap did not bring everything."""
        return bool(self.cause)


class SetupTest(models.Model):
    """How the last test of a step of setting up ended, and of which settings (`settings`: their signature).

    Without it a wrong token would look as well as a right one: both are stored.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    step = models.CharField(max_length=32)
    settings = models.CharField(max_length=64)
    passed = models.BooleanField()
    at = models.DateTimeField()

    class Meta:
        db_table = "iit_setup_tests"
        constraints = [models.UniqueConstraint("project", "step", name="iit_setup_test_once")]

    def __str__(self) -> str:
        return self.step


class ChangedSubject(models.Model):
    """A subject that REDCap's trigger named and nobody has read since: many posts about one are one row.

    A row of its own and no task, so that a flood of posts holds up no question (study.change_handlers).
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    record_id = models.CharField(_("subject"), max_length=100)
    noted_at = models.DateTimeField(_("noted"))

    class Meta:
        db_table = "iit_changed_subjects"
        verbose_name = _("subject to be read again")
        verbose_name_plural = _("subjects to be read again")
        constraints = [
            models.UniqueConstraint(
                fields=["project", "record_id"], name="iit_changed_subject_once"
            )
        ]
        indexes = [models.Index(fields=["project", "noted_at"], name="iit_changed_oldest")]

    def __str__(self) -> str:
        return self.record_id


class VisitPlanEntry(models.Model):
    """One planned visit: target day from its anchor and the window around it (redcap_dify.md 5.4)."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="visit_plan", verbose_name=_("project")
    )
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    visit = models.CharField(_("visit"), max_length=64)
    arm = models.CharField(_("arm"), max_length=64, blank=True)
    anchor_field = models.CharField(_("anchor field"), max_length=100)
    date_field = models.CharField(_("visit date field"), max_length=100)
    event = models.CharField(
        _("event"), max_length=100, blank=True, help_text=_("Where the visit date is entered.")
    )
    day = models.SmallIntegerField(_("day"))
    minus = models.PositiveSmallIntegerField(_("days before"), default=0)
    plus = models.PositiveSmallIntegerField(_("days after"), default=0)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_visit_plan"
        ordering = ["project", "position", "day"]
        verbose_name = _("planned visit")
        verbose_name_plural = _("visit plan")
        constraints = [models.UniqueConstraint("project", "visit", "arm", name="iit_visit_once")]

    def __str__(self) -> str:
        return self.visit

    def clean(self) -> None:
        """With the anchor as Day 1 there is no Day 0 (contracts.md, visit_window); no arms where blinded."""
        if self.arm and self.project.blinded_since:
            raise ValidationError({"arm": _("The study is blinded: visits may not differ by arm.")})
        if self.day == 0 and self.project.anchor_is_day == Project.AnchorDay.DAY_ONE:
            raise ValidationError({"day": _("There is no Day 0 where the anchor is Day 1.")})

"""What is kept of a study's data, and what its people say about its fields."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedTextField
from projects.models import Project
from projects.scoping import ScopedQuerySet


class Reading(models.Model):
    """What was read of one row of REDCap, one row here for each version of it (design.md 3, iit_readings).

    A version holds from `first_seen` until before `last_seen` (None: it still does), on the clock that studies
    are at. `is_followed`: what follows from its coming, or from its end, was done (study.change_handlers).
    `values` is JSON {column: text} of the answered columns; no field that the dictionary marks identifier is
    kept. Only `study.readings` reads them, scoped by `iit_subjects`.
    `digest` is keyed, so that two readings can be compared and nothing can be guessed from it.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="readings", db_index=False)
    record_id = models.CharField(_("subject"), max_length=100)
    event = models.CharField(_("event"), max_length=100, blank=True)
    instrument = models.CharField(_("form"), max_length=100, blank=True)
    instance = models.PositiveIntegerField(_("instance"), default=0)
    position = models.PositiveIntegerField(_("place in the export"), default=0)
    values = EncryptedTextField(_("values"), is_source=True)
    digest = models.CharField(max_length=64)
    is_current = models.BooleanField(_("current"), default=True)
    first_seen = models.DateTimeField(_("first read so"))
    last_seen = models.DateTimeField(_("last read so"), null=True, blank=True)
    is_followed = models.BooleanField(_("followed up"), default=True)

    class Meta:
        db_table = "iit_readings"
        ordering = ["record_id", "position"]
        verbose_name = _("reading")
        verbose_name_plural = _("readings")
        constraints = [
            models.UniqueConstraint(
                fields=["project", "record_id", "event", "instrument", "instance"],
                condition=Q(is_current=True),
                name="iit_reading_current_once",
            )
        ]
        indexes = [
            models.Index(fields=["project", "record_id", "is_current"]),
            models.Index(fields=["project", "last_seen"], name="iit_reading_until"),
            models.Index(
                fields=["project", "record_id"],
                condition=Q(is_followed=False),
                name="iit_reading_unfollowed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.record_id} {self.event} {self.instrument} {self.instance or ''}".strip()


class ReadingState(models.Model):
    """How far the readings of a study are: when all subjects were last read at once, and a count of changes.

    `version` is another number after every change, so that what was computed from the readings can be kept
    until then; none is given twice, as a count would be after a transaction that was rolled back.
    `whole_since`: of no earlier time can be told what was known then (on the clock that studies are at).
    """

    project = models.OneToOneField(Project, models.CASCADE, primary_key=True)
    read_at = models.DateTimeField(_("all subjects read"), null=True)
    whole_since = models.DateTimeField(_("versions are whole since"), null=True)
    version = models.PositiveBigIntegerField(default=0)
    missing_columns = models.JSONField(_("columns REDCap did not show"), default=list)

    class Meta:
        db_table = "iit_reading_states"
        verbose_name = _("state of the readings")
        verbose_name_plural = _("states of the readings")

    def __str__(self) -> str:
        return self.project.code


class FieldRole(models.Model):
    """Which field plays a part that the house must know; without a row the dictionary's proposal holds.

    `of`: the form whose rows a date belongs to, or the lab field that a unit is for, or a code that says
    that a subject completed the study, a row each code; blank for the others.
    """

    class Role(models.TextChoices):
        STATUS = "status", _("Status of the subject")
        SEX = "sex", _("Sex")
        BIRTH = "birth", _("Date of birth")
        CONSENT = "consent", _("Date of consent")
        FORM_DATE = "form_date", _("Date of a form")
        UNIT = "unit", _("Unit of a lab value")
        ARM = "arm", _("Arm that visits are planned by")
        UNSCHEDULED = "unscheduled", _("Date of an unscheduled visit")
        COMPLETED = "completed", _("Code of who completed the study")

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="field_roles", verbose_name=_("project")
    )
    role = models.CharField(_("part"), max_length=16, choices=Role.choices)
    of = models.CharField(
        _("of form, field or code"),
        max_length=100,
        blank=True,
        help_text=_("Blank but for dates, units and codes."),
    )
    field = models.CharField(_("REDCap field"), max_length=100)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_field_roles"
        ordering = ["project", "role", "of"]
        verbose_name = _("part of a field")
        verbose_name_plural = _("parts of fields")
        constraints = [models.UniqueConstraint("project", "role", "of", name="iit_field_role_once")]

    def __str__(self) -> str:
        return f"{self.get_role_display()} {self.of} → {self.field}"

    def clean(self) -> None:
        """`of` belongs to dates of forms, to units and to codes, and only there."""
        needs = self.role in {self.Role.FORM_DATE, self.Role.UNIT, self.Role.COMPLETED}
        if needs != bool(self.of):
            told = (
                _("Please name the form, the lab field or the code.")
                if needs
                else _("Leave this blank.")
            )
            raise ValidationError({"of": told})


class ReferenceLimit(models.Model):
    """Normal limits of a lab field (design.md 3, iit_reference_ranges): numbers, or fields that hold them."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="reference_ranges", verbose_name=_("project")
    )
    field = models.CharField(_("REDCap field"), max_length=100)
    unit = models.CharField(_("unit"), max_length=32, blank=True)
    sex = models.CharField(
        _("sex"), max_length=16, blank=True, help_text=_("Code of the sex field; blank: both.")
    )
    low = models.DecimalField(_("low"), max_digits=16, decimal_places=6, null=True, blank=True)
    high = models.DecimalField(_("high"), max_digits=16, decimal_places=6, null=True, blank=True)
    low_field = models.CharField(_("field with the low limit"), max_length=100, blank=True)
    high_field = models.CharField(_("field with the high limit"), max_length=100, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_reference_ranges"
        ordering = ["project", "field", "sex"]
        verbose_name = _("reference range")
        verbose_name_plural = _("reference ranges")
        constraints = [
            models.UniqueConstraint("project", "field", "unit", "sex", name="iit_range_once")
        ]

    def __str__(self) -> str:
        low = self.low_field or ("" if self.low is None else f"{self.low:f}")
        high = self.high_field or ("" if self.high is None else f"{self.high:f}")
        return " ".join(
            part for part in (self.field, self.sex, f"[{low} ~ {high}]", self.unit) if part
        )

    def clean(self) -> None:
        """One limit at least, each given once, in their order."""
        given = [self.low, self.high, self.low_field or None, self.high_field or None]
        if not any(value is not None for value in given):
            raise ValidationError(_("Give a low or a high limit, or the field that holds it."))
        if self.low is not None and self.low_field:
            raise ValidationError({"low_field": _("The low limit is given twice.")})
        if self.high is not None and self.high_field:
            raise ValidationError({"high_field": _("The high limit is given twice.")})
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValidationError({"high": _("The high limit must be above the low one.")})


class Synonym(models.Model):
    """The study's own word for a field, a form or a choice (`field=code`) (design.md 3, iit_synonyms)."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="field_synonyms", verbose_name=_("project")
    )
    word = models.CharField(_("word"), max_length=64)
    meaning = models.CharField(
        _("means"), max_length=150, help_text=_("A field, a form, or field=code for a choice.")
    )
    added_by = models.CharField(_("added by"), max_length=150, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_synonyms"
        ordering = ["project", "word"]
        verbose_name = _("synonym")
        verbose_name_plural = _("synonyms")
        constraints = [models.UniqueConstraint("project", "word", name="iit_synonym_once")]

    def __str__(self) -> str:
        return f"{self.word} → {self.meaning}"

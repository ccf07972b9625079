"""The study and the people who take part in it."""

from __future__ import annotations

import secrets
import uuid
from datetime import time
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import DigestField, EncryptedTextField
from core.house.validators import validate_pattern, validate_timezone
from projects.models.person import Person
from projects.scoping import MemberQuerySet, ProjectQuerySet


def new_det_secret() -> str:
    """An unguessable path segment: the Data Entry Trigger has no signature (redcap_dify.md 1.10)."""
    return secrets.token_urlsafe(24)


class Project(models.Model):
    """One study: its identity, its outside systems and its rules of conduct (design.md 3).

    `blinded_since`: blank in an open study. What was made before that moment may tell an arm, so a blinded
    reader sees none of it; a field that is blinded later moves it (`study.blinding`).

    `quality_limits`: {indicator: what all sites together must not exceed} (`study.site_risk`).

    `redcap_is_new`: address or token were changed, and nobody has compared since whose project they open
    (`study.client`).
    """

    class Status(models.TextChoices):
        PLANNING = "planning", _("Planning")
        ACTIVE = "active", _("Active")
        PAUSED = "paused", _("Recruitment paused")
        CLOSED = "closed", _("Closed")

    class AnchorDay(models.IntegerChoices):
        DAY_ZERO = 0, _("The anchor day is Day 0")
        DAY_ONE = 1, _("The anchor day is Day 1")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    code = models.CharField(_("code"), max_length=64, unique=True)
    name = models.CharField(_("name"), max_length=200)
    status = models.CharField(
        _("status"), max_length=16, choices=Status.choices, default=Status.ACTIVE
    )
    start_date = models.DateField(_("start date"))
    target_enrolment = models.PositiveIntegerField(_("target enrolment"), default=0)
    timezone = models.CharField(
        _("time zone"), max_length=64, default="Asia/Shanghai", validators=[validate_timezone]
    )
    record_id_pattern = models.CharField(
        _("record id pattern"),
        max_length=200,
        blank=True,
        validators=[validate_pattern],
        help_text=_("Regular expression of this study's subject ids; blank: the usual forms."),
    )
    registration_no = models.CharField(_("registration number"), max_length=64, blank=True)
    pi_name = models.CharField(_("principal investigator"), max_length=64, blank=True)
    synopsis = models.TextField(_("synopsis"), blank=True)

    redcap_url = models.URLField(_("REDCap API address"), blank=True)
    redcap_token = EncryptedTextField(_("REDCap API token"), blank=True)
    redcap_is_new = models.BooleanField(default=False, db_default=False, editable=False)
    redcap_det_secret = EncryptedTextField(_("data entry trigger secret"), default=new_det_secret)
    redcap_det_digest = DigestField(of="redcap_det_secret", unique=True)
    reads_queries = models.BooleanField(
        _("read REDCap's own queries"),
        default=False,
        db_default=False,
        help_text=_(
            "Needs the external module Data Quality API in REDCap. Its open queries stand beside the findings; "
            "nothing is ever written there."
        ),
    )
    enrolment_field = models.CharField(
        _("enrolment date field"),
        max_length=100,
        default="enroll_date",
        help_text=_("A subject counts as enrolled when this field holds a date."),
    )
    withdraw_field = models.CharField(_("withdrawal date field"), max_length=100, blank=True)
    # A blank field alone would not tell whether anybody was asked.
    has_no_withdraw_field = models.BooleanField(
        _("no field holds the withdrawal date"), default=False, db_default=False
    )
    anchor_is_day = models.SmallIntegerField(
        _("visit day convention"), choices=AnchorDay.choices, default=AnchorDay.DAY_ONE
    )

    dify_url = models.URLField(_("Dify address"), blank=True)
    dify_key = EncryptedTextField(_("Dify key"), blank=True)
    dify_dataset_id = models.CharField(_("Dify dataset id"), max_length=64, blank=True)
    synonyms = models.JSONField(
        _("synonyms for protocol search"), default=dict, blank=True, help_text=_("{term: [terms]}")
    )

    llm_preset = models.CharField(_("LLM preset"), max_length=32, blank=True)
    llm_base_url = models.URLField(_("LLM address"), blank=True)
    llm_api_key = EncryptedTextField(_("LLM key"), blank=True)
    llm_model = models.CharField(_("LLM model"), max_length=100, blank=True)
    llm_engines_preset = models.CharField(_("preset for the engines"), max_length=32, blank=True)
    llm_engines_base_url = models.URLField(_("address for the engines"), blank=True)
    llm_engines_api_key = EncryptedTextField(_("key for the engines"), blank=True)
    llm_engines_model = models.CharField(_("model for the engines"), max_length=100, blank=True)
    llm_small_preset = models.CharField(_("preset for small work"), max_length=32, blank=True)
    llm_small_base_url = models.URLField(_("address for small work"), blank=True)
    llm_small_api_key = EncryptedTextField(_("key for small work"), blank=True)
    llm_small_model = models.CharField(_("small LLM model"), max_length=100, blank=True)
    llm_daily_token_cap = models.PositiveIntegerField(_("LLM tokens per day"), default=2_000_000)

    four_eyes = models.BooleanField(_("four eyes"), default=False)
    requires_signature = models.BooleanField(_("decisions need an e-signature"), default=False)
    feedback_cards = models.BooleanField(_("feedback cards under answers"), default=True)
    labels_replies = models.BooleanField(
        _("AI label on chat replies"),
        default=False,
        db_default=False,
        help_text=_(
            "Ends each reply in which a language model took part with a label that says so."
        ),
    )
    soft_confidence = models.FloatField(
        _("least confidence of a soft verdict"), default=0.7, validators=[MinValueValidator(0.0)]
    )
    fresh_minutes = models.PositiveSmallIntegerField(
        _("minutes a reading is fresh"),
        default=5,
        help_text=_("Questions over many subjects are answered from readings that are not older."),
    )
    reading_days = models.PositiveIntegerField(
        _("days earlier versions of data are kept"),
        default=1095,
        validators=[MinValueValidator(7)],
        help_text=_(
            "How things stood can be asked for as far back; the newest version is always kept."
        ),
    )
    small_cell = models.PositiveSmallIntegerField(
        _("small cells over MCP"),
        default=5,
        db_default=5,
        validators=[MaxValueValidator(100)],
        help_text=_(
            "Programs that are connected by MCP are told counts only, and of fewer subjects than this only so "
            "much. 0: they may read what the owner of their token may."
        ),
    )
    flow_log_days = models.PositiveIntegerField(_("days the flow log is kept"), default=30)
    quiet_from = models.TimeField(
        _("quiet from"),
        default=time(21, 0),
        help_text=_("Briefings and reminders wait until the quiet hours are over."),
    )
    quiet_until = models.TimeField(_("quiet until"), default=time(7, 30))
    quiet_holidays = models.BooleanField(
        _("quiet on public holidays"), default=True, help_text=_("Of mainland China.")
    )
    quiet_weekends = models.BooleanField(
        _("quiet at weekends"),
        default=False,
        help_text=_("Weekend days worked in exchange for a holiday are none."),
    )
    blinded_since = models.DateTimeField(
        _("blinded since"), null=True, blank=True, editable=False, db_default=None
    )
    quality_limits = models.JSONField(
        _("quality tolerance limits"),
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        editable=False,
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        db_table = "iit_projects"
        ordering = ["code"]
        verbose_name = _("project")
        verbose_name_plural = _("projects")

    def __str__(self) -> str:
        return f"{self.code} {self.name}"

    def clean(self) -> None:
        """The start date stays once a report has its number by it: each week is told once (design.md 4).

        Raises ValidationError.
        """
        super().clean()
        if self._state.adding or not self.start_date:
            return
        moved = Project.objects.filter(pk=self.pk).exclude(start_date=self.start_date)
        if moved.filter(weekly_reports__isnull=False).exists():
            told = _("It stays as it is: the weekly reports that exist count their weeks from it.")
            raise ValidationError({"start_date": told})


class Role(models.TextChoices):
    """What a member may do (design.md 1)."""

    PI = "PI", _("Principal investigator")
    CRC = "CRC", _("Clinical research coordinator")
    ADMIN = "ADMIN", _("Study administrator")
    AUDITOR = "AUDITOR", _("Auditor")


class Member(models.Model):
    """A person in a study: role and site; userid and console user are the person's (design.md 3).

    `wecom_userid` repeats the person's, which never changes, in lower case: WeCom compares userids without
    case (wecom.md 3.2). Blank for a person without one.

    A membership counts while it `is_active`. What a study administrator makes waits since `invited_at` for the
    person or a superuser (`projects.invitations`): nobody is put into a study that they know nothing of.

    `is_unblinded` counts in a blinded study alone. `unblinded_at` stays when that is taken back: what somebody
    knew may stand in all that they said since.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        Project,
        models.CASCADE,
        related_name="members",
        db_index=False,
        verbose_name=_("project"),
    )
    person = models.ForeignKey(
        Person, models.PROTECT, related_name="memberships", verbose_name=_("person")
    )
    wecom_userid = models.CharField(_("WeCom userid"), max_length=64, blank=True, db_index=True)
    display_name = models.CharField(_("name"), max_length=64, blank=True)
    role = models.CharField(_("role"), max_length=16, choices=Role.choices)
    site = models.CharField(
        _("site"), max_length=100, blank=True, help_text=_("REDCap data access group.")
    )
    language = models.CharField(_("language"), max_length=10, default="zh-hans")
    plain_text = models.BooleanField(
        _("plain text only"), default=False, help_text=_("For readers on the WeChat plug-in.")
    )
    is_active = models.BooleanField(_("active"), default=True)
    invited_at = models.DateTimeField(
        _("invited"), null=True, blank=True, editable=False, db_default=None
    )
    is_unblinded = models.BooleanField(
        _("unblinded"), default=False, db_default=False, editable=False
    )
    unblinded_at = models.DateTimeField(
        _("unblinded first"), null=True, blank=True, editable=False, db_default=None
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = MemberQuerySet.as_manager()

    class Meta:
        db_table = "iit_project_members"
        ordering = ["project", "wecom_userid"]
        verbose_name = _("member")
        verbose_name_plural = _("members")
        constraints = [
            models.UniqueConstraint("project", "person", name="iit_person_once"),
            models.CheckConstraint(
                condition=models.Q(invited_at=None) | models.Q(is_active=False),
                name="iit_invited_not_active",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.display_name or self.identity} ({self.get_role_display()})"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Take the userid from the person; a row that names a userid alone finds its person, or makes them."""
        if not self.person_id:
            self.person = Person.objects.of(self.wecom_userid)
        self.wecom_userid = self.person.wecom_userid or ""
        super().save(*args, **kwargs)

    @property
    def site_told(self) -> str:
        """The site for a reader: all of them is said, not left blank."""
        return self.site or gettext("all sites")

    @property
    def user(self) -> AbstractBaseUser | None:
        """The person's console user."""
        return self.person.user

    @property
    def identity(self) -> str:
        """What user_id, triggered_by, resolved_by … hold; "" for a reader who is nobody (a rule's)."""
        if self.wecom_userid or not self.person_id:
            return self.wecom_userid
        return self.person.identity

    @property
    def names(self) -> set[str]:
        """Its `identity`, and the login that was the identity before there was a userid."""
        return {self.identity, self.person.login if self.person_id else ""} - {""}

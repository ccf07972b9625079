"""Skills (SOP flow graphs), field mappings and form templates (seed 002, sections 2 and 6)."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Value
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import RandomUuid
from projects.models import Project
from projects.scoping import ScopedQuerySet
from study.models import ProtocolDocument


class Skill(models.Model):
    """A workflow of a study, e.g. `qc_process`, `qc_process:ae`, `visit_reminder`.

    `config` is the SOP graph; `version` counts its saved states, each kept in `SkillVersion`. A run keeps
    the version it started with.
    """

    class Trigger(models.TextChoices):
        WEBHOOK = "webhook", _("On request")
        CRON = "cron", _("On a schedule")
        EVENT = "event", _("On an event")

    id = models.UUIDField(
        primary_key=True, default=uuid.uuid4, db_default=RandomUuid(), editable=False
    )
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="skills", verbose_name=_("project")
    )
    skill_type = models.CharField(_("skill type"), max_length=100)
    name = models.CharField(_("name"), max_length=200)
    config = models.JSONField(_("configuration"))
    is_active = models.BooleanField(_("active"), default=True, db_default=True)
    version = models.PositiveIntegerField(_("version"), default=1, db_default=1)
    trigger_type = models.CharField(
        _("trigger"),
        max_length=16,
        choices=Trigger.choices,
        default=Trigger.WEBHOOK,
        db_default=Trigger.WEBHOOK,
    )
    cron_schedule = models.CharField(
        _("schedule"),
        max_length=100,
        null=True,
        blank=True,
        help_text=_("Five fields, e.g. 0 9 * * *, in the project's time zone."),
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True, db_default=Now())
    updated_at = models.DateTimeField(_("changed"), auto_now=True, db_default=Now())

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_skills"
        ordering = ["project", "skill_type"]
        verbose_name = _("skill")
        verbose_name_plural = _("skills")
        constraints = [models.UniqueConstraint("project", "skill_type", name="iit_skill_once")]

    def __str__(self) -> str:
        return self.name


class SkillVersion(models.Model):
    """What a skill said at a version, and who wrote it: an inspector asks which rules ran."""

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="versions")
    version = models.PositiveIntegerField(_("version"))
    config = models.JSONField(_("configuration"))
    author = models.CharField(_("author"), max_length=150)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        db_table = "iit_skill_versions"
        ordering = ["skill", "-version"]
        verbose_name = _("skill version")
        verbose_name_plural = _("skill versions")
        constraints = [models.UniqueConstraint("skill", "version", name="iit_skill_version_once")]

    def __str__(self) -> str:
        return f"{self.skill.name} v{self.version}"


class SkillDraft(models.Model):
    """What a workflow will say: a draft, or with `effective_on` the version that is published on that day.

    It stands beside the skill, so that whatever runs before the day reads what was published last.
    `base_version`: the version it was written from; another one that is published meanwhile is not overwritten,
    and `refused` says why a day passed without it.
    """

    skill = models.OneToOneField(Skill, models.CASCADE, related_name="draft")
    config = models.JSONField(_("configuration"))
    base_version = models.PositiveIntegerField(_("written from version"))
    effective_on = models.DateField(_("takes effect on"), null=True, blank=True)
    author = models.CharField(_("author"), max_length=150)
    saved_at = models.DateTimeField(_("saved"))
    refused = models.TextField(_("why it was not published"), blank=True)

    class Meta:
        db_table = "iit_skill_drafts"
        ordering = ["skill"]
        verbose_name = _("draft of a skill")
        verbose_name_plural = _("drafts of skills")

    def __str__(self) -> str:
        return self.skill.name


class FieldMapping(models.Model):
    """A name that people or the LLM use, and the REDCap field it means (seed 002, 2.2)."""

    id = models.UUIDField(
        primary_key=True, default=uuid.uuid4, db_default=RandomUuid(), editable=False
    )
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="field_mappings", verbose_name=_("project")
    )
    alias_name = models.CharField(_("alias"), max_length=100)
    actual_name = models.CharField(_("REDCap field"), max_length=100)
    created_at = models.DateTimeField(_("created"), auto_now_add=True, db_default=Now())

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_field_mapping"
        ordering = ["project", "alias_name"]
        verbose_name = _("field mapping")
        verbose_name_plural = _("field mappings")
        constraints = [models.UniqueConstraint("project", "alias_name", name="iit_alias_once")]

    def __str__(self) -> str:
        return f"{self.alias_name} → {self.actual_name}"


class FormTemplate(models.Model):
    """The structure of a form, for later reading of scanned pages (seed 002, 6.1).

    `version` is beyond the seed: what a page was read by must stay known when the form changes.
    """

    id = models.UUIDField(
        primary_key=True, default=uuid.uuid4, db_default=RandomUuid(), editable=False
    )
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="form_templates", verbose_name=_("project")
    )
    form_name = models.CharField(_("form"), max_length=100)
    field_schema = models.JSONField(_("field structure"))
    keywords = models.JSONField(
        _("keywords"), default=list, db_default=Value([], models.JSONField()), blank=True
    )
    version = models.PositiveIntegerField(_("version"), default=1, db_default=1)
    created_at = models.DateTimeField(_("created"), auto_now_add=True, db_default=Now())

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_form_templates"
        ordering = ["project", "form_name"]
        verbose_name = _("form template")
        verbose_name_plural = _("form templates")

    def __str__(self) -> str:
        return self.form_name


class FormTemplateVersion(models.Model):
    """What a form template said at a version, and who wrote it; any of them can be restored."""

    template = models.ForeignKey(FormTemplate, models.CASCADE, related_name="versions")
    version = models.PositiveIntegerField(_("version"))
    form_name = models.CharField(_("form"), max_length=100)
    field_schema = models.JSONField(_("field structure"))
    keywords = models.JSONField(_("keywords"), default=list, blank=True)
    author = models.CharField(_("author"), max_length=150)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        db_table = "iit_form_template_versions"
        ordering = ["template", "-version"]
        verbose_name = _("form template version")
        verbose_name_plural = _("form template versions")
        constraints = [
            models.UniqueConstraint("template", "version", name="iit_form_template_version_once")
        ]

    def __str__(self) -> str:
        return f"{self.form_name} v{self.version}"


class QualityRule(models.Model):
    """A line of the last file of REDCap's Data Quality rules: taken as `rule`, or not and why (`skills.dq`).

    `real_time`: REDCap runs it as a form is saved. `is_on`: the skill runs it.
    """

    class State(models.TextChoices):
        TAKEN = "taken", _("Taken over")
        REFUSED = "refused", _("Not taken over")

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="quality_rules", verbose_name=_("project")
    )
    position = models.PositiveIntegerField(_("line"))
    name = models.CharField(_("rule"), max_length=500)
    logic = models.TextField(_("logic in REDCap"))
    real_time = models.BooleanField(_("real time"), default=False)
    state = models.CharField(_("state"), max_length=16, choices=State.choices)
    reason = models.TextField(_("why not"), blank=True)
    rule_key = models.CharField(_("rule id"), max_length=100, blank=True)
    rule = models.JSONField(_("rule of ours"), null=True, blank=True)
    is_on = models.BooleanField(_("on"), default=False)
    imported_by = models.CharField(_("imported by"), max_length=150)
    imported_at = models.DateTimeField(_("imported"), auto_now_add=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_quality_rules"
        ordering = ["project", "position"]
        verbose_name = _("data quality rule")
        verbose_name_plural = _("data quality rules")
        constraints = [
            models.UniqueConstraint("project", "position", name="iit_quality_rule_once"),
        ]

    def __str__(self) -> str:
        return self.name


class PassageCheck(models.Model):
    """A rule or visit window that somebody compared with the passage which a new version changed.

    `key`: `skill/node/rule/section`, or the visit with its arm (skills.amendments).
    """

    document = models.ForeignKey(ProtocolDocument, models.CASCADE, related_name="+")
    kind = models.CharField(_("kind"), max_length=16)
    key = models.CharField(_("rule or window"), max_length=250)
    checked_by = models.CharField(_("checked by"), max_length=150)
    checked_at = models.DateTimeField(_("checked"), auto_now_add=True)

    class Meta:
        db_table = "iit_passage_checks"
        ordering = ["document", "key"]
        verbose_name = _("checked passage")
        verbose_name_plural = _("checked passages")
        constraints = [
            models.UniqueConstraint("document", "kind", "key", name="iit_passage_check_once")
        ]

    def __str__(self) -> str:
        return self.key

"""Hot memory (seed 002, 3.4): Markdown in every prompt, edited by people."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedJSONField, EncryptedTextField, RandomUuid
from memory.models.versioned import Versioned
from projects.models import Project
from projects.scoping import BlindingRule, Membership, OwnQuerySet, ScopedQuerySet


class ProjectMemory(Versioned):
    """The study's hot memory."""

    id = models.UUIDField(
        primary_key=True, default=uuid.uuid4, db_default=RandomUuid(), editable=False
    )
    project = models.OneToOneField(
        Project, models.CASCADE, related_name="memory", verbose_name=_("project")
    )
    content = models.TextField(_("content"), blank=True, default="", db_default="")
    last_updated_by = models.CharField(_("last changed by"), max_length=150)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_project_memory"
        verbose_name = _("hot memory")
        verbose_name_plural = _("hot memory")

    def __str__(self) -> str:
        return str(self.project)


class ProjectMemoryVersion(models.Model):
    """What hot memory said, who wrote it and when."""

    memory = models.ForeignKey(ProjectMemory, models.CASCADE, related_name="versions")
    version = models.PositiveIntegerField(_("version"))
    content = models.TextField(_("content"), blank=True)
    author = models.CharField(_("author"), max_length=150)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        db_table = "iit_project_memory_versions"
        ordering = ["memory", "-version"]
        verbose_name = _("hot memory version")
        verbose_name_plural = _("hot memory versions")
        constraints = [models.UniqueConstraint("memory", "version", name="iit_hot_version_once")]

    def __str__(self) -> str:
        return f"v{self.version}"


class TombstoneQuerySet(OwnQuerySet["MemoryTombstone"]):
    """Lines of the study's text, and what a member themselves asked to forget."""

    def scope(self, member: Membership) -> models.Q:
        """A member's own and nobody's; who supervises all sites sees all of the study."""
        return super().scope(member) | models.Q(project_id=member.project_id, user_id="")


class MemoryTombstone(models.Model):
    """A line that a person removed: no job may bring it back (design.md 9.6).

    `digest` is a keyed hash of the normalised line and `sketch` those of its pieces, so that it is known
    again in other words while the table does not repeat what was forgotten. `evidence`: keyed hashes of what
    the line came from. `user_id` is set where a user asked to forget, blank where an editor removed a line.
    """

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    user_id = models.CharField(_("user"), max_length=150, blank=True)
    digest = models.CharField(_("digest"), max_length=64)
    sketch = models.JSONField(_("sketch"), default=dict, blank=True)
    evidence = models.JSONField(_("evidence digests"), default=list, blank=True)
    created_by = models.CharField(_("removed by"), max_length=150)
    created_at = models.DateTimeField(_("removed"), auto_now_add=True)

    objects = TombstoneQuerySet.as_manager()

    class Meta:
        db_table = "iit_memory_tombstones"
        verbose_name = _("removed line")
        verbose_name_plural = _("removed lines")
        constraints = [
            models.UniqueConstraint("project", "user_id", "digest", name="iit_tombstone_once")
        ]

    def __str__(self) -> str:
        return f"{self.created_by} {localtime(self.created_at):%Y-%m-%d}"


class ProposalQuerySet(ScopedQuerySet["MemoryProposal"]):
    """Proposals for a study's memory; those of its time without blinding are for the unblinded."""

    blinding_rule = BlindingRule(made="created_at")


class MemoryProposal(models.Model):
    """A change of hot memory that a job proposes; what it may not apply itself waits for a person.

    `old` is the line (several for `shorten`) as it stands, `new` the one to come (for `shorten` the
    lines that say it shorter, or nothing). `evidence` =
    [{kind, id, user_id, quote}]. `key` keeps a job from asking twice for the same thing.
    """

    class Action(models.TextChoices):
        ADD = "add", _("Add")
        CHANGE = "change", _("Change")
        RETIRE = "retire", _("Retire")
        SHORTEN = "shorten", _("Shorten")

    class State(models.TextChoices):
        PENDING = "pending", _("Waiting")
        APPLIED = "applied", _("Applied")
        REFUSED = "refused", _("Refused")

    COLOURS = {State.PENDING: "warning", State.APPLIED: "success", State.REFUSED: "danger"}

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="memory_proposals", verbose_name=_("project")
    )
    action = models.CharField(_("change"), max_length=16, choices=Action.choices)
    section = models.CharField(_("section"), max_length=32)
    profile = models.CharField(_("profile"), max_length=150, blank=True)
    old = EncryptedTextField(_("old line"), blank=True)
    new = EncryptedTextField(_("new line"), blank=True)
    evidence = EncryptedJSONField(_("evidence"), default=list, blank=True)
    author = models.CharField(_("author"), max_length=150)
    key = models.CharField(_("key"), max_length=64)
    state = models.CharField(
        _("status"), max_length=16, choices=State.choices, default=State.PENDING
    )
    decided_by = models.CharField(_("decided by"), max_length=150, blank=True)
    decided_at = models.DateTimeField(_("decided"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = ProposalQuerySet.as_manager()

    class Meta:
        db_table = "iit_memory_proposals"
        ordering = ["-created_at"]
        verbose_name = _("memory proposal")
        verbose_name_plural = _("memory proposals")
        constraints = [models.UniqueConstraint("project", "key", name="iit_proposal_once")]
        indexes = [models.Index(fields=["project", "state"], name="iit_proposal_state")]

    def __str__(self) -> str:
        return f"{self.get_action_display()} {localtime(self.created_at):%Y-%m-%d}"

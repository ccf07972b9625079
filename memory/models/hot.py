"""Hot memory (seed 002, 3.4): Markdown in every prompt, edited by people."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.access import ScopedQuerySet
from projects.models import Project


class ProjectMemory(models.Model):
    """The study's hot memory; `version` lets two writers find out about each other."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.OneToOneField(
        Project, models.CASCADE, related_name="memory", verbose_name=_("project")
    )
    content = models.TextField(_("content"), blank=True)
    last_updated_by = models.CharField(_("last changed by"), max_length=150)
    version = models.PositiveIntegerField(_("version"), default=1)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

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


class MemoryTombstone(models.Model):
    """A line that a person removed: no job may bring it back (design.md 9.6).

    `digest` is a keyed hash of the normalised line, so the table does not repeat what was forgotten.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    user_id = models.CharField(_("user"), max_length=150, blank=True)
    digest = models.CharField(_("digest"), max_length=64)
    evidence = models.JSONField(_("evidence digests"), default=list, blank=True)
    created_by = models.CharField(_("removed by"), max_length=150)
    created_at = models.DateTimeField(_("removed"), auto_now_add=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_memory_tombstones"
        verbose_name = _("removed line")
        verbose_name_plural = _("removed lines")
        constraints = [
            models.UniqueConstraint("project", "user_id", "digest", name="iit_tombstone_once")
        ]

    def __str__(self) -> str:
        return f"{self.created_by} {self.created_at:%Y-%m-%d}"

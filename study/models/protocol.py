"""Protocol text for the local index (design.md 3)."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models.project import Project
from projects.scoping import ScopedQuerySet


class ProtocolDocument(models.Model):
    """A version of a protocol, CRF guide, ethics letter … as Markdown text; only the active one is searched."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="documents", verbose_name=_("project")
    )
    name = models.CharField(_("name"), max_length=200)
    version = models.CharField(_("version"), max_length=64, blank=True)
    text = models.TextField(_("text"))
    digest = models.CharField(_("digest"), max_length=64)
    is_active = models.BooleanField(_("active"), default=True, db_default=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_protocol_documents"
        ordering = ["project", "name", "-is_active", "-updated_at"]
        verbose_name = _("protocol document")
        verbose_name_plural = _("protocol documents")
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"],
                condition=models.Q(is_active=True),
                name="iit_document_once",
            )
        ]

    def __str__(self) -> str:
        return self.name


class ProtocolChunk(models.Model):
    """A citable passage: numbered heading and 200-500 characters (redcap_dify.md 3.2)."""

    document = models.ForeignKey(ProtocolDocument, models.CASCADE, related_name="chunks")
    position = models.PositiveIntegerField(_("position"))
    heading = models.CharField(_("heading"), max_length=300, blank=True)
    content = models.TextField(_("content"))

    class Meta:
        db_table = "iit_protocol_chunks"
        ordering = ["document", "position"]
        verbose_name = _("passage")
        verbose_name_plural = _("passages")
        constraints = [models.UniqueConstraint("document", "position", name="iit_chunk_once")]

    def __str__(self) -> str:
        return self.heading

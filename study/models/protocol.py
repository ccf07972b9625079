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
    effective_on = models.DateField(_("in force since"), null=True, blank=True)
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


class ProtocolUpload(models.Model):
    """A file on its way to a document: read in the background, looked at by a person, then put in force.

    `raw` is kept only until it is read. `warnings`: [code, number] each; `refusal`: the code of why it was not
    read (study.protocol.uploads has the words). `page` of `pages`: how far the reading is.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Waits to be read")
        READING = "reading", _("Being read")
        READ = "read", _("Read, to be looked at")
        REFUSED = "refused", _("Not readable")
        SCHEDULED = "scheduled", _("Takes effect on its date")
        DONE = "done", _("In force")

    COLOURS = {
        State.WAITING: "",
        State.READING: "info",
        State.READ: "warning",
        State.REFUSED: "danger",
        State.SCHEDULED: "info",
        State.DONE: "success",
    }

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    filename = models.CharField(_("file"), max_length=255)
    name = models.CharField(_("name"), max_length=200)
    version = models.CharField(_("version"), max_length=64, blank=True)
    effective_on = models.DateField(_("in force since"), null=True, blank=True)
    kind = models.CharField(max_length=8, blank=True)
    raw = models.BinaryField(null=True)
    state = models.CharField(
        _("state"), max_length=16, choices=State.choices, default=State.WAITING
    )
    page = models.PositiveIntegerField(default=0)
    pages = models.PositiveIntegerField(default=0)
    text = models.TextField(_("text"), blank=True)
    tables = models.PositiveIntegerField(default=0)
    warnings = models.JSONField(default=list)
    refusal = models.CharField(max_length=16, blank=True)
    refusal_number = models.PositiveIntegerField(default=0)
    sent_by = models.CharField(_("sent by"), max_length=150, blank=True)
    document = models.ForeignKey(ProtocolDocument, models.SET_NULL, related_name="+", null=True)
    created_at = models.DateTimeField(_("sent"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_protocol_uploads"
        ordering = ["-created_at", "-pk"]
        verbose_name = _("uploaded file")
        verbose_name_plural = _("uploaded files")

    def __str__(self) -> str:
        return self.filename

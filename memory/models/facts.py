"""What the Memory Manager knows about users (seed 004)."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.access import OwnQuerySet
from projects.fields import EncryptedTextField
from projects.models import Project


class UserMemory(models.Model):
    """A fact, preference or intent that a user stated, with the quote it rests on.

    A newer value supersedes an older one, which stays (design.md 3; seed 004, 3.1).
    """

    class Kind(models.TextChoices):
        FACT = "FACT", _("Fact")
        PREFERENCE = "PREFERENCE", _("Preference")
        INTENT = "INTENT", _("Intent")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="user_memories", verbose_name=_("project")
    )
    user_id = models.CharField(_("user"), max_length=150)
    memory_type = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    importance = models.PositiveSmallIntegerField(_("importance"))
    field = models.CharField(_("field"), max_length=100)
    value = models.JSONField(_("value"), null=True)
    content = models.TextField(_("content"))
    category = models.CharField(_("category"), max_length=32, blank=True)
    evidence = models.TextField(_("quote"), blank=True)
    source = models.CharField(_("source"), max_length=32, default="conversation")
    superseded_by = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("newer")
    )
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = OwnQuerySet.as_manager()

    class Meta:
        db_table = "iit_user_memory"
        ordering = ["-importance", "-created_at"]
        verbose_name = _("user memory")
        verbose_name_plural = _("user memories")
        indexes = [models.Index(fields=["project", "user_id"], name="iit_user_memory_user")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.field}"


class MemoryTurn(models.Model):
    """One turn's text for the Memory Manager; encrypted, gone after use or after 24 hours."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    user_id = models.CharField(_("user"), max_length=150)
    user_message = EncryptedTextField(_("user's words"))
    assistant_message = EncryptedTextField(_("assistant's words"), blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        db_table = "iit_memory_turns"
        verbose_name = _("memory turn")
        verbose_name_plural = _("memory turns")

    def __str__(self) -> str:
        return f"{self.user_id} {self.created_at:%Y-%m-%d %H:%M}"

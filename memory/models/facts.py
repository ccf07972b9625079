"""What the Memory Manager knows about users (seed 004)."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.db import models
from django.utils.timezone import localtime, now
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedJSONField, EncryptedTextField
from projects.models import Project
from projects.scoping import BlindingRule, OwnQuerySet


class FactQuerySet(OwnQuerySet["UserMemory"]):
    """Facts of people; of who is or was unblinded, the unblinded see them alone."""

    blinding_rule = BlindingRule(made="created_at", person="user_id")


class UserMemory(models.Model):
    """A fact, preference or intent that a user stated, with the quote it rests on.

    A newer value supersedes an older one, which stays until the newer one is forgotten (design.md 3; seed 004,
    3.1). `field` and `value` may hold several fields that are one memory (education+university+major).
    `details` = {field: {value, said, plain, quote, vague}} is what de-duplication and forgetting compare.
    `active_key` keeps two active rows of the same field apart from each other: set while the row holds, null
    afterwards.
    """

    class Kind(models.TextChoices):
        FACT = "FACT", _("Fact")
        PREFERENCE = "PREFERENCE", _("Preference")
        INTENT = "INTENT", _("Intent")

    PROPOSAL = "proposal"
    """The category of what is about others or the study, and waits for the editors."""
    STATEMENT = "statement"
    """The field of what is kept word for word, until its fields are read."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="user_memories", verbose_name=_("project")
    )
    user_id = models.CharField(_("user"), max_length=150)
    memory_type = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    importance = models.PositiveSmallIntegerField(_("importance"))
    field = models.CharField(_("field"), max_length=100)
    value = EncryptedJSONField(_("value"), null=True)
    details = EncryptedJSONField(_("details"), default=dict, blank=True, editable=False)
    active_key = models.CharField(max_length=64, null=True, unique=True, editable=False)
    content = EncryptedTextField(_("content"))
    category = models.CharField(_("category"), max_length=32, blank=True)
    evidence = EncryptedTextField(_("quote"), blank=True)
    source = models.CharField(_("source"), max_length=32, default="conversation")
    superseded_by = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("newer")
    )
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = FactQuerySet.as_manager()

    class Meta:
        db_table = "iit_user_memory"
        ordering = ["-importance", "-created_at"]
        verbose_name = _("user memory")
        verbose_name_plural = _("user memories")
        indexes = [models.Index(fields=["project", "user_id"], name="iit_user_memory_user")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.field}"

    @property
    def is_proposal(self) -> bool:
        """Whether it holds for nobody until an editor accepts it."""
        return self.category == self.PROPOSAL

    @property
    def is_statement(self) -> bool:
        """Whether it is kept word for word."""
        return self.field == self.STATEMENT


class MemoryTurn(models.Model):
    """The user's words of one turn for the Memory Manager; encrypted, gone after use or after 24 hours.

    The assistant's words are never a source, so they are not kept. `created_at` is when the message came;
    `due_at` and `tries` are the lease: who moves `due_at` may work on the row.
    """

    KEPT = timedelta(hours=24)

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    user_id = models.CharField(_("user"), max_length=150)
    user_message = EncryptedTextField(_("user's words"))
    created_at = models.DateTimeField(_("created"), default=now)
    due_at = models.DateTimeField(_("due"), default=now)
    tries = models.PositiveSmallIntegerField(_("tries"), default=0)

    class Meta:
        db_table = "iit_memory_turns"
        verbose_name = _("memory turn")
        verbose_name_plural = _("memory turns")
        indexes = [models.Index(fields=["due_at"], name="iit_memory_turns_due")]

    def __str__(self) -> str:
        return f"{self.user_id} {localtime(self.created_at):%Y-%m-%d %H:%M}"

"""What the Memory Manager makes of a user's memories, and what it still has to ask (seed 004)."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedJSONField, EncryptedTextField
from projects.models import Project
from projects.scoping import OwnQuerySet


class UserProfile(models.Model):
    """A user's profile as of the end of their last session.

    `last_at` is their last message and `summarized_at` the claim of the job: a session is summarized at most
    once (decisions.md, "004 trigger table"). `completeness` = {score, filled_fields, missing_fields}.
    """

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    user_id = models.CharField(_("user"), max_length=150)
    profile = EncryptedJSONField(_("profile"), default=dict, blank=True)
    completeness = models.JSONField(_("completeness"), default=dict, blank=True)
    narrative = EncryptedTextField(_("summary"), blank=True)
    last_at = models.DateTimeField(_("last message"))
    summarized_at = models.DateTimeField(_("summarized"), null=True, blank=True)

    objects = OwnQuerySet.as_manager()

    class Meta:
        db_table = "iit_user_profiles"
        ordering = ["project", "user_id"]
        verbose_name = _("user profile")
        verbose_name_plural = _("user profiles")
        constraints = [models.UniqueConstraint("project", "user_id", name="iit_user_profile_once")]
        indexes = [models.Index(fields=["last_at"], name="iit_user_profile_last")]

    def __str__(self) -> str:
        return self.user_id


class MemoryQuestion(models.Model):
    """A field of which a user said two things in one message: asked once, nothing is stored before.

    `options` = [{value, said, plain, quote, vague}] as in `UserMemory.details`.
    """

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    user_id = models.CharField(_("user"), max_length=150)
    field = models.CharField(_("field"), max_length=100)
    options = EncryptedJSONField(_("possible values"))
    asked_at = models.DateTimeField(_("asked"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = OwnQuerySet.as_manager()

    class Meta:
        db_table = "iit_memory_questions"
        ordering = ["created_at"]
        verbose_name = _("memory question")
        verbose_name_plural = _("memory questions")
        constraints = [
            models.UniqueConstraint("project", "user_id", "field", name="iit_memory_question_once")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.field}"

"""Cards with buttons (wecom.md 3.3)."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedTextField
from projects.models import Project
from projects.scoping import ScopedQuerySet

CODE_CHARS = 512
"""Longer than WeCom's codes are: what a forger makes longer is cut, and refused by WeCom."""


class Card(models.Model):
    """An interactive card, stored before it is sent: a click can come before the send call returns (A15).

    `task_id` is all a click brings that we trust; what it stands for (`kind`, `ref`, `version`, `seen`) is
    looked up here. `content` is the card as sent, so that it can be shown again without its buttons.
    `response_code` changes the card once within 72 hours, for decisions made in the console.
    """

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        CLOSED = "closed", _("Closed")

    task_id = models.CharField(max_length=128)
    kind = models.CharField(_("kind"), max_length=32)
    ref = models.CharField(_("stands for"), max_length=64)
    version = models.PositiveIntegerField(_("version"), default=1)
    seen = models.CharField(_("hash of what was shown"), max_length=64, blank=True)
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    to_user = models.CharField(_("to"), max_length=1000)
    content = EncryptedTextField(_("content"))
    response_code = models.CharField(max_length=CODE_CHARS, blank=True)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.OPEN)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_wechat_cards"
        ordering = ["-pk"]
        verbose_name = _("card")
        verbose_name_plural = _("cards")
        indexes = [models.Index(fields=["kind", "ref"], name="iit_card_ref")]
        constraints = [models.UniqueConstraint("task_id", name="iit_card_once")]

    def __str__(self) -> str:
        return self.task_id

"""Groups of WeCom in which the smart bot is asked."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models import Project
from projects.scoping import ScopedQuerySet


class GroupChat(models.Model):
    """A group that an administrator bound to one study: what is asked there is of that study alone.

    WeCom tells a bot who speaks, never who reads along (`wechat.inbound.groups`).
    """

    chat_id = models.CharField(_("group"), max_length=128, unique=True)
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    bound_by = models.CharField(_("bound by"), max_length=64)
    bound_at = models.DateTimeField(_("bound"), auto_now_add=True)

    objects = ScopedQuerySet["GroupChat"].as_manager()

    class Meta:
        db_table = "iit_wechat_groups"
        ordering = ["project", "bound_at"]
        verbose_name = _("group chat")
        verbose_name_plural = _("group chats")

    def __str__(self) -> str:
        return self.chat_id

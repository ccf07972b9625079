"""Answers as pages of the console."""

from __future__ import annotations

import uuid
from functools import reduce
from operator import or_

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedTextField
from projects.models import Project
from projects.scoping import User, memberships


class AnswerQuerySet(models.QuerySet["Answer"]):
    """Answers open to their reader only, not to those who supervise."""

    def for_user(self, user: User) -> AnswerQuerySet:
        """Answers to any active membership of a console user; "not yours" and "no such" are the same."""
        mine = memberships(user).exclude(wecom_userid="")
        conditions = [Q(to_user=one.wecom_userid, project=one.project_id) for one in mine]
        return self.filter(reduce(or_, conditions)) if conditions else self.none()


class Answer(models.Model):
    """A text too long for the phone, whole: its page in the console is for its reader alone (issue 5).

    `table`: JSON {header, rows} of the list that the text shows a part of; "" for none.

    Not the flow log: results of workflows and tool messages can be long too, and the log is read by jobs.
    """

    id = models.UUIDField(_("number"), primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        Project, models.CASCADE, null=True, related_name="+", verbose_name=_("project")
    )
    to_user = models.CharField(_("to"), max_length=64)
    text = EncryptedTextField(_("text"))
    table = EncryptedTextField(_("table"), blank=True, default="")
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = AnswerQuerySet.as_manager()

    class Meta:
        db_table = "iit_wechat_answers"
        verbose_name = _("long answer")
        verbose_name_plural = _("long answers")

    def __str__(self) -> str:
        return str(self.pk)

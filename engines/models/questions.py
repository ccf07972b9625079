"""Questions that came through the API and wait for a worker (contracts.md, `POST chat/`)."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedTextField
from projects.models import Person, Project
from projects.scoping import User, memberships


class QuestionQuerySet(models.QuerySet["Question"]):
    """Questions of people; there is no page for anybody else's."""

    def of(self, user: User) -> QuestionQuerySet:
        """What this login asked as the person it is; an answer only while they are in its study."""
        mine = self.filter(person__user=user.pk, login=user.get_username())
        projects = memberships(user).values("project_id")
        return mine.filter(models.Q(project=None) | models.Q(project__in=projects))


class Question(models.Model):
    """A question, stored before it is worked on, so that no process that dies loses it; gone after a day.

    Claimed by a conditional UPDATE (`lease_until`, fencing number `fence`); one person's in the order of
    their ids. `conversation_id` is that of the answer in the flow log, known before there is one; `reply` the
    answer as it is told, `project` its study; `may_order`: whether its token may start runs. Nothing of it is
    shown in the console.
    """

    class Status(models.TextChoices):
        NEW = "new", _("New")
        PROCESSING = "processing", _("In progress")
        DONE = "done", _("Done")

    UNFINISHED = (Status.NEW, Status.PROCESSING)

    conversation_id = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    person = models.ForeignKey(Person, models.CASCADE, related_name="+")
    login = models.CharField(max_length=150)
    may_order = models.BooleanField(default=True)
    project_code = models.CharField(max_length=64, blank=True)
    project = models.ForeignKey(Project, models.CASCADE, null=True, related_name="+")
    text = EncryptedTextField()
    reply = EncryptedTextField(blank=True)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.NEW)
    attempts = models.PositiveIntegerField(default=0)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    available_at = models.DateTimeField(default=now)
    asked_at = models.DateTimeField(default=now)
    done_at = models.DateTimeField(null=True)

    objects = QuestionQuerySet.as_manager()

    class Meta:
        db_table = "iit_chat_questions"
        verbose_name = _("question")
        verbose_name_plural = _("questions")
        indexes = [
            models.Index(fields=["person", "status", "id"], name="iit_question_lane"),
            models.Index(
                fields=["available_at"],
                name="iit_question_due",
                condition=models.Q(status__in=["new", "processing"]),
            ),
            models.Index(fields=["done_at"], name="iit_question_done"),
        ]

    def __str__(self) -> str:
        return f"#{self.pk}"

"""What happened to runs (design.md 2)."""

from __future__ import annotations

from uuid import UUID

from django.db import models
from django.db.models.functions import Now
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedJSONField
from engines.models.runs import Batch, Review, TaskRun
from projects.models import Project


class RunEvent(models.Model):
    """What happened to a run (or a batch), written in its transaction; a worker tells it to who reads such.

    It exists because the engine knows no channel: each reads these rows (`engines.sop.run_events`), and a run
    waits for none of them. Those of a run are told in their order. `version` is the review's at that time.
    `payload` is what is nowhere else: the message of a notify node, the ids of the findings of a step.
    """

    class Kind(models.TextChoices):
        REVIEW_REQUESTED = "review_requested"
        REVIEW_JOINED = "review_joined"
        REVIEW_DECIDED = "review_decided"
        REVIEW_REMINDED = "review_reminded"
        REVIEW_ESCALATED = "review_escalated"
        RUN_FINISHED = "run_finished"
        BATCH_FINISHED = "batch_finished"
        FINDINGS_OPENED = "findings_opened"
        NOTICE_READY = "notice_ready"
        FINDING_QUERIED = "finding_queried"
        FINDING_SETTLED = "finding_settled"

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    run = models.ForeignKey(TaskRun, models.CASCADE, related_name="+", null=True, db_index=False)
    batch = models.ForeignKey(Batch, models.CASCADE, related_name="+", null=True, db_index=False)
    review = models.ForeignKey(Review, models.CASCADE, related_name="+", null=True, db_index=False)
    version = models.PositiveIntegerField(null=True)
    kind = models.CharField(max_length=32, choices=Kind.choices)
    payload = EncryptedJSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True, db_default=Now())
    told_at = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0, db_default=0)
    available_at = models.DateTimeField(default=now, db_default=Now())
    error = models.CharField(max_length=100, blank=True, default="", db_default="")

    class Meta:
        db_table = "iit_run_events"
        ordering = ["pk"]
        verbose_name = _("run event")
        verbose_name_plural = _("run events")
        indexes = [
            models.Index(
                fields=["run", "id"],
                name="iit_run_event_lane",
                condition=models.Q(told_at__isnull=True),
            ),
            models.Index(
                fields=["batch"],
                name="iit_run_event_batch",
                condition=models.Q(told_at__isnull=True, batch__isnull=False),
            ),
            models.Index(
                fields=["told_at"],
                name="iit_run_event_told",
                condition=models.Q(told_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.kind}"

    @property
    def lane(self) -> UUID | None:
        """The run it happened to, or the batch: its events are told in their order."""
        return self.run_id or self.batch_id

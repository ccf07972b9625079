"""Runs of the SOP state machine (seed 002, 3.1; design.md 4)."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Value
from django.db.models.functions import Now
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedJSONField, EncryptedTextField, RandomUuid
from projects.models import Member, Project, Role
from projects.scoping import BlindingRule, RecordQuerySet
from skills.models import Skill


class Batch(models.Model):
    """An order for many subjects that is worked off a few at a time.

    It exists because a study of hundreds of subjects must not flood REDCap and the language model, and must
    go on after a restart: `record_ids` is the order, the runs made so far are its progress. At most `cap`
    runs are running at once. `filled_at`: the last run was created, nothing is left to start. `ended_at`:
    nothing runs any more, who ordered it was told; runs may still wait for a person. Who may see how much of
    it: `engines.sop.batches`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="batches", verbose_name=_("project")
    )
    skill = models.ForeignKey(
        Skill, models.PROTECT, related_name="batches", verbose_name=_("skill")
    )
    record_ids = models.JSONField(_("subjects"))
    cap = models.PositiveSmallIntegerField(_("at once"), default=4)
    created_by = models.CharField(_("ordered by"), max_length=150)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    filled_at = models.DateTimeField(null=True, blank=True)
    cancelled_at = models.DateTimeField(_("cancelled"), null=True, blank=True)
    ended_at = models.DateTimeField(_("worked off"), null=True, blank=True)
    unblinds = models.BooleanField(
        _("rests on a blinded field"), default=False, db_default=False, editable=False
    )

    class Meta:
        db_table = "iit_batches"
        ordering = ["-created_at"]
        verbose_name = _("batch")
        verbose_name_plural = _("batches")

    def __str__(self) -> str:
        return f"{self.skill.name or self.skill.skill_type} {localtime(self.created_at):%Y-%m-%d}"


class RunQuerySet(RecordQuerySet["TaskRun"]):
    """Runs are seen by those who see their subject; of a blinded field, by the unblinded alone."""

    blinding_rule = BlindingRule(made="created_at", marked="unblinds")


class TaskRun(models.Model):
    """One run of a skill.

    A run never changes under its feet: it keeps the config and the data it started with. It is claimed by a
    conditional UPDATE (`lease_until`, fencing number `fence`); RUNNING without a lease waits for a worker.
    `seq` is the number of the next journal row; every write of a slow node checks `fence` and `seq`.
    `question_key` names the question it waits for while it is suspended: runs with the same one wait for one
    review (design.md 9.11).
    """

    class Status(models.TextChoices):
        RUNNING = "RUNNING", _("Running")
        SUSPENDED = "SUSPENDED", _("Waiting for review")
        COMPLETED = "COMPLETED", _("Completed")
        FAILED = "FAILED", _("Failed")
        CANCELLED = "CANCELLED", _("Cancelled")

    COLOURS = {
        Status.RUNNING: "info",
        Status.SUSPENDED: "warning",
        Status.COMPLETED: "success",
        Status.FAILED: "danger",
        Status.CANCELLED: "",
    }

    id = models.UUIDField(
        primary_key=True, default=uuid.uuid4, db_default=RandomUuid(), editable=False
    )
    # Here and below without an index of their own: one of several columns begins with them.
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="runs", db_index=False, verbose_name=_("project")
    )
    skill = models.ForeignKey(
        Skill, models.PROTECT, related_name="runs", db_index=False, verbose_name=_("skill")
    )
    record_id = models.CharField(_("subject"), max_length=100, null=True, blank=True)
    triggered_by = models.CharField(_("ordered by"), max_length=150)
    status = models.CharField(
        _("status"),
        max_length=16,
        choices=Status.choices,
        default=Status.RUNNING,
        db_default=Status.RUNNING,
    )
    current_node = models.CharField(_("node"), max_length=100, null=True, blank=True)
    trace = EncryptedJSONField(_("trace"), null=True, blank=True)
    resume_callback = models.CharField(_("after approval"), max_length=100, null=True, blank=True)
    reject_callback = models.CharField(_("after rejection"), max_length=100, null=True, blank=True)
    suspended_at = models.DateTimeField(_("suspended"), null=True, blank=True)
    resumed_at = models.DateTimeField(_("resumed"), null=True, blank=True)
    completed_at = models.DateTimeField(_("ended"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True, db_default=Now())
    updated_at = models.DateTimeField(_("changed"), auto_now=True, db_default=Now())

    skill_version = models.PositiveIntegerField(_("skill version"), db_default=1)
    config = models.JSONField(_("configuration"), db_default=Value({}, models.JSONField()))
    data = EncryptedTextField(_("data snapshot"), blank=True, default="", db_default="")
    read_at = models.DateTimeField(_("data read"), null=True, blank=True)
    is_complete = models.BooleanField(_("data complete"), default=False, db_default=False)
    final_state = models.CharField(
        _("final state"), max_length=100, blank=True, default="", db_default=""
    )
    message = EncryptedTextField(_("message"), blank=True, default="", db_default="")
    sub_status = models.CharField(
        _("waits for"), max_length=32, blank=True, default="", db_default=""
    )
    cause = models.CharField(_("cause"), max_length=200, null=True, blank=True)
    rerun_of = models.ForeignKey(
        "self",
        models.SET_NULL,
        related_name="reruns",
        null=True,
        db_index=False,
        verbose_name=_("repeats"),
    )
    batch = models.ForeignKey(
        Batch,
        models.SET_NULL,
        related_name="runs",
        null=True,
        db_index=False,
        verbose_name=_("batch"),
    )
    seq = models.PositiveIntegerField(default=0, db_default=0)
    fence = models.PositiveIntegerField(default=0, db_default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    available_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0, db_default=0)
    question_key = models.CharField(max_length=64, blank=True, default="", db_default="")
    unblinds = models.BooleanField(
        _("rests on a blinded field"), default=False, db_default=False, editable=False
    )

    objects = RunQuerySet.as_manager()

    class Meta:
        db_table = "iit_task_run"
        ordering = ["-created_at"]
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        indexes = [
            models.Index(fields=["project", "status"], name="iit_run_status"),
            models.Index(fields=["record_id"], name="iit_run_record"),
            models.Index(
                fields=["lease_until"],
                name="iit_run_due",
                condition=models.Q(status="RUNNING"),
            ),
            models.Index(
                fields=["batch"], name="iit_run_batch", condition=models.Q(batch__isnull=False)
            ),
            models.Index(
                fields=["rerun_of"],
                name="iit_run_rerun",
                condition=models.Q(rerun_of__isnull=False),
            ),
            models.Index(
                fields=["question_key"],
                name="iit_run_question",
                condition=models.Q(status="SUSPENDED"),
            ),
        ]
        constraints = [
            # An event skill runs once per (skill, record, change): decisions.md, "triggers".
            models.UniqueConstraint("skill", "cause", name="iit_run_cause_once"),
        ]

    def __str__(self) -> str:
        return f"{self.skill.name} {self.record_id or ''}".strip()


class SopStep(models.Model):
    """The journal: one row per node visit; side effects hang on its number (design.md 3)."""

    task_run = models.ForeignKey(TaskRun, models.CASCADE, related_name="steps", db_index=False)
    seq = models.PositiveIntegerField(_("number"))
    node = models.CharField(_("node"), max_length=100)
    kind = models.CharField(_("kind"), max_length=32)
    outcome = models.CharField(_("outcome"), max_length=32)
    result = EncryptedJSONField(_("result"), null=True)
    fence = models.PositiveIntegerField(_("fencing number"))
    started_at = models.DateTimeField(_("started"))
    ended_at = models.DateTimeField(_("ended"))

    class Meta:
        db_table = "iit_sop_steps"
        ordering = ["task_run", "seq"]
        verbose_name = _("step")
        verbose_name_plural = _("steps")
        constraints = [models.UniqueConstraint("task_run", "seq", name="iit_step_once")]

    def __str__(self) -> str:
        return f"{self.seq} {self.node}"


class ReviewQuerySet(RecordQuerySet["Review"]):
    """Reviews are seen by those who see their subject."""

    owner_path = "task_run__triggered_by"
    blinding_rule = BlindingRule(made="created_at", marked="unblinds")


class Review(models.Model):
    """A question to a person while runs are suspended.

    Its number is what people type ("同意 42") and what cards carry (`review_42@1`); `version` grows when the
    question is asked anew on changed values. `seen` is the hash of what was shown (design.md 9.9).

    Every run with its `question_key` waits for it, and at most one of a key is open (design.md 9.11);
    `task_run` is one of them, which goes on within the decision. `open_keys` are the findings it is about, by
    the keys that they have while they are open; the `digest` of the values says whether a later run asks the
    same again.

    `is_complete`: REDCap showed all data of the subject when the values were read.

    `brief` is the evidence as it was first shown of this version, the same in every door (`engines.sop.brief`);
    `door`: where the decision was taken, which tells how much more than that was shown.
    """

    class Door(models.TextChoices):
        CONSOLE = "console", _("console")
        API = "api", _("API")
        CARD = "card", _("card")
        TEXT = "text", _("typed word")

    class Status(models.TextChoices):
        OPEN = "open", _("Open")
        APPROVED = "approved", _("Approved")
        REJECTED = "rejected", _("Rejected")
        WITHDRAWN = "withdrawn", _("Withdrawn")

    COLOURS = {
        Status.OPEN: "warning",
        Status.APPROVED: "success",
        Status.REJECTED: "danger",
        Status.WITHDRAWN: "",
    }

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="reviews", db_index=False, verbose_name=_("project")
    )
    task_run = models.ForeignKey(
        TaskRun, models.CASCADE, related_name="reviews", verbose_name=_("run")
    )
    record_id = models.CharField(_("subject"), max_length=100, null=True, blank=True)
    node = models.CharField(_("node"), max_length=100)
    version = models.PositiveIntegerField(_("version"), default=1)
    question = EncryptedTextField(_("question"))
    reviewers = models.JSONField(_("reviewers' roles"), default=list)
    values = EncryptedTextField(_("values shown"), default="{}")
    is_complete = models.BooleanField(_("data complete"), default=True, db_default=True)
    brief = EncryptedTextField(_("evidence shown"), null=True, blank=True)
    door = models.CharField(
        _("decided in"), max_length=16, choices=Door.choices, blank=True, default="", db_default=""
    )
    seen = models.CharField(_("hash of what was shown"), max_length=64)
    status = models.CharField(
        _("status"), max_length=16, choices=Status.choices, default=Status.OPEN
    )
    decided_by = models.CharField(_("decided by"), max_length=150, blank=True)
    decided_at = models.DateTimeField(_("decided"), null=True, blank=True)
    reason = EncryptedTextField(_("reason"), blank=True)
    remind_at = models.DateTimeField(null=True, blank=True)
    escalated_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(_("asked"), auto_now_add=True)

    question_key = models.CharField(max_length=64, blank=True, default="", db_default="")
    open_keys = models.JSONField(default=list, db_default=Value([], models.JSONField()))
    digest = models.CharField(max_length=64, blank=True, default="", db_default="")
    unblinds = models.BooleanField(
        _("rests on a blinded field"), default=False, db_default=False, editable=False
    )

    objects = ReviewQuerySet.as_manager()

    class Meta:
        db_table = "iit_reviews"
        ordering = ["-created_at"]
        verbose_name = _("review")
        verbose_name_plural = _("reviews")
        indexes = [
            models.Index(fields=["project", "status"], name="iit_review_status"),
            models.Index(fields=["question_key"], name="iit_review_question"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["question_key"],
                name="iit_review_open_once",
                condition=models.Q(status="open", question_key__gt=""),
            )
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.record_id or ''}".strip()

    def asks(self, member: Member) -> bool:
        """Whether the member's role decides: one that the node names, and always the administrator's."""
        return member.role == Role.ADMIN or member.role in self.reviewers

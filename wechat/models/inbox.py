"""What came in from WeCom (design.md 3)."""

from __future__ import annotations

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedTextField
from projects.models import Project
from projects.scoping import BlindingRule, ScopedQuerySet


class InboxQuerySet(ScopedQuerySet["InboxMessage"]):
    """Messages of a study; what the unblinded wrote is for the unblinded."""

    blinding_rule = BlindingRule(made="received_at", person="from_user")


class InboxMessage(models.Model):
    """A genuine callback, stored before it is acknowledged: nothing received is lost.

    `dedup_key` makes a repeated delivery the same row (wecom.md 0.1 item 4) and `passive_reply` gives it
    the same bytes. The row is claimed by a conditional UPDATE (`lease_until`, fencing number `fence`);
    rows of one sender are handled in the order of their ids. `raw` is the decrypted callback.
    `project` is known once the question is answered. `shown`: the review that the reply shows whole, as
    `number@version`.
    """

    class Status(models.TextChoices):
        NEW = "new", _("New")
        PROCESSING = "processing", _("In progress")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        QUARANTINED = "quarantined", _("Not understood")

    class Channel(models.TextChoices):
        APP = "app", _("Self-built app")
        AIBOT = "aibot", _("Smart bot")
        SOCKET = "socket", _("Smart bot, long connection")

    BOTS = (Channel.AIBOT, Channel.SOCKET)
    UNFINISHED = (Status.NEW, Status.PROCESSING)
    COLOURS = {
        Status.NEW: "info",
        Status.PROCESSING: "info",
        Status.DONE: "success",
        Status.FAILED: "danger",
        Status.QUARANTINED: "warning",
    }

    dedup_key = models.CharField(max_length=64, unique=True)
    channel = models.CharField(
        _("channel"), max_length=16, choices=Channel.choices, default=Channel.APP
    )
    project = models.ForeignKey(
        Project, models.SET_NULL, null=True, related_name="+", verbose_name=_("project")
    )
    from_user = models.CharField(_("from"), max_length=64)
    msg_type = models.CharField(_("kind"), max_length=32)
    event = models.CharField(_("event"), max_length=64, blank=True)
    content = EncryptedTextField(_("text"), blank=True)
    raw = EncryptedTextField(_("callback"), blank=True)
    passive_reply = models.TextField(blank=True)
    status = models.CharField(
        _("status"), max_length=16, choices=Status.choices, default=Status.NEW
    )
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    available_at = models.DateTimeField(default=now)
    error = models.CharField(_("error"), max_length=300, blank=True)
    received_at = models.DateTimeField(_("received"), default=now)
    shown = models.CharField(max_length=40, blank=True)
    done_at = models.DateTimeField(_("done"), null=True, blank=True)

    objects = InboxQuerySet.as_manager()

    class Meta:
        db_table = "iit_wechat_inbox"
        ordering = ["-pk"]
        verbose_name = _("message received")
        verbose_name_plural = _("inbox")
        indexes = [
            models.Index(fields=["from_user", "status", "id"], name="iit_inbox_lane"),
            models.Index(
                fields=["available_at"],
                name="iit_inbox_due",
                condition=models.Q(status__in=["new", "processing"]),
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.from_user}"

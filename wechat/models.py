"""Tables of the WeCom channel: nothing received is lost, nothing is sent twice (design.md 3)."""

from __future__ import annotations

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from projects.access import ScopedQuerySet
from projects.fields import EncryptedTextField
from projects.models import Project


class InboxMessage(models.Model):
    """A genuine callback, stored before it is acknowledged: nothing received is lost.

    `dedup_key` makes a repeated delivery the same row (wecom.md 0.1 item 4) and `passive_reply` gives it
    the same bytes. The row is claimed by a conditional UPDATE (`lease_until`, fencing number `fence`);
    rows of one sender are handled in the order of their ids. `raw` is the decrypted callback.
    `project` is known once the question is answered.
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
    done_at = models.DateTimeField(_("done"), null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

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
        return f"#{self.pk} {self.from_user} {self.event or self.msg_type}"


class OutboxMessage(models.Model):
    """A message to WeCom: the only way out (issue 5).

    Inserted in the transaction of what it tells about, under a unique `key`, so that whatever is done twice
    is told once. `to_user` (lower case; `a|b` for one card to several) is its lane: rows of a lane go out
    one at a time in the order of their ids. A row that is `sending` with an expired lease may have arrived:
    it is sent again as the identical JSON (`duplicate_interval`; decisions.md, "resend after an ambiguous
    time-out"), and `possible_duplicate` says when that came too late for WeCom to notice.
    """

    class Kind(models.TextChoices):
        TEXT = "text", _("Text")
        MARKDOWN = "markdown", _("Markdown")
        CARD = "card", _("Card")
        CARD_UPDATE = "card_update", _("Card update")

    class Status(models.TextChoices):
        PENDING = "pending", _("Waiting")
        SENDING = "sending", _("Being sent")
        SENT = "sent", _("Sent")
        FAILED = "failed", _("Refused by WeCom")
        DEAD = "dead", _("Given up")

    UNSENT = (Status.PENDING, Status.SENDING)
    DEAD_LETTERS = (Status.FAILED, Status.DEAD)
    COLOURS = {
        Status.PENDING: "info",
        Status.SENDING: "info",
        Status.SENT: "success",
        Status.FAILED: "danger",
        Status.DEAD: "danger",
    }

    key = models.CharField(max_length=150, unique=True)
    to_user = models.CharField(_("to"), max_length=1000)
    project = models.ForeignKey(
        Project, models.SET_NULL, null=True, related_name="+", verbose_name=_("project")
    )
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    payload = EncryptedTextField(_("content"))
    status = models.CharField(
        _("status"), max_length=16, choices=Status.choices, default=Status.PENDING
    )
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    available_at = models.DateTimeField(default=now)
    lease_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    duplicate_interval = models.PositiveIntegerField(null=True)
    first_tried_at = models.DateTimeField(null=True, blank=True)
    tried_at = models.DateTimeField(_("last tried"), null=True, blank=True)
    is_ambiguous = models.BooleanField(_("may have arrived"), default=False)
    possible_duplicate = models.BooleanField(_("possible duplicate"), default=False)
    msgid = models.CharField(_("message id"), max_length=128, blank=True)
    response_code = models.CharField(max_length=512, blank=True)
    error_code = models.IntegerField(_("error code"), null=True, blank=True)
    error = models.CharField(_("error"), max_length=300, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    sent_at = models.DateTimeField(_("sent"), null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_wechat_outbox"
        ordering = ["-pk"]
        verbose_name = _("message to WeCom")
        verbose_name_plural = _("outbox")
        indexes = [
            models.Index(fields=["to_user", "status", "id"], name="iit_outbox_lane"),
            models.Index(fields=["to_user", "tried_at"], name="iit_outbox_rate"),
            models.Index(fields=["to_user", "first_tried_at"], name="iit_outbox_first"),
            models.Index(
                fields=["available_at"],
                name="iit_outbox_due",
                condition=models.Q(status__in=["pending", "sending"]),
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.to_user} {self.kind}"


class Card(models.Model):
    """An interactive card, stored before it is sent: a click can come before the send call returns (A15).

    `task_id` is all a click brings that we trust; what it stands for (`kind`, `ref`, `version`, `seen`) is
    looked up here. `content` is the card as sent, so that it can be shown again without its buttons.
    `response_code` changes the card once within 72 hours, for decisions made in the console.
    """

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        CLOSED = "closed", _("Closed")

    task_id = models.CharField(max_length=128, unique=True)
    kind = models.CharField(_("kind"), max_length=32)
    ref = models.CharField(_("stands for"), max_length=64)
    version = models.PositiveIntegerField(_("version"), default=1)
    seen = models.CharField(_("hash of what was shown"), max_length=64, blank=True)
    project = models.ForeignKey(
        Project, models.CASCADE, related_name="+", verbose_name=_("project")
    )
    to_user = models.CharField(_("to"), max_length=1000)
    content = EncryptedTextField(_("content"))
    response_code = models.CharField(max_length=512, blank=True)
    state = models.CharField(_("state"), max_length=16, choices=State.choices, default=State.OPEN)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_wechat_cards"
        ordering = ["-pk"]
        verbose_name = _("card")
        verbose_name_plural = _("cards")
        indexes = [models.Index(fields=["kind", "ref"], name="iit_card_ref")]

    def __str__(self) -> str:
        return self.task_id


class AccessToken(models.Model):
    """The one access token of an app, shared by all processes (wecom.md 3.1).

    `refresh_until` is the lease of the process that fetches, `fence` makes its claim fail once another has
    fetched. `blocked_until` is the circuit: after a refused secret nobody asks, because repeated tries get
    the address banned. The key holds a digest of the secret: a corrected secret starts afresh.
    """

    key = models.CharField(max_length=150, primary_key=True)
    token = EncryptedTextField(blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    refresh_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    blocked_until = models.DateTimeField(_("blocked until"), null=True, blank=True)
    error_code = models.IntegerField(_("error code"), null=True, blank=True)
    error = models.CharField(_("error"), max_length=300, blank=True)
    fetched_at = models.DateTimeField(_("fetched"), null=True, blank=True)

    class Meta:
        db_table = "iit_wechat_tokens"
        verbose_name = _("access token")
        verbose_name_plural = _("access tokens")

    def __str__(self) -> str:
        return self.key

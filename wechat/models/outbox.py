"""What goes out to WeCom (design.md 3)."""

from __future__ import annotations

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedTextField
from projects.models import Project
from projects.scoping import BlindingRule, ScopedQuerySet
from wechat.models.cards import CODE_CHARS


class OutboxQuerySet(ScopedQuerySet["OutboxMessage"]):
    """Messages of a study; what the unblinded were told is for the unblinded."""

    blinding_rule = BlindingRule(made="created_at", person="to_user")


class OutboxMessage(models.Model):
    """A message to WeCom: the only way out (issue 5).

    Inserted in the transaction of what it tells about, under a unique `key`, so that whatever is done twice
    is told once. `to_user` (lower case; `a|b` for one card to several) is its lane: rows of a lane go out
    one at a time in the order of their ids. A row that is `sending` with an expired lease may have arrived:
    it is sent again as the identical JSON (`duplicate_interval`; decisions.md, "resend after an ambiguous
    time-out"), and `possible_duplicate` says when that came too late for WeCom to notice.

    `undelivered`: whom of the lane WeCom did not reach, `a|b`.

    `alike`: how many times in a row the last failure came, by its `error_code` (0: WeCom said nothing).

    A briefing or reminder that its reader wants later is `held` until `available_at`, outside of the lane:
    answers pass it. `notice` names the step it comes from; what it says is asked for again before it is
    sent when `checked_at` is a while ago, and it is `withdrawn` when there is nothing left to tell.

    A picture is not kept: its row says that there is to be one, and it is drawn for its reader when it is
    sent (`wechat.outbound.pictures`).

    A `stream` is for the one process that holds the long connection of the smart bot (wechat.aibot.posting);
    sent twice it is the same answer in the same place, by its stream's id.
    """

    class Kind(models.TextChoices):
        TEXT = "text", _("Text")
        MARKDOWN = "markdown", _("Markdown")
        IMAGE = "image", _("Picture")
        CARD = "card", _("Card")
        CARD_UPDATE = "card_update", _("Card update")
        RESPONSE = "response", _("Answer of the smart bot")
        STREAM = "stream", _("Answer over the long connection")

    class Status(models.TextChoices):
        PENDING = "pending", _("Waiting")
        SENDING = "sending", _("Being sent")
        SENT = "sent", _("Sent")
        FAILED = "failed", _("Refused by WeCom")
        DEAD = "dead", _("Given up")
        HELD = "held", _("Held until the reader's time")
        WITHDRAWN = "withdrawn", _("Withdrawn, outdated")

    TO_SEVERAL = models.Q(to_user__contains="|")
    UNSENT = (Status.PENDING, Status.SENDING)
    DEAD_LETTERS = (Status.FAILED, Status.DEAD)
    COLOURS = {
        Status.PENDING: "info",
        Status.SENDING: "info",
        Status.SENT: "success",
        Status.FAILED: "danger",
        Status.DEAD: "danger",
        Status.HELD: "info",
        Status.WITHDRAWN: "",
    }

    key = models.CharField(max_length=150)
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
    alike = models.PositiveIntegerField(default=0)
    available_at = models.DateTimeField(default=now)
    lease_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    duplicate_interval = models.PositiveIntegerField(null=True)
    first_tried_at = models.DateTimeField(null=True, blank=True)
    tried_at = models.DateTimeField(_("last tried"), null=True, blank=True)
    is_ambiguous = models.BooleanField(_("may have arrived"), default=False)
    possible_duplicate = models.BooleanField(_("possible duplicate"), default=False)
    notice = models.JSONField(null=True)
    checked_at = models.DateTimeField(_("last checked"), null=True, blank=True)
    msgid = models.CharField(_("message id"), max_length=128, blank=True)
    response_code = models.CharField(max_length=CODE_CHARS, blank=True)
    error_code = models.IntegerField(_("error code"), null=True, blank=True)
    error = models.CharField(_("error"), max_length=300, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    undelivered = models.CharField(_("not reached"), max_length=1000, blank=True)
    sent_at = models.DateTimeField(_("sent"), null=True, blank=True)

    objects = OutboxQuerySet.as_manager()

    class Meta:
        db_table = "iit_wechat_outbox"
        ordering = ["-pk"]
        verbose_name = _("message to WeCom")
        verbose_name_plural = _("outbox")
        indexes = [
            models.Index(fields=["to_user", "status", "id"], name="iit_outbox_lane"),
            # A message that nobody tried to send yet is in none of these two.
            models.Index(
                fields=["to_user", "tried_at"],
                name="iit_outbox_rate",
                condition=models.Q(tried_at__isnull=False),
            ),
            models.Index(
                fields=["to_user", "first_tried_at"],
                name="iit_outbox_first",
                condition=models.Q(first_tried_at__isnull=False),
            ),
            models.Index(
                fields=["tried_at"],
                name="iit_outbox_shared",
                condition=models.Q(to_user__contains="|"),
            ),
            models.Index(
                fields=["available_at"],
                name="iit_outbox_due",
                condition=models.Q(status__in=["pending", "sending"]),
            ),
            models.Index(
                fields=["available_at"],
                name="iit_outbox_held",
                condition=models.Q(status="held"),
            ),
        ]
        constraints = [models.UniqueConstraint("key", name="iit_outbox_once")]

    def __str__(self) -> str:
        return f"#{self.pk} {self.to_user} {self.get_kind_display()}"

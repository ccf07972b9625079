"""A review in words: for who sees no cards, and for who has not been shown it (wecom.md 9.5)."""

from __future__ import annotations

import json
import re

from django.utils.translation import gettext as _

from engines.models import Review
from engines.sop.brief import Brief, kept_brief, overrides, verbs
from memory.visibility import told_to
from projects.models import Member
from wechat.inbound import commands
from wechat.inbound.commands import Decide
from wechat.models import Card, InboxMessage, OutboxMessage
from wechat.outbound.cards import link
from wechat.reviews.review_audience import Circle
from wechat.texts import APPROVE_WORDS, REJECT_WORDS

KIND = "review"


def page_of(review: Review) -> str:
    """Where the console shows the review."""
    return link(f"/admin/engines/review/{review.pk}/change/")


def in_words(circle: Circle) -> str:
    """The request with its evidence and the commands that answer it, or where it is signed."""
    review, shown = circle.review, circle.evidence
    head = f"{review.project.code} {review.record_id or ''}".strip()
    lines = [_("Review #%(number)s needed") % {"number": review.pk}, head, *circle.paragraphs()]
    lines += circle.values()
    signed = review.project.requires_signature
    return "\n".join([*lines, to_be_signed(review) if signed else _commands(review, *shown.verbs)])


def _commands(review: Review, approve: str, reject: str) -> str:
    said = {
        "approve": f"{APPROVE_WORDS[0]} {review.pk}",
        "approving": approve,
        "reject": f"{REJECT_WORDS[0]} {review.pk}",
        "rejecting": reject,
    }
    if overrides(review):
        text = _(
            'Reply "%(approve)s" and the reason: %(approving)s; "%(reject)s" and the reason: %(rejecting)s.'
        )
    else:
        text = _('Reply "%(approve)s": %(approving)s; "%(reject)s" and the reason: %(rejecting)s.')
    return text % said


def deed(review: Review, decision: str = "") -> str:
    """What was decided, in the words of its button; the status where it has none of its own."""
    status = {"approve": Review.Status.APPROVED, "reject": Review.Status.REJECTED}.get(
        decision, Review.Status(review.status)
    )
    approve, reject = verbs(review, kept_brief(review) or Brief())
    told = {Review.Status.APPROVED: approve, Review.Status.REJECTED: reject}.get(status, "")
    return str(status.label) if told in ("", _("Approve"), _("Reject")) else told


def to_be_signed(review: Review) -> str:
    """Why nothing typed or tapped decides it, and the way to its page."""
    return f"{_('This project wants decisions signed in the console.')} {page_of(review)}"


def to_be_shown(review: Review) -> str:
    """Why nothing is decided by who lacks the second factor of their role, and the way to its page."""
    told = _("Your role demands a second factor: set one up in the console first.")
    return f"{told} {page_of(review)}"


def shown_now(review: Review, member: Member) -> str:
    """The review for who wants to decide what they have not been shown; from now on they have."""
    text = told_to(member, in_words(Circle.of(review, review.task_run)))
    hint = _("You have not been shown this review; nothing was decided.")
    return "\n".join([hint, text, page_of(review)])


def last_seen(review_id: int, row: InboxMessage) -> str:
    """The hash of what the newest card showed when the message came; blank where its sender saw none.

    A card that is made while the message waits was not what its sender had read.
    """
    made = Card.objects.filter(
        kind=KIND, ref=str(review_id), created_at__lte=row.received_at
    ).order_by("-version")
    card = made.first()
    return card.seen if card and _was_shown(card, row) else ""


def _was_shown(card: Card, row: InboxMessage) -> bool:
    """Whether the sender of a message has the card, was told in words, or has tried to decide it before."""
    return (
        (row.from_user in card.to_user.split("|") and is_whole(card))
        or _was_told(card, row)
        or any(_tried(earlier, card) for earlier in _since(card, row))
    )


def is_whole(card: Card) -> bool:
    """Whether the card shows all that is decided on: one that does not only links to the console."""
    buttons = json.loads(card.content)["button_list"]
    return any("key" in one for one in buttons)


def _was_told(card: Card, row: InboxMessage) -> bool:
    """A reminder or an escalation of this version (their keys in `wechat.reviews.reconcile`)."""
    name = f"{card.ref}@{card.version}:"
    told = OutboxMessage.objects.filter(
        to_user=row.from_user, key__contains=name, created_at__lte=row.received_at
    )
    keys = told.values_list("key", flat=True)
    return any(re.search(rf"(?<!\d){re.escape(name)}", key) for key in keys)


def _since(card: Card, row: InboxMessage) -> list[InboxMessage]:
    """What the sender wrote before, and was answered while the card was the newest."""
    return [
        *InboxMessage.objects.filter(
            from_user=row.from_user,
            pk__lt=row.pk,
            done_at__gte=card.created_at,
            done_at__lte=row.received_at,
        )
    ]


def _tried(row: InboxMessage, card: Card) -> bool:
    said = commands.read_command(row.content)
    return isinstance(said, Decide) and str(said.review_id) == card.ref

"""What the sender of a message had been shown of a review before: only what had reached them counts.

By the card, by a reminder in words, or by the reply to an earlier try to decide it.
"""

from __future__ import annotations

import json
import re

from django.conf import settings

from wechat.models import Card, InboxMessage, OutboxMessage, Stream
from wechat.reviews.review_words import KIND

Status = OutboxMessage.Status


def last_seen(review_id: int, row: InboxMessage) -> str:
    """The hash of what the newest card showed when the message came; blank where its sender saw none.

    A card that is made while the message waits was not what its sender had read.
    """
    made = Card.objects.filter(
        kind=KIND, ref=str(review_id), created_at__lte=row.received_at
    ).order_by("-version")
    card = made.first()
    if card is None:
        return ""
    was_shown = _by_card(card, row) or _in_words(card, row) or _in_a_reply(card, row)
    return card.seen if was_shown else ""


def _by_card(card: Card, row: InboxMessage) -> bool:
    """By the card, where it shows all that is decided on, or by the words that stand in for it."""
    is_theirs = row.from_user in card.to_user.split("|") and _is_whole(card)
    return is_theirs and _had_come(f"card:{card.task_id}", card.to_user, row)


def _is_whole(card: Card) -> bool:
    """Whether the card shows all that is decided on: one that does not only links to the console."""
    buttons = json.loads(card.content)["button_list"]
    return any("key" in one for one in buttons)


def _in_words(card: Card, row: InboxMessage) -> bool:
    """By words in place of the card, a reminder or an escalation (keys: `cards.send_or_tell`, `reconcile`)."""
    name = f"{card.ref}@{card.version}:"
    told = OutboxMessage.objects.filter(to_user=row.from_user, key__contains=name)
    ours = re.compile(
        rf"((?:{KIND}:|remind(?:ed)?:|escalated:|reassigned:{KIND}_){re.escape(name)}.*)#\d+"
    )
    found = filter(None, map(ours.fullmatch, told.values_list("key", flat=True)))
    keys = [one[1] for one in found]
    # Of so many parts the last one may be a link to the rest.
    whole = [key for key in {*keys} if keys.count(key) < settings.WECOM_MOST_PARTS]
    return any(_had_come(key, row.from_user, row) for key in whole)


def _in_a_reply(card: Card, row: InboxMessage) -> bool:
    """By the reply to a message that wanted to decide what its sender had not been shown."""
    earlier = InboxMessage.objects.filter(
        from_user=row.from_user,
        pk__lt=row.pk,
        shown=f"{card.ref}@{card.version}",
        done_at__lte=row.received_at,
    )
    return any(_was_answered(one, row) for one in earlier)


def _was_answered(earlier: InboxMessage, row: InboxMessage) -> bool:
    stream = Stream.objects.filter(inbox=earlier).first()
    key = f"stream:{stream.pk}" if stream else f"inbox:{earlier.pk}"
    if OutboxMessage.objects.filter(key=f"{key}#1").exists():
        return _had_come(key, row.from_user, row)
    # In the stream itself, which WeCom has asked for.
    shown_at = stream.delivered_at if stream and not stream.expired_at else None
    return shown_at is not None and shown_at <= row.received_at


def _had_come(key: str, lane: str, row: InboxMessage) -> bool:
    """Whether a message, every part of it, had reached the sender of `row` when they wrote that."""
    parts = [*OutboxMessage.objects.filter(to_user=lane, key__startswith=f"{key}#")]
    return bool(parts) and all(_part_had_come(part, row) for part in parts)


def _part_had_come(part: OutboxMessage, row: InboxMessage) -> bool:
    """A part, or the words that were sent in its place."""
    if part.status in OutboxMessage.DEAD_LETTERS:
        return _had_come(f"fallback:{part.pk}:{row.from_user}", row.from_user, row)
    if part.sent_at is None or row.from_user in part.undelivered.split("|"):
        return False
    return part.status == Status.SENT and part.sent_at <= row.received_at

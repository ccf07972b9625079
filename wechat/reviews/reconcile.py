"""Reviews that nobody decides because WeCom lost something (wecom.md 0.1 item 10; A13, A14).

A card that never arrived goes to others, a review whose click was dropped is recalled to its reviewers.
Every message has a key of its own, so the job may run as often as it likes. Nobody is recalled while they rest.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.utils import translation
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from core.house.alone import each
from core.house.db import atomic
from engines.models import Review
from engines.sop import asking
from projects.models import Member
from wechat.models import Card, OutboxMessage
from wechat.outbound import alerts
from wechat.outbound.outbox import tell
from wechat.reviews import review_cards
from wechat.reviews.review_audience import Circle
from wechat.reviews.review_words import (
    KIND,
    in_words,
    page_of,
)

MOST_REMINDERS = 3
SETTLED = timedelta(minutes=5)  # a card that has just been queued is still under way
LOST = gettext_noop("The reviewer could not be reached, so you are asked.")
OPEN = gettext_noop("This review is still open.")
LATE = gettext_noop("Nobody has decided this review, so you are asked.")


def reconcile() -> int:
    """Look at every open review; how many of them needed something."""
    rows = Review.objects.filter(status=Review.Status.OPEN, created_at__lt=now() - SETTLED)
    rows = rows.select_related("project", "task_run__skill")
    found: list[bool] = []
    each("cards", rows, lambda review: found.append(_look_at(review)))
    return sum(found) + _close_answered()


def _close_answered() -> int:
    """Take the buttons off cards of answered reviews whose event could not be told; of how many reviews."""
    waiting = Card.objects.filter(kind=KIND, state=Card.State.OPEN)
    refs = [int(ref) for ref in waiting.values_list("ref", flat=True).distinct()]
    rows = Review.objects.filter(pk__in=refs).exclude(status=Review.Status.OPEN)
    answered = [*rows.values_list("pk", flat=True)]
    return len(answered) - each("cards", answered, review_cards.show_as_it_stands)


def _look_at(review: Review) -> bool:
    card = Card.objects.filter(kind=KIND, ref=str(review.pk), version=review.version)
    found, circle = card.first(), _circle(review)
    with atomic():
        if found is None:
            if not _is_still_asked(review):
                return False
            review_cards.send_review_card(circle, review.task_run)
            return True
        if is_lost(found):
            return _reassign(circle, found)
    return _remind_late(circle, found)


def _is_still_asked(review: Review) -> bool:
    """Whether it waits as it was read; nobody decides it before this transaction ends."""
    same = Review.objects.filter(pk=review.pk, version=review.version, status=Review.Status.OPEN)
    return same.update(version=review.version) == 1


def _circle(review: Review) -> Circle:
    return Circle.of(review, review.task_run)


def is_lost(card: Card) -> bool:
    """Whether none of its recipients has the card."""
    row = OutboxMessage.objects.filter(key=f"card:{card.task_id}#1").first()
    if row is not None and row.status in OutboxMessage.DEAD_LETTERS:
        return True
    return set(card.to_user.split("|")) <= alerts.unreachable()


def _reassign(circle: Circle, card: Card) -> bool:
    """Ask those who have not been asked: the other reviewers, else the administrators (A13)."""
    asked = set(card.to_user.split("|"))
    people = [one for one in circle.reviewers() if one.wecom_userid not in asked]
    people = people or [one for one in circle.administrators() if one.wecom_userid not in asked]
    return _ask(circle, people, LOST, f"reassigned:{card.task_id}")


def remind(review: Review, key: str) -> bool:
    """Recall a review to those who decide it (A14)."""
    return _remind(_circle(review), key)


def escalate(review: Review) -> bool:
    """Tell the administrators that nobody decides."""
    circle = _circle(review)
    return _ask(circle, circle.administrators(), LATE, f"escalated:{review.pk}@{review.version}")


def _remind(circle: Circle, key: str) -> bool:
    return _ask(circle, circle.reviewers(), OPEN, key)


def _remind_late(circle: Circle, card: Card) -> bool:
    review = circle.review
    times = int((now() - card.created_at) / timedelta(hours=settings.WECOM_REMIND_HOURS))
    if not times or not asking.may_recall(review):
        return False
    with atomic():
        return _remind(circle, f"remind:{review.pk}@{review.version}:{min(times, MOST_REMINDERS)}")


def _ask(circle: Circle, people: list[Member], intro: str, key: str) -> bool:
    """A text with the commands and the link, to each person once per `key`."""
    review = circle.review
    for one in people:
        with translation.override(one.language):
            text = "\n".join((_(intro), in_words(circle), page_of(review)))
        tell(to=one, content=text, key=f"{key}:{one.wecom_userid}")
    return bool(people)

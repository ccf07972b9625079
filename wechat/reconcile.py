"""Reviews that nobody decides because WeCom lost something (wecom.md 0.1 item 10; A13, A14).

A card that never arrived goes to others, a review whose click was dropped is recalled to its reviewers.
Every message has a key of its own, so the job may run as often as it likes.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.utils import translation
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from engines.models import Review
from projects.db import atomic
from projects.models import Member, Role
from wechat import alerts, cards, review_cards
from wechat.models import Card, OutboxMessage
from wechat.outbox import tell

MOST_REMINDERS = 3
SETTLED = timedelta(minutes=5)  # a card that has just been queued is still under way
LOST = gettext_noop("The reviewer could not be reached, so you are asked.")
OPEN = gettext_noop("This review is still open.")
LATE = gettext_noop("Nobody has decided this review, so you are asked.")


def reconcile() -> int:
    """Look at every open review; how many of them needed something."""
    rows = Review.objects.filter(status=Review.Status.OPEN, created_at__lt=now() - SETTLED)
    return sum(_look_at(review) for review in rows.select_related("project", "task_run__skill"))


def _look_at(review: Review) -> bool:
    card = Card.objects.filter(kind=review_cards.KIND, ref=str(review.pk), version=review.version)
    found = card.first()
    with atomic():
        if found is None:
            review_cards.ask(review, review.task_run)
            return True
        if is_lost(found):
            return reassign(review, found)
    return _remind_late(review)


def is_lost(card: Card) -> bool:
    """Whether none of its recipients has the card."""
    row = OutboxMessage.objects.filter(key=f"card:{card.task_id}#1").first()
    if row is not None and row.status in OutboxMessage.DEAD_LETTERS:
        return True
    return set(card.to_user.split("|")) <= alerts.unreachable()


def reassign(review: Review, card: Card) -> bool:
    """Ask those who have not been asked: the other reviewers, else the administrators (A13)."""
    asked = set(card.to_user.split("|"))
    people = [one for one in review_cards.reviewers(review) if one.wecom_userid not in asked]
    people = people or [one for one in administrators(review) if one.wecom_userid not in asked]
    return _ask(review, people, LOST, f"reassigned:{card.task_id}")


def remind(review: Review, key: str) -> bool:
    """Recall a review to those who decide it (A14)."""
    return _ask(review, review_cards.reviewers(review), OPEN, key)


def escalate(review: Review) -> bool:
    """Tell the administrators that nobody decides."""
    return _ask(review, administrators(review), LATE, f"escalated:{review.pk}@{review.version}")


def administrators(review: Review) -> list[Member]:
    """Administrators who see the review and can be reached."""
    away = alerts.unreachable()
    people = Member.objects.filter(project=review.project, is_active=True, role=Role.ADMIN)
    return [
        one
        for one in people.exclude(wecom_userid="").exclude(wecom_userid__in=away)
        if Review.objects.for_member(one).filter(pk=review.pk).exists()
    ]


def _remind_late(review: Review) -> bool:
    times = int((now() - review.created_at) / timedelta(hours=settings.WECOM_REMIND_HOURS))
    if not times or times > MOST_REMINDERS:
        return False
    with atomic():
        return remind(review, f"remind:{review.pk}@{review.version}:{times}")


def _ask(review: Review, people: list[Member], intro: str, key: str) -> bool:
    """A text with the commands and the link, to each person once per `key`."""
    link = cards.link(f"/admin/engines/review/{review.pk}/change/")
    for one in people:
        with translation.override(one.language):
            text = "\n".join((_(intro), review_cards.as_text(review), link))
        tell(
            to_user=one.wecom_userid,
            project=review.project,
            content=text,
            key=f"{key}:{one.wecom_userid}",
        )
    return bool(people)

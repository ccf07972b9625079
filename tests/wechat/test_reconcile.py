"""Reviews that WeCom lost: asked again, of others, recalled (reference/wecom.md 8.3, A13, A14)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils.timezone import now

from core.house.db import atomic
from engines.models import Review
from engines.sop.asking import ask_anew
from engines.sop.run_events import Kind, keep_event
from projects.models import Member, Project
from tests.engines.cron.kit import at, clock, no_rest
from tests.engines.sop.kit import tell
from tests.support.study import Study
from tests.wechat.test_decisions import Run, suspend
from tests.wechat.working import click, deliver, outgoing, receive, work
from wechat.models import Alert, Card, OutboxMessage
from wechat.reviews.reconcile import reconcile

pytestmark = pytest.mark.django_db
__all__ = ["suspend"]


@pytest.fixture(autouse=True)
def _rested(study: Study) -> None:
    no_rest(study)


def later(**span: float) -> Any:
    return time_machine.travel(now() + timedelta(**span), tick=True)


def hours(count: float) -> None:
    with later(hours=count):
        reconcile()


def test_a_review_on_its_way_is_left_alone(suspend: Run) -> None:
    suspend()
    before = OutboxMessage.objects.count()
    reconcile()
    with later(minutes=30):
        reconcile()
    assert OutboxMessage.objects.count() == before


@pytest.mark.full
def test_a_reviewer_who_left_the_company(study: Study, suspend: Run) -> None:
    """A13: 81013 for the card; the administrator is asked, and decides by text."""
    review = suspend()
    study.stand_ins.fault("wecom", "body", {"errcode": 81013, "errmsg": "all invalid"}, times=None)
    deliver()
    study.stand_ins.reset()
    assert Alert.objects.get(subject="wanghushi").cleared_at is None
    hours(0.5)
    hours(0.6)
    (text,) = outgoing("admin")
    assert f"同意 {review.pk}" in text
    assert f"/admin/engines/review/{review.pk}/" in text
    with later(hours=1):
        deliver()
        receive(f"同意 {review.pk}", user="admin")
        work()
    review.refresh_from_db()
    assert review.status == Review.Status.APPROVED


@pytest.mark.full
def test_a_reviewer_who_left_after_the_card_had_come(study: Study, suspend: Run) -> None:
    """A13: WeCom said so about another message; the card is with nobody any more."""
    review = suspend()
    deliver()
    Alert.objects.create(code=Alert.Code.UNREACHABLE, subject="wanghushi")
    hours(0.5)
    (text,) = outgoing("admin")
    assert f"同意 {review.pk}" in text


def test_one_of_two_who_have_the_card_is_enough(study: Study, suspend: Run) -> None:
    Member.objects.create(project=study.project, wecom_userid="crc_2", role="CRC", site="site_a")
    suspend()
    Alert.objects.create(code=Alert.Code.UNREACHABLE, subject="wanghushi")
    hours(0.5)
    assert not outgoing("admin")


@pytest.mark.full
def test_the_other_reviewer_comes_before_the_administrator(study: Study, suspend: Run) -> None:
    review = suspend()
    OutboxMessage.objects.filter(kind="card").update(status=OutboxMessage.Status.FAILED)
    Member.objects.create(project=study.project, wecom_userid="crc_2", role="CRC", site="site_a")
    hours(0.5)
    assert len(outgoing("crc_2")) == 1
    assert not outgoing("admin")
    assert review.status == Review.Status.OPEN


def test_the_next_review_is_not_sent_to_who_is_away(study: Study, suspend: Run) -> None:
    Alert.objects.create(code=Alert.Code.UNREACHABLE, subject="wanghushi")
    review = suspend()
    assert Card.objects.get(ref=str(review.pk), kind="review").to_user == "admin"


def test_nobody_could_be_asked_at_first(study: Study, suspend: Run) -> None:
    people = Member.objects.filter(project=study.project, role__in=["CRC", "ADMIN"])
    people.update(is_active=False)
    review = suspend()
    assert not Card.objects.exists()
    people.update(is_active=True)
    hours(0.5)
    assert Card.objects.get(ref=str(review.pk)).to_user == "wanghushi"


@pytest.mark.full
def test_a_dropped_click_is_brought_to_mind(suspend: Run) -> None:
    """A14: the event never came; the console shows it open, the reviewer is reminded once a day."""
    review = suspend()
    OutboxMessage.objects.update(status=OutboxMessage.Status.SENT)
    hours(23)
    assert not outgoing("wanghushi")
    for late in (25, 26, 49, 73, 97, 121):
        hours(late)
    assert len(outgoing("wanghushi")) == 3
    card = Card.objects.get(ref=str(review.pk), kind="review")
    click(card.task_id, "approve", "wanghushi", selected="r_ok")
    work()
    hours(200)
    review.refresh_from_db()
    assert review.status == Review.Status.APPROVED
    assert len(outgoing("wanghushi")) == 3


@pytest.mark.full
def test_the_engines_own_reminders_reach_people_once(suspend: Run) -> None:
    review = suspend()
    for _ in range(2):
        with atomic():
            keep_event(Kind.REVIEW_REMINDED, review.task_run, review)
            keep_event(Kind.REVIEW_ESCALATED, review.task_run, review)
        tell()
    assert len(outgoing("wanghushi")) == 1
    assert len(outgoing("admin")) == 1


@pytest.mark.full
def test_nobody_of_another_site_is_asked(study: Study, suspend: Run) -> None:
    suspend("P001")
    OutboxMessage.objects.filter(kind="card").update(status=OutboxMessage.Status.FAILED)
    hours(0.5)
    hours(30)
    assert not outgoing("crc_b")


@pytest.mark.full
def test_a_reviewer_who_sees_no_cards_is_asked_in_words(study: Study, suspend: Run) -> None:
    Member.objects.filter(wecom_userid="wanghushi").update(plain_text=True)
    review = suspend()
    (text,) = outgoing("wanghushi")
    assert f"驳回 {review.pk}" in text
    deliver()
    receive(f"同意 {review.pk}", user="wanghushi")
    work()
    review.refresh_from_db()
    assert review.status == Review.Status.APPROVED


def rest(study: Study) -> None:
    Project.objects.filter(pk=study.project.pk).update(quiet_from="21:00", quiet_until="07:30")


@pytest.mark.full
def test_nobody_is_reminded_at_night(study: Study, suspend: Run) -> None:
    rest(study)
    with at(clock(study, "02:30")):
        suspend()
        assert Card.objects.filter(kind="review").exists(), "the card itself goes out"
    told = []
    for moment in ("02:31", "07:29", "07:31", "07:41"):
        with at(clock(study, moment, days=1)):
            reconcile()
        told.append(len(outgoing("wanghushi")))
    assert told == [0, 0, 1, 1]


@pytest.mark.full
def test_what_is_urgent_is_recalled_at_night(study: Study, suspend: Run) -> None:
    rest(study)
    with at(clock(study, "02:30")):
        review = suspend()
    run = review.task_run
    run.config = {**run.config, "urgent": True}
    run.save()
    with at(clock(study, "02:31", days=1)):
        reconcile()
    assert len(outgoing("wanghushi")) == 1


def test_nobody_is_reminded_once_the_study_is_closed(study: Study, suspend: Run) -> None:
    suspend()
    Project.objects.filter(pk=study.project.pk).update(status=Project.Status.CLOSED)
    hours(25)
    assert not outgoing("wanghushi")


@pytest.mark.full
def test_a_review_is_recalled_after_a_long_downtime(suspend: Run) -> None:
    suspend()
    hours(150)
    hours(250)
    assert len(outgoing("wanghushi")) == 1


@pytest.mark.full
def test_a_question_that_is_put_anew_is_no_late_one(suspend: Run) -> None:
    review = suspend()
    with later(hours=47):
        ask_anew(review, [{"record_id": "P001"}], True)
        tell()
    before = len(outgoing("wanghushi"))
    hours(49)
    assert len(outgoing("wanghushi")) == before
    hours(72)
    assert len(outgoing("wanghushi")) == before + 1

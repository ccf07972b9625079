"""Raw messages are forgotten, what still waits is not (issue 5, "Retention")."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils.timezone import now
from pytest_django import Settings

from core.house.models import CronFiring
from projects.models import Member
from tests.wechat.working import outgoing, receive, work
from wechat import housekeeping
from wechat.models import Answer, Card, InboxMessage, OutboxMessage
from wechat.outbound.cards import send
from wechat.retention import forget, kept_for
from wechat.tasks import sweep

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("people")]


def after(**span: float) -> time_machine.travel:
    return time_machine.travel(now() + timedelta(**span), tick=True)


def exchange() -> None:
    receive("你好", user="ghost")
    work()
    OutboxMessage.objects.update(status=OutboxMessage.Status.SENT)


def test_thirty_days_by_default() -> None:
    exchange()
    with after(days=29):
        assert forget() == 0
    with after(days=31):
        forget()
        assert not InboxMessage.objects.exists()
        assert not OutboxMessage.objects.exists()


def test_the_setting_holds_but_a_key_lives_a_day(settings: Settings) -> None:
    settings.WECOM_RETENTION_DAYS = 0
    assert kept_for() == timedelta(hours=24)
    exchange()
    with after(hours=23):
        forget()
        assert InboxMessage.objects.count() == 1
    with after(hours=25):
        forget()
        assert not InboxMessage.objects.exists()


def test_what_waits_is_kept() -> None:
    receive("你好", user="ghost")
    receive("在吗", user="ghost")
    rows = InboxMessage.objects.order_by("pk")
    rows.filter(pk=rows[0].pk).update(status=InboxMessage.Status.DONE)
    OutboxMessage.objects.create(key="k#1", to_user="ghost", kind="text", payload="{}")
    with after(days=400):
        forget()
    assert InboxMessage.objects.count() == 1
    assert OutboxMessage.objects.count() == 1


def test_the_card_of_an_open_review_is_kept_with_its_message(people: dict[str, Member]) -> None:
    """A click on it must still find it, and reconciling whether it ever arrived."""
    project = people["zhangyi"].project
    for kind, ref in (("review", "1"), ("review", "2"), ("welcome", "x")):
        send(
            kind=kind,
            ref=ref,
            version=1,
            project=project,
            to=["wanghushi"],
            content={"card_type": "x"},
        )
    Card.objects.filter(ref="2").update(state=Card.State.CLOSED)
    OutboxMessage.objects.update(status=OutboxMessage.Status.SENT)
    with after(days=400):
        forget()
    assert Card.objects.get().task_id == "review_1@1"
    assert OutboxMessage.objects.get().key == "card:review_1@1#1"


def test_pages_of_long_answers_go_too(people: dict[str, Member]) -> None:
    Answer.objects.create(text="长", to_user="zhangyi", project=people["zhangyi"].project)
    with after(days=31):
        forget()
    assert not Answer.objects.exists()


def test_the_sweeper_runs_it_once_a_night() -> None:
    exchange()
    with after(days=40):
        sweep()
        sweep()
        assert CronFiring.objects.filter(job="wechat.forget").count() == 1
    assert outgoing() == []
    assert set(housekeeping.JOBS) == {
        "audit.anchor",
        "audit.verify",
        "wechat.forget",
        "wechat.reviews.reconcile",
    }

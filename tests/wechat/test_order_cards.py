"""An order for many waits for one tap on its card (or the typed word)."""

from __future__ import annotations

import pytest

from engines.models import Batch, TaskRun
from study.models import Subject
from tests.support.study import Study
from tests.wechat.working import click, outgoing, payloads, receive, said, work
from wechat.models import Card
from wechat.outbound import order_cards

pytestmark = pytest.mark.django_db
USER = "crc_b"


def ordered() -> Card:
    receive("全部受试者跑一遍质控", user=USER)
    work()
    return Card.objects.filter(kind=order_cards.KIND).latest("pk")


def tap(card: Card, key: str, user: str = USER) -> str:
    click(card.task_id, key, user)
    work()
    return outgoing(user)[-1]


@pytest.mark.full
def test_one_tap_starts_whom_the_message_listed_and_once(study: Study) -> None:
    mine = Subject.objects.filter(project=study.project, site="site_b", is_present=True)
    card = ordered()
    assert not TaskRun.objects.exists()

    tap(card, "start")
    assert set(TaskRun.objects.values_list("record_id", flat=True)) == {
        *mine.values_list("record_id", flat=True)
    }
    assert payloads("card_update")
    again = tap(card, "start")
    assert again == said("This order is no longer open; nothing was started.")
    assert Batch.objects.count() == 1


@pytest.mark.full
def test_it_can_be_left(study: Study) -> None:
    assert tap(ordered(), "leave") == said("Nothing was started.")
    assert not TaskRun.objects.exists()


@pytest.mark.full
def test_an_older_card_starts_nothing(study: Study) -> None:
    first = ordered()
    ordered()
    assert tap(first, "start") == said("This order is no longer open; nothing was started.")
    assert not TaskRun.objects.exists()


def test_it_is_its_readers_alone(study: Study) -> None:
    assert tap(ordered(), "start", "wanghushi") == said("This card is meant for somebody else.")
    assert not TaskRun.objects.exists()

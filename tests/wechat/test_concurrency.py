"""Many hands at once: nothing lost, nothing doubled, in order per person (issue 5, Must show 2)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.utils.timezone import now

from projects.models import Member
from tests.wechat.callback_kit import Callback, plaintext
from tests.wechat.working import outgoing, receive_kind
from tests.wecom_standin import SEND, USERS, WecomSim
from wechat.inbound import inbox
from wechat.models import InboxMessage, OutboxMessage
from wechat.outbound import sender
from wechat.outbound.outbox import enqueue

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(calls: Sequence[Callable[[], object]], workers: int = 8) -> list[object]:
    """Run the calls on threads; an exception in one of them is raised here."""

    def run(call: Callable[[], object]) -> object:
        try:
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(run, calls))


@pytest.mark.full
def test_one_message_delivered_by_ten_connections_at_once(people: dict[str, Member]) -> None:
    plain = plaintext()
    answers = at_once([lambda: Callback(plain).post(Client()) for _ in range(10)], 10)
    assert {answer.status_code for answer in answers} == {200}  # type: ignore[attr-defined]
    assert len({answer.content for answer in answers}) == 1  # type: ignore[attr-defined]
    assert InboxMessage.objects.count() == 1


def test_one_row_given_to_eight_workers_at_once(people: dict[str, Member]) -> None:
    row = receive_kind("image")
    at_once([lambda: inbox.process(row.pk) for _ in range(8)])
    row.refresh_from_db()
    assert (row.status, row.attempts) == ("done", 1)
    assert len(outgoing()) == 1


@pytest.mark.full
def test_many_messages_of_few_people_in_any_order(people: dict[str, Member]) -> None:
    """Every task is delivered three times, shuffled; a last sweep takes what had to wait."""
    rows = [receive_kind("image", user=user) for _ in range(6) for user in people]
    calls = [lambda pk=row.pk: inbox.process(pk) for row in rows * 3]
    random.Random(7).shuffle(calls)
    at_once(calls)
    while pending := list(InboxMessage.objects.filter(status="new").order_by("pk")):
        inbox.process(pending[0].pk)
    assert set(InboxMessage.objects.values_list("status", flat=True)) == {"done"}
    assert set(InboxMessage.objects.values_list("attempts", flat=True)) == {1}
    for user in people:
        mine = OutboxMessage.objects.filter(to_user=user).order_by("pk")
        numbers = [
            int(key.split(":")[1].split("#")[0]) for key in mine.values_list("key", flat=True)
        ]
        assert numbers == sorted(numbers)
        assert len(numbers) == 6


@pytest.mark.full
def test_lanes_sent_by_many_workers_while_wecom_stumbles(wecom: WecomSim) -> None:
    """Many sends are processed but never answered; each message is seen, in order, and once unless flagged."""
    for number in range(12):
        for user in USERS:
            enqueue(
                to_user=user,
                project=None,
                kind="text",
                content=f"{user} {number}",
                key=f"{user}{number}",
            )
    turn = 0
    while OutboxMessage.objects.filter(status__in=OutboxMessage.UNSENT).exists():
        assert turn < 200
        if turn < 4:
            wecom.fault(SEND, "timeout_after", 0.0, times=2)
            wecom.fault(SEND, "reset", times=1)
        with time_machine.travel(now() + timedelta(seconds=5 * turn), tick=True):
            at_once([lambda user=user: sender.send_lane(user) for user in USERS * 3])
        turn += 1
    assert set(OutboxMessage.objects.values_list("status", flat=True)) == {"sent"}
    flagged = OutboxMessage.objects.filter(possible_duplicate=True).values_list("key", flat=True)
    for user in USERS:
        texts = wecom.texts(user)
        assert list(dict.fromkeys(texts)) == [f"{user} {number}" for number in range(12)]
        twice = {text for text in texts if texts.count(text) > 1}
        assert {f"{text.replace(' ', '')}#1" for text in twice} <= set(flagged)


@pytest.mark.full
def test_equal_texts_to_one_person_all_arrive(wecom: WecomSim) -> None:
    """The duplicate check swallows repeats, not two equal answers."""
    for number in range(20):
        enqueue(
            to_user="zhangyi", project=None, kind="text", content="P001 已入组", key=str(number)
        )
    at_once([lambda: sender.send_lane("zhangyi") for _ in range(6)])
    sender.send_lane("zhangyi")
    assert wecom.texts("zhangyi") == ["P001 已入组"] * 20

"""1,000 questions through 50 kicks and blips: each answered once, in order per user (issue 27, must show 2)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from pytest_django import Settings

from tests.house.kit import make_member, until
from tests.support.study import Study
from tests.wechat.link_kit import SHORT, all_sent, asks, configure, finals, link
from wechat.aibot.holder import Holder
from wechat.aibot.link import Timing
from wechat.inbound import inbox
from wechat.models import BotConnection, InboxMessage, OutboxMessage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
QUESTIONS, BLOWS, USERS, WORKERS = 1000, 50, 40, 2
TIMING = Timing(poll_s=0.02, answer_s=10.0, renew_s=1.0)
# WeCom lets a user have three questions under way (wecom.md 5).
UNDER_WAY = 3 * USERS


@contextmanager
def running(*calls: Callable[[], object]) -> Iterator[None]:
    """Each on a thread with a connection of its own."""

    def run(call: Callable[[], object]) -> None:
        try:
            call()
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for one in threads:
        one.start()
    try:
        yield
    finally:
        for one in threads:
            one.join(60)


def work_until(stop: threading.Event) -> None:
    """As a worker: what is due, oldest first; a row that another worker has is passed over."""
    while not stop.is_set():
        rows = InboxMessage.objects.filter(status__in=InboxMessage.UNFINISHED).order_by("pk")
        for pk in list(rows.values_list("pk", flat=True)[:20]):
            inbox.process(pk)
        stop.wait(0.02)


def test_each_is_answered_once_and_in_order(study: Study, settings: Settings) -> None:
    stand_ins = study.stand_ins
    configure(settings, stand_ins)
    people = [make_member(study.project, f"u{number:02}").wecom_userid for number in range(USERS)]
    switches = {"duplicates": 0.2, "swap_acks": 0.2, "lose_acks": 0.002, "new_req_id": True}
    link(stand_ins, switches=switches)
    asked: dict[str, list[str]] = {user: [] for user in people}
    holder, stop = Holder(TIMING, SHORT), threading.Event()

    def subscribed() -> bool:
        return bool(link(stand_ins)["subscribed"])

    with running(holder.run, *[lambda: work_until(stop)] * WORKERS):
        try:
            for number in range(QUESTIONS):
                user = people[number % USERS]
                text = "P001 入组了吗?" if number % 25 == 0 else "你好"
                asked[user].append(asks(stand_ins, text, user))
                if number % 10 == 0:
                    until(lambda: len(link(stand_ins)["unfinished"]) < UNDER_WAY, limit_s=300)
                if number % (QUESTIONS // BLOWS) == 0:
                    until(subscribed, limit_s=120)
                    link(stand_ins, **({"kick": True} if number % 40 else {"drop": True}))
            until(lambda: not link(stand_ins)["unfinished"] and all_sent(), limit_s=900)
        finally:
            holder.stop.set()
            stop.set()
    seen = finals(stand_ins)
    assert Counter(row["type"] for row in seen) == {"stream": QUESTIONS}
    for user, msgids in asked.items():
        assert [row["msgid"] for row in seen if row["to"] == user] == msgids
    assert InboxMessage.objects.filter(status="done").count() == QUESTIONS
    assert not OutboxMessage.objects.filter(possible_duplicate=True).exists()
    assert link(stand_ins)["subscriptions"] > BLOWS
    assert 0 < BotConnection.objects.get().kicks <= BLOWS // 2

"""Whatever WeCom answers, in whatever order: at most once each, and never out of order (wecom.md 8.2)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.wechat.working import claim
from tests.wecom_standin import GETTOKEN, SEND, WecomSim
from wechat.models import AccessToken, OutboxMessage
from wechat.outbound import sender
from wechat.outbound.outbox import enqueue

pytestmark = pytest.mark.django_db
START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
# Refused, busy four times in a row, or two tokens refused in a row: nothing else gives a message up.
GIVEN_UP = {81013, -1, 45033, 45009, 40014, 42001, 0}

# (path, kind of fault, value) — each happens once.
TROUBLE = st.sampled_from(
    [
        (SEND, "body", {"errcode": -1}),
        (SEND, "body", {"errcode": 45009}),
        (SEND, "body", {"errcode": 45033}),
        (SEND, "body", {"errcode": 60020, "errmsg": "not allow to access from your ip"}),
        (SEND, "body", {"errcode": 40014}),
        (SEND, "body", {"errcode": 42001}),
        (SEND, "body", {"errcode": 81013}),
        (SEND, "body", ""),
        (SEND, "status", 502),
        (SEND, "reset", None),
        (SEND, "timeout_after", 0.0),
        (GETTOKEN, "status", 502),
        (GETTOKEN, "body", {"errcode": -1}),
        (GETTOKEN, "reset", None),
    ]
)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    troubles=st.lists(TROUBLE, max_size=6),
    killed=st.sets(st.integers(0, 5), max_size=2),
    count=st.integers(1, 5),
)
def test_any_troubles_and_kills(
    wecom: WecomSim, troubles: list[tuple[str, str, Any]], killed: set[int], count: int
) -> None:
    """`killed`: turns in which the worker dies between the call and its commit."""
    OutboxMessage.objects.all().delete()
    AccessToken.objects.all().delete()
    wecom.state.reset()
    wecom.service.reset()
    for number in range(count):
        enqueue(to_user="zhangyi", project=None, kind="text", content=str(number), key=str(number))
    for path, kind, value in troubles:
        wecom.fault(path, kind, value)
    turn = 0
    with time_machine.travel(START, tick=False) as clock:
        while OutboxMessage.objects.filter(status__in=OutboxMessage.UNSENT).exists():
            assert turn < 200
            work(turn in killed)
            due = sender.next_due("zhangyi")
            step = max((due - sender.now()).total_seconds(), 0) + 1 if due else 1
            clock.shift(timedelta(seconds=step))
            turn += 1
    check(wecom, count)


def work(dies: bool) -> None:
    if not dies:
        sender.send_lane("zhangyi")
        return
    row = claim("zhangyi")
    if row is not None:
        sender._deliver(sender.gateway.client(), row)


def check(wecom: WecomSim, count: int) -> None:
    seen = [int(text) for text in wecom.texts("zhangyi")]
    late = OutboxMessage.objects.filter(possible_duplicate=True).exists()
    if not late:
        assert seen == sorted(set(seen))
    sent = {int(row.key.split("#")[0]) for row in OutboxMessage.objects.filter(status="sent")}
    refused = OutboxMessage.objects.filter(status__in=OutboxMessage.DEAD_LETTERS)
    assert sent <= set(seen)
    assert len(sent) + refused.count() == count
    assert {row.error_code for row in refused} <= GIVEN_UP

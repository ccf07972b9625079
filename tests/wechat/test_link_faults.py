"""Whatever dies between two statements of the long connection: each question has one answer (issue 27, O.2)."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import DataError, InterfaceError, OperationalError, connection
from django.utils.timezone import now
from pytest_django import Settings

from core.integrations.wecom import socket as protocol
from core.integrations.wecom.socket import BotSocket, parse_frame
from projects.models import Member
from tests.support.stand_ins import StandIns
from tests.wechat.link_kit import (
    IMAGE,
    QUICK,
    SHORT,
    Until,
    all_sent,
    asks,
    configure,
    finals,
    hold,
    link,
    worked,
)
from tests.wechat.working import work
from wechat.aibot.holder import Holder
from wechat.aibot.link import Timing
from wechat.models import Alert, BotConnection, InboxMessage, OutboxMessage, Stream

pytestmark = [pytest.mark.django_db, pytest.mark.full, pytest.mark.usefixtures("people")]


@pytest.fixture(autouse=True)
def _bot(settings: Settings, stand_ins: StandIns) -> None:
    configure(settings, stand_ins)


class Killed(BaseException):
    """As SIGKILL: nothing after it runs, no `except` and no settlement."""


def kill_at(patch: pytest.MonkeyPatch, where: str, *, after: bool) -> None:
    """End the process the first time it comes to a statement of ours, before it or after it."""
    module, _, name = where.rpartition(".")
    owner = __import__(module, fromlist=[name]) if ".BotSocket" not in where else BotSocket
    real = getattr(owner, name)
    left = [1]

    def dies(*args: Any, **kwargs: Any) -> Any:
        if not left[0]:
            return real(*args, **kwargs)
        left[0] -= 1
        if after:
            real(*args, **kwargs)
        raise Killed

    patch.setattr(owner, name, dies)


def sending(cmd: str, *, finish: bool) -> Callable[..., bool]:
    return lambda told, _req, body=None: (
        told == cmd and bool((body or {}).get("stream", {}).get("finish")) is finish
    )


def kill_at_send(patch: pytest.MonkeyPatch, which: Callable[..., bool], *, after: bool) -> None:
    real, left = BotSocket.send, [1]

    def dies(self: BotSocket, *args: Any) -> None:
        if left[0] and which(*args):
            left[0] -= 1
            if after:
                real(self, *args)
            raise Killed
        real(self, *args)

    patch.setattr(BotSocket, "send", dies)


def die(stand_ins: StandIns, patch: pytest.MonkeyPatch) -> None:
    """Run until it is killed; what runs in `finally` after a SIGKILL does not happen here either."""
    with patch.context() as dead, suppress(Killed):
        dead.setattr("wechat.aibot.posting.lose", lambda posting: None)
        dead.setattr("wechat.aibot.lease.Lease.release", lambda lease: None)
        hold(lambda: worked(stand_ins))
    assert BotConnection.objects.get().lease_until > now()  # nobody gave the lease back


def take_over(stand_ins: StandIns) -> None:
    """Another process, when the lease has run out."""
    with time_machine.travel(now() + timedelta(seconds=31), tick=True):
        hold(lambda: worked(stand_ins) and all_sent())


def one_answer(stand_ins: StandIns) -> None:
    assert len(finals(stand_ins)) == 1
    assert InboxMessage.objects.get().status == "done"
    sent = OutboxMessage.objects.get()
    assert (sent.status, sent.possible_duplicate) == ("sent", False)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    "where",
    [
        "wechat.aibot.answering.store",
        "wechat.aibot.link.answer",
        "wechat.outbound.sender.take",
        "wechat.outbound.sender.settle",
    ],
)
def test_killed_at_a_statement(
    stand_ins: StandIns, monkeypatch: pytest.MonkeyPatch, where: str, after: bool
) -> None:
    with monkeypatch.context() as patch:
        kill_at(patch, where, after=after)
        asks(stand_ins, **IMAGE)
        die(stand_ins, patch)
    take_over(stand_ins)
    one_answer(stand_ins)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("finish", [False, True])
def test_killed_at_a_frame(
    stand_ins: StandIns, monkeypatch: pytest.MonkeyPatch, finish: bool, after: bool
) -> None:
    with monkeypatch.context() as patch:
        kill_at_send(patch, sending(protocol.RESPOND, finish=finish), after=after)
        asks(stand_ins, **IMAGE)
        die(stand_ins, patch)
    take_over(stand_ins)
    one_answer(stand_ins)


@pytest.mark.parametrize("finish", [False, True])
def test_the_connection_breaks_at_a_frame(
    stand_ins: StandIns, monkeypatch: pytest.MonkeyPatch, finish: bool
) -> None:
    real, left = BotSocket.send, [3]
    which = sending(protocol.RESPOND, finish=finish)

    def breaks(self: BotSocket, *args: Any) -> None:
        real(self, *args)
        if left[0] and which(*args):
            left[0] -= 1
            link(stand_ins, drop=True)

    monkeypatch.setattr(BotSocket, "send", breaks)
    asks(stand_ins, **IMAGE)
    hold(lambda: worked(stand_ins) and all_sent())
    one_answer(stand_ins)


def test_an_answer_to_the_first_frame_is_none_to_the_last(stand_ins: StandIns) -> None:
    """Both bear the id of the request: the last waits until WeCom has said something of the first."""
    link(stand_ins, switches={"ack_delay_s": 0.2})
    asks(stand_ins, **IMAGE)
    hold(lambda: worked(stand_ins) and all_sent())
    stream = Stream.objects.get()
    assert stream.opened_at is not None
    sent_at = OutboxMessage.objects.get().sent_at
    assert sent_at is not None
    assert stream.opened_at < sent_at
    one_answer(stand_ins)


def test_wecom_that_says_nothing_is_left(stand_ins: StandIns) -> None:
    link(stand_ins, switches={"lose_acks": 1.0})
    asks(stand_ins, **IMAGE)
    mute = Timing(poll_s=0.01, answer_s=0.1, stop_s=0.1)
    hold(lambda: worked(stand_ins) and link(stand_ins)["subscriptions"] > 3, timing=mute)
    link(stand_ins, switches={"lose_acks": 0.0})
    hold(lambda: OutboxMessage.objects.filter(status="sent").exists())
    one_answer(stand_ins)


@pytest.mark.parametrize("times", [1, 2])
def test_a_frame_that_the_database_refuses_does_not_hold_the_connection_down(
    stand_ins: StandIns, times: int
) -> None:
    """Where it refuses even what is set aside (2), an operator is told all the same."""
    left = [times]

    def refuse(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if left[0] and sql.startswith(f'INSERT INTO "{InboxMessage._meta.db_table}"'):
            left[0] -= 1
            raise DataError("a value that no column takes")
        return execute(sql, params, many, context)

    first, second = asks(stand_ins, **IMAGE), asks(stand_ins, user="wanghushi", **IMAGE)
    with connection.execute_wrapper(refuse):
        hold(lambda: not left[0] and InboxMessage.objects.filter(from_user="wanghushi").exists())
    hold(lambda: worked(stand_ins) or len(finals(stand_ins)) == 1)
    assert [one["msgid"] for one in finals(stand_ins)] == [second] != [first]
    kept = InboxMessage.objects.filter(status=InboxMessage.Status.QUARANTINED)
    assert [one.error for one in kept] == ["DataError"] * (2 - times)
    assert Alert.objects.get(code=Alert.Code.NOT_UNDERSTOOD).detail == "DataError"


def test_a_push_that_may_have_arrived_is_marked(stand_ins: StandIns) -> None:
    asks(stand_ins, **IMAGE)
    hold(lambda: Stream.objects.filter(opened_at__isnull=False).exists())
    link(stand_ins, switches={"forget_requests": True, "lose_acks": 1.0})
    mute = Timing(poll_s=0.01, answer_s=0.3, stop_s=0.1)
    Stream.objects.update(expired_at=now())
    hold(lambda: worked(stand_ins) or len(finals(stand_ins)) > 0, timing=mute)
    link(stand_ins, switches={"lose_acks": 0.0})
    hold(lambda: OutboxMessage.objects.filter(status="sent").exists())
    assert OutboxMessage.objects.get().possible_duplicate
    assert {row["type"] for row in finals(stand_ins)} == {"aibot_push"}


def test_a_push_is_not_repeated_while_its_acknowledgement_stands_out(stand_ins: StandIns) -> None:
    """WeCom may take longer than the row is claimed for; only a row that nobody has in hand is claimed anew."""
    asks(stand_ins, **IMAGE)
    hold(lambda: Stream.objects.filter(opened_at__isnull=False).exists())
    Stream.objects.update(expired_at=now())
    work()
    link(stand_ins, switches={"ack_delay_s": 0.5})

    def sent() -> bool:
        claimed = OutboxMessage.objects.filter(status="sending")
        claimed.update(lease_until=now() - timedelta(seconds=1))
        return all_sent()

    hold(sent)
    assert [row["type"] for row in finals(stand_ins)] == ["aibot_push"]
    assert not OutboxMessage.objects.get().possible_duplicate


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("away", [OperationalError, InterfaceError])
def test_a_database_that_is_away_for_a_moment_does_not_end_the_process(
    stand_ins: StandIns, away: type[Exception]
) -> None:
    """Neither when the lease is taken nor when it is given back."""
    left = [2]

    def refuse(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(f'UPDATE "{BotConnection._meta.db_table}"'):
            left[0] -= 1
            if left[0] >= 0 or '"lease_until" = NULL' in sql:
                raise away("connection already closed")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse):
        hold(lambda: link(stand_ins)["subscribed"])
    assert BotConnection.objects.get().lease_until


def test_a_stop_finishes_what_is_in_hand(stand_ins: StandIns) -> None:
    """SIGTERM while WeCom is slow to answer: the answer is noted, the lease is free at once."""
    link(stand_ins, switches={"ack_delay_s": 0.3})
    asks(stand_ins, **IMAGE)
    hold(lambda: worked(stand_ins))
    one_answer(stand_ins)
    assert BotConnection.objects.get().lease_until is None


def test_who_lost_the_lease_closes_its_connection(stand_ins: StandIns) -> None:
    holder = Holder(Timing(poll_s=0.01, renew_s=0.05), SHORT)
    steps = iter(range(10_000))

    def stolen() -> bool:
        row = BotConnection.objects.first()
        if row and row.holder == holder.lease.holder and row.connected_at:
            BotConnection.objects.update(
                holder="another", fence=row.fence + 1, lease_until=now() + timedelta(minutes=1)
            )
        found = BotConnection.objects.first()
        gone = not link(stand_ins)["subscribed"]
        return bool(found and found.holder == "another" and gone) or next(steps) > 9_000

    holder.stop = Until(stolen)
    holder.run()
    assert BotConnection.objects.get().holder == "another"
    assert not link(stand_ins)["subscribed"]


def test_the_answer_of_a_former_member_goes_out_once(
    stand_ins: StandIns, people: dict[str, Member]
) -> None:
    asks(stand_ins, user="crc_b", **IMAGE)
    hold(lambda: worked(stand_ins), timing=QUICK)
    people["crc_b"].is_active = False
    people["crc_b"].save()
    asks(stand_ins, user="crc_b", **IMAGE)
    hold(lambda: worked(stand_ins))
    assert len(finals(stand_ins)) == 2


@pytest.mark.parametrize(
    "raw",
    ["", "[]", "{}", "nonsense", '{"cmd": 7, "headers": {"req_id": "x"}}', '{"headers": []}'],
)
def test_what_is_no_frame_is_left_alone(raw: str) -> None:
    assert parse_frame(raw) is None


def test_a_frame_is_read() -> None:
    said = {"headers": {"req_id": "r"}, "errcode": 846608, "errmsg": "expired"}
    frame = parse_frame(json.dumps(said))
    assert frame is not None
    assert (frame.cmd, frame.req_id, frame.code, frame.detail) == ("", "r", 846608, "expired")

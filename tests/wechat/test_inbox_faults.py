"""Whatever dies, every accepted question ends in exactly one reply, in order (decisions.md; issue 5)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils.timezone import now

from core.house.db import atomic
from core.house.leases import LEASE
from tests.house.kit import until
from tests.wechat.working import outgoing, receive, receive_event, receive_kind, work
from wechat.inbound import inbox
from wechat.inbound.job import Job, LostLease, kept
from wechat.inbound.parse import parse_xml
from wechat.models import InboxMessage, OutboxMessage

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("people")]
Status = InboxMessage.Status


def later(seconds: float) -> time_machine.travel:
    return time_machine.travel(now() + timedelta(seconds=seconds), tick=True)


def state(row: InboxMessage) -> tuple[str, int]:
    row.refresh_from_db()
    return row.status, row.attempts


def break_at(monkeypatch: pytest.MonkeyPatch, where: str, times: int) -> None:
    """Let a step of ours raise the first `times` times it is reached, then work as always."""
    module, _, name = where.rpartition(".")
    real = getattr(__import__(module, fromlist=[name]), name)
    left = [times]

    def breaks(*args: Any, **kwargs: Any) -> Any:
        if left[0]:
            left[0] -= 1
            raise RuntimeError("陈建国 13800000001")
        return real(*args, **kwargs)

    monkeypatch.setattr(where, breaks)


def test_a_task_delivered_twice_answers_once() -> None:
    row = receive_kind("image")
    for _ in range(3):
        inbox.process(row.pk)
    assert len(outgoing()) == 1
    assert state(row) == (Status.DONE, 1)


def test_a_row_that_is_gone_or_done_is_tolerated() -> None:
    assert inbox.process(987654321) is None
    row = receive_kind("image")
    InboxMessage.objects.update(status=Status.QUARANTINED)
    assert inbox.process(row.pk) is None


def test_messages_of_one_person_keep_their_order() -> None:
    first, second = receive_kind("image"), receive_kind("image")
    other = receive_kind("image", user="crc_b")
    assert inbox.process(second.pk) is None
    assert state(second) == (Status.NEW, 0)
    assert inbox.process(other.pk) is None
    assert state(other)[0] == Status.DONE
    assert inbox.process(first.pk) == second.pk
    assert inbox.process(second.pk) is None
    keys = (
        OutboxMessage.objects.filter(to_user="zhangyi").order_by("pk").values_list("key", flat=True)
    )
    assert list(keys) == [f"inbox:{first.pk}#1", f"inbox:{second.pk}#1"]


def test_a_row_in_work_is_left_alone_until_its_lease_ends() -> None:
    row = receive_kind("image")
    assert inbox.claim(row.pk)
    assert inbox.claim(row.pk) is None
    with later(LEASE.total_seconds() + 1):
        again = inbox.claim(row.pk)
        assert again
        assert (again.attempts, again.fence) == (2, 2)


def test_a_worker_killed_after_the_claim_is_replaced() -> None:
    row = receive_kind("image")
    inbox.claim(row.pk)
    assert list(inbox.due(10)) == []
    with later(LEASE.total_seconds() + 11):
        assert list(inbox.due(10)) == [row.pk]
        work()
    assert state(row) == (Status.DONE, 2)
    assert len(outgoing()) == 1


def test_a_slow_worker_that_lost_its_lease_writes_nothing() -> None:
    row = receive_kind("image")
    claimed = inbox.claim(row.pk)
    assert claimed
    slow = Job(claimed, parse_xml(claimed.raw))

    def write_late() -> None:
        with atomic():
            OutboxMessage.objects.create(key="side effect", to_user="x", kind="text")
            slow.finish("too late")

    with later(LEASE.total_seconds() + 1):
        work()
        with pytest.raises(LostLease):
            write_late()
    assert len(outgoing()) == 1
    assert not OutboxMessage.objects.filter(key="side effect").exists()


def test_an_error_is_tried_again_with_back_off_and_then_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    break_at(monkeypatch, "wechat.inbound.strangers.refuse_stranger", 2)
    row = receive("hello", user="ghost")
    work()
    assert state(row) == (Status.NEW, 1)
    work()
    assert state(row) == (Status.NEW, 1)
    with later(3):
        work()
    assert state(row) == (Status.NEW, 2)
    with later(14):
        work()
    assert state(row) == (Status.DONE, 3)
    assert len(outgoing("ghost")) == 1


def test_the_last_resort_names_a_number(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    break_at(monkeypatch, "wechat.inbound.strangers.refuse_stranger", 99)
    row = receive("hello", user="ghost")
    for turn in range(4):
        with later(turn * 20):
            work()
    assert state(row) == (Status.FAILED, 3)
    assert outgoing("ghost") == [f"处理失败,请稍后重试或联系管理员(编号 {row.pk})"]
    assert "RuntimeError" in caplog.text
    assert "陈建国" not in caplog.text
    assert row.error == "RuntimeError"


def test_an_event_that_fails_ends_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    break_at(monkeypatch, "wechat.inbound.events.handle_event", 99)
    row = receive_event("enter_agent")
    for turn in range(4):
        with later(turn * 20):
            work()
    assert state(row)[0] == Status.FAILED
    assert not OutboxMessage.objects.exists()


def test_a_message_that_kills_its_worker_is_given_up() -> None:
    row = receive_kind("image")
    for turn in range(3):
        with later(turn * 40):
            inbox.claim(row.pk)
    with later(200):
        work()
    assert state(row) == (Status.FAILED, 4)
    assert "编号" in outgoing()[0]


def test_later_messages_go_on_after_one_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    break_at(monkeypatch, "wechat.inbound.strangers.refuse_stranger", 3)
    receive("1", user="ghost")
    second = receive("2", user="ghost")
    for turn in range(5):
        with later(turn * 20):
            work()
    assert state(second)[0] == Status.DONE
    assert len(outgoing("ghost")) == 2


@pytest.mark.parametrize(
    "where", ["wechat.inbound.job.reply", "wechat.inbound.job.close", "projects.audit._append"]
)
def test_killed_inside_the_last_transaction(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Row, reply and audit entry are written together or not at all."""
    from projects.models import AuditEntry

    row = receive("hello", user="ghost")
    with monkeypatch.context() as patch:
        break_at(patch, where, 1)
        work()
    assert state(row) == (Status.NEW, 1)
    assert not OutboxMessage.objects.exists()
    assert not AuditEntry.objects.filter(action="wechat.refused").exists()
    with later(3):
        work()
    assert state(row) == (Status.DONE, 2)
    assert len(outgoing("ghost")) == 1
    assert AuditEntry.objects.filter(action="wechat.refused").count() == 1


def test_a_fresh_row_is_left_to_its_own_wake() -> None:
    row = receive_kind("image")
    assert list(inbox.due(10)) == []
    with later(11):
        assert list(inbox.due(10)) == [row.pk]


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_a_lease_is_renewed_while_the_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.house.leases.RENEW_S", 0.01)
    row = receive_kind("image")
    claimed = inbox.claim(row.pk)
    assert claimed
    InboxMessage.objects.update(lease_until=now())

    def is_renewed() -> bool:
        row.refresh_from_db()
        return bool(row.lease_until and row.lease_until > now() + LEASE / 2)

    with kept(claimed):
        assert until(is_renewed)


def test_an_answer_without_words_is_no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question always ends in one final reply."""
    from engines.assistant.chat import ChatReply

    def wordless(**kwargs: Any) -> ChatReply:
        return ChatReply("")

    monkeypatch.setattr("wechat.inbound.questions.answer_message", wordless)
    row = receive("hello")
    for turn in range(4):
        with later(turn * 20):
            work()
    assert len(outgoing("zhangyi")) == 1
    assert state(row)[0] == Status.FAILED

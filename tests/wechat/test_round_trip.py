"""From the member's phone and back, over real HTTP on both sides, with every wake through the broker."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils.timezone import now

from tests.support.stand_ins import StandIns
from tests.support.study import Study
from tests.support.tasks import drain, purge
from wechat.models import InboxMessage, OutboxMessage
from wechat.tasks import process_inbox, send_lane, sweep

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "P001 入组了吗?"


@pytest.fixture
def phone(study: Study, live_server: Any) -> StandIns:
    """The stand-in pushes to our server."""
    url = f"{live_server.url}/wechat/callback/"
    study.stand_ins.post("configure", {"wecom": {"callback_url": url}})
    return study.stand_ins


def answers(phone: StandIns) -> list[str]:
    return [row["content"] for row in phone.sent() if row["type"] == "text"]


def test_saving_the_address_verifies_it(phone: StandIns) -> None:
    assert phone.post("wecom/verify", {})["ok"]


@pytest.mark.full
@pytest.mark.parametrize("how", [{}, {"deliveries": 3}, {"deliveries": 3, "reuse_nonce": True}])
def test_a_question_is_acknowledged_at_once_and_answered_once(
    phone: StandIns, how: dict[str, Any]
) -> None:
    pushed = phone.post("wecom/push", {"user": "zhangyi", "text": QUESTION, **how})
    assert pushed["reply"] == "🫡 正在查询,请稍候..."
    assert {row["status"] for row in pushed["deliveries"]} == {200}
    ran = drain()
    assert "wechat.tasks.process_inbox" in ran
    assert "wechat.tasks.send_lane" in ran
    assert len(answers(phone)) == 1
    assert "2026-02-05" in answers(phone)[0]
    assert InboxMessage.objects.count() == 1


@pytest.mark.full
def test_the_view_itself_calls_nobody(phone: StandIns) -> None:
    before = {name: len(phone.requests(name)) for name in ("redcap", "dify", "llm", "wecom")}
    assert phone.post("wecom/push", {"user": "zhangyi", "text": QUESTION})["reply"]
    assert {name: len(phone.requests(name)) for name in before} == before


@pytest.mark.full
def test_three_questions_are_answered_in_their_order(phone: StandIns) -> None:
    for record in ("P001", "P003", "P004"):
        phone.post("wecom/push", {"user": "zhangyi", "text": f"{record} 入组了吗?"})
    drain()
    assert [
        record in text
        for record, text in zip(("P001", "P003", "P004"), answers(phone), strict=True)
    ]


@pytest.mark.full
def test_a_lost_wake_is_found_by_the_sweeper(phone: StandIns) -> None:
    """Everything but the database is gone: the answer arrives, once."""
    phone.post("wecom/push", {"user": "zhangyi", "text": QUESTION})
    purge()
    with time_machine.travel(now() + timedelta(seconds=12)):
        sweep()
        drain()
        purge()
        OutboxMessage.objects.update(status=OutboxMessage.Status.PENDING, sent_at=None)
        sweep()
        sweep()
        drain()
    assert len(answers(phone)) == 1


@pytest.mark.full
def test_tasks_tolerate_rows_that_are_gone() -> None:
    process_inbox(123456)
    send_lane("nobody")
    sweep()
    assert drain() == []


@pytest.mark.full
def test_a_review_is_decided_on_the_phone(phone: StandIns, study: Study) -> None:
    """The CRC orders quality control of P002, is asked, approves on the card, and gets the result."""
    from engines.models import TaskRun

    phone.post("wecom/push", {"user": "wanghushi", "text": "质控一下P002"})
    drain()
    run = TaskRun.objects.get()
    assert run.status == TaskRun.Status.SUSPENDED
    card = next(row for row in phone.sent() if row["type"] == "template_card")
    assert card["to"] == "wanghushi"
    task_id = card["content"]["task_id"]
    click = {
        "user": "wanghushi",
        "task_id": task_id,
        "key": "approve",
        "selected": {"reason": "r_ok"},
    }
    phone.post("wecom/click", click)
    drain()
    run.refresh_from_db()
    assert run.status == TaskRun.Status.COMPLETED
    updated = [row for row in phone.sent() if row["type"] == "update_template_card"]
    assert [row["to"] for row in updated] == ["wanghushi"]
    assert sum("P002" in text and "已完成" in text for text in answers(phone)) == 1

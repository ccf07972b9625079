"""A question through the whole engine: one reply, one transaction (design.md 4)."""

from __future__ import annotations

from typing import Any

import pytest

from engines.models import AgentTrace
from memory.models import ConversationHistory
from projects.models import AuditEntry
from tests.support.study import Study
from tests.wechat.test_inbox_faults import break_at, later
from tests.wechat.working import (
    click,
    deliver,
    outgoing,
    payloads,
    receive,
    receive_kind,
    said,
    work,
)
from wechat.models import Card, InboxMessage, OutboxMessage

pytestmark = pytest.mark.django_db


def feedback() -> tuple[str | None, str | None]:
    row = ConversationHistory.objects.latest("created_at")
    return row.feedback, row.feedback_reason


def test_a_question_is_answered_once_and_the_row_knows_its_project(study: Study) -> None:
    row = receive("P001 入组了吗?")
    work()
    deliver()
    row.refresh_from_db()
    assert (row.status, row.project) == (InboxMessage.Status.DONE, study.project)
    texts = [sent["content"] for sent in study.stand_ins.sent() if sent["type"] == "text"]
    assert len(texts) == 1
    assert "2026-02-05" in texts[0]


@pytest.mark.full
def test_a_spoken_question_is_answered_too(study: Study) -> None:
    receive_kind("voice", Recognition="P001 入组了吗")
    work()
    assert "2026-02-05" in outgoing("zhangyi")[0]


@pytest.mark.full
@pytest.mark.parametrize("where", ["wechat.inbound.job.close", "wechat.inbound.job.reply"])
def test_killed_in_the_engines_last_transaction(
    study: Study, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Flow log, trace and reply are written once, whatever was tried before."""
    with monkeypatch.context() as patch:
        break_at(patch, where, 1)
        receive("P001 入组了吗?")
        work()
    assert not ConversationHistory.objects.exists()
    assert not AgentTrace.objects.exists()
    assert not outgoing("zhangyi")
    with later(3):
        work()
    assert len(outgoing("zhangyi")) == 1
    assert ConversationHistory.objects.filter(role="assistant").count() == 1
    assert AgentTrace.objects.count() == 1


@pytest.mark.full
def test_a_thumb_rates_the_last_answer(study: Study) -> None:
    """A11: the latest wins."""
    receive("P001 入组了吗?")
    receive("👍")
    work()
    assert feedback() == ("thumbs_up", None)
    receive("👎 太长")
    work()
    assert feedback() == ("thumbs_down", "too_long")
    assert len(outgoing("zhangyi")) == 3


@pytest.mark.full
def test_what_is_asked_behind_a_thumb_is_answered(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vote counts once, for the answer before, whatever becomes of the worker."""
    receive("P001 入组了吗?")
    work()
    before = ConversationHistory.objects.filter(role="assistant").get()
    with monkeypatch.context() as patch:
        break_at(patch, "wechat.inbound.job.close", 1)
        receive("👍 谢谢,P002 入组了吗?")
        work()
    assert votes() == []
    with later(3):
        work()
    assert votes() == [("zhangyi", "thumbs_up", None)]
    before.refresh_from_db()
    assert before.feedback == "thumbs_up"
    told = outgoing("zhangyi")[-1]
    assert "P002" in told
    assert told.endswith(said("Thank you for your feedback."))


@pytest.mark.full
def test_a_bare_thumb_down_is_asked_for_its_reason_once(study: Study) -> None:
    for text in ("P001 入组了吗?", "👎", "👎"):
        receive(text)
        work()
    first, second = outgoing("zhangyi")[1:]
    assert "太长" in first
    assert "太长" not in second


def votes() -> list[tuple[str, Any, Any]]:
    """Who voted what and why, oldest first."""
    rows = AuditEntry.objects.filter(action="wechat.rated").order_by("pk")
    return [(row.actor, row.new["feedback"], row.new["reason"]) for row in rows]


@pytest.mark.full
def test_every_vote_is_kept(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """A11: the answer shows the latest one, the audit trail how it came to that."""
    receive("👍")
    work()
    assert votes() == []
    card = ask_with_card(study, monkeypatch)
    click(card.task_id, "up", "zhangyi")
    receive("👎 太长")
    work()
    assert feedback() == ("thumbs_down", "too_long")
    assert votes() == [("zhangyi", "thumbs_up", None), ("zhangyi", "thumbs_down", "too_long")]


@pytest.mark.full
def test_a_worker_killed_at_a_vote_keeps_it_once(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = ask_with_card(study, monkeypatch)
    with monkeypatch.context() as patch:
        break_at(patch, "wechat.inbound.job.close", 1)
        click(card.task_id, "up", "zhangyi")
        work()
    assert votes() == []
    with later(3):
        work()
    assert votes() == [("zhangyi", "thumbs_up", None)]
    assert len(payloads("card_update")) == 1


@pytest.mark.full
def test_a_bare_thumb_down_is_asked_for_its_reason(study: Study) -> None:
    receive("P001 入组了吗?")
    receive("👎")
    work()
    assert feedback() == ("thumbs_down", None)
    assert "👎 不准确" in outgoing("zhangyi")[-1]


def ask_with_card(study: Study, monkeypatch: pytest.MonkeyPatch) -> Card:
    monkeypatch.setattr("wechat.outbound.feedback_cards.LEAST_CHARS", 5)
    study.project.feedback_cards = True
    study.project.save()
    receive("P001 入组了吗?")
    work()
    return Card.objects.get(kind="feedback")


@pytest.mark.full
def test_a_card_under_the_answer_takes_the_vote(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = ask_with_card(study, monkeypatch)
    kinds = OutboxMessage.objects.filter(to_user="zhangyi").order_by("pk")
    assert list(kinds.values_list("kind", flat=True)) == ["text", "card"]
    deliver()
    card.refresh_from_db()
    click(card.task_id, "down", "zhangyi", code=card.response_code, selected="inaccurate")
    work()
    deliver()
    assert feedback() == ("thumbs_down", "inaccurate")
    assert payloads("card_update")[0]["template_card"]["replace_text"]
    assert OutboxMessage.objects.get(kind="card_update").status == "sent"


@pytest.mark.full
@pytest.mark.parametrize("vote", [{"key": "down", "selected": "nonsense"}, {"key": "down"}])
def test_a_vote_without_a_known_reason_counts(
    study: Study, monkeypatch: pytest.MonkeyPatch, vote: dict[str, Any]
) -> None:
    card = ask_with_card(study, monkeypatch)
    click(card.task_id, user="zhangyi", **vote)
    work()
    assert feedback() == ("thumbs_down", None)


@pytest.mark.full
def test_a_vote_on_the_answer_of_another_is_not_taken(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A12."""
    card = ask_with_card(study, monkeypatch)
    click(card.task_id, "up", "crc_b")
    work()
    assert feedback() == (None, None)
    assert len(outgoing("crc_b")) == 1


@pytest.mark.full
def test_no_card_under_a_short_answer_or_where_the_project_wants_none(
    study: Study,
) -> None:
    receive("P001 入组了吗?")
    work()
    assert not Card.objects.exists()
    study.project.feedback_cards = True
    study.project.save()
    receive("P001 入组了吗?")
    work()
    assert len(outgoing("zhangyi")[-1]) < 60
    assert not Card.objects.exists()

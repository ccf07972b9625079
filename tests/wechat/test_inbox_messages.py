"""What each kind of message and event is answered with (issue 5, Inbound)."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils.timezone import now

from memory.models import ConversationHistory
from projects.models import AuditEntry, Member
from tests.wechat.working import click, outgoing, receive, receive_event, said, work
from wechat.inbound import inbox
from wechat.models import InboxMessage, OutboxMessage

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("people")]
Status = InboxMessage.Status


def test_a_stranger_is_refused_politely_and_audited_once_a_message() -> None:
    receive("P001 入组了吗", user="ghost")
    receive("在吗", user="ghost")
    work()
    refusal = "Sorry, you are not a member of a study here. Please contact your administrator."
    assert outgoing("ghost") == [said(refusal)] * 2
    entries = AuditEntry.objects.filter(action="wechat.refused")
    assert [entry.actor for entry in entries] == ["ghost", "ghost"]


def test_who_left_is_a_stranger() -> None:
    Member.objects.filter(wecom_userid="crc_b").update(is_active=False)
    row = receive("同意 1", user="crc_b")
    work()
    row.refresh_from_db()
    assert row.status == Status.DONE
    assert AuditEntry.objects.filter(action="wechat.refused", actor="crc_b").count() == 1


def test_a_blank_text_is_answered_politely() -> None:
    receive("  ")
    work()
    assert len(outgoing("zhangyi")) == 1


def test_a_welcome_once_a_day_however_often_one_enters() -> None:
    for name in ("subscribe", "enter_agent", "ENTER_AGENT"):
        receive_event(name)
    work()
    assert OutboxMessage.objects.filter(to_user="zhangyi", kind="card").count() == 1
    with time_machine.travel(now() + timedelta(days=1, seconds=5)):
        receive_event("enter_agent")
        work()
    assert OutboxMessage.objects.filter(to_user="zhangyi", kind="card").count() == 2


def test_a_stranger_who_enters_hears_nothing() -> None:
    receive_event("enter_agent", user="ghost")
    work()
    assert not OutboxMessage.objects.exists()


@pytest.mark.parametrize(
    "name", ["unsubscribe", "LOCATION", "view", "click", "change_contact", "never_heard_of"]
)
def test_other_events_are_recorded_only(name: str) -> None:
    row = receive_event(name)
    work()
    row.refresh_from_db()
    assert (row.status, row.event) == (Status.DONE, name.lower())
    assert not OutboxMessage.objects.exists()


def test_an_app_about_to_be_suspended_calls_for_help(caplog: pytest.LogCaptureFixture) -> None:
    receive_event("inactive_alert", user="sys")
    work()
    assert "ALERT inactive : inactive_alert" in caplog.text


@pytest.mark.parametrize("user", ["zhangyi", "ghost"])
def test_a_click_on_an_unknown_card_is_ignored_and_audited(user: str) -> None:
    """A6."""
    row = click("review_999@1", "approve", user)
    work()
    row.refresh_from_db()
    assert row.status == Status.DONE
    entry = AuditEntry.objects.get(action="wechat.click_ignored")
    assert (entry.actor, entry.new["task_id"]) == (user, "review_999@1")
    assert not OutboxMessage.objects.exists()


def test_feedback_without_an_answer_is_told_so() -> None:
    receive("👍")
    work()
    assert outgoing("zhangyi") == [said("There is no answer of mine to rate yet.")]


def test_a_text_beyond_any_question_is_refused_politely() -> None:
    receive("长" * (inbox.MOST_CHARS + 1))
    work()
    assert outgoing("zhangyi")[-1] == said(
        "Your message is too long: please ask in a few sentences."
    )
    assert not ConversationHistory.objects.exists()

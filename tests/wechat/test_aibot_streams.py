"""The answer of the smart bot: a stream that grows, ends, or goes another way (wecom.md 5)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils.timezone import now
from pytest_django import Settings

from memory.models import ConversationHistory
from projects import signals
from projects.models import AuditEntry, Member
from tests.engines.sop.kit import review_of, run_qc, tell
from tests.support.study import Study
from tests.wechat.bot_kit import AES_KEY, TOKEN, event, message, poll_of, post, say, stream_of
from tests.wechat.test_decisions import Run, card_of, suspend
from tests.wechat.working import deliver, outgoing, said, work
from wechat import housekeeping
from wechat.aibot import streams
from wechat.models import InboxMessage, OutboxMessage, Stream

pytestmark = pytest.mark.django_db
__all__ = ["suspend"]
QUERYING = "🫡 正在查询,请稍候..."


@pytest.fixture(autouse=True)
def _bot(settings: Settings) -> None:
    settings.WECOM_AIBOT_TOKEN, settings.WECOM_AIBOT_AES_KEY = TOKEN, AES_KEY


def later(**span: float) -> Any:
    return time_machine.travel(now() + timedelta(**span), tick=True)


def ask(text: str = "P001 入组了吗?", **more: Any) -> str:
    return stream_of(say(message(text, **more)))[0]


def poll(stream_id: str, user: str = "ZhangYi") -> tuple[bool, str]:
    reply = say(poll_of(stream_id, user))
    assert "feedback" not in reply["stream"]  # only the first answer has it
    return stream_of(reply)[1:]


def vote(stream_id: str, kind: int, *reasons: int, user: str = "ZhangYi") -> None:
    values = {"id": stream_id, "type": kind, "inaccurate_reason_list": list(reasons)}
    assert post(event("feedback_event", user, **values)).content == b""
    work()


def feedback() -> tuple[str | None, str | None]:
    row = ConversationHistory.objects.filter(role="assistant").latest("created_at")
    return row.feedback, row.feedback_reason


def test_polls_show_the_wait_then_the_answer(study: Study) -> None:
    stream = ask()
    assert poll(stream) == (False, QUERYING)
    work()
    finished, content = poll(stream)
    assert finished
    assert "2026-02-05" in content
    assert poll(stream) == (True, content)
    assert not OutboxMessage.objects.exists()
    assert InboxMessage.objects.get().project == study.project


@pytest.mark.full
def test_nobody_polls_the_stream_of_another(study: Study) -> None:
    stream = ask()
    work()
    assert post(poll_of(stream, "crc_b")).content == b""


def test_a_stranger_is_refused_in_the_stream(study: Study) -> None:
    stream = ask(user="ghost")
    work()
    refusal = "Sorry, you are not a member of a study here. Please contact your administrator."
    assert poll(stream, "ghost") == (True, said(refusal))


def test_in_a_group_nothing_is_told(study: Study) -> None:
    """What one member may read is not for everybody in the group."""
    stream = ask(chattype="group")
    work()
    assert "P001" not in poll(stream)[1]


@pytest.mark.full
def test_a_slow_answer_comes_as_a_message_of_its_own(study: Study, settings: Settings) -> None:
    pushed = study.stand_ins.post("aibot/push", {"user": "zhangyi", "text": "x"})
    code = pushed["response_url"].rpartition("=")[2]
    stream = ask(response_url=f"{settings.WECOM_API_BASE}/aibot/response?response_code={code}")
    with later(minutes=5, seconds=40):
        assert poll(stream) == (
            True,
            said("This takes longer. The answer follows in a message of its own."),
        )
        work()
        deliver()
    (sent,) = [row for row in study.stand_ins.sent() if row["type"] == "aibot_markdown"]
    assert "2026-02-05" in sent["content"]
    assert OutboxMessage.objects.get().status == "sent"


@pytest.mark.full
def test_an_address_that_is_not_wecoms_gets_nothing(study: Study) -> None:
    """The address comes with a message: it must be of WeCom's own host. The app answers instead."""
    stream = ask(response_url="http://127.0.0.1:9/steal")
    with later(minutes=6):
        poll(stream)
        work()
        deliver()
        deliver()
    assert OutboxMessage.objects.get(kind="response").status == "failed"
    assert "2026-02-05" in outgoing("zhangyi")[0]


@pytest.mark.full
def test_after_an_hour_the_app_answers(study: Study) -> None:
    stream = ask()
    with later(minutes=6):
        poll(stream)
    with later(minutes=70):
        work()
    assert "2026-02-05" in outgoing("zhangyi")[0]


def test_what_nobody_fetched_is_sent(study: Study) -> None:
    ask()
    work()
    housekeeping.run_due()
    assert not OutboxMessage.objects.exists()
    with later(minutes=2):
        housekeeping.send_unfetched()
        housekeeping.send_unfetched()
    assert OutboxMessage.objects.get().kind == "response"


def test_what_a_second_delivery_was_answered_with_is_not_sent_again(study: Study) -> None:
    """Our first response was too late or got lost, and the worker was done before the next delivery."""
    asked = message()
    say(asked)
    work()
    assert stream_of(say(asked))[1]
    with later(minutes=2):
        housekeeping.send_unfetched()
    assert not OutboxMessage.objects.exists()
    assert stream_of(say(asked))[1:] == poll(Stream.objects.get().stream_id)


def test_what_was_sent_is_not_shown_in_the_stream_too(study: Study) -> None:
    asked = message()
    stream = stream_of(say(asked))[0]
    work()
    with later(minutes=2):
        housekeeping.send_unfetched()
        told = (True, said("This takes longer. The answer follows in a message of its own."))
        assert poll(stream) == stream_of(say(asked))[1:] == told
    assert OutboxMessage.objects.get().kind == "response"


def test_what_is_fetched_while_the_sweep_looks_is_not_sent(study: Study) -> None:
    """The sweep has read the row, and then a poll comes."""
    stream = ask()
    work()
    with later(minutes=2):
        (waiting,) = streams.unfetched()
        assert poll(stream)[0]
        streams.send_apart(waiting)
    assert not OutboxMessage.objects.exists()


@pytest.mark.parametrize("moved", [False, True])
def test_a_restored_house_sends_no_answer_again(study: Study, moved: bool) -> None:
    """Of one answer nobody had fetched the end when the backup was made, the other was still to come."""
    ask()
    work()
    unfinished = ask(user="wanghushi")
    with later(minutes=2):
        signals.house_restored.send(sender=None, moved=moved)
        work()
        housekeeping.send_unfetched()
        assert OutboxMessage.objects.count() == int(moved)
        left = Stream.objects.get(stream_id=unfinished)
        assert (left.expired_at is None) == moved
        assert left.finished_at
        assert poll(unfinished, "wanghushi")[0]


def test_a_long_answer_ends_with_its_page(study: Study) -> None:
    from wechat.aibot.streams import finish

    stream = ask()
    row = InboxMessage.objects.get()
    finish(row, "字" * 20000, study.project, None)
    finished, content = poll(stream)
    assert finished
    assert 19000 < len(content.encode()) <= 20480
    assert "/wechat/answers/" in content[-200:]


@pytest.mark.full
def test_a_worker_killed_in_the_last_transaction_leaves_no_half_answer(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.wechat.test_inbox_faults import break_at

    stream = ask()
    with monkeypatch.context() as patch:
        break_at(patch, "wechat.inbound.job.reply", 1)
        work()
    assert poll(stream) == (False, QUERYING)
    with later(seconds=5):
        work()
    assert poll(stream)[0]
    assert ConversationHistory.objects.filter(role="assistant").count() == 1


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "reasons", "noted"),
    [
        (1, (), ("thumbs_up", None)),
        (2, (), ("thumbs_down", None)),
        (2, (1,), ("thumbs_down", "unclear")),
        (2, (2,), ("thumbs_down", "unclear")),
        (2, (3,), ("thumbs_down", "inaccurate")),
        (2, (4, 2), ("thumbs_down", "inaccurate")),
        (2, (99,), ("thumbs_down", None)),
        (3, (), (None, None)),
        (7, (), (None, None)),
    ],
)
def test_a_vote_reaches_the_answer(study: Study, kind: int, reasons: Any, noted: Any) -> None:
    stream = ask()
    work()
    vote(stream, kind, *reasons)
    assert feedback() == noted


@pytest.mark.full
def test_the_latest_vote_wins_and_can_be_withdrawn(study: Study) -> None:
    """A11; by the id of the answer, whatever was asked since."""
    stream = ask()
    work()
    first = ConversationHistory.objects.filter(role="assistant").get()
    ask("入组多少例?")
    work()
    for kind, noted in ((1, "thumbs_up"), (2, "thumbs_down"), (3, None)):
        vote(stream, kind)
        first.refresh_from_db()
        assert first.feedback == noted
    kept = AuditEntry.objects.filter(action="wechat.rated").order_by("pk")
    assert [row.new["feedback"] for row in kept] == ["thumbs_up", "thumbs_down", None]
    assert {row.new["answer"] for row in kept} == {str(first.pk)}


@pytest.mark.full
def test_a_vote_of_another_or_on_nothing_is_ignored(study: Study) -> None:
    """A12."""
    stream = ask()
    work()
    vote(stream, 1, user="crc_b")
    vote("nobody", 1)
    assert post(event("feedback_event")).status_code == 200
    work()
    assert feedback() == (None, None)
    assert AuditEntry.objects.filter(action="wechat.click_ignored").count() == 3


def test_a_vote_days_later_still_counts(study: Study) -> None:
    stream = ask()
    work()
    with later(days=4):
        vote(stream, 1)
    assert feedback() == ("thumbs_up", None)


def click(task_id: str, key: str, user: str, reason: str = "") -> dict[str, Any]:
    item = {"question_key": "reason", "option_ids": {"option_id": [reason]}}
    return say(
        event(
            "template_card_event",
            user,
            card_type="button_interaction",
            event_key=key,
            task_id=task_id,
            selected_items={"selected_item": [item] if reason else []},
        )
    )


@pytest.mark.full
def test_a_click_is_taken_note_of_at_once_and_decided(study: Study, suspend: Run) -> None:
    review = suspend()
    reply = click(card_of(review).task_id, "approve", "wanghushi", "r_ok")
    assert reply["response_type"] == "update_template_card"
    assert reply["template_card"]["replace_text"]
    assert reply["template_card"]["task_id"] == card_of(review).task_id
    work()
    review.refresh_from_db()
    assert (review.status, review.decided_by) == ("approved", "wanghushi")


@pytest.mark.full
def test_a_rejection_without_a_reason_leaves_the_buttons(study: Study, suspend: Run) -> None:
    """A10: nothing was decided, so the card must still work."""
    review = suspend()
    task_id = card_of(review).task_id
    assert click(task_id, "reject", "wanghushi") == {}
    work()
    review.refresh_from_db()
    assert review.status == "open"
    assert click(task_id, "reject", "wanghushi", "r_err")["template_card"]["replace_text"]
    work()
    review.refresh_from_db()
    assert review.status == "rejected"


@pytest.mark.full
def test_an_approval_without_the_reason_that_it_takes_leaves_the_buttons(study: Study) -> None:
    review = review_of(run_qc(study, "P012"))
    tell()
    task_id = card_of(review).task_id
    assert click(task_id, "approve", "wanghushi") == {}
    work()
    review.refresh_from_db()
    assert review.status == "open"
    assert click(task_id, "approve", "wanghushi", "r_ok")["template_card"]["replace_text"]


def test_a_click_of_who_has_no_say(study: Study, suspend: Run) -> None:
    review = suspend()
    assert click(card_of(review).task_id, "approve", "crc_b", "r_ok") == {}
    assert click("review_999@1", "approve", "wanghushi") == {}
    work()
    review.refresh_from_db()
    assert review.status == "open"


def test_a_card_under_the_answer_is_not_needed(study: Study) -> None:
    study.project.feedback_cards = True
    study.project.save()
    ask()
    work()
    assert not OutboxMessage.objects.exists()
    assert Stream.objects.get().conversation_id
    assert Member.objects.exists()

"""A word decides only what has reached who says it: no other reply, and no message still under way, counts."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from engines.models import Review
from projects.models import Member
from tests.engines.sop.kit import human, new_skill, review_of, run_of
from tests.support.study import Study
from tests.wechat.bot_kit import AES_KEY, TOKEN, message, poll_of, stream_of
from tests.wechat.bot_kit import say as say_to_bot
from tests.wechat.test_decisions import Run, suspend
from tests.wechat.test_texts_for_readers import OF_A, OF_B
from tests.wechat.working import deliver, outgoing, receive, said, work
from wechat.models import GroupChat, InboxMessage, OutboxMessage
from wechat.outbound import outbox
from wechat.reviews import reconcile

pytestmark = pytest.mark.django_db
__all__ = ["suspend"]
QUESTION = "请核对入组日期"
Status = OutboxMessage.Status


@pytest.fixture(autouse=True)
def _bot(settings: Settings) -> None:
    settings.WECOM_AIBOT_TOKEN, settings.WECOM_AIBOT_AES_KEY = TOKEN, AES_KEY


def say(text: str, user: str) -> str:
    """One message to the app; its reply, which arrives."""
    before = len(outgoing(user))
    receive(text, user=user)
    work()
    deliver()
    return "\n".join(outgoing(user)[before:])


def ask_bot(text: str, user: str, **more: Any) -> str:
    """One message to the smart bot; the id of the stream that answers it."""
    stream = stream_of(say_to_bot(message(text, user, **more)))[0]
    work()
    return stream


def state(review: Review) -> tuple[str, str]:
    review.refresh_from_db()
    return review.status, review.decided_by


def is_shown_before(review: Review, user: str) -> None:
    """The next word shows it and decides nothing, the one after that decides."""
    words = f"同意 {review.pk} 已核对"
    told = say(words, user)
    assert state(review) == ("open", "")
    assert said("You have not been shown this review; nothing was decided.") in told
    assert QUESTION in told
    say(words, user)
    assert state(review) == ("approved", user)


def test_what_a_group_was_refused_shows_nothing(study: Study, suspend: Run) -> None:
    review = suspend()
    GroupChat.objects.create(chat_id="wrABC", project=study.project, bound_by="admin")
    in_group = {"chattype": "group", "chatid": "wrABC"}
    stream = ask_bot(f"@RobotA 同意 {review.pk} 已核对", "admin", **in_group)
    assert QUESTION not in stream_of(say_to_bot(poll_of(stream, "admin")))[2]
    is_shown_before(review, "admin")


@pytest.mark.full
def test_the_link_to_set_up_a_second_factor_shows_nothing(suspend: Run, settings: Settings) -> None:
    review = suspend()
    settings.MFA_ROLES = ["ADMIN"]
    assert QUESTION not in say(f"同意 {review.pk} 已核对", "admin")
    settings.MFA_ROLES = []
    is_shown_before(review, "admin")


@pytest.mark.full
def test_the_refusal_of_a_study_that_wants_signatures_shows_nothing(
    study: Study, suspend: Run
) -> None:
    review = suspend()
    study.project.requires_signature = True
    study.project.save()
    say(f"同意 {review.pk} 已核对", "admin")
    study.project.requires_signature = False
    study.project.save()
    is_shown_before(review, "admin")


@pytest.mark.full
def test_a_message_that_could_not_be_worked_shows_nothing(suspend: Run) -> None:
    review = suspend()
    row = receive(f"同意 {review.pk} 已核对", user="admin")
    InboxMessage.objects.filter(pk=row.pk).update(attempts=3)
    work()
    deliver()
    assert InboxMessage.objects.get(pk=row.pk).status == "failed"
    is_shown_before(review, "admin")


@pytest.mark.full
@pytest.mark.parametrize("status", [Status.PENDING, Status.SENDING, Status.DEAD, Status.FAILED])
def test_a_card_that_has_not_come_shows_nothing(suspend: Run, status: str) -> None:
    review = suspend()
    OutboxMessage.objects.filter(kind="card").update(status=status)
    receive(f"同意 {review.pk} 已核对", user="wanghushi")
    work()
    assert state(review) == ("open", "")
    assert QUESTION in outgoing("wanghushi")[-1]


@pytest.mark.full
def test_a_card_that_came_to_the_other_of_two_only_shows_nothing(
    study: Study, suspend: Run
) -> None:
    Member.objects.filter(wecom_userid="crc_b").update(site="site_a")
    missed = {"errcode": 0, "errmsg": "ok", "invaliduser": "crc_b", "msgid": "m"}
    study.stand_ins.fault("wecom", "body", missed, path="message/send")
    first = suspend(by="system_scheduler")
    deliver()
    assert OutboxMessage.objects.get(kind="card").undelivered == "crc_b"
    is_shown_before(first, "crc_b")
    second = suspend("P003")
    deliver()
    say(f"同意 {second.pk} 已核对", "wanghushi")
    assert state(second) == ("approved", "wanghushi")


@pytest.mark.full
def test_words_in_place_of_a_refused_card_count_once_they_have_come(
    study: Study, suspend: Run
) -> None:
    study.stand_ins.fault("wecom", "body", {"errcode": 42031}, path="message/send")
    review = suspend(by="system_scheduler")
    deliver()
    assert OutboxMessage.objects.get(kind="card").status == Status.FAILED
    say(f"同意 {review.pk} 已核对", "wanghushi")
    assert state(review) == ("approved", "wanghushi")


@pytest.mark.full
def test_a_reminder_counts_once_it_has_come(suspend: Run) -> None:
    review = suspend()
    reconcile.escalate(review)
    receive(f"同意 {review.pk} 已核对", user="admin")
    work()
    assert state(review) == ("open", "")
    deliver()
    say(f"同意 {review.pk} 已核对", "admin")
    assert state(review) == ("approved", "admin")


@pytest.mark.full
def test_a_message_about_something_else_of_that_number_shows_nothing(
    study: Study, suspend: Run
) -> None:
    review = suspend()
    key = f"visit:{review.pk}@{review.version}:admin"
    outbox.enqueue_text(to_user="admin", project=study.project, content="V2 访视", key=key)
    deliver()
    is_shown_before(review, "admin")


@pytest.mark.full
def test_while_nothing_goes_out_the_bot_shows_before_it_decides(suspend: Run) -> None:
    """The app's messages wait; the bot names the number, which shows nothing either."""
    review = suspend()
    words = f"同意 {review.pk} 已核对"
    named = ask_bot("同意", "wanghushi")
    assert str(review.pk) in stream_of(say_to_bot(poll_of(named, "wanghushi")))[2]
    unfetched = ask_bot(words, "wanghushi")
    assert state(review) == ("open", "")
    ask_bot(words, "wanghushi")
    assert state(review) == ("open", "")
    told = stream_of(say_to_bot(poll_of(unfetched, "wanghushi")))[2]
    assert QUESTION in told
    ask_bot(words, "wanghushi")
    assert state(review) == ("approved", "wanghushi")


@pytest.mark.full
def test_what_does_not_fit_whole_is_decided_in_the_console(
    suspend: Run, settings: Settings
) -> None:
    settings.WECOM_MOST_PARTS = 2
    review = suspend(description=QUESTION * 200)
    for _twice in range(2):
        told = say(f"同意 {review.pk} 已核对", "admin")
        assert QUESTION not in told
        assert (
            said("This review cannot be shown here as a whole: please decide in the console.")
            in told
        )
        assert f"/admin/engines/review/{review.pk}/change/" in told
    assert state(review) == ("open", "")


@pytest.mark.full
def test_nobody_decides_on_the_part_that_they_may_read(study: Study) -> None:
    node = human(description=f"{QUESTION}, 与 {OF_B} 重复?", reviewers=["CRC"])
    review = review_of(run_of(study, new_skill(study, {"ask": node}), OF_A))
    deliver()
    for _twice in range(2):
        assert QUESTION not in say(f"同意 {review.pk} 已核对", "wanghushi")
    assert state(review) == ("open", "")

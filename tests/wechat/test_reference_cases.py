"""Every line of reference/wecom.md 8.2 and 8.3, and the tests that hold it against the stand-in.

O1   test_wecom_calls.py: test_a_refused_token_is_fetched_anew_once_and_the_call_repeated_once
O2   test_wecom_calls.py: test_a_refused_token_is_fetched_anew_once_and_the_call_repeated_once
O3   test_wecom_calls.py: test_a_token_refused_for_ever_ends_after_two_tries
O3   test_alerts.py: test_a_token_that_is_never_taken
O4   test_token_cache.py: test_twenty_cold_workers_make_one_call
O5   test_outbox_sending.py: test_a_wrong_secret_is_not_hammered
O5   test_alerts.py: test_a_wrong_secret
O6   test_outbox_sending.py: test_busy_twice_then_sent_once
O7   test_outbox_sending.py: test_nothing_overtakes_a_message_that_waits
O8   test_reference_cases.py: test_too_many_calls_at_once_are_spread
O9   test_outbox_sending.py: test_an_untrusted_address_keeps_the_queue_and_calls_for_help
O9   test_wecom_check.py: test_an_untrusted_address_is_told_with_the_address
O10  test_outbox_sending.py: test_an_unreachable_member_is_a_dead_letter
O10  test_alerts.py: test_an_unreachable_member_is_flagged_until_they_write
O11  test_outbox_sending.py: test_a_member_named_as_not_reached_is_a_dead_letter
O12  test_wecom_calls.py: test_success_has_many_spellings
O13  test_outbox_sending.py: test_a_gateway_that_stammers_is_tried_again
O14  test_outbox_sending.py: test_an_unanswered_send_is_repeated_as_the_identical_json
O15  test_long_answers.py: test_what_fits_has_no_page
O15  test_splitting.py: test_five_thousand_characters
O16  test_splitting.py: test_markup_links_and_graphemes_stay_whole
O17  test_splitting.py: test_exactly_the_limit_is_one_message
O18  test_neutralise.py: test_live_tags_become_text
O18  test_formats.py: test_a_link_of_the_model_shows_its_address
O19  test_outbox_sending.py: test_thirty_a_minute_and_the_rest_later
O19  test_outbox_sending.py: test_what_goes_to_several_counts_for_each_of_them
O20  test_wecom_calls.py: test_the_body_is_raw_utf8_without_escapes
O21  test_wecom_calls.py: test_no_token_or_secret_in_results_logs_or_reprs
O22  test_reference_cases.py: test_a_first_feedback_that_fails_costs_no_answer
O22  test_passive_reply.py: test_a_detector_that_fails_costs_only_the_words
O23  test_outbox_sending.py: test_a_worker_killed_between_send_and_commit
O23  test_outbox_sending.py: test_a_worker_killed_long_before_the_next_one_comes
A1   test_decisions.py: test_a_click_of_who_has_no_say_changes_nothing
A1   test_decisions.py: test_a_forwarded_card_is_refused_to_people_of_no_study
A2   test_decisions.py: test_who_ordered_a_run_does_not_decide_where_four_eyes_are_wanted
A3   test_reference_cases.py: test_approve_and_reject_in_the_same_second
A3   test_decisions.py: test_who_comes_second_is_told_who_decided
A4   test_decisions.py: test_the_same_click_delivered_three_times_decides_once
A5   test_decisions.py: test_values_that_changed_are_asked_anew
A5   test_reference_cases.py: test_a_click_after_the_run_was_cancelled
A6   test_decisions.py: test_a_click_that_does_not_fit_the_card_is_ignored
A6   test_inbox_messages.py: test_a_click_on_an_unknown_card_is_ignored_and_audited
A7   test_decisions.py: test_an_approval_without_a_reason_says_so
A7   test_decisions.py: test_malformed_choices_are_no_reason
A7   test_callback_accepts.py: test_a_thousand_selected_items_do_no_harm
A8   test_decisions.py: test_an_update_that_wecom_refuses_becomes_a_text
A8   test_reference_cases.py: test_a_decision_after_the_code_has_run_out
A9   test_decisions.py: test_an_update_that_wecom_refuses_becomes_a_text
A10  test_decisions.py: test_a_rejection_by_card_needs_its_reason
A11  test_questions.py: test_a_thumb_rates_the_last_answer
A11  test_questions.py: test_every_vote_is_kept
A11  test_aibot_streams.py: test_the_latest_vote_wins_and_can_be_withdrawn
A12  test_questions.py: test_a_vote_on_the_answer_of_another_is_not_taken
A12  test_reference_cases.py: test_a_vote_on_an_answer_that_is_gone
A12  test_aibot_streams.py: test_a_vote_days_later_still_counts
A13  test_reconcile.py: test_a_reviewer_who_left_the_company
A14  test_reconcile.py: test_a_dropped_click_is_brought_to_mind
A15  test_cards.py: test_an_update_by_the_code_of_the_send_call
A15  test_reference_cases.py: test_a_click_before_the_send_call_came_back
"""

from __future__ import annotations

import re
import threading
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.db import connection
from django.utils.timezone import now

from engines import sop
from engines.models import Review
from memory.models import ConversationHistory
from projects.models import AuditEntry, Member
from tests.support.study import Study
from tests.wechat.test_decisions import Run, card_of, suspend
from tests.wechat.test_questions import ask_with_card
from tests.wechat.working import click, deliver, outgoing, receive, work
from tests.wecom_standin import SEND, WecomSim
from wechat.models import InboxMessage, OutboxMessage
from wechat.outbound import sender
from wechat.outbound.outbox import enqueue
from wechat.reviews.decisions import decide

__all__ = ["suspend"]
ROOT = Path(__file__).parents[1]
LINE = re.compile(r"^([OA]\d+) +(\w+\.py): (test_\w+)$", re.MULTILINE)


def later(**span: float) -> time_machine.travel:
    return time_machine.travel(now() + timedelta(**span), tick=True)


def test_every_case_has_a_test_and_every_test_is_there() -> None:
    rows = LINE.findall(__doc__ or "")
    cases = {f"O{number}" for number in range(1, 24)} | {f"A{number}" for number in range(1, 16)}
    assert {case for case, _file, _name in rows} == cases
    for _case, file, name in rows:
        (path,) = [*ROOT.glob(f"wechat/{file}"), *ROOT.glob(f"integrations/{file}")]
        assert f"\ndef {name}(" in path.read_text("utf-8"), name


@pytest.mark.full
@pytest.mark.django_db
def test_too_many_calls_at_once_are_spread(wecom: WecomSim) -> None:
    """O8: 45033 is tried again, each lane after a wait of its own."""
    users = ("zhangyi", "wanghushi", "crc_b", "admin", "chenyisheng")
    wecom.fault(SEND, "body", {"errcode": 45033, "errmsg": "busy"}, times=len(users))
    for user in users:
        enqueue(to_user=user, project=None, kind=OutboxMessage.Kind.TEXT, content="好", key=user)
        sender.send_lane(user)
    waits = set(OutboxMessage.objects.values_list("available_at", flat=True))
    assert len(waits) == len(users)
    with later(seconds=10):
        for user in users:
            sender.send_lane(user)
    assert sorted(row["to"] for row in wecom.delivered()) == sorted(users)


@pytest.mark.django_db
def test_a_first_feedback_that_fails_costs_no_answer(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O22: it travels in the callback's own response, so it can't come after the answer."""
    monkeypatch.setattr("wechat.inbound.callback._starts_query", lambda incoming: False)
    row = receive("P001 入组了吗?")
    assert row.passive_reply == ""
    work()
    assert len(outgoing("zhangyi")) == 1


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_approve_and_reject_in_the_same_second(suspend: Run, study: Study) -> None:
    """A3: two threads, one winner, the other is told."""
    Member.objects.create(project=study.project, wecom_userid="crc_2", role="CRC", site="site_a")
    review = suspend()
    started, texts = threading.Barrier(2), {}

    def act(userid: str, what: str) -> None:
        started.wait()
        try:
            outcome = decide(
                userid=userid, review_id=review.pk, decision=what, reason="核对", seen=review.seen
            )  # type: ignore[arg-type]
            texts[userid] = (outcome.fresh, outcome.text)
        finally:
            connection.close()

    people = (("wanghushi", "approve"), ("crc_2", "reject"))
    threads = [threading.Thread(target=act, args=one) for one in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    review.refresh_from_db()
    assert sorted(fresh for fresh, _text in texts.values()) == [False, True]
    winner = next(user for user, (fresh, _text) in texts.items() if fresh)
    assert review.decided_by == winner
    decided = AuditEntry.objects.filter(action__in=["review.approve", "review.reject"])
    assert decided.count() == 1


@pytest.mark.full
@pytest.mark.django_db
def test_a_click_after_the_run_was_cancelled(suspend: Run) -> None:
    """A5."""
    review = suspend()
    card = card_of(review)
    sop.cancel(run=review.task_run, actor="admin", reason="退出")
    click(card.task_id, "approve", "wanghushi", selected="r_ok")
    work()
    review.refresh_from_db()
    assert review.status == Review.Status.WITHDRAWN
    assert len(outgoing("wanghushi")) == 1


@pytest.mark.full
@pytest.mark.django_db
def test_a_decision_after_the_code_has_run_out(study: Study, suspend: Run) -> None:
    """A8: 72 hours later the card can't be changed; the decision stands, told in words."""
    review = suspend()
    deliver()
    study.stand_ins.post("clock", {"advance_s": 73 * 3600})
    receive(f"同意 {review.pk}", user="wanghushi")
    work()
    deliver()
    review.refresh_from_db()
    assert review.status == Review.Status.APPROVED
    assert OutboxMessage.objects.get(kind="card_update").error_code == 60140
    assert any(f"#{review.pk}" in text for text in outgoing("wanghushi"))


@pytest.mark.django_db
def test_a_vote_on_an_answer_that_is_gone(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """A12."""
    card = ask_with_card(study, monkeypatch)
    ConversationHistory.objects.all().delete()
    row = click(card.task_id, "up", "zhangyi")
    work()
    row.refresh_from_db()
    assert row.status == InboxMessage.Status.DONE


@pytest.mark.full
@pytest.mark.django_db
def test_a_click_before_the_send_call_came_back(suspend: Run) -> None:
    """A15: the card is known although its row is not sent yet."""
    review = suspend()
    assert OutboxMessage.objects.get(kind="card").status == OutboxMessage.Status.PENDING
    click(card_of(review).task_id, "approve", "wanghushi", selected="r_ok", code="of the click")
    work()
    review.refresh_from_db()
    assert review.status == Review.Status.APPROVED
    deliver()
    assert card_of(review).response_code == "of the click"

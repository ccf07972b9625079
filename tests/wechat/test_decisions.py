"""Decisions by card and by text, on real runs of the demo study (reference/wecom.md 8.3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from engines import sop
from engines.models import Review, TaskRun
from projects.models import AuditEntry, Member
from skills.models import Skill
from study.models import Subject
from tests.engines.sop.kit import tell
from tests.support.study import Study
from tests.wechat.working import click, deliver, outgoing, payloads, receive, said, work
from wechat.models import Card, InboxMessage, OutboxMessage

pytestmark = pytest.mark.django_db
Run = Callable[..., Review]
CONFIG: dict[str, Any] = {
    "name": "复核",
    "start_node": "ask",
    "nodes": {"ask": {"type": "human_review", "description": "请核对入组日期"}},
}


@pytest.fixture
def suspend(study: Study) -> Run:
    """Start a run that stops at once for a person."""

    def run(record_id: str = "P001", by: str = "zhangyi", **node: Any) -> Review:
        nodes = {"ask": {**CONFIG["nodes"]["ask"], **node}}
        skill, _ = Skill.objects.get_or_create(
            project=study.project,
            skill_type="qc_process:simple",
            defaults={"name": "简单复核", "config": {**CONFIG, "nodes": nodes}},
        )
        started = sop.start(
            project=study.project, skill=skill, record_id=record_id, triggered_by=by, wake=False
        )
        sop.drive(started.pk)
        started.refresh_from_db()
        assert started.status == TaskRun.Status.SUSPENDED
        tell()
        review = sop.open_review(started)
        assert review
        return review

    return run


def card_of(review: Review) -> Card:
    return Card.objects.get(kind="review", ref=str(review.pk), version=review.version)


def audited(action: str) -> list[str]:
    return list(AuditEntry.objects.filter(action=action).values_list("actor", flat=True))


def test_the_crc_of_the_site_gets_the_card_and_the_orderer_is_told(
    study: Study, suspend: Run
) -> None:
    review = suspend("P001")
    card = card_of(review)
    assert (card.task_id, card.to_user) == (f"review_{review.pk}@1", "wanghushi")
    assert card.seen == review.seen
    assert "任务已挂起,等待人工复核" in outgoing("zhangyi")[0]
    assert not outgoing("crc_b")


def test_the_card_is_taken_by_wecom(study: Study, suspend: Run) -> None:
    """A15: the task id was stored before; the code comes with the answer."""
    review = suspend("P001")
    assert card_of(review).response_code == ""
    deliver()
    assert card_of(review).response_code
    sent = [row for row in study.stand_ins.sent() if row["type"] == "template_card"]
    assert [row["to"] for row in sent] == ["wanghushi"]
    buttons = [button["key"] for button in sent[0]["content"]["button_list"]]
    assert buttons == ["approve", "reject"]
    assert sent[0]["content"]["button_selection"]["question_key"] == "reason"


def test_without_a_crc_the_administrator_is_asked(study: Study, suspend: Run) -> None:
    Member.objects.filter(role="CRC").update(is_active=False)
    assert card_of(suspend("P001")).to_user == "admin"


def test_a_pi_is_asked_where_the_node_says_so(study: Study, suspend: Run) -> None:
    review = suspend("P001", by="system_scheduler", reviewers=["PI"])
    assert card_of(review).to_user == "zhangyi"
    assert not outgoing()


def test_two_crcs_of_a_site_share_one_card(study: Study, suspend: Run) -> None:
    Member.objects.create(project=study.project, wecom_userid="chen", role="CRC", site="site_a")
    assert card_of(suspend("P001")).to_user == "chen|wanghushi"
    assert OutboxMessage.objects.filter(kind="card").count() == 1


def test_no_identifier_is_on_a_card(study: Study, suspend: Run) -> None:
    subject = Subject.objects.get(record_id="P001")
    known = json.loads(subject.identifiers)
    name = next(str(value) for value in known.values() if len(str(value)) > 1)
    review = suspend("P001", description=f"请核对 {name} 的入组日期")
    shown = card_of(review).content
    assert name not in shown
    assert "***" in shown
    assert not any(str(value) in shown for value in known.values() if len(str(value)) > 1)


@pytest.mark.full
def test_an_approval_by_card(study: Study, suspend: Run) -> None:
    review = suspend("P001")
    deliver()
    click(card_of(review).task_id, "approve", "wanghushi", selected="r_ok", code="")
    work()
    review.refresh_from_db()
    assert (review.status, review.decided_by) == (Review.Status.APPROVED, "wanghushi")
    assert review.reason == said("Checked against the source")
    [update] = payloads("card_update")
    assert update["atall"] == 1
    assert update["template_card"]["replace_text"]
    assert "王护士" in update["template_card"]["sub_title_text"]
    assert card_of(review).state == Card.State.CLOSED


@pytest.mark.full
def test_the_card_loses_its_buttons_on_the_phone(study: Study, suspend: Run) -> None:
    """The click's own code works: the send-time code is left alone."""
    review = suspend("P001")
    deliver()
    stored = card_of(review).response_code
    click(card_of(review).task_id, "approve", "wanghushi", code=stored)
    work()
    deliver()
    updates = [row for row in study.stand_ins.sent() if row["type"] == "update_template_card"]
    assert [row["to"] for row in updates] == ["wanghushi"]
    assert OutboxMessage.objects.get(kind="card_update").status == "sent"


@pytest.mark.full
def test_the_result_reaches_who_ordered_the_run(study: Study, suspend: Run) -> None:
    review = suspend("P001", by="zhangyi")
    click(card_of(review).task_id, "approve", "wanghushi")
    work()
    results = [text for text in outgoing("zhangyi") if "已完成" in text]
    assert len(results) == 1
    assert "P001" in results[0]


@pytest.mark.full
def test_the_same_click_delivered_three_times_decides_once(study: Study, suspend: Run) -> None:
    """A4."""
    review = suspend("P001")
    for _ in range(3):
        click(card_of(review).task_id, "approve", "wanghushi", code="same", CreateTime=5)
        work()
    assert InboxMessage.objects.count() == 1
    assert len(payloads("card_update")) == 1
    assert audited("review.approve") == ["wanghushi"]


@pytest.mark.full
def test_two_quick_taps_decide_once_and_the_second_is_told(study: Study, suspend: Run) -> None:
    review = suspend("P001")
    for _ in range(2):
        click(card_of(review).task_id, "approve", "wanghushi")
    work()
    assert audited("review.approve") == ["wanghushi"]
    assert len(payloads("card_update")) == 1
    assert ["王护士" in text for text in outgoing("wanghushi")] == [True]


@pytest.mark.full
def test_a_click_of_who_has_no_say_changes_nothing(study: Study, suspend: Run) -> None:
    """A1: the PI sees the subject but does not decide; the other CRC does not even see it."""
    review = suspend("P001")
    click(card_of(review).task_id, "approve", "zhangyi")
    click(card_of(review).task_id, "approve", "crc_b")
    work()
    review.refresh_from_db()
    assert review.status == Review.Status.OPEN
    assert sorted(audited("wechat.decision_refused")) == ["crc_b", "zhangyi"]
    refusal = said("You have no say in this review.")
    assert outgoing("crc_b") == [refusal]
    assert outgoing("zhangyi")[-1] == refusal
    assert not payloads("card_update")


@pytest.mark.full
def test_who_ordered_a_run_does_not_decide_where_four_eyes_are_wanted(
    study: Study, suspend: Run
) -> None:
    """A2."""
    study.project.four_eyes = True
    study.project.save()
    review = suspend("P001", by="wanghushi")
    assert card_of(review).to_user == "admin", "whose say it is"
    click(card_of(review).task_id, "approve", "wanghushi")
    work()
    review.refresh_from_db()
    assert review.status == Review.Status.OPEN
    assert audited("wechat.decision_refused") == ["wanghushi"]
    for _shown_first in range(2):
        receive(f"同意 {review.pk}", user="admin")
        work()
        deliver()
    review.refresh_from_db()
    assert review.decided_by == "admin"


def test_a_forwarded_card_is_refused_to_people_of_no_study(study: Study, suspend: Run) -> None:
    review = suspend("P001")
    click(card_of(review).task_id, "approve", "ghost")
    work()
    review.refresh_from_db()
    assert review.status == Review.Status.OPEN
    assert audited("wechat.decision_refused") == ["ghost"]


@pytest.mark.full
def test_who_comes_second_is_told_who_decided(study: Study, suspend: Run) -> None:
    """A3, A5."""
    review = suspend("P001")
    click(card_of(review).task_id, "approve", "wanghushi")
    work()
    click(card_of(review).task_id, "reject", "admin", selected="r_err")
    work()
    review.refresh_from_db()
    assert (review.status, review.decided_by) == (Review.Status.APPROVED, "wanghushi")
    assert "王护士" in outgoing("admin")[-1]
    assert audited("review.reject") == []


@pytest.mark.full
def test_a_decision_in_the_console_takes_the_buttons_off(study: Study, suspend: Run) -> None:
    review = suspend("P001")
    deliver()
    sop.decide(
        review_id=review.pk,
        actor=study["admin"],
        decision="approve",
        reason="已核对",
        seen=review.seen,
    )
    deliver()
    assert OutboxMessage.objects.get(kind="card_update").status == "sent"
    assert [
        row["to"] for row in study.stand_ins.sent() if row["type"] == "update_template_card"
    ] == ["wanghushi"]


@pytest.mark.full
@pytest.mark.parametrize("selected", ["", "unknown_option"])
def test_a_rejection_by_card_needs_its_reason(study: Study, suspend: Run, selected: str) -> None:
    """A7, A10: the review stays open and the person is asked."""
    review = suspend("P001")
    click(card_of(review).task_id, "reject", "wanghushi", selected=selected)
    work()
    review.refresh_from_db()
    assert review.status == Review.Status.OPEN
    assert f"驳回 {review.pk}" in outgoing("wanghushi")[-1]
    click(card_of(review).task_id, "reject", "wanghushi", selected="r_err")
    work()
    review.refresh_from_db()
    assert (review.status, review.reason) == (Review.Status.REJECTED, said("Data are wrong"))


def item(*options: str, question: str = "reason") -> str:
    shown = "".join(f"<OptionId>{option}</OptionId>" for option in options)
    key = f"<QuestionKey>{question}</QuestionKey>"
    return f"<SelectedItem>{key}<OptionIds>{shown}</OptionIds></SelectedItem>"


@pytest.mark.full
@pytest.mark.parametrize(
    "items",
    [
        "",
        "<SelectedItem/>",
        item(),
        item("r_err", "r_src"),
        item("r_err", "r_err"),
        item("R_ERR"),
        item("r_err", question="other"),
        item("", question="") * 1000 + item("r_err"),
        item("nonsense") + item("r_err"),
    ],
    ids=range(9),
)
def test_malformed_choices_are_no_reason(study: Study, suspend: Run, items: str) -> None:
    """A7: neither a crash nor a reason that nobody chose."""
    review = suspend("P001")
    row = click(card_of(review).task_id, "reject", "wanghushi", SelectedItems=items)
    work()
    row.refresh_from_db()
    review.refresh_from_db()
    assert (row.status, review.status) == (InboxMessage.Status.DONE, Review.Status.OPEN)
    assert f"驳回 {review.pk}" in outgoing("wanghushi")[-1]


@pytest.mark.full
def test_an_approval_without_a_reason_says_so(study: Study, suspend: Run) -> None:
    review = suspend("P001")
    click(card_of(review).task_id, "approve", "wanghushi", selected="nonsense")
    work()
    review.refresh_from_db()
    assert review.reason == "未说明"


@pytest.mark.parametrize("wrong", [{"key": "maybe"}, {"CardType": "vote_interaction"}, {"key": ""}])
def test_a_click_that_does_not_fit_the_card_is_ignored(
    study: Study, suspend: Run, wrong: dict[str, str]
) -> None:
    """A6."""
    review = suspend("P001")
    values = {"key": "approve", "user": "wanghushi", **wrong}
    click(card_of(review).task_id, values.pop("key"), values.pop("user"), **values)
    work()
    review.refresh_from_db()
    assert review.status == Review.Status.OPEN
    assert audited("wechat.click_ignored") == ["wanghushi"]


@pytest.mark.full
def test_values_that_changed_are_asked_anew(study: Study, suspend: Run) -> None:
    """A5: the old card closes, a new one with the next version goes out, nothing is decided."""
    review = suspend("P001")
    old = card_of(review)
    change(study)
    click(old.task_id, "approve", "wanghushi")
    work()
    review.refresh_from_db()
    assert (review.status, review.version) == (Review.Status.OPEN, 2)
    assert {card.task_id: card.state for card in Card.objects.all()} == {
        f"review_{review.pk}@1": Card.State.CLOSED,
        f"review_{review.pk}@2": Card.State.OPEN,
    }
    assert len(payloads("card_update")) == 1
    click(old.task_id, "approve", "wanghushi")
    work()
    review.refresh_from_db()
    assert review.status == Review.Status.OPEN
    click(card_of(review).task_id, "approve", "wanghushi")
    work()
    review.refresh_from_db()
    assert review.status == Review.Status.APPROVED


@pytest.mark.full
def test_a_text_on_values_that_changed_is_asked_anew(study: Study, suspend: Run) -> None:
    """A5: the card with the old values loses its buttons although nobody has clicked it."""
    review = suspend("P001")
    deliver()
    old = card_of(review)
    change(study)
    receive(f"同意 {review.pk}", user="wanghushi")
    work()
    review.refresh_from_db()
    assert (review.status, review.version) == (Review.Status.OPEN, 2)
    assert len(outgoing("wanghushi")) == 1
    old.refresh_from_db()
    assert old.state == Card.State.CLOSED
    assert [update["task_id"] for update in payloads("card_update")] == [old.task_id]
    deliver()
    receive(f"同意 {review.pk}", user="wanghushi")
    work()
    review.refresh_from_db()
    assert review.status == Review.Status.APPROVED


@pytest.mark.full
def test_two_texts_on_values_that_changed_decide_nothing_unseen(study: Study, suspend: Run) -> None:
    """A5: the second text was on its way before the new values were shown to anybody."""
    review = suspend("P001")
    deliver()
    change(study)
    for _twice in range(2):
        receive(f"同意 {review.pk}", user="wanghushi")
    work()
    review.refresh_from_db()
    assert (review.status, review.version) == (Review.Status.OPEN, 2)
    assert len(outgoing("wanghushi")) == 2


def change(study: Study) -> None:
    """A CRC corrects a value of P001 in REDCap."""
    values = {"record": "P001", "event": "baseline_arm_1", "values": {"weight_kg": "77.7"}}
    study.stand_ins.post("redcap/records", [values])


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [
        ("同意 {n}", Review.Status.APPROVED, "未说明"),
        ("同意{n} 已核对原始病历", Review.Status.APPROVED, "已核对原始病历"),
        ("驳回 {n} 日期不对", Review.Status.REJECTED, "日期不对"),
    ],
)
def test_a_text_command_decides_like_a_card(
    study: Study, suspend: Run, text: str, status: str, reason: str
) -> None:
    review = suspend("P001")
    deliver()
    receive(text.format(n=review.pk), user="wanghushi")
    work()
    review.refresh_from_db()
    assert (review.status, review.reason, review.decided_by) == (status, reason, "wanghushi")
    assert len(outgoing("wanghushi")) == 1
    assert len(payloads("card_update")) == 1


def test_a_rejection_by_text_needs_its_reason(study: Study, suspend: Run) -> None:
    review = suspend("P001")
    deliver()
    receive(f"驳回 {review.pk}", user="wanghushi")
    work()
    review.refresh_from_db()
    assert review.status == Review.Status.OPEN
    assert f"驳回 {review.pk}" in outgoing("wanghushi")[0]


@pytest.mark.full
def test_not_yours_and_does_not_exist_read_the_same(study: Study, suspend: Run) -> None:
    review = suspend("P001")
    receive(f"同意 {review.pk}", user="crc_b")
    receive("同意 999999", user="crc_b")
    work()
    assert audited("wechat.decision_refused") == ["crc_b"]
    yours, none = outgoing("crc_b")
    assert yours.replace(str(review.pk), "N") == none.replace("999999", "N")


@pytest.mark.full
def test_a_worker_killed_after_the_decision_still_answers(
    study: Study, suspend: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decision commits by itself; the task that runs again finds it made."""
    from tests.wechat.test_inbox_faults import break_at, later

    review = suspend("P001")
    deliver()
    with monkeypatch.context() as patch:
        break_at(patch, "wechat.inbound.job.close", 1)
        receive(f"同意 {review.pk}", user="wanghushi")
        work()
    assert not outgoing("wanghushi")
    with later(3):
        work()
    assert audited("review.approve") == ["wanghushi"]
    assert len(outgoing("wanghushi")) == 1
    assert "王护士" in outgoing("wanghushi")[0]


def test_where_a_signature_is_due_the_card_only_links(study: Study, suspend: Run) -> None:
    study.project.requires_signature = True
    study.project.save()
    review = suspend("P001")
    content = json.loads(card_of(review).content)
    assert [button.get("type") for button in content["button_list"]] == [1]
    receive(f"同意 {review.pk}", user="wanghushi")
    work()
    review.refresh_from_db()
    assert review.status == Review.Status.OPEN


@pytest.mark.full
def test_an_update_that_wecom_refuses_becomes_a_text(study: Study, suspend: Run) -> None:
    """A8, A9: the decision stands."""
    review = suspend("P001")
    deliver()
    click(card_of(review).task_id, "approve", "wanghushi", code="used-up")
    work()
    deliver()
    deliver()
    assert OutboxMessage.objects.get(kind="card_update").status == "failed"
    assert len([text for text in outgoing("wanghushi") if "王护士" in text]) == 1
    review.refresh_from_db()
    assert review.status == Review.Status.APPROVED


@pytest.mark.full
def test_a_code_that_is_too_long_to_be_one_loses_no_decision(study: Study, suspend: Run) -> None:
    """A8: it fits its column, WeCom refuses it, the decision is told in words."""
    review = suspend("P001")
    deliver()
    click(card_of(review).task_id, "approve", "wanghushi", code="c" * 5000)
    work()
    assert len(card_of(review).response_code) == 512
    deliver()
    deliver()
    review.refresh_from_db()
    assert review.status == Review.Status.APPROVED
    assert len([text for text in outgoing("wanghushi") if "王护士" in text]) == 1


def test_a_card_that_wecom_refuses_becomes_a_text_with_the_commands(
    study: Study, suspend: Run
) -> None:
    study.stand_ins.fault("wecom", "body", {"errcode": 42031}, path="message/send")
    review = suspend("P001", by="system_scheduler")
    deliver()
    assert f"同意 {review.pk}" in outgoing("wanghushi")[0]


def test_who_is_asked_in_words_is_not_asked_again_where_the_card_is_refused(
    study: Study, suspend: Run
) -> None:
    Member.objects.filter(wecom_userid="wanghushi").update(plain_text=True)
    study.stand_ins.fault("wecom", "body", {"errcode": 42031}, path="message/send")
    review = suspend("P001", by="system_scheduler")
    deliver()
    (asked,) = outgoing("wanghushi")
    assert f"同意 {review.pk}" in asked


@pytest.mark.full
def test_a_cancelled_run_takes_the_buttons_off(study: Study, suspend: Run) -> None:
    review = suspend("P001")
    sop.cancel(run=review.task_run, actor="admin", reason="已重做")
    tell()
    assert len(payloads("card_update")) == 1
    receive(f"同意 {review.pk}", user="wanghushi")
    work()
    assert "任务不在挂起状态" in outgoing("wanghushi")[-1]

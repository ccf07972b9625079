"""A decision without its number decides nothing and is explained (issue 5)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from engines import sop
from engines.models import Review, TaskRun
from memory.models import ConversationHistory
from skills.models import Skill
from tests.engines.sop.kit import review_of, run_qc
from tests.support.study import Study
from tests.wechat.working import click, deliver, outgoing, receive, said, work
from wechat.inbound.commands import Unnumbered, unnumbered
from wechat.models import InboxMessage

pytestmark = pytest.mark.django_db
Run = Callable[..., Review]


@pytest.fixture
def suspend(study: Study) -> Run:
    """Start a run that stops at once for a person."""

    def run(record_id: str = "P001", **node: Any) -> Review:
        ask = {"type": "human_review", "description": "请核对入组日期", **node}
        skill, _ = Skill.objects.get_or_create(
            project=study.project,
            skill_type="qc_process:simple",
            defaults={
                "name": "简单复核",
                "config": {"name": "复核", "start_node": "ask", "nodes": {"ask": ask}},
            },
        )
        started = sop.start(
            project=study.project,
            skill=skill,
            record_id=record_id,
            triggered_by="system_scheduler",
            wake=False,
        )
        sop.drive(started.pk)
        started.refresh_from_db()
        assert started.status == TaskRun.Status.SUSPENDED
        review = sop.open_review(started)
        assert review
        deliver()
        return review

    return run


def say(text: str, user: str = "wanghushi") -> str:
    """One message; its reply."""
    before = len(outgoing(user))
    receive(text, user=user)
    work()
    return "\n".join(outgoing(user)[before:])


def is_open(review: Review) -> bool:
    review.refresh_from_db()
    return review.status == Review.Status.OPEN


@pytest.mark.parametrize(
    "text", ["同意", "驳回", "同意。", "驳回吧", "approve", "REJECT", " 同意 "]
)
def test_a_bare_word_names_the_review_and_decides_nothing(suspend: Run, text: str) -> None:
    review = suspend("P001")
    reply = say(text)
    assert is_open(review)
    for part in (f"#{review.pk}", "P001", "简单复核", f"同意 {review.pk}", f"驳回 {review.pk}"):
        assert part in reply
    assert not ConversationHistory.objects.filter(user_id="wanghushi").exists()


@pytest.mark.full
def test_all_that_wait_are_named(suspend: Run) -> None:
    reviews = [suspend("P001"), suspend("P003")]
    reply = say("同意")
    assert all(f"#{review.pk}" in reply and is_open(review) for review in reviews)


@pytest.mark.full
def test_a_reason_without_a_number_is_kept_in_the_words_to_reply(suspend: Run) -> None:
    review = suspend("P001")
    reply = say("驳回 数据有误")
    assert f"驳回 {review.pk} 数据有误" in reply
    assert is_open(review)
    say(f"驳回 {review.pk} 数据有误")
    review.refresh_from_db()
    assert (review.status, review.reason) == (Review.Status.REJECTED, "数据有误")


@pytest.mark.parametrize("user", ["crc_b", "zhangyi"])
def test_who_may_not_decide_is_not_told_of_the_review(suspend: Run, user: str) -> None:
    review = suspend("P001")
    assert f"#{review.pk}" not in say("同意", user=user)
    assert is_open(review)


@pytest.mark.full
def test_a_study_that_wants_signatures_says_so(study: Study, suspend: Run) -> None:
    study.project.requires_signature = True
    study.project.save()
    review = suspend("P001")
    told = say("同意")
    assert told.startswith(said("This project wants decisions signed in the console."))
    assert told.endswith(f"/admin/engines/review/{review.pk}/change/")


@pytest.mark.full
def test_a_sentence_that_begins_like_a_decision_is_none(suspend: Run) -> None:
    review = suspend("P001")
    reply = say(f"驳回{review.pk}缺少原始病历")
    assert f"驳回 {review.pk} 缺少原始病历" in reply
    for text in (
        f"同意 {review.pk}.5",
        f"同意{review.pk}例受试者的入组安排",
        f"同意 {review.pk}e3",
    ):
        say(text)
    assert is_open(review)


@pytest.mark.full
def test_a_doubt_about_a_numbered_review_is_explained(suspend: Run) -> None:
    other, review = suspend("P003"), suspend("P001")
    reply = say(f"驳回 {review.pk} ?")
    assert f"驳回 {review.pk} " in reply
    assert f"{review.pk} {review.pk}" not in reply
    assert f"#{other.pk}" not in reply
    assert is_open(review)


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    [
        "同意",
        "驳回",
        "驳回 NN 理由",
        "同意 " + "9" * 20,
        "同意 42 但先不要",
        "同意 42、43",
        "同意 42，驳回 43 数据有误",
    ],
)
def test_where_nothing_waits_that_is_said_and_nothing_is_rated(study: Study, text: str) -> None:
    say("P001 入组了吗?")
    assert say(text) == said("No review is waiting for your decision.")
    rated = ConversationHistory.objects.filter(user_id="wanghushi", role="assistant")
    assert [row.feedback for row in rated] == [None]


@pytest.mark.parametrize("text", ["同意吗?", "同意入组吗", "同意 可以吗?", "我同意", "42", "驳回?"])
def test_questions_and_other_words_are_no_decision(text: str) -> None:
    assert unnumbered(text) is None


def test_a_decision_with_its_number_is_none_without() -> None:
    assert unnumbered("同意 42") is None
    assert unnumbered("驳回 数据有误") == Unnumbered("reject", "数据有误")


@pytest.mark.full
@pytest.mark.parametrize("text", ["数据有误", "入组日期早于知情同意", "缺少化验单原件"])
def test_the_reason_alone_gets_the_words_that_reject(suspend: Run, text: str) -> None:
    review = suspend("P001")
    say(f"驳回 {review.pk}")
    assert is_open(review)
    reply = say(text)
    assert f"驳回 {review.pk} {text}" in reply
    assert is_open(review)
    say(f"驳回 {review.pk} {text}")
    review.refresh_from_db()
    assert (review.status, review.reason) == (Review.Status.REJECTED, text)


@pytest.mark.full
def test_the_reason_after_a_click_gets_the_words_that_reject(suspend: Run) -> None:
    review = suspend("P001")
    click(f"review_{review.pk}@1", "reject", "wanghushi")
    work()
    assert is_open(review)
    assert f"驳回 {review.pk} 资料不全,需要补充" in say("资料不全,需要补充")
    click(f"review_{review.pk}@1", "approve", "wanghushi")
    work()
    assert f"驳回 {review.pk}" not in say("资料不全,需要补充")


@pytest.mark.parametrize("more", ["例受试者入组", "周后复查", "但先不要", "不"])
def test_an_approval_that_may_mean_something_else_is_explained(suspend: Run, more: str) -> None:
    review = suspend("P001")
    reply = say(f"同意 {review.pk} {more}")
    assert f"同意 {review.pk}" in reply
    assert is_open(review)


@pytest.mark.full
def test_several_numbers_decide_nothing_and_each_is_named(suspend: Run) -> None:
    other, first, second = suspend("P003"), suspend("P001"), suspend("P004")
    reply = say(f"同意 {first.pk}、{second.pk}")
    assert all(f"#{one.pk}" in reply and is_open(one) for one in (first, second))
    assert f"#{other.pk}" not in reply


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    [
        "P001 入组了吗?",
        "现在入组多少例",
        "谢谢",
        "上周周报",
        "P001的血红蛋白",
        "质控P003",
        "P003的下次随访",
    ],
)
def test_another_message_is_answered_as_ever(suspend: Run, text: str) -> None:
    review = suspend("P001")
    say(f"驳回 {review.pk}")
    assert f"驳回 {review.pk}" not in say(text)
    said = ConversationHistory.objects.filter(user_id="wanghushi")
    assert text in said.values_list("content", flat=True)


@pytest.mark.full
def test_what_may_be_the_reason_is_explained_once(suspend: Run) -> None:
    review = suspend("P001")
    say(f"驳回 {review.pk}")
    say("P001 入组了吗?")
    say("👍")
    assert f"驳回 {review.pk} 排除标准" in say("排除标准")
    assert f"驳回 {review.pk}" not in say("排除标准")


@pytest.mark.full
def test_the_question_for_a_reason_does_not_wait_for_ever(suspend: Run) -> None:
    review = suspend("P001")
    say(f"驳回 {review.pk}")
    for row in InboxMessage.objects.all():
        row.received_at -= timedelta(minutes=11)
        row.save()
    assert f"驳回 {review.pk}" not in say("数据有误")


@pytest.mark.full
def test_a_review_that_was_decided_is_not_asked_about(study: Study, suspend: Run) -> None:
    review = suspend("P001")
    say(f"驳回 {review.pk}")
    sop.decide(
        review_id=review.pk,
        actor=study["admin"],
        decision="approve",
        reason="已核对",
        seen=review.seen,
    )
    assert f"驳回 {review.pk}" not in say("数据有误")


@pytest.fixture
def failed(study: Study) -> Review:
    """P012, whose approval goes over what was found."""
    found = review_of(run_qc(study, "P012"))
    deliver()
    return found


@pytest.mark.full
@pytest.mark.parametrize("by_click", [False, True])
def test_an_approval_that_takes_a_reason_is_asked_for_it(failed: Review, by_click: bool) -> None:
    words = f"同意 {failed.pk}"
    assert f"“{words} 理由”" in say("同意")
    if by_click:
        click(f"review_{failed.pk}@1", "approve", "wanghushi")
        work()
    else:
        say(words)
    assert is_open(failed)
    reply = say("已核对源文件")
    assert f"{words} 已核对源文件" in reply
    assert f"驳回 {failed.pk}" not in reply
    say(f"{words} 已核对源文件")
    failed.refresh_from_db()
    assert (failed.status, failed.reason) == (Review.Status.APPROVED, "已核对源文件")


@pytest.mark.full
def test_a_reason_to_approve_is_offered_for_no_rejection(suspend: Run) -> None:
    review = suspend("P001")
    reply = say("同意 已核对")
    assert f"“同意 {review.pk} 已核对”" in reply
    assert f"“驳回 {review.pk} 理由”" in reply


@pytest.mark.full
def test_who_need_give_no_reason_is_not_asked_for_one(suspend: Run) -> None:
    review = suspend("P001")
    assert f"“同意 {review.pk}”" in say("同意")
    InboxMessage.objects.update(content=f"同意 {review.pk}")
    assert f"同意 {review.pk}" not in say("已核对源文件")

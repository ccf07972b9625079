"""Text commands, full and half width (reference/wecom.md 9.5)."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wechat.inbound.commands import (
    Command,
    Decide,
    Feedback,
    Unnumbered,
    deciding,
    read_command,
    unnumbered,
)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("同意 42", Decide(42, "approve", "")),
        ("同意42", Decide(42, "approve", "")),
        ("同意　４２", Decide(42, "approve", "")),
        (" 同意 #42。", Decide(42, "approve", "")),
        ("同意 42 已核对原始病历", Decide(42, "approve", "已核对原始病历")),
        ("approve 42 checked", Decide(42, "approve", "checked")),
        ("Reject #7", Decide(7, "reject", "")),
        ("驳回 42 理由不足", Decide(42, "reject", "理由不足")),
        ("驳回42，日期不对\n请核对", Decide(42, "reject", "日期不对\n请核对")),
        ("驳回：４２：数据有误", Decide(42, "reject", "数据有误")),
        ("驳回 42 入组日期早于知情同意?", Decide(42, "reject", "入组日期早于知情同意?")),
        ("驳回 42 不知道写的什么", Decide(42, "reject", "不知道写的什么")),
        ("同意42号", Decide(42, "approve", "")),
        ("同意 42 吧", Decide(42, "approve", "吧")),
        ("同意42了", Decide(42, "approve", "")),
        ("同意 42！", Decide(42, "approve", "")),
        ("驳回 42。5 月的数据有误", Decide(42, "reject", "5 月的数据有误")),
        ("驳回 42，5 月的数据有误", Decide(42, "reject", "5 月的数据有误")),
        ("驳回 42 2026-03-05 的化验单缺失", Decide(42, "reject", "2026-03-05 的化验单缺失")),
        ("驳回 42\n1、日期不对\n2、缺原件", Decide(42, "reject", "1、日期不对\n2、缺原件")),
        ("驳回 42（日期不对）", Decide(42, "reject", "(日期不对)")),
        ("驳回 42 不符合入排标准", Decide(42, "reject", "不符合入排标准")),
        ("驳回 42：3.5 不在范围", Decide(42, "reject", "3.5 不在范围")),
        ("同意 42 数据已核对", Decide(42, "approve", "数据已核对")),
        ("同意 42 年龄符合", Decide(42, "approve", "年龄符合")),
        ("同意 42 日期已核对", Decide(42, "approve", "日期已核对")),
        ("同意 42 人工核对 3 例", Decide(42, "approve", "人工核对 3 例")),
        ("同意 42 没问题", Decide(42, "approve", "没问题")),
        ("同意 42 未见异常", Decide(42, "approve", "未见异常")),
        ("同意 42：不影响入组", Decide(42, "approve", "不影响入组")),
        ("👍", Feedback("thumbs_up", None)),
        ("👍🏽 很好", Feedback("thumbs_up", None)),
        ("👎", Feedback("thumbs_down", None)),
        ("👎 太长", Feedback("thumbs_down", "too_long")),
        ("👎，太长了", Feedback("thumbs_down", "too_long")),
        ("👎不准确", Feedback("thumbs_down", "inaccurate")),
        ("👎 不清楚！", Feedback("thumbs_down", "unclear")),
        ("👎 别的原因", Feedback("thumbs_down", None)),
        ("👍?", Feedback("thumbs_up", None)),
        ("👎 入组人数不对", Feedback("thumbs_down", None)),
        ("👍 P001 入组了吗?", Feedback("thumbs_up", None, "P001 入组了吗?")),
        ("👍 谢谢,再查一下P001的ALT", Feedback("thumbs_up", None, "再查一下P001的ALT")),
        ("👎 太长，今天谁该访视？", Feedback("thumbs_down", "too_long", "今天谁该访视?")),
        ("👍 质控P001", Feedback("thumbs_up", None, "质控P001")),
    ],
)
def test_a_command_is_read(text: str, command: Command) -> None:
    assert read_command(text) == command


@pytest.mark.parametrize(
    "text",
    [
        "",
        "同意",
        "驳回",
        "我同意 42",
        "同意入组吗",
        "42",
        "P001 同意了吗",
        "同意 P042",
        "好的👍",
        "同意 " + "9" * 30,
        "同意 13.5",
        "同意 1e3",
        "同意15例受试者的入组安排请帮我查询",
        "驳回3个中心的申请",
        "驳回42缺少原始病历",
        "同意 3 例受试者入组",
        "同意 2 周后复查",
        "同意 2026 年的计划",
        "同意 5 mg剂量",
        "驳回 3 例受试者的申请",
        "驳回 2、3 例的入组",
    ],
)
def test_an_ordinary_message_is_no_command(text: str) -> None:
    assert read_command(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "同意 42?",
        "同意 42？",
        "同意42吗",
        "同意 42 吗？",
        "同意 42 可以吗?",
        "同意 42 么",
        "同意 42 没问题了？",
        "approve 42?",
        "驳回 42？",
        "驳回 42 吗",
        "驳回 42 可以吗？",
        "驳回 42 呢?",
    ],
)
def test_a_question_decides_nothing(text: str) -> None:
    assert read_command(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "同意 42 但先不要",
        "同意 42。但先不要",
        "同意 42 不",
        "同意 42 别",
        "同意 42 还没核对",
        "同意 42 等一下",
        "同意 42 但数据要改",
        "approve 42 not yet",
        "驳回 42 不要",
        "驳回 42 先不要吧",
    ],
)
def test_what_is_taken_back_in_the_same_breath_decides_nothing(text: str) -> None:
    assert read_command(text) is None
    assert unnumbered(text) == Unnumbered(_decision(text), "", (42,))


@pytest.mark.parametrize("text", ["同意 3 例受试者入组", "同意3例受试者", "驳回 3 周的安排"])
def test_what_a_number_counts_may_be_no_decision_at_all(text: str) -> None:
    assert unnumbered(text) == Unnumbered(_decision(text), "", (3,), counts=True)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("同意 42、43", (42, 43)),
        ("同意 42，43 已核对", (42, 43)),
        ("同意 42 和 43", (42, 43)),
        ("同意 42: 43", (42, 43)),
        ("驳回 42,#43,44。", (42, 43, 44)),
        ("同意 42，驳回 43 数据有误", (42,)),
        ("同意 42\n同意 43", (42,)),
    ],
)
def test_of_several_reviews_at_once_none_is_decided(text: str, numbers: tuple[int, ...]) -> None:
    assert read_command(text) is None
    assert unnumbered(text) == Unnumbered(_decision(text), "", numbers)


def _decision(text: str) -> Literal["approve", "reject"]:
    return "reject" if text.startswith("驳回") else "approve"


@pytest.mark.parametrize(
    "reason", ["数据有误", "5 月数据有误", "3.5 不在范围", "不要", "例 2 缺失"]
)
def test_the_words_that_are_offered_decide_for_that_reason(reason: str) -> None:
    assert read_command(deciding("reject", 42, reason)) == Decide(42, "reject", reason)
    assert read_command(deciding("approve", 42, reason)) == Decide(42, "approve", reason)


def test_a_long_row_of_digits_is_read_at_once() -> None:
    assert read_command("同意 42 " + "1" * 5000 + "x") is None


@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert read_command(text) is None or isinstance(read_command(text), Decide | Feedback)

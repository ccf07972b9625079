"""Text commands, full and half width (reference/wecom.md 9.5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wechat.commands import Command, Decide, Feedback, read


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
        ("👍", Feedback("thumbs_up", None, "")),
        ("👍🏽 很好", Feedback("thumbs_up", None, "很好")),
        ("👎", Feedback("thumbs_down", None, "")),
        ("👎 太长", Feedback("thumbs_down", "too_long", "太长")),
        ("👎，太长了", Feedback("thumbs_down", "too_long", "太长了")),
        ("👎不准确", Feedback("thumbs_down", "inaccurate", "不准确")),
        ("👎 不清楚！", Feedback("thumbs_down", "unclear", "不清楚!")),
        ("👎 别的原因", Feedback("thumbs_down", None, "别的原因")),
    ],
)
def test_a_command_is_read(text: str, command: Command) -> None:
    assert read(text) == command


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
    ],
)
def test_an_ordinary_message_is_no_command(text: str) -> None:
    assert read(text) is None


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
    assert read(text) is None


@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert read(text) is None or isinstance(read(text), Decide | Feedback)

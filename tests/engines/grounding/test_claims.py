"""Words that claim something need a source as numbers do (must-show 5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.grounding import Sources, check
from engines.grounding.values import han_number, plain
from engines.tools import Fact, Status, ToolResult

FACTS = (
    Fact("P003", "alt", ("谷丙转氨酶ALT（U/L）", "ALT"), "38", "基线"),
    Fact("P003", "alt", ("谷丙转氨酶ALT（U/L）", "ALT"), "52", "V2"),
    Fact("P003", "ast", ("谷草转氨酶AST（U/L）", "AST"), "21", "基线"),
    Fact("P003", "ast", ("谷草转氨酶AST（U/L）", "AST"), "47", "V2"),
    Fact("P003", "glucose", ("空腹血糖GLU", "血糖"), "5.1", "基线"),
    Fact("P003", "glucose_unit", ("血糖单位",), "mmol/L", "基线"),
    Fact("P003", "compliance", ("用药依从性（%）", "依从性"), "97", "V2"),
    Fact("P003", "histology", ("病理类型",), "腺癌", "筛选", ("鳞癌", "大细胞癌")),
    Fact("P003", "stage", ("临床分期",), "ⅢC期", "筛选", ("ⅢB期", "ⅣA期")),
    Fact("P003", "infection", ("是否存在活动性感染", "活动性感染"), "否", "筛选", ("是",)),
    Fact("P003", "sbp", ("收缩压", "血压"), "132", "基线"),
    Fact("P003", "dbp", ("舒张压", "血压"), "84", "基线"),
)
RESULT = ToolResult(
    "read_clinical_data",
    Status.OK,
    {},
    facts=FACTS,
    record_ids=("P003",),
    blank=("退出日期", "退出"),
)
LABELS = {"alt": "谷丙转氨酶ALT（U/L）", "lab_date": "采血日期", "enroll_date": "入组日期"}


def problems(answer: str, *blocks: str) -> list[str]:
    return check(answer, Sources([RESULT], blocks, labels=LABELS))


@pytest.mark.parametrize(
    "answer",
    [
        "P003 基线 ALT 38 U/L,V2 ALT 52 U/L。",
        "P003 的 ALT 38,AST 21。",
        "P003 的 ALT 52,AST 47。",
        "P003 空腹血糖 5.1 mmol/L。",
        "P003 用药依从性 97%。",
        "P003 病理类型:腺癌,临床分期ⅢC期。",
        "P003 没有活动性感染。",
        "P003 血压 132/84。",
        "P003 未退出。",
        "P003 不是鳞癌。",
        "您好,建议您登录REDCap查看详情。",
    ],
)
def test_what_the_data_say(answer: str) -> None:
    assert problems(answer) == []


@pytest.mark.parametrize(
    "answer",
    [
        "P003 的 ALT 38,AST 47。",
        "P003 基线 ALT 52。",
        "P003 的 ALT 38 mg/dL。",
        "P003 空腹血糖 5.1 mg/dL。",
        "P003 用药依从性 97 天。",
        "P003 病理类型不是腺癌。",
        "P003 病理是鳞癌。",
        "P003 分期为 IV期。",
        "P003 存在活动性感染。",
        "P003 血压 84/132。",
        "P003 已退出。",
        "P003 ALT 38,偏高。",
        "P003 质控通过。",
        "P003 已治愈。",
        "P003 采血日期 38。",
        "P003 一半以上指标异常。",
        "P003 ALT 三十九 分。",
        "P003 ALT 四百分。",
    ],
)
def test_what_they_do_not_say(answer: str) -> None:
    assert problems(answer)


def test_a_document_is_a_source_for_its_words() -> None:
    assert problems("妊娠者不符合标准。")
    assert problems("妊娠者不符合标准。", "排除标准:妊娠或哺乳期,不符合者退出") == []


def test_what_is_told_of_another_subject_is_no_source() -> None:
    assert problems("P003 已痊愈。", "P005 的皮疹已痊愈")
    assert problems("P003 已痊愈。", "P003 的皮疹已痊愈") == []


def test_an_earlier_answer_lends_no_value_to_another_field_or_subject() -> None:
    told = "P003 ALT:38\nP003 AST:21\nP005 ALT:66"
    assert problems("P003 ALT 21。", told)
    assert problems("P003 ALT 66。", told)
    assert problems("P003 采血日期 21。", told)


@given(st.integers(1, 99_999_999))
def test_chinese_numerals_are_read_back(number: int) -> None:
    assert han_number(_han(number)) == number


def _han(number: int) -> str:
    if number >= 10_000:
        return (
            _below(number // 10_000) + "万" + (_below(number % 10_000) if number % 10_000 else "")
        )
    return _below(number)


def _below(number: int) -> str:
    text = ""
    for size, word in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // size % 10
        text += "零一二三四五六七八九"[digit] + word if digit else ""
    return text


def test_dates_in_chinese_numerals_are_dates() -> None:
    assert plain("二〇二六年二月五日") == "2026年2月5日"
    assert plain("二零二六年十二月") == "2026年12月"


@given(st.text(max_size=80))
def test_no_answer_breaks_the_check(answer: str) -> None:
    assert isinstance(problems(answer), list)

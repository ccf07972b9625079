"""Tracing the values of an answer to their sources (decisions.md, "sources of an answer")."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.grounding import Sources, check
from engines.grounding.values import han_number, tokens, values
from engines.tools import Fact, Status, ToolResult

LABS = (
    Fact("P003", "alt", ("谷丙转氨酶ALT", "alt", "ALT"), "38 U/L", "V2"),
    Fact("P003", "ast", ("谷草转氨酶AST", "ast", "AST"), "52 U/L", "V2"),
    Fact("P003", "ecog_score", ("ECOG评分", "ecog"), "1分", "Screening", ("0分", "2分", "3分")),
    Fact("P003", "enroll_date", ("入组日期", "入组"), "2026-03-05", "Baseline"),
    Fact("P003", "sex", ("性别",), "女", "Screening", ("男",)),
)
OTHER = (
    Fact("P004", "ecog_score", ("ECOG评分", "ecog"), "2分", "Screening", ("0分", "1分", "3分")),
    Fact("P004", "enroll_date", ("入组日期", "入组"), "2026-04-09", "Baseline"),
)
STATS = (
    Fact("", "enrolled", ("入组", "入组人数", "已入组"), "15"),
    Fact("", "total", ("总数", "受试者总数", "一共"), "38"),
    Fact("", "target", ("目标",), "30"),
    Fact("", "completion", ("完成率",), "50.0%"),
    Fact("", "remaining", ("还差",), "15"),
)
HOT = [
    "- 重点关注:P005 患者依从性差,需每日提醒",
    "- 本周目标:完成 3 例入组",
    "- P003 SAE 已判定为可能无关(2月5日 PI 决策)",
]
BOOK = [
    "[W12]: 增加受试者交通补贴,由每次100元提高到200元",
    "[W15]: 门诊增派 CRC 一名,本周新入组:4 例",
]


def problems(
    answer: str, *facts: Fact, blocks: list[str] | None = None, **more: object
) -> list[str]:
    result = ToolResult("read_clinical_data", Status.OK, {}, facts=facts)
    return check(answer, Sources([result], blocks or [], **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "answer",
    [
        "P003 已入组,入组日期为2026-03-05。",
        "已入组,时间是 2026年3月5日。",
        "P003 于3月5日入组。",
        "P003 的 ALT 为 38 U/L,AST 为 52 U/L。",
        "P003 的 ALT、AST 分别为 38、52。",
        "P003 ALT 38.0 U/L",
        "您好,P003 的ECOG评分是1分。",
        "1. P003 的 ECOG 是 1 分\n2. ALT 是 38",
        "P003 是女性。",
        "目前没有更多信息,建议您登录REDCap查看。",
        "",
    ],
)
def test_what_stands_in_the_data_is_grounded(answer: str) -> None:
    assert problems(answer, *LABS) == []


@pytest.mark.parametrize(
    "answer",
    [
        "P003 的 ALT 为 40 U/L。",
        "P003 的 ALT 为 52 U/L,AST 为 38 U/L。",
        "P003 的 ALT、AST 分别为 52、38。",
        "P003 于2026-03-06入组。",
        "P003 入组日期为3月6日。",
        "P003 的 ECOG 是 3 分。",
        "P003 的 ECOG 是三分。",
        "P009 的 ECOG 是 1 分。",
        "P003 的 ECOG 是 1 分,P100 也是。",
        "P003 性别:男。",
        "P003 尚未入组。",
        "P003 的 ECOG 是 1 分,共随访 7 次。",
        "2026-03-05",
    ],
)
def test_wrong_swapped_and_invented_values_are_not(answer: str) -> None:
    assert problems(answer, *LABS)


def test_values_of_two_subjects_may_not_be_swapped() -> None:
    facts = (*LABS, *OTHER)
    assert problems("P003 的 ECOG 是 1 分,P004 的 ECOG 是 2 分。", *facts) == []
    assert problems("P003 的 ECOG 是 2 分,P004 的 ECOG 是 1 分。", *facts)
    assert problems("P003、P004 的 ECOG 分别为 1、2。", *facts) == []
    assert problems("P003、P004 的 ECOG 分别为 2、1。", *facts)
    assert problems("P004 入组日期 2026-03-05。", *facts)


def test_a_place_holds_its_own_value() -> None:
    facts = (
        Fact("P001", "alt", ("ALT",), "14", "V1"),
        Fact("P001", "alt", ("ALT",), "34", "V2"),
    )
    assert problems("P001 V1 ALT 14,V2 ALT 34", *facts, names=["V1", "V2"]) == []
    assert problems("P001 V1 ALT 34", *facts, names=["V1", "V2"])


@pytest.mark.parametrize(
    "answer",
    [
        "目前入组 15 例,目标 30 例,完成率 50%,还差 15 例。",
        "目标30例中已入组15例。",
        "受试者总数 38,入组人数 15。",
        "一共 38 例受试者。",
    ],
)
def test_counts_are_grounded_beside_their_names(answer: str) -> None:
    assert problems(answer, *STATS) == []


@pytest.mark.parametrize(
    "answer",
    [
        "目前入组 30 例,目标 15 例。",
        "已入组 38 例。",
        "完成率 30%。",
        "还差 3 例。",
        "入组十六例。",
    ],
)
def test_swapped_or_invented_counts_are_not(answer: str) -> None:
    assert problems(answer, *STATS, blocks=HOT)


def test_hot_memory_and_reports_are_sources_for_what_they_speak_of() -> None:
    assert problems("P005 依从性差,需每日提醒。", blocks=HOT) == []
    assert problems("本周目标是完成 3 例入组。", blocks=HOT) == []
    assert (
        problems("第12周增加了交通补贴,由100元提高到200元;第15周门诊增派了CRC。", blocks=BOOK) == []
    )
    assert problems("第15周新入组4例。", *STATS, blocks=BOOK) == []


def test_a_report_does_not_lend_its_numbers_to_something_else() -> None:
    assert problems("第13周增加了交通补贴。", blocks=BOOK)
    assert problems("补贴提高到300元。", blocks=BOOK)
    assert problems("P003 血压为 200。", *LABS, blocks=BOOK)
    assert problems("P006 依从性差。", blocks=HOT)


def test_the_question_is_no_source() -> None:
    assert problems("是的,P003 的 ECOG 是 3 分。", *LABS, record_ids=["P003"])


def test_subjects_of_the_question_may_be_named() -> None:
    assert problems("没有 P077 的数据。", *LABS, record_ids=["P077"]) == []


def test_list_numbering_and_placeholders_are_no_values() -> None:
    assert problems("1. [任务1] 已完成\n2. [任务2] 需要确认\n[文档1] 提到[姓名#3]", *LABS) == []


def test_bare_ids_count_as_subjects() -> None:
    facts = (Fact("7", "age", ("年龄",), "62"), Fact("007", "age", ("年龄",), "55"))
    assert problems("受试者7年龄62岁,受试者007年龄55岁。", *facts) == []
    assert problems("受试者7年龄55岁。", *facts)
    assert problems("受试者99年龄62岁。", *facts)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("十", 10),
        ("三", 3),
        ("十二", 12),
        ("二十三", 23),
        ("两", 2),
        ("百", 100),
        ("一百零五", 105),
        ("一万", 10_000),
        ("三四", None),
        ("十百", None),
        ("万", None),
    ],
)
def test_chinese_numerals(text: str, number: int | None) -> None:
    assert han_number(text) == number


def test_dates_in_all_spellings_are_one_date() -> None:
    for text in ("2026-03-05", "2026/3/5", "2026年3月5日", "2026.03.05", "２０２６－０３－０５"):
        assert values(text).dates == {(2026, 3, 5)}, text


def test_units_with_powers_are_no_numbers() -> None:
    assert [str(t.value) for t in tokens("WBC 5.6") if t.kind == "number"] == ["5.6"]
    assert {int(n) for n in values("血小板 210 ×10⁹/L").numbers} == {210}


@given(st.text(max_size=120))
def test_no_answer_breaks_the_check(text: str) -> None:
    problems(text, *LABS, blocks=HOT)

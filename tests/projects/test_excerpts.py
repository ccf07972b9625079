"""The rule that answers: chosen by heading, content and figure, told with what makes it a rule."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.protocol.figures import fitting, ranges
from study.protocol.rules import RuleIndex, rule_lines
from study.protocol.units import units

TEXT = """# 方案
## 4 人群
### 4.1 入选标准
受试者须同时满足以下条件:
1. 年龄 18～75 周岁。
2. 血小板不低于 100×10⁹/L。
### 4.2 排除标准
受试者符合以下任何一条即不得入组。符合的条目打勾。
1. 间质性肺炎病史。
2. 妊娠期或哺乳期女性。
## 5 治疗
### 5.2 剂量调整
| 情况 | 处理 |
|---|---|
| ALT 超过正常值上限的 3 倍且不高于 5 倍 | 维持原剂量，每周复查 |
| ALT 超过正常值上限的 5 倍 | 暂停用药，每周复查两次 |
| 血小板低于 50×10⁹/L | 暂停用药，恢复后下调一级 |
### 5.3 V2 至 V4
1. 采血检查血常规。
### 5.4 访视窗口
| 访视 | 计划日 | 窗口（天） |
|---|---|---|
| V2 | Day 28 | ±7 |
| V6 | Day 168 | ±14 |
## 6 安全
### 6.7 严重不良事件的报告
研究者获知后应在 24 小时内报告。
### 6.8 漏服
漏服超过 12 小时可以补服。
"""


@pytest.fixture(scope="module")
def rules() -> RuleIndex:
    return RuleIndex([("方案", TEXT)])


def _answer(rules: RuleIndex, question: str) -> tuple[str, str]:
    told = rules.find(question, {}).quoted
    assert told
    return told[0].place, "\n".join(rule_lines(told))


@pytest.mark.parametrize(
    ("question", "place", "words", "never"),
    [
        ("ALT 4倍上限怎么办", "§5.2", "维持原剂量", "暂停"),
        ("ALT超过上限5倍怎么调药", "§5.2", "每周复查两次", "维持原剂量"),
        ("血小板45怎么处理", "§5.2", "下调一级", "不低于"),
        ("血小板多少可以入组", "§4.1", "100", "暂停"),
        ("哺乳的能参加吗", "§4.2", "不得入组", "间质性"),
        ("SAE多久内要上报", "§6.7", "24 小时", "补服"),
        ("第六次访视窗口是几天", "§5.4", "±14", "±7"),
    ],
)
def test_the_row_or_item_that_holds(
    rules: RuleIndex, question: str, place: str, words: str, never: str
) -> None:
    found, text = _answer(rules, question)
    assert found == place
    assert words in text
    assert never not in text


def test_a_row_keeps_the_heads_of_its_columns(rules: RuleIndex) -> None:
    assert (
        _answer(rules, "血小板45怎么处理")[1]
        == "情况:血小板低于 50×10⁹/L;处理:暂停用药，恢复后下调一级"
    )


@pytest.mark.parametrize(
    ("question", "place"), [("排除标准有哪些", "§4.2"), ("入选标准是什么", "§4.1")]
)
def test_a_heading_that_is_asked_for_gives_its_list(
    rules: RuleIndex, question: str, place: str
) -> None:
    found, text = _answer(rules, question)
    assert found == place
    lead, first, second, *_rest = text.split("\n")
    assert "以下" in lead
    assert (first[:2], second[:2]) == ("1.", "2.")


@pytest.mark.parametrize("question", ["能打疫苗吗", "可以坐飞机吗", "今天天气怎么样", "", "???"])
def test_what_no_rule_speaks_of_has_no_answer(rules: RuleIndex, question: str) -> None:
    assert not rules.find(question, {}).is_sure


def test_without_documents_there_is_no_answer() -> None:
    assert RuleIndex([]).find("排除标准有哪些", {}).rules == ()
    assert RuleIndex([("空", "")]).find("排除标准有哪些", {}).rules == ()


@pytest.mark.parametrize(
    ("asked", "rule", "fits"),
    [
        ("45", "血小板低于 50×10⁹/L", 1),
        ("150", "血小板低于 50×10⁹/L", -1),
        ("超过上限5倍", "超过正常值上限的 3 倍且不高于 5 倍", -1),
        ("5倍", "超过正常值上限的 3 倍且不高于 5 倍", 1),
        ("3级", "1～2 级", -1),
        ("3级", "3 级及以上", 1),
        ("76岁", "年龄 18～75 周岁", -1),
        ("80岁", "年龄不在 18～75 周岁之间", 0),
        ("14天", "血小板低于 50×10⁹/L", 0),
        ("V3", "3 级", 0),
        ("2026-02-05", "超过 5 天", 0),
    ],
)
def test_a_figure_lies_in_the_range_of_a_rule(asked: str, rule: str, fits: int) -> None:
    assert fitting(ranges(asked), rule) == fits


@given(st.integers(0, 500), st.integers(0, 500))
def test_below_and_not_below_part_all_figures(value: int, bound: int) -> None:
    figure = ranges(f"{value} 倍")
    below, above = fitting(figure, f"低于 {bound} 倍"), fitting(figure, f"不低于 {bound} 倍")
    assert (below, above) == ((1, -1) if Decimal(value) < bound else (-1, 1))


@given(st.text(max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    RuleIndex([("方案", text)]).find(text, {})
    ranges(text)


def test_what_is_quoted_ends_no_sentence() -> None:
    found = units([("CRF 指南", "# 1 缺失\n填写代码ND，不要写“未做”“ND?”、短横线或0。次日核对。")])
    assert [unit.text for unit in found] == [
        "填写代码ND，不要写“未做”“ND?”、短横线或0。",
        "次日核对。",
    ]


def test_a_time_is_told_by_the_rule_that_has_one_and_by_no_heading_alone() -> None:
    """第 5 天 is a day of an example, and no time limit."""
    rule = "### 6.7 妊娠的报告\n研究者获知后应在 48 小时内报告妊娠。\n"
    form = "### 10.1 妊娠报告表的内容\n报告表包括末次月经日期。受试者在第 5 天发现妊娠并报告。\n"
    rules = RuleIndex([("方案", f"# 方案\n{rule}{form}")])
    assert _answer(rules, "妊娠多久内要报告")[0] == "§6.7"
    assert _answer(rules, "妊娠报告表的内容")[0] == "§10.1"

"""What stands before a figure says all that it was computed by, whatever query a model writes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import translation

from engines.assistant.read.question import Question, Shape, Topic
from engines.assistant.say import figures
from engines.assistant.say.answer import say_answer
from tests.assistant.say.studies import reader_of, sheet
from tests.study.query.studies import demo

ENROLLED = {"field": "@enrolled", "op": "filled"}
SITE_A = {"field": "@site", "op": "=", "value": "site_a"}
BASELINE = {"field": "alt", "place": "baseline_arm_1"}


def about(query: dict[str, Any]) -> str:
    """What is counted or measured, as it stands before the number."""
    study = demo()
    reader = reader_of(study)
    with translation.override("zh-hans"):
        answer = study.ask(**query)
        return figures.about(query, answer.facts[0], reader)


def counted(*where: Any) -> dict[str, Any]:
    return {"where": list(where), "aggregate": "count"}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (counted(ENROLLED, SITE_A), "演示医院A 已入组"),
        (counted(ENROLLED, SITE_A | {"op": "!="}), "已入组、中心 ≠ 演示医院A"),
        (counted({"none": [SITE_A]}), "无中心 = 演示医院A"),
        (
            counted(
                {
                    "field": {"field": "alt", "minus": BASELINE, "as": "percent"},
                    "op": ">",
                    "value": 20,
                }
            ),
            "谷丙转氨酶ALT较基线 谷丙转氨酶ALT变化百分比 > 20",
        ),
        (
            counted({"field": {"field": "alt", "place": "V2"}, "op": ">", "value": 40}),
            "V2 谷丙转氨酶ALT > 40",
        ),
        (
            counted({"field": "alt", "op": "<=", "value": 40, "holds": "every"}),
            "谷丙转氨酶ALT每次都 ≤ 40",
        ),
        (
            counted({"field": "alt", "op": ">", "value": {"field": "ast", "place": "V2"}}),
            "谷丙转氨酶ALT > V2 谷草转氨酶AST",
        ),
        (
            counted({"none": [{"all": [ENROLLED, {"field": "alt", "op": ">", "value": 40}]}]}),
            "无(已入组、谷丙转氨酶ALT > 40)",
        ),
        (
            counted({"any": [SITE_A, {"field": "alt", "op": ">", "value": 40}]}),
            "中心 = 演示医院A或谷丙转氨酶ALT > 40",
        ),
        (
            {
                "select": [{"field": "alt", "place": "V2", "minus": BASELINE}],
                "aggregate": "mean",
            },
            "V2 谷丙转氨酶ALT减基线 谷丙转氨酶ALT 平均",
        ),
        ({"select": ["alt"], "rows": "highest", "aggregate": "mean"}, "谷丙转氨酶ALT最高平均"),
        (
            {"where": [ENROLLED], "of": [SITE_A], "aggregate": "share"},
            "中心 = 演示医院A中已入组",
        ),
        (
            {"where": [SITE_A], "of": [ENROLLED], "aggregate": "share"},
            "已入组中中心 = 演示医院A",
        ),
    ],
    ids=str,
)
def test_a_figure_says_what_it_was_computed_by(query: dict[str, Any], said: str) -> None:
    assert about(query) == said


def parts(chance: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Pairs of queries at random that differ in one part of one operand or condition."""
    while True:
        name = chance.choice(("alt", "ast", "hgb", "weight_kg"))
        operand = {
            "field": name,
            **chance.choice(({}, {"place": chance.choice(("V2", "V3"))}, {"rows": "latest"})),
        }
        minus = {"field": name, "place": "baseline_arm_1"}
        test: dict[str, Any] = {"field": operand, "op": ">", "value": chance.randint(1, 90)}
        changed = chance.choice(
            (
                ("place", test | {"field": operand | {"place": "V4", "rows": None}}),
                ("rows", test | {"field": operand | {"place": None, "rows": "first"}}),
                ("minus", test | {"field": operand | {"minus": minus}}),
                ("as", test | {"field": operand | {"minus": minus, "as": "percent"}}),
                ("ratio", test | {"field": operand | {"minus": minus, "as": "ratio"}}),
                ("holds", test | {"holds": "every"}),
                ("none", {"none": [test]}),
                ("value", test | {"value": {"field": name, "place": "V3"}}),
                ("op", test | {"op": "<="}),
            )
        )
        yield changed[0], {"one": test, "other": changed[1]}


@pytest.mark.full
def test_queries_that_differ_are_told_apart() -> None:
    chance, study = random.Random(7), demo()
    reader, found = reader_of(study), parts(chance)
    with translation.override("zh-hans"):
        for _ in range(400):
            what, pair = next(found)
            told = [figures.about(counted(pair[side]), None, reader) for side in ("one", "other")]
            assert told[0] != told[1], (what, pair)


def test_a_site_that_is_left_out_is_not_told_as_empty() -> None:
    query = counted(ENROLLED, SITE_A | {"op": "!="}) | {"by": ["@site"]}
    question = Question(Topic.DATA, Shape.GROUPS, aggregate="count", by=("@site",))
    study = demo()
    reader = reader_of(study)
    with translation.override("zh-hans"):
        text = say_answer(sheet(reader, study, [(question, [query])]), reader).text
    assert "演示医院B 12 例" in text
    assert "0 例" not in text


def test_of_groups_of_several_figures_each_is_told() -> None:
    names = ("alt", "weight_kg")
    queries = [{"select": [name], "aggregate": "mean", "by": ["@site"]} for name in names]
    question = Question(Topic.DATA, Shape.GROUPS, select=names, aggregate="mean", by=("@site",))
    study = demo()
    reader = reader_of(study, limit=500)
    with translation.override("zh-hans"):
        text = say_answer(sheet(reader, study, [(question, queries)]), reader).text
    assert "谷丙转氨酶ALT 平均:演示医院A" in text
    assert "体重平均:演示医院A" in text

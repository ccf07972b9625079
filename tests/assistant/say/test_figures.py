"""What stands before a figure says all that it was computed by, whatever query a model writes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import translation

from engines.assistant.read.question import Question, Shape, Topic
from engines.assistant.say import conditions, figures
from engines.assistant.say.answer import say_answer
from tests.assistant.say.studies import STUDIES, reader_of, sheet
from tests.study.query.studies import demo

ENROLLED = {"field": "@enrolled", "op": "filled"}
SITE_A = {"field": "@site", "op": "=", "value": "site_a"}
BASELINE = {"field": "alt", "place": "baseline_arm_1"}
OPEN = {"field": "@findings.status", "op": "=", "value": "open"}
SINCE = {"field": "@findings.opened", "op": ">=", "value": "2026-10-01"}
UNTIL = SINCE | {"op": "<=", "value": "2026-10-20"}
OLD = {"field": "@findings.age", "op": ">", "value": 30}
REVIEW = {"field": "@reviews.question", "op": "filled"}
FAILED = {"field": "@runs.status", "op": "=", "value": "FAILED"}


def about(query: dict[str, Any]) -> str:
    """What is counted or measured, as it stands before the number."""
    study = demo()
    reader = reader_of(study)
    with translation.override("zh-hans"):
        answer = study.ask(**query)
        return figures.about(query, answer.facts[0], reader)


def counted(*where: Any) -> dict[str, Any]:
    return {"where": list(where), "aggregate": "count"}


def fields(form: str) -> list[str]:
    """All fields of a form that identify nobody."""
    metadata = demo().design.metadata
    rows = metadata.fields.items()
    known = [name for name, row in rows if row["form_name"] == form]
    return [name for name in known if name not in metadata.identifier_fields]


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
        (counted(OPEN), "未关闭疑点"),
        (counted(OPEN | {"op": "in", "value": ["open", "data_changed"]}), "未关闭疑点"),
        (counted(OPEN | {"value": "closed"}), "疑点 已关闭"),
        (counted(OPEN | {"value": "data_changed"}), "疑点 数据修改后已解决,待确认"),
        (counted(OPEN | {"op": "!="}), "疑点 疑点:状态 ≠ 未关闭"),
        (counted({"none": [OPEN]}), "无未关闭疑点"),
        (counted({"none": [SINCE]}), "无疑点:开启时间 ≥ 2026-10-01"),
        (counted({"any": [SINCE, OLD]}), "疑点 疑点:开启时间 ≥ 2026-10-01或疑点:已开启天数 > 30"),
        (counted(SINCE), "2026-10-01 起疑点"),
        (counted(SINCE, UNTIL), "2026-10-01–2026-10-20 疑点"),
        (counted(SINCE | {"op": "between", "value": ["2026-10-01", "2026-10-31"]}), "2026-10 疑点"),
        (counted(SINCE | {"value": "today-7"}), "2026-11-16 起疑点"),
        (counted(SINCE | {"op": ">"}), "疑点 疑点:开启时间 > 2026-10-01"),
        (
            counted(SINCE, SINCE | {"value": "2026-11-01"}),
            "2026-10-01 起疑点 疑点:开启时间 ≥ 2026-11-01",
        ),
        (counted(OLD), "疑点 疑点:已开启天数 > 30"),
        (counted(OPEN, OLD), "未关闭疑点 疑点:已开启天数 > 30"),
        (counted(OPEN, {"field": "@findings.mine", "op": "filled"}), "未关闭疑点 指派给您的"),
        (counted(OPEN, {"field": "@findings.reason", "op": "filled"}), "未关闭疑点 无法判断的"),
        (
            counted(OPEN, {"field": "@findings.field", "op": "in", "value": ["alt", "ast"]}),
            "未关闭疑点 谷丙转氨酶ALT或谷草转氨酶AST",
        ),
        (
            counted(
                OPEN, {"field": "@findings.field", "op": "in", "value": ["alt", *fields("vitals")]}
            ),
            "未关闭疑点 谷丙转氨酶ALT或生命体征与体能",
        ),
        (counted({"field": "@findings.field", "op": "=", "value": "-"}), "疑点 不涉及具体字段"),
        (
            {"where": [OPEN], "select": ["@findings.age"], "aggregate": "mean"},
            "未关闭疑点 疑点:已开启天数平均",
        ),
        (counted(REVIEW), "待审核"),
        (counted(OPEN, REVIEW), "未关闭疑点 待审核"),
        (
            counted(OPEN, SINCE | {"field": "@runs.ended"}),
            "未关闭疑点 质控运行：结束时间 ≥ 2026-10-01",
        ),
        (counted({"field": "@runs.status", "op": "=", "value": "FAILED"}), "质控 失败"),
        (counted({"none": [{"field": "@runs.status", "op": "filled"}]}), "无质控"),
        (
            counted({"field": "@runs.final_state", "op": "=", "value": "end_with_violation"}),
            "质控 结束，发现违背",
        ),
        (counted({"field": "@visits.actual", "op": "blank"}), "访视 访视日期未填写"),
        (
            counted(
                {"field": "@visits.actual", "op": "filled"}, SINCE | {"field": "@visits.actual"}
            ),
            "2026-10-01 起访视",
        ),
        (counted({"field": "@visits.days", "op": ">", "value": 3}), "访视 天数 > 3"),
        (
            counted({"field": "@visits.close", "op": "<", "value": "2026-10-01"}),
            "访视 窗口截止日 < 2026-10-01",
        ),
    ],
    ids=str,
)
def test_a_figure_says_what_it_was_computed_by(query: dict[str, Any], said: str) -> None:
    assert about(query) == said


def test_of_whom_no_finding_is_open_people_are_counted() -> None:
    study, query = STUDIES["worked"](), counted({"none": [OPEN]})
    answer, reader = study.ask(**query), reader_of(study)
    with translation.override("zh-hans"):
        said = figures.word_figure(query, answer, answer.facts[0], None, reader)
    assert said == f"{len(study.records) - 2} 例"


def test_beside_no_topic_a_query_says_that_it_is_of_open_findings() -> None:
    with translation.override("zh-hans"):
        assert conditions.described(counted(OPEN, OLD), reader_of(demo())) == (
            "未关闭疑点、疑点:已开启天数 > 30"
        )


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
        work = chance.choice((OPEN | {"value": "closed"}, SINCE, OLD, FAILED))
        others = [one for one in (OPEN, UNTIL, FAILED, OLD, SINCE) if one != work]
        if chance.random() < 0.3:
            other = chance.choice((*others, {"none": [work]}, work | {"op": "!="}))
            yield "work", {"one": work, "other": other}
            continue
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

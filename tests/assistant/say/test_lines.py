"""Facts as a prompt lists them, through the privacy gate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.utils import translation

from engines.assistant.say.lines import Builder, fact_lines, text_of
from engines.assistant.say.sheet import Line, Source
from tests.assistant.say.studies import STUDIES, reader_of

ENROLLED = {"field": "@enrolled", "op": "filled"}


def lines(query: dict[str, Any], study: str = "demo", user: str = "zhangyi") -> list[Line]:
    """The lines of a query."""
    made = STUDIES[study]()
    reader = reader_of(made, user)
    seen = replace(made, records=[r for r in made.records if r.record_id in reader.subjects])
    with translation.override("zh-hans"):
        return list(fact_lines(query, seen.ask(**query), reader))


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (
            {"subjects": ["P016"], "select": ["alt"]},
            "P016 · 谷丙转氨酶ALT（U/L） · V2 · 2026-09-22 = 185 (高于上限 40)",
        ),
        ({"subjects": ["P003"], "select": ["ae"]}, "P003 · 不良事件 · 共 2 条,全部列出"),
        ({"subjects": ["P016"], "select": ["ae"]}, "P016 · 不良事件 · 共 0 条,已全部读取,没有记录"),
        ({"subjects": ["P099"], "select": ["alt"]}, "P099 · 无此受试者"),
        ({"where": [ENROLLED], "aggregate": "count"}, "已入组 = 27 例"),
        (
            {"where": [ENROLLED], "aggregate": "count", "by": ["@site"]},
            "已入组 · site_a 演示医院A = 15 例",
        ),
        (
            {"where": [ENROLLED], "aggregate": "count", "by": ["month:enroll_date"]},
            "已入组 · 2026-10 = 2 例",
        ),
        ({"select": ["@project.target"]}, "计划入组例数(目标) = 30 例"),
        (
            {"select": ["age_calculated"], "aggregate": "mean"},
            "年龄平均 = 55 岁(38 个数值)",
        ),
        (
            {"where": [{"field": "alt", "op": ">", "value": {"ref": "high"}}]},
            "读取范围: 您可见的 38 例,全部读到; 符合 谷丙转氨酶ALT > 正常上限: 2 例,全部列出: P016、P032",
        ),
    ],
)
def test_a_line_says_what_and_over_what(query: dict[str, Any], wanted: str) -> None:
    assert wanted in [line.text for line in lines(query)]


def test_a_row_that_repeats_is_one_line_and_its_blanks_are_told() -> None:
    [line] = [one for one in lines({"subjects": ["P010"], "select": ["ae"]}) if "#2" in one.text]
    assert line.text.startswith("P010 · 不良事件#2: ")
    assert "SAE首次报告日期 = 未填写" in line.text
    assert len(line.facts) > 3


def test_the_scope_says_whether_all_was_listed() -> None:
    some = lines(
        {"select": ["age_calculated"], "order": {"by": "age_calculated", "desc": True}, "limit": 3}
    )
    assert all(line.scope and not line.scope.is_complete for line in some)
    assert "另有 35 条未列出" in some[-1].text


def test_no_line_counts_what_its_reader_may_not_see() -> None:
    [line] = lines({"where": [ENROLLED], "aggregate": "count"}, user="crc_b")
    assert line.text == "演示医院B 已入组 = 12 例"


def test_each_line_is_listed_once_and_numbered_by_its_source() -> None:
    builder = Builder()
    marks = builder.add(lines({"subjects": ["P016"], "select": ["alt"]}))
    again = builder.add(lines({"subjects": ["P016"], "select": ["alt"]}))
    rule = builder.add([Line("", Source.DOCUMENT, "方案 §6.7: 24小时内报告", section="§6.7")])
    assert marks == again == tuple(f"F{n}" for n in range(1, len(marks) + 1))
    assert rule == ("D1",)
    assert text_of(builder.lines).splitlines()[-1] == "[D1] 方案 §6.7: 24小时内报告"


def test_nothing_gets_into_a_line_that_the_gate_has_not_passed() -> None:
    builder = Builder(masked=lambda text: text.replace("恶心", "[x]"))
    builder.add(lines({"subjects": ["P005"], "select": ["ae"]}))
    assert "[x]" in builder.lines[0].text
    assert not any("恶心" in fact.text for line in builder.lines for fact in line.facts)

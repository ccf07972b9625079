"""The tool query_study: a query that a model wrote, checked as if a stranger had typed it."""

from __future__ import annotations

from typing import Any

import pytest

from engines.assistant.tools import (
    Status,
    ToolContext,
    ToolResult,
    execute,
)
from study.identities import gate_for
from study.request_cache import Reader
from tests.support.study import Study


def run(study: Study, userid: str = "zhangyi", **query: Any) -> ToolResult:
    reader = Reader(study.project, study[userid])
    return execute(
        ToolContext(study.project, study[userid], gate_for(reader)), "query_study", query
    )


def test_facts_come_back_as_lines(study: Study) -> None:
    found = run(study, subjects=["P016"], select=["alt"], rows="highest")
    assert found.status is Status.OK
    assert any("P016" in line and "185" in line for line in found.data["结果"])
    assert [fact.value for fact in found.facts] == [185]
    assert found.sources[0]["kind"] == "redcap"
    counted = run(study, where=[{"field": "@enrolled", "op": "filled"}], aggregate="count")
    assert "27" in counted.data["结果"][0]


@pytest.mark.parametrize(
    "query",
    [
        {"select": ["altt"]},
        {"where": [{"field": "alt", "op": "~", "value": 1}]},
        {"select": ["alt"], "limit": 9999},
        {"tables": ["iit_members"]},
        {"aggregate": "count", "as_of": "2026-01-01"},
    ],
)
def test_what_is_no_query_is_refused_with_a_word(study: Study, query: dict[str, Any]) -> None:
    found = run(study, **query)
    assert found.status is Status.BAD_ARGUMENTS
    assert found.data
    assert not found.facts


@pytest.mark.full
@pytest.mark.parametrize("name", ["subject_name", "id_card", "phone", "egfr_mutation"])
def test_what_is_never_told_reads_like_no_field(study: Study, name: str) -> None:
    known = run(study, select=[name])
    none = run(study, select=["xyzzy"])
    assert known.status is none.status is Status.BAD_ARGUMENTS
    told = [found.data.split("(")[0].strip() for found in (known, none)]
    assert told[0].replace(name, "xyzzy") == told[1]
    assert name not in known.data.replace(f"“{name}”", "")


def test_another_site_is_not_there(study: Study) -> None:
    mine, none = (run(study, "crc_b", subjects=[i], select=["alt"]) for i in ("P001", "P099"))
    assert [line.replace("P001", "P099") for line in mine.data["结果"]] == none.data["结果"]
    assert mine.data["读取范围"] == none.data["读取范围"]
    assert not mine.facts


@pytest.mark.full
@pytest.mark.parametrize("by", [[], ["@site"]])
def test_averages_of_several_fields_each_say_over_what(study: Study, by: list[str]) -> None:
    """What one is over says nothing of another, and none is left out."""
    names = ["alt", "weight_kg"]
    both = run(study, aggregate="mean", select=names, by=by)
    alone = [run(study, aggregate="mean", select=[name], by=by) for name in names]
    assert len(both.asked) == len(names)
    assert [answer.basis for _query, answer in both.asked] == [
        one.asked[0][1].basis for one in alone
    ]
    assert [fact.value for fact in both.facts] == [f.value for one in alone for f in one.facts]

"""What is no query is refused with the place and the nearest names; what is one passes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.study.query.trial import trial

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"selct": ["alt"]}, "selct", "select"),
    ({"select": ["al"]}, "select[0]", "alt"),
    ({"select": ["谷丙转氨酶"]}, "select[0]", "alt"),
    ({"place": "V3"}, "place", "v2"),
    ({"rows": "newest"}, "rows", "lowest"),
    ({"limit": 0}, "limit", ""),
    ({"limit": 201}, "limit", ""),
    ({"by": ["sex"]}, "by", ""),
    ({"aggregate": "count", "by": ["alt"]}, "by[0]", ""),
    ({"aggregate": "count", "by": ["sex", "@site", "event"]}, "by", ""),
    ({"aggregate": "mean"}, "select", ""),
    ({"aggregate": "mean", "select": ["alt", "sugar"], "by": ["@site"]}, "select[1]", ""),
    ({"aggregate": "mean", "select": ["enrolled_on"]}, "select[0]", ""),
    ({"as_of": "昨天"}, "as_of", ""),
    ({"select": ["@changes.fields"]}, "select[0]", "@changes.field"),
    ({"select": ["@findings.assignees"]}, "select[0]", ""),
    ({"select": ["alt"], "order": {"by": "sugar"}}, "order.by", "alt"),
    ({"where": [{"field": "alt", "op": ">", "value": "2026-01-01"}]}, "where[0].value", ""),
    ({"where": [{"field": "alt", "op": ">", "value": "today"}]}, "where[0].value", ""),
    ({"where": [{"field": "lab_date", "op": ">", "value": 3}]}, "where[0].value", ""),
    ({"where": [{"field": "onset", "op": ">", "value": "早"}]}, "where[0].value", ""),
    ({"where": [{"field": "sex", "op": "=", "value": "第三"}]}, "where[0].value", ""),
    ({"where": [{"field": "arm", "op": ">", "value": "A"}]}, "where[0].value", ""),
    ({"where": [{"field": "alt", "op": ">"}]}, "where[0].value", ""),
    ({"where": [{"field": "alt", "op": "blank", "value": 1}]}, "where[0].value", ""),
    ({"where": [{"field": "alt", "op": "between", "value": [1]}]}, "where[0].value", ""),
    ({"where": [{"any": [{"field": "alt", "op": "~"}]}]}, "where[0].any[0].op", ""),
    (
        {"where": [{"field": "alt", "op": ">", "value": {"field": "lab_date"}}]},
        "where[0].value",
        "",
    ),
    ({"where": [{"field": "sex", "op": ">", "value": {"ref": "high"}}]}, "where[0].value", ""),
]


@pytest.mark.parametrize(("query", "at", "near"), REFUSED, ids=[str(case[0]) for case in REFUSED])
def test_refused(query: dict[str, Any], at: str, near: str) -> None:
    error = trial().refused(**query).as_json()["error"]
    assert error["at"] == at
    assert error["message"]
    assert not near or near in error["nearest"]


@pytest.mark.parametrize(
    "query",
    [
        {"select": ["alt"], "place": ["V1", "v2"], "limit": 200},
        {"where": [{"field": "onset", "op": ">", "value": "2026-10"}]},
        {"where": [{"field": "lab_date", "op": ">=", "value": "today-30"}]},
        {"where": [{"field": "sex", "op": "in", "value": [1, "女"]}]},
        {"where": [{"field": "alt", "op": ">", "value": {"ref": "high", "times": 1.5}}]},
        {"where": None, "as_of": None, "select": ["base", "@age"]},
        {"aggregate": "count", "by": ["why_out", "month:enrolled_on"], "order": {"by": "value"}},
    ],
)
def test_passes(query: dict[str, Any]) -> None:
    assert trial().ask(**query).read_at == "2026-11-23T09:00:00+08:00"

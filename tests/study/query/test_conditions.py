"""Whom conditions hold for, three-valued (contracts.md, fine points); worked out by hand on `trial`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.study.query.studies import small, text
from tests.study.query.trial import base, trial


def c(field: Any, op: str, value: Any = None, **more: Any) -> dict[str, Any]:
    return {"field": field, "op": op} | ({} if value is None else {"value": value}) | more


def verdicts(*where: Any, **query: Any) -> tuple[list[str], dict[str, str]]:
    """For whom they hold, and of whom it cannot be told, with the reason."""
    told = trial().ask(where=list(where), **query)
    return [f.subject for f in told.facts], {u.subject: u.reason for u in told.undecided}


CASES: list[tuple[str, Any, list[str], dict[str, str]]] = [
    # one row that satisfies it decides; a blank or a missing code leaves the others open
    ("number", c("alt", ">", 50), ["S1", "S10"], {"S2": "missing_code"}),
    ("censored, all of it below", c("alt", "<", 10), ["S3"], {"S2": "missing_code"}),
    ("censored, open", c("alt", ">", 5), ["S1", "S10"], {"S2": "missing_code", "S3": "censored"}),
    ("every decided row", c("alt", ">", 50, holds="every"), ["S10"], {"S2": "missing_code"}),
    ("between, both ends", c("alt", "between", [30, 30]), ["S1"], {"S2": "missing_code"}),
    ("label of a choice", c("sex", "=", "女"), ["S2", "S10"], {"S3": "missing"}),
    ("code as a number", c("grade", ">=", 3), ["S1", "S2"], {}),
    ("filled is neither blank nor code", c("alt", "filled"), ["S1", "S3", "S10"], {}),
    ("missing code", c("alt", "missing_code"), ["S2"], {}),
    ("a blank, or a due visit without its row", c("alt", "blank"), ["S2", "S3", "S10"], {}),
    (
        "what is not shown is no blank",
        c("pregnant", "blank"),
        ["S2"],
        {"S3": "applicability_unknown"},
    ),
    (
        "nor undecided",
        c("pregnant", "=", 1),
        ["S10"],
        {"S2": "missing", "S3": "applicability_unknown"},
    ),
    ("checkbox", c("why_out", "contains", "感染"), ["S1"], {}),
    ("one box", c("why_out___1", "=", 1), ["S1"], {}),
    ("alias", c("ALT", "=", 30), ["S1"], {"S2": "missing_code"}),
    ("partial date", c("onset", ">", "2026-11-15"), [], {"S1": "partial_date"}),
    ("partial date that decides", c("onset", ">", "2026-10-31"), ["S1"], {}),
    ("none takes each alone", {"none": [c("grade", "filled")]}, ["S3", "S10"], {}),
    (
        "all inside none",
        {"none": [{"all": [c("grade", "=", 3), c("serious", "=", 1)]}]},
        ["S1", "S3", "S10"],
        {},
    ),
    (
        "reference range by sex",
        c("alt", ">", {"ref": "high"}),
        ["S1", "S10"],
        {"S2": "missing_code", "S3": "missing"},
    ),
    ("site", c("@site", "=", "b"), ["S3", "S10"], {}),
    ("an unknown site", c("@site", "=", "nowhere"), [], {}),
    ("status by label", c("@status", "=", "入组"), ["S1", "S2", "S10"], {}),
    (
        "difference of places",
        c({"field": "alt", "place": "V2", "minus": {"field": "alt", "place": "V1"}}, ">", 50),
        ["S1"],
        {"S2": "missing"},
    ),
    (
        "days",
        c({"field": "lab_date", "minus": {"field": "enrolled_on"}, "as": "days"}, ">=", 32),
        ["S1"],
        {"S2": "missing"},
    ),
]


@pytest.mark.parametrize(
    ("condition", "holds", "undecided"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_one_condition(condition: Any, holds: list[str], undecided: dict[str, str]) -> None:
    assert verdicts(condition) == (holds, undecided)


@pytest.mark.parametrize("zero", [0, "0", "0.0"])
def test_zero_beside_text_is_a_number_however_it_is_written(zero: Any) -> None:
    fields = [text("record_id", "base"), text("score", "base")]
    records = {name: [base(score=value)] for name, value in (("S1", "3"), ("S2", "-1"))}
    study = small(fields, records, events={"base": ("base",)})
    assert study.subjects(c("score", ">", zero)) == ["S1"]


def test_conditions_on_a_form_join_on_a_row_and_an_any_wholly_on_it_too() -> None:
    severe, serious = c("grade", "=", 3), c("serious", "=", 1)
    assert verdicts(severe, serious)[0] == ["S2"]
    assert verdicts(severe, {"any": [serious, c("grade", "=", 2)]})[0] == ["S2"]
    assert verdicts({"any": [severe, c("alt", ">", 85)]}, serious)[0] == ["S1", "S2"]


def test_an_operand_with_place_or_rows_stands_by_itself() -> None:
    latest = c({"field": "grade", "rows": "latest"}, "=", 1)
    assert verdicts(latest, c("grade", "=", 3))[0] == ["S1"]
    at_v1 = c({"field": "alt", "place": "V1"}, "=", 30)
    assert verdicts(at_v1, c("alt", "=", 90))[0] == ["S1"]


def test_place_and_period_restrict_conditions_on_forms_with_several_rows() -> None:
    high = c("alt", ">", 50)
    assert verdicts(high, place="V1")[0] == ["S10"]
    assert verdicts(high, c("sex", "=", 1), place="V2")[0] == ["S1"]
    month = {"from": "2026-10-01", "to": "2026-10-31"}
    assert verdicts(high, period=month)[0] == ["S10"]
    by_field = {"field": "enrolled_on", "from": "2026-10-01"}
    assert verdicts(c("@site", "=", "a"), period=by_field)[0] == ["S1", "S2"]


def test_a_due_visit_s_absent_row_meets_blank_only() -> None:
    assert verdicts(c("alt", "blank"), c("sugar", "blank"), place="V2")[0] == ["S2", "S3", "S10"]
    assert verdicts(c("alt", "blank"), c("sugar", "!=", 3), place="V2")[0] == []
    assert verdicts({"none": [c("alt", "filled")]}, place="V2")[0] == ["S2", "S3", "S10"]


def test_units_are_brought_together_and_a_blank_unit_is_undecided() -> None:
    found, undecided = verdicts(c("sugar", "between", [4.99, 5.01]), c("@site", "=", "a"))
    assert (found, undecided) == (["S1"], {"S2": "unit_missing"})
    at_v2 = c({"field": "sugar", "place": "V2"}, "<", 5.01)
    assert verdicts(at_v2) == (["S1"], {"S2": "missing"})


HIDDEN = ("secret_complete", "secret", "arm", "who")


def test_a_hidden_field_is_no_field_in_every_key() -> None:
    study = trial("arm")
    queries: list[tuple[dict[str, Any], str]] = [
        ({"select": ["arm"]}, "select[0]"),
        ({"select": ["secret"]}, "select[0]"),
        ({"select": [{"field": "alt", "minus": {"field": "arm"}}]}, "select[0].minus.field"),
        ({"where": [c("arm", "filled")]}, "where[0].field"),
        ({"where": [{"none": [c("alt", ">", {"field": "arm"})]}]}, "where[0].none[0].value.field"),
        ({"aggregate": "share", "of": [c("arm", "=", "A")]}, "of[0].field"),
        ({"aggregate": "count", "by": ["arm"]}, "by[0]"),
        ({"aggregate": "count", "by": ["month:arm"]}, "by[0]"),
        ({"period": {"field": "arm"}}, "period.field"),
        ({"select": ["alt"], "order": {"by": "arm"}}, "order.by"),
        ({"select": ["who"]}, "select[0]"),
        ({"select": ["secret_complete"]}, "select[0]"),
    ]
    for query, at in queries:
        error = study.refused(**query)
        assert error.at == at
        asked = next(name for name in HIDDEN if name in json.dumps(query))
        invented = json.loads(json.dumps(query).replace(asked, "zzz"))
        assert error.message.replace(asked, "zzz") == study.refused(**invented).message
        assert not {"name", *HIDDEN} & set(error.nearest)
    assert trial().ask(select=["arm"]).facts

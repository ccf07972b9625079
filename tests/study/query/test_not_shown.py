"""What REDCap does not show is not absent, and what cannot be compared may be the highest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.study.query.studies import Study, small
from tests.study.query.trial import EVENTS, FIELDS, base, trial

MEASURED = {"base": ("base",), "v1": ("lab",), "v2": ("lab",), "v3": ("lab",)}


def without(study: Study, is_hidden: Callable[[str], bool], *forms: str) -> Study:
    """The study by a token that does not show some fields, nor any row of `forms`."""
    columns = {c: f for c, (f, _code) in study.design.metadata.columns.items() if is_hidden(f)}
    gone = {*columns, *(f"{form}_complete" for form in forms)}
    records = [
        replace(
            record,
            rows=tuple(
                {name: value for name, value in row.items() if name not in gone}
                for row in record.rows
                if row.get("redcap_repeat_instrument") not in forms
            ),
            missing_columns=tuple(sorted(columns)),
            complete=False,
        )
        for record in study.records
    ]
    return replace(study, records=records)


def of_form(*forms: str) -> Callable[[str], bool]:
    """The fields of some forms of the trial."""
    return {f["field_name"] for f in FIELDS if f["form_name"] in forms}.__contains__


def reasons(study: Study, **query: Any) -> dict[str, str]:
    """Of whom it cannot be told, and why."""
    return {one.subject: one.reason for one in study.ask(**query).undecided}


EVERYBODY = dict.fromkeys(("S1", "S2", "S3", "S10"), "not_exported")


def test_a_selected_field_that_is_not_shown_leaves_it_open() -> None:
    study = without(trial(), {"enrolled_on", "why_out"}.__contains__)
    told = study.ask(select=["enrolled_on", "sex"], subjects=["S1"])
    assert [fact.field for fact in told.facts] == ["sex"]
    assert [(one.subject, one.reason) for one in told.undecided] == [("S1", "not_exported")]
    assert (told.unread, told.basis.missing) == (("enrolled_on",), 0)
    assert "unread" not in told.as_json()
    assert reasons(study, select=["why_out"], subjects=["S2"]) == {"S2": "not_exported"}
    assert reasons(study, select=["why_out___1"], subjects=["S2"]) == {"S2": "not_exported"}
    assert reasons(study, select=["@enrolled"], subjects=["S2"]) == {"S2": "not_exported"}
    assert study.ask(select=["@enrolled"], subjects=["S2"]).unread == ("@enrolled",)
    assert reasons(study, select=["sex"], subjects=["S1"]) == {}


@pytest.mark.parametrize(
    "query",
    [
        {"select": ["ae"]},
        {"select": ["grade"]},
        {"where": [{"field": "grade", "op": "filled"}]},
        {"where": [{"field": "serious", "op": "=", "value": 1}], "period": {"from": "2026-10-01"}},
        {"where": [{"none": [{"field": "grade", "op": "filled"}]}]},
        {"where": [{"field": {"field": "grade", "rows": "latest"}, "op": "=", "value": 3}]},
        {"aggregate": "count", "select": ["ae"]},
        {"aggregate": "count", "where": [{"field": "grade", "op": ">=", "value": 2}]},
        {"aggregate": "count", "by": ["grade"]},
    ],
)
def test_of_a_form_that_is_not_shown_nobody_is_without_a_row(query: dict[str, Any]) -> None:
    study = without(trial(), of_form("ae"), "ae")
    told = study.ask(**query)
    assert {one.subject: one.reason for one in told.undecided} == EVERYBODY
    assert not [fact for fact in told.facts if fact.value]
    assert told.unread in {("ae",), ("grade",), ("serious",)}


@pytest.mark.parametrize(
    "query",
    [
        {"select": ["alt"], "rows": "highest"},
        {"select": ["alt"], "aggregate": "mean"},
        {"where": [{"field": {"field": "alt", "rows": "latest"}, "op": ">", "value": 5}]},
    ],
)
def test_values_that_are_not_shown_are_no_missing_ones(query: dict[str, Any]) -> None:
    told = without(trial(), of_form("lab")).ask(**query)
    assert {one.subject: one.reason for one in told.undecided} == EVERYBODY
    assert told.basis.missing == 0


def test_a_row_that_is_owed_is_blank_only_where_it_would_be_seen() -> None:
    owed = {"where": [{"field": "alt", "op": "blank"}], "place": "V2", "subjects": ["S10"]}
    assert [fact.subject for fact in trial().ask(**owed).facts] == ["S10"]
    assert reasons(without(trial(), of_form("lab")), **owed) == {"S10": "not_exported"}


def test_of_a_form_that_is_shown_in_part_rows_are_counted_and_none_is_none() -> None:
    study = without(trial(), {"onset"}.__contains__)
    assert reasons(study, select=["ae"]) == {"S1": "not_exported", "S2": "not_exported"}
    severe = [{"field": "grade", "op": "=", "value": 3}]
    told = study.ask(where=severe, aggregate="count", select=["ae"])
    assert (told.facts[0].value, told.basis.rows, told.undecided) == (2, 2, ())


def test_an_age_without_its_date_of_birth_is_not_blank() -> None:
    study = trial()
    design = replace(study.design, age_fields=("name", "enrolled_on"))
    study = without(replace(study, design=design), {"name"}.__contains__)
    assert reasons(study, select=["@age"], subjects=["S1"]) == {"S1": "not_exported"}
    old = [{"field": "@age", "op": ">", "value": 60}]
    assert reasons(study, where=old, subjects=["S1"]) == {"S1": "not_exported"}


# --- the highest and the lowest ---------------------------------------------------------------------


def sugars(*readings: tuple[str, str]) -> Study:
    """One subject with blood sugars at visits, each with its unit."""
    rows = [
        {"event": f"v{n}", "sugar": value, "sugar_unit": unit}
        for n, (value, unit) in enumerate(readings, 1)
    ]
    return small(
        FIELDS,
        {"S1": [base(sex="1"), *rows]},
        events=MEASURED,
        unit_fields={"sugar": "sugar_unit"},
    )


MIXED = (("5.6", "mmol/L"), ("180", ""), ("5", "mmol/L"))


@pytest.mark.parametrize("rows", ["highest", "lowest"])
def test_what_cannot_be_compared_may_be_the_end(rows: str) -> None:
    told = sugars(*MIXED).ask(select=["sugar"], rows=rows)
    assert [fact.text for fact in told.facts] == ["5.6" if rows == "highest" else "5"]
    assert [(one.subject, one.reason) for one in told.undecided] == [("S1", "unit_missing")]
    alone = sugars(("180", "")).ask(select=["sugar"], rows=rows)
    assert (alone.facts, alone.basis.missing) == ((), 0)
    assert [one.reason for one in alone.undecided] == ["unit_missing"]
    assert not sugars(MIXED[0], ("", ""), ("UNK", "")).ask(select=["sugar"], rows=rows).undecided
    assert not sugars(*MIXED).ask(select=["sugar"], rows="latest").undecided


def test_a_condition_on_the_highest_is_open_where_another_may_be_it() -> None:
    highest = {"field": "sugar", "rows": "highest"}
    above = [{"field": highest, "op": ">", "value": 7}]
    assert reasons(sugars(*MIXED), where=above) == {"S1": "unit_missing"}
    assert reasons(sugars(MIXED[0], MIXED[2]), where=above) == {}
    apart = [
        {"field": {"field": "sugar", "rows": "latest", "minus": highest}, "op": "<", "value": 0}
    ]
    assert reasons(sugars(*MIXED), where=apart) == {"S1": "unit_missing"}


def test_text_in_a_number_is_no_reading_to_compare() -> None:
    study = small(
        FIELDS,
        {"S1": [base(sex="1"), {"event": "v1", "alt": "溶血"}, {"event": "v2", "alt": "30"}]},
        events=MEASURED,
    )
    assert reasons(study, select=["alt"], rows="highest") == {"S1": "type_mismatch"}


# --- visits -----------------------------------------------------------------------------------------

OVERDUE = {"field": "@visits.state", "op": "=", "value": "overdue"}
LATE = {"field": "@visits.state", "op": "in", "value": ["late", "early", "overdue"]}


def visited(**dates: str) -> Study:
    """A subject enrolled on a day, with the date of its second visit."""
    visits = [
        {"visit": visit, "event": event, "anchor_field": "enrolled_on", "date_field": "visit_date"}
        | {"day": day, "minus": 3, "plus": 3}
        for visit, event, day in (("V1", "v1", 1), ("V2", "v2", 28))
    ]
    rows = [base(sex="1", enrolled_on=dates["enrolled"])]
    rows += [{"event": "v2", "visit_date": dates["visit"]}] if dates.get("visit") else []
    return small(FIELDS, {"S1": rows, "S2": [base(sex="1")]}, events=EVENTS, visits=visits)


@pytest.mark.parametrize("where", [OVERDUE, LATE, OVERDUE | {"op": "!="}, {"none": [OVERDUE]}])
@pytest.mark.parametrize(
    ("enrolled", "reason"), [("2026-09", "partial_date"), ("soon", "type_mismatch")]
)
def test_a_visit_that_cannot_be_judged_is_open(where: Any, enrolled: str, reason: str) -> None:
    study = visited(enrolled=enrolled)
    assert reasons(study, where=[where]) == {"S1": reason}
    hidden = without(study, {"enrolled_on"}.__contains__)
    assert reasons(hidden, where=[where], subjects=["S1"]) == {"S1": "not_exported"}
    assert hidden.ask(where=[where]).unread == ("enrolled_on",)


def test_its_own_state_is_known_and_why_is_told() -> None:
    study = visited(enrolled="2026-09-01", visit="2026-10")
    unknown = [{"field": "@visits.state", "op": "=", "value": "unknown"}]
    columns = ["@visits.visit", "@visits.actual", "@visits.reason"]
    told = study.ask(where=unknown, select=columns, subjects=["S1"])
    assert [(f.event, f.field, f.text) for f in told.facts] == [
        ("v2", "@visits.visit", "V2"),
        ("v2", "@visits.reason", "visit_date 日期不完整"),
    ]
    beside = study.ask(where=unknown, select=columns, subjects=["S2"])
    assert "@visits.reason" not in {fact.field for fact in beside.facts}
    assert told.undecided == ()


def test_a_date_that_cannot_be_read_was_neither_made_nor_not() -> None:
    study = visited(enrolled="2026-09-01", visit="2026-10")
    for op in ("blank", "filled"):
        where = [
            {"field": "@visits.actual", "op": op},
            {"field": "@visits.visit", "op": "=", "value": "V2"},
        ]
        assert reasons(study, where=where, subjects=["S1"]) == {"S1": "partial_date"}


def test_where_nothing_is_entered_yet_nothing_is_open() -> None:
    study = visited(enrolled="2026-09-01", visit="2026-10-01")
    assert reasons(study, where=[LATE]) == {}
    assert [f.subject for f in study.ask(where=[LATE]).facts] == ["S1"]

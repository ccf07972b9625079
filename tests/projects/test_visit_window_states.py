"""Every state of a planned visit, word for word as contracts.md and redcap_dify.md 5.4 say."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from study.visits.calendar import VisitPlanSpec, VisitState, plan_windows

V1 = {
    "visit": "V1",
    "anchor_field": "enroll_date",
    "date_field": "v1_date",
    "day": 1,
    "minus": 3,
    "plus": 3,
}
V2 = {
    "visit": "V2",
    "anchor_field": "first_dose_date",
    "date_field": "v2_date",
    "day": 28,
    "minus": 7,
    "plus": 7,
}
TODAY = date(2024, 3, 15)


def plan(*visits: dict[str, Any], **settings: Any) -> VisitPlanSpec:
    return VisitPlanSpec.model_validate(
        {
            "timezone": "Asia/Shanghai",
            "anchor_is_day": 1,
            "withdraw_field": "withdraw_date",
            "visits": list(visits),
        }
        | settings
    )


def one(
    visit: dict[str, Any], values: dict[str, str | None], today: date = TODAY, **settings: Any
) -> VisitState:
    (state,) = plan_windows(plan(visit, **settings), values, today=today)
    return state


@pytest.mark.parametrize(
    ("visit", "anchor_is_day", "opens", "target", "closes"),
    [
        (V1, 1, "2024-02-27", "2024-03-01", "2024-03-04"),
        (V2, 1, "2024-03-21", "2024-03-28", "2024-04-04"),
        (V1, 0, "2024-02-28", "2024-03-02", "2024-03-05"),
        (V2, 0, "2024-03-22", "2024-03-29", "2024-04-05"),
        ({**V1, "day": -1, "minus": 0, "plus": 0}, 1, "2024-02-29", "2024-02-29", "2024-02-29"),
        ({**V1, "day": -7, "minus": 1, "plus": 1}, 1, "2024-02-22", "2024-02-23", "2024-02-24"),
        ({**V1, "day": -7, "minus": 1, "plus": 1}, 0, "2024-02-22", "2024-02-23", "2024-02-24"),
        ({**V1, "day": 0, "minus": 0, "plus": 0}, 0, "2024-03-01", "2024-03-01", "2024-03-01"),
    ],
)
def test_window_around_the_target(
    visit: dict[str, Any], anchor_is_day: int, opens: str, target: str, closes: str
) -> None:
    state = one(visit, {visit["anchor_field"]: "2024-03-01"}, anchor_is_day=anchor_is_day)

    line = state.as_json("P001")
    assert (line["open"], line["target"], line["close"]) == (opens, target, closes)
    assert (line["anchor"], line["anchor_is_day"]) == ("2024-03-01", anchor_is_day)


@pytest.mark.parametrize(
    ("today", "state", "days"),
    [
        (date(2024, 3, 20), "not_due", 1),
        (date(2024, 3, 21), "due", 0),
        (date(2024, 4, 4), "due", 0),
        (date(2024, 4, 5), "overdue", 1),
        (date(2024, 5, 4), "overdue", 30),
    ],
)
def test_visit_that_has_not_taken_place(today: date, state: str, days: int) -> None:
    found = one(V2, {"first_dose_date": "2024-03-01", "v2_date": ""}, today)

    assert (found.state, found.days, found.actual, found.reason) == (state, days, None, None)


@pytest.mark.parametrize(
    ("actual", "anchor_is_day", "state", "days"),
    [
        ("2024-03-20", 1, "early", 1),
        ("2024-03-21", 1, "in_window", 0),
        ("2024-04-04", 1, "in_window", 0),
        ("2024-04-05", 1, "late", 1),
        ("2024-04-05", 0, "in_window", 0),
        ("2024-03-21", 0, "early", 1),
        ("2024-04-05 08:30", 1, "late", 1),
        ("2024-04-04 23:59:59", 1, "in_window", 0),
        ("2024-04-04T16:30:00Z", 1, "late", 1),
        ("2024-04-04T23:30:00+08:00", 1, "in_window", 0),
    ],
)
def test_visit_that_took_place(actual: str, anchor_is_day: int, state: str, days: int) -> None:
    """E31, E32; a moment with an offset counts by the study's own calendar."""
    values: dict[str, str | None] = {"first_dose_date": "2024-03-01", "v2_date": actual}

    found = one(V2, values, date(2024, 4, 6), anchor_is_day=anchor_is_day)

    assert (found.state, found.days, found.reason) == (state, days, None)


PLANNED = [
    ("2024-03-16", date(2024, 3, 15), "not_due", 6),
    ("2024-03-28", date(2024, 3, 15), "not_due", 6),
    ("2024-03-28", date(2024, 3, 21), "due", 0),
    ("2024-04-05", date(2024, 4, 4), "due", 0),
    ("2024-04-09", date(2024, 4, 8), "overdue", 4),
    ("2026-11-26", date(2024, 4, 8), "overdue", 4),
    ("2024-04-04T23:30:00Z", date(2024, 4, 4), "due", 0),
]


@pytest.mark.parametrize(("day", "today", "state", "days"), PLANNED)
def test_a_date_to_come_is_planned_and_not_done(
    day: str, today: date, state: str, days: int
) -> None:
    """The window and today judge it as they judge a blank; the planned day is the reason given."""
    found = one(V2, {"first_dose_date": "2024-03-01", "v2_date": day}, today)
    blank = one(V2, {"first_dose_date": "2024-03-01", "v2_date": ""}, today)

    assert (found.state, found.days, found.actual) == (state, days, None)
    assert (found.state, found.days) == (blank.state, blank.days)
    assert found.planned is not None
    assert found.planned > today
    assert found.planned.isoformat() in (found.reason or "")
    line = found.as_json("P027")
    assert (line["actual"], line["reason"]) == (None, found.reason)


@pytest.mark.parametrize("day", ["2024-03-15", "2024-03-15 23:59", "2024-03-15T15:59:00Z"])
def test_a_visit_of_today_is_done(day: str) -> None:
    found = one(V2, {"first_dose_date": "2024-03-01", "v2_date": day})
    assert (found.state, found.actual, found.planned) == ("early", TODAY, None)


def test_what_decides_before_the_date_keeps_its_reason() -> None:
    values: dict[str, str | None] = {"first_dose_date": "2024-03-01", "v2_date": "2024-03-28"}
    left = one(V2, values | {"withdraw_date": "2024-03-02"})
    assert (left.state, left.actual) == ("not_applicable", None)
    assert "2024-03-02" in (left.reason or "")
    unanchored = one(V2, values | {"first_dose_date": ""})
    assert (unanchored.state, unanchored.actual) == ("unknown", None)
    assert "first_dose_date" in (unanchored.reason or "")


def test_missing_anchor_is_named_and_never_replaced() -> None:
    """E35."""
    values = {"enroll_date": "2024-03-01", "first_dose_date": "", "v2_date": "2024-04-20"}
    found = one(V2, dict(values), date(2024, 4, 20))

    assert found.state == "unknown"
    assert "first_dose_date" in (found.reason or "")
    assert (found.anchor, found.target, found.open, found.close) == (None, None, None, None)
    assert found.actual == date(2024, 4, 20)


@pytest.mark.parametrize("blank", [None, "", "   ", "\t\n"])
def test_white_space_is_blank(blank: str | None) -> None:
    assert one(V2, {"first_dose_date": "2024-03-01", "v2_date": blank}).state == "not_due"
    assert one(V2, {"first_dose_date": blank}).state == "unknown"


@pytest.mark.parametrize(
    "raw",
    [
        *["2024-02-30", "2023-02-29", "0000-01-01", "2024-03-01T25:00"],
        *["2024", "2024-03", "2024-UN-UN", "2024-03-UN"],
        *["01/03/2024", "20240301", "2024-3-1", "２０２４-03-01", "NA", "soon"],
    ],
)
@pytest.mark.parametrize("field", ["first_dose_date", "v2_date", "withdraw_date"])
def test_impossible_and_partial_dates_are_unknown(field: str, raw: str) -> None:
    values: dict[str, str | None] = {"first_dose_date": "2024-03-01", field: raw}

    found = one(V2, values)

    assert (found.state, found.days) == ("unknown", 0)
    assert field in (found.reason or "")


@pytest.mark.parametrize(
    ("withdrawn", "values", "state"),
    [
        ("2024-03-20", {}, "not_applicable"),
        ("2024-03-21", {}, "not_due"),
        ("2024-03-21 00:00", {}, "not_due"),
        ("2024-03-20 23:59", {}, "not_applicable"),
        ("2024-03-25", {"v2_date": "2024-04-10"}, "late"),
        ("2024-03-20", {"v2_date": "2024-03-22"}, "not_applicable"),
        ("2024-03-20", {"first_dose_date": ""}, "unknown"),
        ("2024-02", {}, "not_applicable"),
        ("2024-02-UN", {"v2_date": "2024-03-22"}, "not_applicable"),
        ("2023", {}, "not_applicable"),
        ("2023-UN-UN", {}, "not_applicable"),
        ("2024-03", {}, "unknown"),
        ("2024", {}, "unknown"),
        ("2024-04", {}, "not_due"),
        ("2024-04-UNK", {"v2_date": "2024-04-10"}, "late"),
        ("2025", {}, "not_due"),
        ("2024-13", {}, "unknown"),
        ("0000-02", {}, "unknown"),
    ],
)
def test_withdrawal(withdrawn: str, values: dict[str, str], state: str) -> None:
    given: dict[str, str | None] = {
        "first_dose_date": "2024-03-01",
        "withdraw_date": withdrawn,
        **values,
    }

    today = date(2024, 4, 10) if state == "late" else TODAY
    assert one(V2, given, today).state == state


def test_a_window_may_open_on_the_first_day_a_partial_withdrawal_can_be() -> None:
    values: dict[str, str | None] = {"enroll_date": "2024-03-04", "withdraw_date": "2024-03"}
    assert one(V1, values).state == "overdue"
    found = one(V1, {**values, "withdraw_date": "2024-02"})
    assert found.state == "not_applicable"
    assert "2024-02" in (found.reason or "")
    assert "2024-02-" not in (found.reason or "")


def test_withdrawal_needs_a_configured_field() -> None:
    values: dict[str, str | None] = {
        "first_dose_date": "2024-03-01",
        "withdraw_date": "2024-03-02",
    }

    assert one(V2, values, withdraw_field=None).state == "not_due"


def test_window_beyond_the_calendar_is_unknown() -> None:
    found = one(V2, {"first_dose_date": "9999-12-30"})

    assert found.state == "unknown"
    assert "first_dose_date" in (found.reason or "")


def test_line_has_the_keys_of_the_contract_in_order() -> None:
    line = one(V1, {"enroll_date": "2024-03-01"}).as_json("007")

    assert " ".join(line) == (
        "record_id visit anchor_field anchor anchor_is_day target open close actual state days reason"
    )
    assert line["record_id"] == "007"


@pytest.mark.parametrize(
    "change",
    [
        {"visits": [{**V1, "day": 0}]},
        {"anchor_is_day": 2},
        {"anchor_is_day": True},
        {"timezone": "Mars/Base"},
        {"timezone": ""},
        {"visits": [{**V1, "minus": -1}]},
        {"visits": [{**V1, "day": "28"}]},
        {"visits": [{**V1, "day": 1.5}]},
        {"visits": [{**V1, "anchor_field": ""}]},
        {"visits": [{k: v for k, v in V1.items() if k != "plus"}]},
        {"visits": "V1"},
    ],
)
def test_a_plan_nobody_could_follow_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        plan(V1, **change)


def test_the_message_names_the_visit_with_day_zero() -> None:
    with pytest.raises(ValidationError, match="V9"):
        plan(V2, {**V1, "visit": "V9", "day": 0})

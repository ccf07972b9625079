"""What a form asks: nothing before it is begun, and one finding where a blank leaves conditions open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.engines.checks.made import classic_of, found, project_of, record
from tests.support.dictionaries import KINDS, item

pytestmark = pytest.mark.django_db
YES = "yesno"
FIELDS = [
    item("base", "record_id", "Record"),
    item("base", "smoker", "Smoker", YES),
    item("base", "packs", "Packs", check="number", show="[smoker] = '1'", required="y", low="1"),
    item("base", "since", "Since", check="date_ymd", show="[smoker] = '1'", required="y"),
    item("base", "brand", "Brand", "radio", choices="1, A | 2, B", show="[smoker] = '1'"),
    item("base", "other", "Other brand", show="[brand] = '2'", required="y"),
    item("base", "weight", "Weight", check="number", required="y"),
    item("base", "double", "Double", "calc", choices="[weight] * 2"),
    item("late", "late_on", "Late on", check="date_ymd", required="y"),
    item("late", "late_sum", "Sum", "calc", choices="[weight] + 1"),
]
TOLD = {"weight": "70", "double": "140", "late_sum": ""}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("status", ["", "0"])
def test_a_record_without_any_entry_has_no_finding(name: str, status: str) -> None:
    kind = KINDS[name]()
    data = record(kind, kind.empty)
    rows = [
        {n: status if n.endswith("_complete") else v for n, v in row.items()} for row in data.rows
    ]
    assert not found(project_of(kind), replace(data, rows=tuple(rows)))


def told(values: dict[str, str]) -> list[tuple[str, str, str]]:
    kind, data = classic_of(FIELDS, values)
    return [(one.rule_key, one.field, one.outcome) for one in found(project_of(kind), data)]


UNDECIDED = ("std.required.smoker", "smoker", "UNKNOWN")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # required and blank, under a condition that a blank leaves open: that blank is told once
        (TOLD, [UNDECIDED]),
        (TOLD | {"smoker": "0"}, []),
        (
            TOLD | {"smoker": "1", "packs": "0", "since": "2026-01-01", "brand": "2"},
            [
                ("std.required.other", "other", "FAIL"),
                ("std.range.packs", "packs", "FAIL"),
            ],
        ),
        # filled ones under the same condition are not doubted each for itself
        (TOLD | {"packs": "20", "since": "2026-01-01", "brand": "1"}, [UNDECIDED]),
        # a blank of the chain is the cause, not what stands between
        (TOLD | {"packs": "20", "other": "x"}, [UNDECIDED]),
        # what can be no value at all is told whatever the condition comes to
        (
            TOLD | {"packs": "many"},
            [("std.type.packs", "packs", "FAIL"), UNDECIDED],
        ),
        # a form of which only a calculation stands was never begun
        (TOLD | {"smoker": "0", "late_sum": "71"}, []),
        (
            TOLD | {"smoker": "0", "late_sum": "71", "late_complete": "1"},
            [("std.required.late_on", "late_on", "FAIL")],
        ),
        # a form that was saved without an entry was begun
        (
            TOLD | {"smoker": "0", "late_sum": "71", "late_complete": "0"},
            [("std.required.late_on", "late_on", "FAIL")],
        ),
        # the entry 0 is an entry
        ({"smoker": "0"}, [("std.required.weight", "weight", "FAIL")]),
    ],
)  # fmt: skip
def test_one_finding_where_a_condition_is_open(
    values: dict[str, str], expected: list[tuple[str, str, str]]
) -> None:
    assert sorted(told(values)) == sorted(expected)


def test_the_finding_closes_when_the_field_is_filled() -> None:
    """What is told of an open condition is passed under the same key once it is decided."""
    from engines.sop.dry import walk
    from tests.engines.checks.made import ALL

    kind, data = classic_of(FIELDS, TOLD | {"smoker": "0"})
    nodes: dict[str, Any] = {"standard": {"type": "hard_rule", "checks": ALL}}
    config = {"start_node": "standard", "nodes": nodes}
    seen = walk(project=project_of(kind), config=config, data=data).observations
    assert [s.outcome for s in seen if s.rule_key == UNDECIDED[0]] == ["PASS"]


def test_the_blank_of_another_event_is_told_there() -> None:
    kind = KINDS["longitudinal"]()
    data = record(kind, "S-002")
    rows = [row | ({"sex": ""} if row["sex"] else {}) for row in data.rows]
    seen = found(project_of(kind), replace(data, rows=tuple(rows)))
    assert [(one.field, one.event, one.outcome) for one in seen] == [
        ("sex", "screening_arm_1", "FAIL")
    ]


def test_the_consent_of_the_subjects_own_arm_is_compared() -> None:
    kind = KINDS["arms"]()
    fields = [
        *kind.fields,
        item("start", "icf_date", "知情同意签署日期", check="date_ymd"),
    ]
    kind = replace(kind, fields=fields)
    project = project_of(kind)
    project.enrolment_field = "check_date"
    project.save()
    data = record(kind, "A02")
    for day, outcomes in (("2026-03-01", []), ("2026-03-20", ["FAIL"])):
        rows = [row | ({"icf_date": day} if row["enrolled_on"] else {}) for row in data.rows]
        seen = found(project, replace(data, rows=tuple(rows)), {"consent": {}})
        assert [one.outcome for one in seen] == outcomes


CONSENT = [
    item("consent", "icf_date", "知情同意签署日期", check="date_ymd"),
    item("consent", "icf_version", "版本"),
    item("enrol", "enrol_date", "入组日期", check="date_ymd"),
]
MISSING = ("std.consent.icf_date", "icf_date", "FAIL")


@pytest.mark.parametrize(
    ("values", "required", "expected"),
    [
        # a consent form that was never begun asks nothing, but nobody is enrolled without a consent
        ({"enrol_date": "2026-03-01"}, "y", [MISSING]),
        ({"enrol_date": "2026-03-01"}, "", [MISSING]),
        ({"enrol_date": "2026-03-01", "icf_date": "NI"}, "", [MISSING]),
        # of a form that was begun the blank date is told once
        (
            {"enrol_date": "2026-03-01", "icf_version": "2"},
            "y",
            [("std.required.icf_date", "icf_date", "FAIL")],
        ),
        ({"enrol_date": "2026-03-01", "icf_version": "2"}, "", [MISSING]),
        ({"enrol_date": "2026-03-01", "icf_date": "2026-02-28"}, "y", []),
        # nothing was done yet
        ({"enrol_date": "NI"}, "y", []),
        ({}, "y", []),
    ],
)
def test_who_is_enrolled_without_a_consent_is_told(
    values: dict[str, str], required: str, expected: list[tuple[str, str, str]]
) -> None:
    fields = [item("base", "record_id", "编号"), *CONSENT]
    fields = [
        row | ({"required_field": required} if row["field_name"] == "icf_date" else {})
        for row in fields
    ]
    kind, data = classic_of(fields, values)
    project = project_of(replace(kind, project={"missing_data_codes": "NI, No information"}))
    project.enrolment_field = "enrol_date"
    project.save()
    seen = found(project, data)
    assert [(one.rule_key, one.field, one.outcome) for one in seen] == expected


def test_a_consent_that_redcap_does_not_show_is_not_missing() -> None:
    kind, data = classic_of(
        [item("base", "record_id", "编号"), *CONSENT], {"enrol_date": "2026-03-01"}
    )
    project = project_of(kind)
    project.enrolment_field = "enrol_date"
    project.save()
    rows = [{name: v for name, v in row.items() if name != "icf_date"} for row in data.rows]
    seen = found(project, replace(data, rows=tuple(rows)), {"consent": {}})
    assert "FAIL" not in {one.outcome for one in seen}

"""Ranges of the dictionary: times of day, decimal commas, bounds that are other fields, and unreadable ones."""

from __future__ import annotations

import pytest

from core.rules.context import StudyContext
from engines.sop.checks.dictionary import unread_bounds
from tests.engines.checks.made import ON_FORM, classic_of, found, project_of
from tests.support.dictionaries import item

COMMA = "number_1dp_comma_decimal"
FIELDS = [
    item("base", "record_id", "Record"),
    item("base", "woken", "Time of waking", check="time", low="05:30", high="10:00"),
    item("base", "lap", "Lap", check="time_mm_ss", low="10:30", high="12:00"),
    item("base", "dosed", "Time of dose", check="time", low="[woken]"),
    item("base", "crp", "CRP", check=COMMA, low="0,5", high="10,5"),
    item("base", "crp_before", "CRP before", check=COMMA, high="[crp]"),
    item("base", "visit", "Visit", check="date_ymd", low="2026-01-01", high="[seen]"),
    item("base", "seen", "Seen at", check="datetime_ymd"),
]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("values", "about"),
    [
        ({"woken": "05:29"}, ["woken"]),
        ({"woken": "05:30", "dosed": "05:30"}, []),
        ({"woken": "10:01"}, ["woken"]),
        ({"woken": "9:59", "dosed": "09:58"}, ["dosed"]),
        ({"lap": "10:29"}, ["lap"]),
        ({"lap": "11:59"}, []),
        ({"crp": "0,4"}, ["crp"]),
        ({"crp": "10,6"}, ["crp"]),
        ({"crp": "10,5", "crp_before": "10,6"}, ["crp_before"]),
        ({"visit": "2026-03-02", "seen": "2026-03-02 08:00"}, []),
        ({"visit": "2026-03-03", "seen": "2026-03-02 23:00"}, ["visit"]),
    ],
)
def test_a_value_beyond_its_range(values: dict[str, str], about: list[str]) -> None:
    kind, data = classic_of(FIELDS, values)
    seen = found(project_of(kind), data, ON_FORM)
    assert [(one.field, one.outcome) for one in seen] == [(name, "FAIL") for name in about]


def test_a_bound_that_cannot_be_read_is_told() -> None:
    unreadable = [
        item("base", "record_id", "Record"),
        item("base", "weight", "Weight", check="number", low="40,5", high="200"),
        item("base", "crp", "CRP", check=COMMA, low="0.5", high="1.000,5"),
        item("base", "born", "Born", check="date_dmy", low="31-12-1900"),
        item("base", "at", "Time", check="time", low="8 a.m.", high="now"),
        item("base", "code", "Code", check="phone", high="9"),
        item("base", "later", "Later", check="number", low="[other_arm_1][weight]", high="[at]"),
        item("log", "dose", "Dose", check="number", high="[weight]", low="0"),
    ]
    kind, _data = classic_of(unreadable, {})
    told = [*unread_bounds(kind.metadata, StudyContext.build(unreadable))]
    assert told == [
        *(("weight", "40,5"), ("crp", "0.5"), ("crp", "1.000,5"), ("born", "31-12-1900")),
        *(("at", "8 a.m."), ("at", "now"), ("code", "9")),
        *(("later", "[other_arm_1][weight]"), ("later", "[at]")),
    ]
    readable, _data = classic_of(FIELDS, {})
    assert not [*unread_bounds(readable.metadata, StudyContext.build(FIELDS))]

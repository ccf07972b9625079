"""Arm and order of events come from REDCap's exports, whatever the events are called."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

from core.rules.context import StudyContext, arms_of
from core.rules.record import Record
from core.rules.redcap.parser import parse_logic
from core.rules.redcap.rows import RowView
from core.rules.visibility import visibility
from tests.rules.support import field

# The first of arm 1, a second of the same label, one whose label holds "arm", one with a later number in its
# name than its arm has; arm 2 has a visit with the name of an arm that there is not.
EVENTS = [
    ("2", "week_8_arm_9", "56"),
    ("1", "visit_arm_1b", "14"),
    ("1", "visit_arm_1", "7"),
    ("2", "arm_1_check", "1"),
    ("1", "arm_3_pain_arm_1", "0"),
]
ORDER = ["arm_3_pain_arm_1", "visit_arm_1", "visit_arm_1b", "arm_1_check", "week_8_arm_9"]
DICTIONARY = [field("record_id"), field("weight", validation="number")]


def events(*keys: str) -> list[dict[str, Any]]:
    told = (
        {"arm_num": arm, "unique_event_name": event, "day_offset": day}
        for arm, event, day in EVENTS
    )
    return [{key: row[key] for key in ("unique_event_name", *keys)} for row in told]


def project(*keys: str) -> dict[str, Any]:
    mapping = [row | {"form": "base"} for row in events("arm_num")]
    return {"form_event_mapping": mapping, "events": events(*keys) if keys else []}


def at(event: str, text: str, known: Mapping[str, Any]) -> Any:
    rows = [{"redcap_event_name": name, "weight": str(n)} for n, name in enumerate(ORDER)]
    record = Record(StudyContext.build(DICTIONARY, known), rows, date(2024, 6, 1))
    view = RowView(record.rows[ORDER.index(event)], visibility, is_calculation=True)
    return parse_logic(text).node(view)


@pytest.mark.parametrize(
    ("event", "text", "expected"),
    [
        ("visit_arm_1b", "[arm-number]", "1"),
        ("arm_1_check", "[arm-number]", "2"),
        ("week_8_arm_9", "[arm-number]", "2"),
        ("visit_arm_1b", "[previous-event-name]", "visit_arm_1"),
        ("visit_arm_1", "[previous-event-name]", "arm_3_pain_arm_1"),
        ("visit_arm_1", "[next-event-name]", "visit_arm_1b"),
        ("visit_arm_1b", "[next-event-name]", ""),
        ("arm_1_check", "[previous-event-name]", ""),
        ("visit_arm_1b", "[first-event-name]", "arm_3_pain_arm_1"),
        ("arm_3_pain_arm_1", "[last-event-name]", "visit_arm_1b"),
        ("week_8_arm_9", "[first-event-name]", "arm_1_check"),
        ("visit_arm_1b", "[previous-event-name][weight]", 1),
        ("week_8_arm_9", "[first-event-name][weight]", 3),
    ],
)
def test_a_smart_variable_of_events(event: str, text: str, expected: object) -> None:
    assert at(event, text, project("arm_num", "day_offset")) == expected


def test_without_day_offsets_the_order_is_that_of_the_export() -> None:
    told = events("arm_num")
    assert [*arms_of(told)] == [
        *("visit_arm_1b", "visit_arm_1", "arm_3_pain_arm_1", "week_8_arm_9", "arm_1_check")
    ]
    assert at("visit_arm_1", "[previous-event-name]", project()) == "visit_arm_1b"


def test_an_arm_that_no_export_tells_is_not_guessed_from_the_name() -> None:
    nameless = {"form_event_mapping": [{"unique_event_name": e, "form": "base"} for e in ORDER]}
    for text in ("[arm-number]", "[previous-event-name]"):
        assert at("visit_arm_1", text, nameless).reason == "not_exported"
        assert at("visit_arm_1", text, {}).reason == "not_exported"

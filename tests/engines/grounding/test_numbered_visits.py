"""Visits that differ in their number only are different places, and their number is no value."""

from __future__ import annotations

import pytest

from engines.chat import shown
from engines.grounding import Sources, check
from engines.intents import Part
from engines.tools import Fact, Status, ToolResult
from engines.tools.fields import FieldNames
from projects.metadata import StudyMetadata

LABELS = [
    ("Visit 1", "Visit 2", "Visit 3"),
    ("Cycle 1 Day 1", "Cycle 1 Day 8", "Cycle 1 Day 15"),
    ("周期 1", "周期 2", "周期 3"),
    ("访视1", "访视2", "访视3"),
    ("Week 4 第4周", "Week 8 第8周", "Week 12 第12周"),
    ("治疗期 V1", "治疗期 V2", "治疗期 V3"),
]


def read(one: str, other: str) -> ToolResult:
    rows = ((one, "1级", "40 U/L"), (other, "3级", "55 U/L"))
    facts = [
        fact
        for place, grade, alt in rows
        for fact in (
            Fact("P001", "grade", ("CTCAE分级", "分级"), grade, place, ("2级",)),
            Fact("P001", "alt", ("ALT",), alt, place),
        )
    ]
    return ToolResult("read_clinical_data", Status.OK, {}, tuple(facts), record_ids=("P001",))


@pytest.mark.parametrize(("one", "other", "unread"), LABELS)
def test_the_value_of_a_visit_is_told_with_its_number(one: str, other: str, unread: str) -> None:
    sources = Sources([read(one, other)])
    for answer in (
        f"P001 {one}的分级为1级。",
        f"P001 {one}的ALT为40 U/L。",
        f"P001 {one.replace(' ', '')} ALT 40,{other} ALT 55。",
        f"P001 {one}和{other}的ALT分别为40和55。",
        f"P001的ALT:{one} 40 U/L、{other} 55 U/L",
    ):
        assert check(answer, sources) == [], answer


@pytest.mark.parametrize(("one", "other", "unread"), LABELS)
def test_that_of_another_visit_is_not(one: str, other: str, unread: str) -> None:
    sources = Sources([read(one, other)])
    for answer in (
        f"P001 {one}的分级为3级。",
        f"P001 {one}的分级为3。",
        f"P001 {one}的ALT为55 U/L。",
        f"P001 {one} ALT 55,{other} ALT 40。",
        f"P001 {unread}的ALT为40 U/L。",
        f"P001 {unread}的分级为1级。",
    ):
        assert check(answer, sources), answer


def test_a_visit_that_was_not_read_is_not_taken_for_a_value() -> None:
    facts = [
        Fact("P001", "grade", ("分级",), value, f"访视{n}") for n, value in ((1, "3"), (2, "1"))
    ]
    result = ToolResult("read_clinical_data", Status.OK, {}, tuple(facts), record_ids=("P001",))
    assert check("P001 访视2的分级为1。", Sources([result])) == []
    assert check("P001 访视3的分级为1。", Sources([result]))


@pytest.mark.parametrize(("one", "other", "third"), LABELS)
def test_going_through_visits_leaves_none_out(one: str, other: str, third: str) -> None:
    result = read(one, other)
    result = ToolResult(
        "read_clinical_data",
        Status.OK,
        {},
        (*result.facts, Fact("P001", "alt", ("ALT",), "61 U/L", third)),
        record_ids=("P001",),
    )
    row = {"field_name": "alt", "field_label": "ALT", "form_name": "labs"}
    names = FieldNames(StudyMetadata([row], {}, [], [], [], [], []), {})

    def leaves_out(text: str, question: str) -> bool:
        part = Part(question, "query_record", 1.0, ["P001"])
        return shown.leaves_out(text, names, part, [result])

    assert leaves_out(f"P001 {one} ALT 40,{other} ALT 55。", "P001的ALT")
    assert not leaves_out(f"P001 {one} ALT 40,{other} ALT 55,{third} ALT 61。", "P001的ALT")
    assert not leaves_out(f"P001 {other} ALT 55。", f"P001 {other}的ALT")
    assert leaves_out(f"P001 {one} ALT 40。", f"P001 {other}的ALT")

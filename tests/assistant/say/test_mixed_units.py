"""Readings written in several units are told as they stand, and never set against each other."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import translation

from engines.assistant.read.question import Question, Shape
from engines.assistant.say.answer import say_answer
from tests.assistant.say.studies import reader_of, sheet
from tests.study.query.studies import Study
from tests.study.query.trial import FIELDS, base, small, trial

EVENTS = {"base": ("base",), "v1": ("lab",), "v2": ("lab",), "v3": ("lab",)}
MIXED = (("7", "mmol/L"), ("99", "mg/dL"), ("8", "mmol/L"))
ALIKE = (("7", "mmol/L"), ("5.5", "mmol/L"), ("8", "mmol/L"))


def study(sugars: Any, subjects: int = 1) -> Study:
    """Readings of one subject at three visits, or of three at one."""
    rows = [
        {"event": f"v{n}", "sugar": value, "sugar_unit": unit}
        for n, (value, unit) in enumerate(sugars, 1)
    ]
    records: dict[str, Any] = {"S1": [base(sex="1"), *rows]}
    if subjects > 1:
        records = {f"S{n}": [base(sex="1"), row | {"event": "v1"}] for n, row in enumerate(rows, 1)}
    return small(FIELDS, records, events=EVENTS, unit_fields={"sugar": "sugar_unit"})


def said(of: Study, shape: Shape, where: list[Any], **more: Any) -> str:
    """The plain answer over blood sugars."""
    reader, names = reader_of(of, limit=500), [record.record_id for record in of.records]
    question = Question(
        shape=shape, subjects=tuple(names), select=("sugar",), where=tuple(where), **more
    )
    read = {"subjects": names, "select": ["sugar"]}
    queries = [read | {"where": where}, read] if where else [read]
    with translation.override("zh-hans"):
        return say_answer(sheet(reader, of, [(question, queries)]), reader).text


@pytest.mark.parametrize(("sugars", "ends"), [(MIXED, False), (ALIKE, True)])
def test_no_end_is_named_over_several_units(sugars: Any, ends: bool) -> None:
    where = [{"field": "sugar", "op": ">", "value": 10}]
    told = said(study(sugars), Shape.YES_NO, where)
    assert "共 3 次" in told
    assert ("最高 8 mmol/L" in told) is ends
    assert "99" not in told


def test_a_reading_in_another_unit_breaks_no_bound_by_its_number() -> None:
    """100 mg/dL is 5.55 mmol/L: below 10, and not what breaks it; 12 mmol/L does."""
    sugars = (("7", "mmol/L"), ("100", "mg/dL"), ("12", "mmol/L"))
    where = [{"field": "sugar", "op": "<", "value": 10, "holds": "every"}]
    told = said(study(sugars), Shape.YES_NO, where)
    assert told.startswith("不是")
    assert "12 mmol/L" in told
    assert "7 mmol/L" in told


@pytest.mark.parametrize(("sugars", "apart"), [(MIXED, False), (ALIKE, True)])
def test_numbers_of_several_units_are_not_subtracted(sugars: Any, apart: bool) -> None:
    told = said(study(sugars, 3), Shape.DIFFERENCE, [])
    assert ("相差" in told) is apart
    assert "7 mmol/L" in told


@pytest.mark.parametrize(
    ("values", "breaks", "kept"),
    [
        (("100", "200", "60"), "200", "60"),
        (("100", "160", "60"), "160", "100"),
    ],
)
def test_of_times_a_limit_the_side_and_the_size_count(
    values: tuple[str, ...], breaks: str, kept: str
) -> None:
    """Not above 3 x 50: what is above the limit once breaks nothing."""
    ranges = trial().design.ranges
    rows = [{"event": f"v{n}", "alt": value} for n, value in enumerate(values, 1)]
    of = small(
        FIELDS,
        {"S1": [base(sex="1"), *rows]},
        events=EVENTS,
        ranges={"alt": ranges["alt"]},
        sex_field="sex",
    )
    limit = {"ref": "high", "times": 3}
    where = [{"field": "alt", "op": "<=", "value": limit, "holds": "every"}]
    reader = reader_of(of, limit=500)
    question = Question(shape=Shape.YES_NO, subjects=("S1",), select=("alt",), where=tuple(where))
    read: dict[str, Any] = {"subjects": ["S1"], "select": ["alt"]}
    with translation.override("zh-hans"):
        told = say_answer(sheet(reader, of, [(question, [read | {"where": where}, read])]), reader)
    assert told.text.startswith("不是")
    assert f"{breaks} U/L" in told.text
    assert f" {kept} U/L" not in told.text

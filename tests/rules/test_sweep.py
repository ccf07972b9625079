"""A sweep gives record by record what one record at a time gives, in both modes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hard_rules import RuleError, StudyContext, compile_rule_set
from engines.jsonlogic import compile_rule, compile_rules
from tests.rules.support import var
from tests.rules.test_fast_tier import (
    DATA,
    LOGIC,
    ODD,
    PLACES,
    ROWS,
    SETS,
    TODAY,
    same,
)

# --- clinical -----------------------------------------------------------------------------------

RECORDS = st.lists(
    st.lists(st.builds(lambda place, row: {**row, **place}, PLACES, ROWS), max_size=3),
    min_size=1,
    max_size=12,
)


def check(rules: Any, records: list[list[dict[str, Any]]]) -> None:
    swept = list(rules.sweep(list(enumerate(records)), TODAY))
    assert [key for key, _verdicts in swept] == list(range(len(records)))
    for (key, verdicts), rows in zip(swept, records, strict=True):
        expected = [(r.outcome, r.reason) for r in rules.evaluate(str(key), rows, TODAY)]
        assert verdicts == expected


@settings(max_examples=40, deadline=None)
@given(RECORDS, st.integers(1, 4))
def test_a_sweep_equals_full_evaluation(records: list[list[dict[str, Any]]], again: int) -> None:
    for rules in SETS:
        check(rules, records * again)  # what was met before is answered from memory


@settings(max_examples=25, deadline=None)
@given(st.lists(ROWS, min_size=20, max_size=30), st.integers(0, 19), st.sampled_from(ODD))
def test_one_odd_cell_does_not_change_its_neighbours(
    rows: list[dict[str, Any]], where: int, cell: Any
) -> None:
    for rules in SETS:
        check(rules, [[{**row, "age": cell} if n == where else row] for n, row in enumerate(rows)])


def test_columns_of_many_values_are_swept_too() -> None:
    rows = [{"age": "40", "alt": f"{n}.5", "ast": str(2 * n), "icf": ""} for n in range(700)]
    check(SETS[0], [[row] for row in rows])


def test_records_are_taken_as_they_come() -> None:
    taken: list[int] = []

    def source() -> Iterator[tuple[int, list[dict[str, Any]]]]:
        for n in range(90):
            taken.append(n)
            yield n, [{"age": str(n % 90)}]

    swept = SETS[0].sweep(source(), TODAY)
    next(swept)
    assert taken == [0]


def test_another_day_is_another_sweep() -> None:
    rules = compile_rule_set(
        [{"field": "icf", "logic": {"<=": [var("icf"), {"today": []}]}, "message": "m"}],
        SETS[0].context,
    )
    records = [(n, [{"icf": "2024-06-02"}]) for n in range(40)]
    for day, outcome in ((TODAY, "FAIL"), (date(2024, 6, 2), "PASS")):
        assert {verdicts[0][0] for _key, verdicts in rules.sweep(records, day)} == {outcome}


# --- standard -----------------------------------------------------------------------------------


def outcome(rules: Any, data: Any) -> Any:
    try:
        return rules(data)
    except RuleError:
        return RuleError


@settings(max_examples=300, deadline=None)
@given(
    st.lists(LOGIC, min_size=1, max_size=4),
    st.lists(DATA, min_size=1, max_size=6),
    st.integers(1, 5),
)
def test_a_standard_sweep_equals_record_by_record(
    logics: list[Any], rows: list[Any], again: int
) -> None:
    single = [compile_rule(logic) for logic in logics]
    records = rows * again
    expected = [outcome(lambda data: [rule(data) for rule in single], data) for data in records]
    swept = compile_rules(logics).sweep(records)
    for wanted in expected:
        if wanted is RuleError:
            with pytest.raises(RuleError):
                next(swept)
            return
        assert same(next(swept), wanted)
    assert list(swept) == []


TRUTHS = [
    {"and": [{">": [var("a"), 1]}, {"!": [{"<": [var("b"), 3]}]}, True]},
    {"or": [{"===": [var("a"), 1]}, {"!!": [{"in": [var("b"), ["x", True]]}]}]},
    {"if": [{"<": [var("a"), 2]}, {">": [var("b"), 1]}, {"==": [var("a"), 3]}, False, True]},
    {"?:": [{"!": [var("a")]}, {"<": [var("a"), var("b")]}, {">=": [var("a"), var("b")]}]},
    {"if": [{"<": [var("a"), 2]}, {">": [var("b"), 1]}]},
    {"!": [{"and": [{"<": [var("a"), 2]}, {"some": [var("l"), {">": [var(""), 1]}]}]}]},
    {"<": [var("a"), var("b")]},
    {"+": [var("a"), 1]},
    {"cat": [var("a"), var("b")]},
    {"merge": [var("a"), 1]},
    True,
    "text",
    None,
]
ODD_CELLS = [True, False, 1, 1.0, 0, -0.0, None, "", "1", "x", "é", "2024-01-05", math.inf]


def test_truths_numbers_and_texts_that_look_alike_stay_apart() -> None:
    rules, single = compile_rules(TRUTHS), [compile_rule(logic) for logic in TRUTHS]
    records = [{"a": a, "b": b, "l": [1, 2]} for a in ODD_CELLS for b in ODD_CELLS]
    for record, values in zip(records, rules.sweep(records), strict=True):
        assert same(values, [rule(record) for rule in single]), record


def test_records_that_are_no_objects_are_swept_like_the_others() -> None:
    rules = compile_rules([var(""), {"<": [var("a"), 3]}])
    records = [{"a": 1}, [], None, "text", 7, {"a": [9]}, {"a": {}}, {}] * 9
    assert list(rules.sweep(records)) == [rules(record) for record in records]


def test_an_error_comes_where_it_comes_record_by_record() -> None:
    rules = compile_rules([{"if": [{"==": [var("a"), 30]}, {"*": []}, 1]}])
    swept = rules.sweep({"a": n} for n in range(60))
    assert [next(swept) for _n in range(30)] == [[1]] * 30
    with pytest.raises(RuleError):
        next(swept)


def test_swept_lists_are_not_shared_between_records() -> None:
    first, second, *_rest = compile_rules([{"merge": [var("a"), 1]}]).sweep([{"a": 5}] * 20)
    first[0].append("mine")
    assert second == [[5, 1]]


def test_no_rules_and_no_records() -> None:
    assert list(compile_rules([]).sweep([{}, {"a": 1}])) == [[], []]
    assert list(compile_rules([True]).sweep([])) == []


def test_a_rule_about_another_event_without_its_fields() -> None:
    logic = {"and": [{"==": [{"across_events": ["e1", 1]}, 1]}, {">": [{"var": "age"}, 1]}]}
    rules = compile_rule_set(
        [{"field": "age", "logic": logic, "message": "m"}], StudyContext.build(None)
    )
    rows = [{"age": "5", "redcap_event_name": "e0"}, {"age": "5", "redcap_event_name": "e1"}]
    slow = [(result.outcome, result.reason) for result in rules.evaluate("1", rows, TODAY)]
    assert rules.verdicts(rows, TODAY) == slow

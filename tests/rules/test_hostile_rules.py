"""No rule and no data can crash, hang or reach into Python (contracts.md: never RecursionError)."""

from __future__ import annotations

import contextlib
import json
import math
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rules.context import StudyContext
from core.rules.evaluation import Outcome
from core.rules.limits import RuleError, check_limits
from core.rules.ruleset import compile_rule_set
from engines.hard_rules import record_rows
from tests.fuzz.checks import agreed
from tests.rules.support import DICTIONARY, nested, problems, result, results, untyped, var, verdict

HUGE = 10**400
DAY = date(2024, 6, 1)


def deep_list(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def deep_dict(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"!": value}
    return value


@pytest.mark.parametrize("build", [nested, deep_list, deep_dict])
def test_depth_64_is_the_last_that_compiles(build: Any) -> None:
    check_limits(build(64))
    for depth in (65, 5_000):
        with pytest.raises(RuleError):
            check_limits(build(depth))


@pytest.mark.parametrize("build", [nested, deep_list, deep_dict])
def test_5000_levels_are_refused_in_clinical_mode(build: Any) -> None:
    [problem] = problems(build(5_000))
    assert problem.path == "rules/0/logic"


def test_64_kib_is_the_limit() -> None:
    check_limits({"cat": ["x" * 65_000]})
    for logic in ({"cat": ["x" * 70_000]}, {"+": [1] * 70_000}, {"试" * 30_000: 1, "b": 2}):
        with pytest.raises(RuleError):
            check_limits(logic)


def compact(logic: Any) -> int:
    return len(json.dumps(logic, ensure_ascii=False, separators=(",", ":")).encode())


@pytest.mark.parametrize(
    "build",
    [
        lambda fill: {"cat": ["x" * fill]},
        lambda fill: {"cat": ["试" * 3, "x" * fill, '"\n', "y"]},
        lambda fill: {"in": [1, [0.1234567890123456, 1e-07, -7, 10**9, True, None, {}, [], "x" * fill]]},
    ],
)  # fmt: skip
def test_the_size_is_that_of_compact_json_to_the_byte(build: Any) -> None:
    fill = 65_536 - compact(build(0))
    assert compact(build(fill)) == 65_536
    check_limits(build(fill))
    with pytest.raises(RuleError):
        check_limits(build(fill + 1))


def test_long_numbers_count_as_they_are_written() -> None:
    for number in (0.1234567890123456, 10**40):
        with pytest.raises(RuleError):
            check_limits({"in": [1, [number] * 10_000]})
    check_limits({"in": [1, [1.5] * 10_000]})


def test_shared_and_cyclic_objects_are_refused_quickly() -> None:
    shared: Any = [1, 1]
    for _ in range(60):
        shared = [shared, shared]
    cyclic: Any = []
    cyclic.append(cyclic)
    for logic in (shared, cyclic):
        with pytest.raises(RuleError):
            check_limits(logic)


@pytest.mark.parametrize(
    "path", ["__class__", "x.__class__", "__init__.__globals__", "x.real", "items", "x.0.upper"]
)
def test_no_path_reaches_an_attribute(path: str) -> None:
    assert problems({"==": [var(path), 1]})


def test_the_shell_command_of_the_reference_does_nothing() -> None:
    payload = {"method": [{"method": ["", "__reduce_ex__", [2]]}, "pop", []]}
    for logic in (payload, {"days_between.__globals__.__builtins__.eval": ["1"]}):
        assert problems(logic)


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, HUGE, -HUGE, 10**5000, 1e308],
    ids=["nan", "inf", "-inf", "huge", "-huge", "5001 digits", "1e308"],
)
def test_strange_numbers_stay_bounded(value: Any) -> None:
    for logic in ({"*": [var("x"), var("x")]}, {"%": [var("x"), 3]}, {"cat": [var("x")]}):
        assert untyped({"<": [logic, 5]}, {"x": value}).split()[0] in {"PASS", "FAIL", "ERROR"}
    assert verdict({"<": [var("alt"), 120]}, {"alt": value}) in {
        "PASS",
        "FAIL",
        "FAIL type_mismatch",
    }


@pytest.mark.parametrize("text", ["1e999", "1e-999", "9" * 401, "NaN", "Infinity", "1e99999999"])
def test_a_number_out_of_all_proportion_is_no_number(text: str) -> None:
    found = verdict({"<": [{"*": [var("alt"), var("alt")]}, 120]}, {"alt": text})
    assert found in {"FAIL type_mismatch", "FAIL", "PASS", "ERROR"}
    assert verdict({"<": [{"round_half_up": [var("alt"), 20]}, 1]}, {"alt": "9" * 399}) == "FAIL"


@pytest.mark.parametrize("cell", ["7" * 100, "1e300", "-1e300", "1e999", "1e-300", "0"])
@pytest.mark.parametrize("divisor", [7, 0.3, 1e-300, -7])
def test_a_remainder_is_exact_however_large_the_quotient(cell: str, divisor: float) -> None:
    exact = Fraction(cell) - int(Fraction(cell) / Fraction(str(divisor))) * Fraction(str(divisor))
    found = result({"==": [{"%": [var("alt"), divisor]}, 0]}, {"alt": cell})
    assert found.outcome == ("PASS" if exact == 0 else "FAIL")
    logic = {"<": [{"%": [var("alt"), divisor]}, float(exact + Fraction(1, 100))]}
    assert verdict(logic, {"alt": cell}) == "PASS"


def test_multiplying_without_end_is_an_error_of_that_rule_only() -> None:
    square: Any = var("alt")
    for _ in range(12):
        square = {"reduce": [[1, 2], {"*": [{"var": "accumulator"}, "9e300"]}, 1]}
    logic = {"<": [{"*": [square] * 20}, 1]}
    assert verdict(logic, {"alt": "1"}) == "ERROR"


@pytest.mark.parametrize(
    "cell",
    [{"a": 1}, [[1]], deep_list(3_000), b"x", object()],
    ids=["object", "list", "deep list", "bytes", "python object"],
)
def test_a_cell_that_is_no_scalar_is_a_type_mismatch(cell: Any) -> None:
    found = results({"<": [var("alt"), 120]}, {"alt": cell})
    assert (found[0].outcome, found[0].reason) == ("FAIL", "type_mismatch")


def test_lone_surrogates_and_nul_are_only_text() -> None:
    assert verdict({"==": [var("text"), "\ud800"]}, {"text": "\x00"}) == "FAIL"
    assert verdict({"==": [{"substr": ["a😀b", 1, 1]}, "\ud83d"]}, {}) == "PASS"


OPERATORS = [
    "var",
    "and",
    "or",
    "if",
    "!",
    "!!",
    "==",
    "<",
    "in",
    "+",
    "-",
    "*",
    "/",
    "%",
    "map",
    "filter",
    "reduce",
    "all",
    "some",
    "none",
    "merge",
    "missing",
    "cat",
    "substr",
    "max",
    "min",
    "missing_some",
    "is_blank",
    "today",
    "days_between",
    "age_at",
    "before",
    "in_window",
    "matches",
    "round_half_up",
    "across_events",
    "to_unit",
    "x",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(
            st.sampled_from(OPERATORS),
            children,
            max_size=2,
        )
    ),
    max_leaves=12,
)


NAMES = st.sampled_from(["alt", "sex", "icf", "exclusion", "text", "consent", "ae_start"])
CELLS = st.sampled_from(["", " ", "0", "1", "7", "<5", "NA", "2024-03", "2024-03-01", "x", None])


@pytest.mark.full
@settings(max_examples=300, deadline=None)
@given(logic=JSON, row=st.dictionaries(NAMES, CELLS), about=NAMES)
def test_any_rule_is_refused_or_gives_an_outcome(logic: Any, row: Any, about: str) -> None:
    rule = {"field": about, "logic": logic, "message": "m"}
    for dictionary in (DICTIONARY, None):
        context = StudyContext.build(dictionary)
        try:
            rules, (record, rows) = compile_rule_set([rule], context), record_rows(row, context)
        except RuleError:
            continue
        for found in rules.evaluate(record, rows, DAY):
            assert found.outcome in {*Outcome}
            json.dumps(found.as_dict(), allow_nan=False)


NUMBERS = st.sampled_from(
    [HUGE, -HUGE, 2**1024, 10**1200, 1e308, 5e-324, "9" * 399, "1e308", "<1e300", 0, 1, -1, 0.1]
)
SUMS = st.recursive(
    NUMBERS | st.sampled_from(["alt", "age", "bmi"]).map(var),
    lambda inner: st.builds(
        lambda name, arguments: {name: arguments},
        st.sampled_from([*OPERATORS, "<=", ">", ">=", "!=", "===", "?:"]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=6,
)


@pytest.mark.full
@settings(max_examples=300, deadline=None)
@given(logic=SUMS, limit=NUMBERS, cell=NUMBERS)
def test_no_operator_breaks_on_a_number_out_of_all_proportion(
    logic: Any, limit: Any, cell: Any
) -> None:
    row = {"alt": cell, "age": "30", "bmi": cell}
    tests = [logic, {"<": [logic, limit]}, {">=": [var("age"), limit]}]
    rules = [{"field": "age", "logic": test, "message": "m"} for test in tests]
    with contextlib.suppress(RuleError):
        agreed(compile_rule_set(rules, StudyContext.build(DICTIONARY)), [row], DAY)


def test_a_rule_of_every_kind_of_wrong_shape_is_refused() -> None:
    context = StudyContext.build(DICTIONARY)
    good = {"field": "age", "logic": True}
    identities = [{**good, "id": wrong} for wrong in ([], ["a"], {}, {"a": 1}, True)]
    for rule in (None, 1, [], "x", {}, {"field": 1, "logic": True}, {"field": "age"}, *identities):
        with pytest.raises(RuleError):
            compile_rule_set([rule], context)

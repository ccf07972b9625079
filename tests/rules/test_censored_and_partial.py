"""Censored values and partial dates decide when all they can be lies on one side, else UNKNOWN."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.support import result, untyped, var, verdict

ALT = var("alt")
OPEN = "UNKNOWN censored"


@pytest.mark.parametrize(
    ("cell", "logic", "expected"),
    [
        ("<0.5", {"<": [ALT, 1]}, "PASS"),
        ("<0.5", {"<": [ALT, 0.5]}, "PASS"),
        ("<=0.5", {"<": [ALT, 0.5]}, OPEN),
        ("<=0.5", {"<=": [ALT, 0.5]}, "PASS"),
        ("≤0.5", {"<=": [ALT, 0.5]}, "PASS"),
        ("< 0.5", {">": [ALT, 0.4]}, OPEN),
        ("＜0.5", {">=": [ALT, 0.5]}, "FAIL"),
        (">100", {"<=": [ALT, 100]}, "FAIL"),
        (">100", {"<": [ALT, 120]}, OPEN),
        (">=100", {"<=": [ALT, 100]}, OPEN),
        (">=100", {"<": [ALT, 100]}, "FAIL"),
        ("≥100", {">=": [ALT, 100]}, "PASS"),
        ("<0.5", {"==": [ALT, 0.5]}, "FAIL"),
        ("<0.5", {"==": [ALT, 0.2]}, OPEN),
        ("<0.5", {"!=": [ALT, 5]}, "PASS"),
        ("<0.5", {"in": [ALT, [1, 2]]}, "FAIL"),
        ("<0.5", {"in": [ALT, [0, 2]]}, OPEN),
        (">100", {"<=": [0, ALT, 50]}, "FAIL"),
        (">100", {">": [{"*": [ALT, 2]}, 150]}, "PASS"),
        (">100", {"<": [{"*": [ALT, -2]}, -150]}, "PASS"),
        (">100", {"==": [{"*": [ALT, 0]}, 0]}, "PASS"),
        (">100", {">": [{"/": [ALT, 2]}, 40]}, "PASS"),
        (">100", {"<": [{"/": [ALT, -2]}, -40]}, "PASS"),
        (">100", {">": [{"-": [ALT, 50]}, 50]}, "PASS"),
        (">100", {"<": [{"-": [50, ALT]}, -50]}, "PASS"),
        (">100", {"<": [{"-": [ALT]}, -100]}, "PASS"),
        (">100", {">": [{"+": [ALT, 1]}, 101]}, "PASS"),
        (">100", {">": [{"/": [1, ALT]}, 0]}, "PASS"),
        (">2", {"<": [{"/": [10, ALT]}, 5]}, "PASS"),
        (">=2", {"<": [{"/": [10, ALT]}, 5]}, OPEN),
        ("<-2", {">": [{"/": [10, ALT]}, -5]}, "PASS"),
        (">0", {">": [{"/": [10, ALT]}, 0]}, "PASS"),
        ("<0.5", {">": [{"/": [10, ALT]}, 20]}, OPEN),
        (">=0", {">": [{"/": [10, ALT]}, 0]}, OPEN),
        (">100", {">": [{"*": [ALT, ALT]}, 10000]}, "PASS"),
        (">=100", {">": [{"*": [ALT, ALT]}, 10000]}, OPEN),
        (">100", {">=": [{"%": [ALT, 7]}, 0]}, "PASS"),
        (">100", {"<": [{"%": [ALT, 7]}, 7]}, "PASS"),
        (">100", {"<": [{"%": [ALT, 7]}, 5]}, OPEN),
        (">100", {">=": [{"%": [7, ALT]}, 0]}, OPEN),
        ("<0.5", {"<": [{"min": [ALT, 3]}, 0.5]}, "PASS"),
        ("<=0.5", {"<": [{"min": [ALT, 3]}, 0.5]}, OPEN),
        ("<0.5", {"<": [{"min": [ALT, 0.5]}, 0.5]}, "PASS"),
        (">100", {">": [{"max": [ALT, 3]}, 100]}, "PASS"),
        ("<0.5", {"<": [{"max": [ALT, 0.2]}, 0.5]}, "PASS"),
        ("<0.5", {"<": [{"max": [ALT, 0.5]}, 0.5]}, "FAIL"),
        (">100", {">": [{"min": [ALT, 200]}, 100]}, "PASS"),
        ("<0.5", {"<": [{"round_half_up": [ALT, 0]}, 1]}, "PASS"),
        ("<=0.5", {"<": [{"round_half_up": [ALT, 0]}, 1]}, OPEN),
        ("<3.25", {"<=": [{"round_half_up": [ALT, 1]}, 3.2]}, "PASS"),
        ("<-3.25", {"<=": [{"round_half_up": [ALT, 1]}, -3.3]}, "PASS"),
        (">-0.5", {">=": [{"round_half_up": [ALT, 0]}, 0]}, "PASS"),
        (">=-0.5", {">=": [{"round_half_up": [ALT, 0]}, 0]}, OPEN),
        (">0.5", {">=": [{"round_half_up": [ALT, 0]}, 1]}, "PASS"),
        ("<0.5", {"<=": [{"round_half_up": [{"/": [ALT, 5]}, 1]}, 0.1]}, "PASS"),
        ("<25", {"<=": [{"round_half_up": [ALT, -1]}, 20]}, "PASS"),
        (
            "<9.008",
            {
                "<": [
                    {"round_half_up": [{"to_unit": [ALT, "mg/dL", "mmol/L", "glucose"]}, 0]},
                    1,
                ]
            },
            "PASS",
        ),
        ("<1", {"<": [{"*": [{"/": [ALT, 3]}, 3]}, 1]}, "PASS"),
        (">=1", {">=": [{"*": [{"/": [ALT, 3]}, 3]}, 1]}, "PASS"),
        ("<=1", {"<": [{"*": [{"/": [ALT, 3]}, 3]}, 1]}, OPEN),
        (">100", {">": [{"max": [ALT, 5]}, 99]}, "PASS"),
        (">100", {"<=": [{"min": [ALT, 5]}, 5]}, "PASS"),
        ("<0.5", {">=": [{"max": [ALT, 5]}, 5]}, "PASS"),
        (">100.4", {">=": [{"round_half_up": [ALT, 0]}, 100]}, "PASS"),
        (">100", {"and": [ALT]}, "PASS"),
        (">200", {">": [{"to_unit": [ALT, "mg/dL", "mmol/L", "glucose"]}, 11]}, "PASS"),
        (">100", {"matches": [ALT, ">\\d+"]}, "PASS"),
    ],
)
def test_a_censored_value(cell: str, logic: Any, expected: str) -> None:
    assert verdict(logic, {"alt": cell}) == expected
    assert untyped(logic, {"alt": cell}) == expected


def test_a_censored_value_is_true_where_it_can_not_be_zero() -> None:
    found = [verdict({"and": [ALT]}, {"alt": cell}) for cell in (">0", "<0", ">=0", "<=0", "<1")]
    assert found == ["PASS", "PASS", OPEN, OPEN, OPEN]


NUMBERS = [Decimal(n) / 4 for n in range(-16, 17)]
SIGNS: dict[str, Any] = {
    **{"<": Decimal.__lt__, "<=": Decimal.__le__, ">": Decimal.__gt__, ">=": Decimal.__ge__},
}
FORMULAS = [
    {"*": [ALT, var("ast")]},
    {"/": [ALT, var("ast")]},
    {"min": [ALT, var("ast")]},
    {"max": [ALT, var("ast"), 1]},
    {"-": [var("ast"), ALT]},
    {"round_half_up": [{"+": [ALT, var("ast")]}, 0]},
    {"%": [ALT, 2]},
]


@pytest.mark.full
@settings(max_examples=60, deadline=None)
@given(
    formula=st.sampled_from(FORMULAS),
    signs=st.tuples(st.sampled_from(list(SIGNS)), st.sampled_from(list(SIGNS))),
    bounds=st.tuples(st.integers(-2, 2), st.integers(-2, 2)),
    limit=st.integers(-2, 2),
    operator=st.sampled_from(["<", "<=", ">", ">=", "=="]),
)
def test_what_is_computed_from_censored_values_never_contradicts_any_numbers(
    formula: Any, signs: tuple[str, str], bounds: tuple[int, int], limit: int, operator: str
) -> None:
    logic = {operator: [formula, limit]}
    first, second = zip(signs, bounds, strict=True)
    found = verdict(logic, {"alt": "{}{}".format(*first), "ast": "{}{}".format(*second)})
    if found != OPEN:
        of = [
            [n for n in NUMBERS if SIGNS[sign](n, Decimal(bound))]
            for sign, bound in (first, second)
        ]
        possible = {
            verdict(logic, {"alt": str(a), "ast": str(b)}) for a in of[0][::3] for b in of[1][::3]
        }
        assert possible - {"ERROR"} <= {found}


def test_a_censored_value_in_free_text_beside_a_number() -> None:
    assert verdict({"<": [var("text"), 1]}, {"text": "<0.5"}) == "PASS"
    assert verdict({"<": [var("text"), 1]}, {"text": "<0.5 mg"}) == "FAIL type_mismatch"


def test_the_detail_says_censored() -> None:
    found = result({"<": [ALT, 120]}, {"alt": ">100"}, about="alt")
    assert found.detail[0]["raw"] == ">100"
    assert found.detail[0]["reason"] == "censored"
    assert found.reason == "censored"


AE = var("ae_start")
PARTIAL = "UNKNOWN partial_date"


@pytest.mark.parametrize(
    ("cell", "logic", "expected"),
    [
        ("2024-03", {"before": [AE, "2024-03-15"]}, PARTIAL),
        ("2024-03", {"before": [AE, "2024-04-01"]}, "PASS"),
        ("2024-03", {"after": [AE, "2024-02-29"]}, "PASS"),
        ("2024-03", {"after": [AE, "2024-03-01"]}, PARTIAL),
        ("2024-03", {">=": [AE, "2024-03-01"]}, "PASS"),
        ("2024-03-UN", {">": [AE, "2024-03-31"]}, "FAIL"),
        ("2024", {"before": [AE, "2025-01-01"]}, "PASS"),
        ("2024-UNK-UNK", {"before": [AE, "2024-12-31"]}, PARTIAL),
        ("2024-un-un", {"before": [AE, "2024-12-31"]}, PARTIAL),
        ("2024-UN-15", {"before": [AE, "2025-01-01"]}, "PASS"),
        ("UN-UN-UN", {"before": [AE, "2024-12-31"]}, PARTIAL),
        ("2024年3月", {"before": [AE, "2024-04-01"]}, "PASS"),
        ("2024年3月15日", {"==": [AE, "2024-03-15"]}, "PASS"),
        ("2024/3/5", {"==": [AE, "2024-03-05"]}, "PASS"),
        ("2024-03", {"==": [AE, "2024-03-15"]}, PARTIAL),
        ("2024-03", {"!=": [AE, "2024-05-15"]}, "PASS"),
        ("2024-03", {"<=": ["2024-01-01", AE, "2024-12-31"]}, "PASS"),
        ("2024-03", {"<": [{"days_between": ["2024-02-01", AE]}, 60]}, "PASS"),
        ("2024-03", {"<": [{"days_between": ["2024-02-01", AE]}, 40]}, PARTIAL),
        ("2024-03", {"in_window": [AE, "2024-03-15", 1, 30, 30]}, "PASS"),
        ("2024-03", {"in_window": [AE, "2024-03-15", 1, 3, 3]}, PARTIAL),
        ("2024-03", {"in_window": [AE, "2024-06-15", 1, 3, 3]}, "FAIL"),
        ("2024-13", {"before": [AE, "2025-01-01"]}, "FAIL type_mismatch"),
        ("2024-02-30", {"before": [AE, "2025-01-01"]}, "FAIL type_mismatch"),
        ("15/03/2024", {"before": [AE, "2025-01-01"]}, "FAIL type_mismatch"),
        ("yesterday", {"before": [AE, "2025-01-01"]}, "FAIL type_mismatch"),
    ],
)
def test_a_partial_date(cell: str, logic: Any, expected: str) -> None:
    assert verdict(logic, {"ae_start": cell}) == expected
    assert untyped(logic, {"ae_start": cell}) == expected


def test_a_partial_birth_date_decides_the_age_when_it_can() -> None:
    logic = {">=": [{"age_at": [var("ae_start"), "2024-06-15"]}, 18]}
    assert verdict(logic, {"ae_start": "2006-05"}) == "PASS"
    assert verdict(logic, {"ae_start": "2006-06"}) == "UNKNOWN partial_date"
    assert verdict(logic, {"ae_start": "2006-07"}) == "FAIL"


def test_an_unknown_time_of_day() -> None:
    logic = {"<": [var("icf_time"), var("dose_time")]}
    row = {"icf_time": "2024-03-01 UN:UN", "dose_time": "2024-03-01 09:00:00"}
    assert verdict(logic, row) == "UNKNOWN partial_date"
    assert verdict(logic, {**row, "icf_time": "2024-03-01"}) == "UNKNOWN partial_date"
    assert verdict(logic, {**row, "dose_time": "2024-03-02 00:00:00"}) == "PASS"
    assert verdict({"==": [var("icf_time"), "2024-03-01"]}, row) == "PASS"


DATES = st.dates(date(2023, 11, 1), date(2024, 4, 30))


@pytest.mark.full
@settings(deadline=None)
@given(known=DATES, month=st.integers(1, 12))
def test_a_partial_date_never_contradicts_any_day_it_can_be(known: date, month: int) -> None:
    first = date(2024, month, 1)
    days = [first + timedelta(days=n) for n in range(31) if (first + timedelta(n)).month == month]
    for operator in ("<", "<=", ">", ">=", "==", "!="):
        logic = {operator: [AE, known.isoformat()]}
        found = verdict(logic, {"ae_start": f"2024-{month:02d}"})
        possible = {verdict(logic, {"ae_start": day.isoformat()}) for day in days}
        assert found == (possible.pop() if len(possible) == 1 else PARTIAL)


@pytest.mark.full
@settings(deadline=None)
@given(
    sign=st.sampled_from(["<", "<=", ">", ">="]),
    bound=st.integers(-3, 3),
    limit=st.integers(-3, 3),
    operator=st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
)
def test_a_censored_value_never_contradicts_any_number_it_can_be(
    sign: str, bound: int, limit: int, operator: str
) -> None:
    numbers = [Decimal(n) / 2 for n in range(-20, 21)]
    compare = {
        "<": lambda n: n < bound,
        "<=": lambda n: n <= bound,
        ">": lambda n: n > bound,
        ">=": lambda n: n >= bound,
    }[sign]
    logic = {operator: [ALT, limit]}
    possible = {verdict(logic, {"alt": str(n)}) for n in numbers if compare(n)}
    found = verdict(logic, {"alt": f"{sign}{bound}"})
    assert found == (possible.pop() if len(possible) == 1 else OPEN)

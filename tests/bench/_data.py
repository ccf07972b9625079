"""100 rules and records of 52 fields as REDCap exports them (reference/jsonlogic.md 4).

Five shapes, twenty rules each, over 44 fields in 4 families of 11: S1 `and(age>=18, age<=75)`,
S2 `in(ecog, [0,1,2])`, S3 a date not after another, S4 `!!consent`, S5 an `if` with nested and/or
of 10 leaves. Eight more fields are there and not read. All is text; one cell in 25 is blank, and so
many break a bound that about 5 of the 100 rules fail.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

RULES = 100
FAMILY = 11
SHAPES = 5
BLANK = 0.04
BROKEN = 0.057
Record = dict[str, str]


def _age(n: int) -> str:
    return f"age_{n % FAMILY}"


def _ecog(n: int) -> str:
    return f"ecog_{n % FAMILY}"


def _day(n: int) -> str:
    return f"day_{n % FAMILY}"


def _consent(n: int) -> str:
    return f"consent_{n % FAMILY}"


def _var(name: str) -> dict[str, str]:
    return {"var": name}


def _in_range(n: int, low: int, high: int) -> dict[str, Any]:
    return {"and": [{">=": [_var(_age(n)), low]}, {"<=": [_var(_age(n)), high]}]}


def _in_order(n: int, apart: int = 1) -> dict[str, Any]:
    first = n % (FAMILY - apart)
    return {"<=": [_var(_day(first)), _var(_day(first + apart))]}


def _nested(n: int) -> dict[str, Any]:
    """Ten leaves under if/and/or, and the leaf of the else branch."""
    ecog = {"in": [_var(_ecog(n)), [0, 1]]}
    older = {"or": [{"<": [_var(_age(n + 1)), 65]}, {"==": [_var(_ecog(n + 1)), 1]}, ecog]}
    both = {"and": [{"!!": [_var(_consent(n))]}, _in_order(n), {"!=": [_var(_ecog(n)), 3]}]}
    return {
        "if": [
            {"and": [_in_range(n, 18, 75), older]},
            {"or": [both, {">": [_var(_age(n + 2)), 40]}, {"!!": [_var(_consent(n + 1))]}]},
            {"!!": [_var(_consent(n + 2))]},
        ]
    }


def _shape(kind: int, n: int) -> tuple[str, Any]:
    if kind == 0:
        return _age(n), _in_range(n, 18 + n % 3, 75 - n % 4)
    if kind == 1:
        return _ecog(n), {"in": [_var(_ecog(n)), [0, 1, 2] if n < FAMILY else [0, 1]]}
    if kind == 2:
        return _day(n), _in_order(n, 1 if n < FAMILY else 3)
    if kind == 3:
        return _consent(n), {"!!": [_var(_consent(n))]}
    return _age(n), _nested(n)


def rules() -> list[dict[str, Any]]:
    """The rules as they stand in a workflow."""
    made = []
    for number in range(RULES):
        field, logic = _shape(number % SHAPES, number // SHAPES)
        made.append({"id": f"R{number}", "field": field, "logic": logic, "message": "m"})
    return made


def exported(count: int, blank: float = BLANK) -> list[Record]:
    """Records as REDCap exports them, with a share of blanks."""
    make = random.Random(20)
    return [_record(make, number, blank) for number in range(count)]


def _record(make: random.Random, number: int, blank: float) -> Record:
    record: Record = {"record_id": str(number + 1)}
    for n in range(FAMILY):
        record[_age(n)] = _one_of(make, range(21, 72), range(80, 99))
        record[_ecog(n)] = _one_of(make, [0, 1], [3, 4])
        days = _one_of(make, range(10), range(-60, -30))
        record[_day(n)] = (date(2024, 1, 1) + timedelta(days=10 * n + int(days))).isoformat()
        record[_consent(n)] = _one_of(make, [1], [0])
    for name in list(record)[1:]:
        if make.random() < blank:
            record[name] = ""
    return record | {f"note_{n}": f"text {number % 97}" for n in range(7)}


def _one_of(make: random.Random, good: Sequence[int], bad: Sequence[int]) -> str:
    return str(make.choice(bad if make.random() < BROKEN else good))


def dictionary() -> list[dict[str, str]]:
    """The fields as REDCap metadata."""
    kinds = [("age", "text", "integer", ""), ("day", "text", "date_ymd", "")]
    kinds += [
        ("ecog", "radio", "", "0, a | 1, b | 2, c | 3, d | 4, e"),
        ("consent", "yesno", "", ""),
    ]
    fields = [_field("record_id", "text", "", "")]
    fields += [_field(f"{k}_{n}", kind, v, c) for k, kind, v, c in kinds for n in range(FAMILY)]
    return fields + [_field(f"note_{n}", "text", "", "") for n in range(7)]


def _field(name: str, kind: str, validation: str, choices: str) -> dict[str, str]:
    return {
        "field_name": name,
        "form_name": "base",
        "field_type": kind,
        "field_label": name,
        "select_choices_or_calculations": choices,
        "text_validation_type_or_show_slider_number": validation,
        "branching_logic": "",
    }

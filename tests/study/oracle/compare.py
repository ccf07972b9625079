"""Two cells compared in three values: True, False, or None with the reason (check_rules)."""

from __future__ import annotations

import functools
import re
from fractions import Fraction
from typing import Any

from tests.study.oracle import cells
from tests.study.oracle.cells import CHOICE, DATE, MOMENT, NUMBER, TEXT, TICKS, Cell

Verdict = tuple[bool | None, str]
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}")
YES: Verdict = (True, "")
NO: Verdict = (False, "")


def both(a: Verdict, b: Verdict) -> Verdict:
    """Kleene's and."""
    for one in (a, b):
        if one[0] is False:
            return one
    return a if a[0] is None else b


def either(a: Verdict, b: Verdict) -> Verdict:
    """Kleene's or."""
    for one in (a, b):
        if one[0] is True:
            return one
    return a if a[0] is None else b


def opposite(a: Verdict) -> Verdict:
    """Kleene's not."""
    return a if a[0] is None else (not a[0], "")


@functools.cache
def literal(value: Any) -> Cell:
    """A literal of a query."""
    if isinstance(value, str):
        if DAY.fullmatch(value):
            return cells.moment(value, DATE) or Cell("value", TEXT, value)
        if INSTANT.fullmatch(value):
            return cells.moment(value, MOMENT) or Cell("value", TEXT, value)
        return Cell("value", TEXT, value)
    return cells.point(Fraction(str(value)), NUMBER, str(value))


def as_type(cell: Cell, type_: str) -> Cell:
    """Unvalidated text in the type of the other side."""
    if cell.type != TEXT or type_ not in (NUMBER, DATE, MOMENT):
        return cell
    found = cells.number(cell.raw) if type_ == NUMBER else cells.moment(cell.raw, type_)
    if found is None and type_ == DATE:
        found = cells.moment(cell.raw, MOMENT)
    return found or Cell("bad", type_, cell.raw, why="type_mismatch")


def compare(a: Cell, op: str, b: Cell, labels: dict[str, str]) -> Verdict:
    """`a op b` for = != < <= > >=; `labels`: choices of the left side."""
    if op == "!=":
        return opposite(compare(a, "=", b, labels))
    for one in (a, b):
        if one.state != "value":
            return None, one.why
    if a.type == CHOICE or b.type == CHOICE:
        return _coded(a, op, b, labels)
    return _typed(as_type(a, b.type), op, as_type(b, a.type))


def _typed(a: Cell, op: str, b: Cell) -> Verdict:
    for one in (a, b):
        if one.state != "value":
            return None, one.why
    if a.type == TEXT and b.type == TEXT:
        if op == "=":
            return a.raw == b.raw, ""
        return None, "type_mismatch"
    if {a.type, b.type} == {DATE, MOMENT}:
        a, b = _days(a), _days(b)
    if a.type != b.type:
        return None, "type_mismatch"
    if "?" in (a.unit, b.unit):
        return None, "unit_missing"
    why = a.why or b.why
    truth = _spans(a, op, b)
    return (None, why) if truth is None else (truth, "")


def _spans(a: Cell, op: str, b: Cell) -> bool | None:
    if op == "=":
        if _surely_below(a, b, strict=True) or _surely_below(b, a, strict=True):
            return False
        return True if a.point and b.point else None
    if op in (">", ">="):
        return _spans(b, "<" if op == ">" else "<=", a)
    if op == "<":
        if _surely_below(a, b, strict=True):
            return True
        return False if _surely_below(b, a, strict=False) else None
    if _surely_below(a, b, strict=False):
        return True
    return False if _surely_below(b, a, strict=True) else None


def _surely_below(a: Cell, b: Cell, *, strict: bool) -> bool:
    """Whether all that a can be is below (strict) or at most (not strict) all that b can be."""
    if a.high is None or b.low is None:
        return False
    if a.high < b.low:
        return True
    return a.high == b.low and (not strict or a.high_open or b.low_open)


def _days(cell: Cell) -> Cell:
    if cell.type == DATE:
        return cell
    return Cell(
        "value",
        DATE,
        cell.raw,
        Fraction(cell.low // 1440),
        Fraction(cell.high // 1440),
        why=cell.why,
    )


def _code(cell: Cell, labels: dict[str, str]) -> str:
    """A choice by code or whole label."""
    text = cell.code or cell.raw
    if text in labels:
        return text
    for code, label in labels.items():
        if label == text:
            return code
    return text


def _coded(a: Cell, op: str, b: Cell, labels: dict[str, str]) -> Verdict:
    first, second = _code(a, labels), _code(b, labels)
    if op == "=":
        return first == second, ""
    try:
        x, y = int(first), int(second)
    except ValueError:
        return None, "type_mismatch"
    return {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[op], ""


def holds(a: Cell, op: str, values: list[Cell], labels: dict[str, str]) -> Verdict:
    """Any operator on a cell of a row that exists."""
    if a.state == "hidden" or any(value.state == "hidden" for value in values):
        return NO
    if op == "blank":
        if a.state in ("maybe", "absent"):
            return None, a.why
        return (a.state == "blank", "")
    if op == "filled":
        if a.state == "absent":
            return None, a.why
        return a.state in ("value", "bad"), ""
    if op == "missing_code":
        if a.state == "absent":
            return None, a.why
        return a.state == "code", ""
    if op == "between":
        return both(compare(a, ">=", values[0], labels), compare(a, "<=", values[1], labels))
    if op == "in":
        found = NO
        for value in values:
            found = either(found, compare(a, "=", value, labels))
        return found
    if op == "contains":
        return _contains(a, values[0], labels)
    return compare(a, op, values[0], labels)


def is_unopened(cell: Cell) -> bool:
    """Boxes of a form that nobody opened: unticked says nothing."""
    return cell.type == TICKS and cell.state == "blank" and cell.code != "opened"


def _contains(a: Cell, b: Cell, labels: dict[str, str]) -> Verdict:
    if a.type == TICKS and a.state == "blank" and not is_unopened(a) and b.state == "value":
        return NO
    for one in (a, b):
        if one.state != "value":
            return None, one.why
    if a.type == TICKS:
        return _code(b, labels) in a.ticks, ""
    return b.raw in a.raw, ""

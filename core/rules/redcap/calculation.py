"""What a calculated field should hold: `calc` fields, and @CALCTEXT and @CALCDATE of text fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from core.rules import parse
from core.rules.context import Column, Kind
from core.rules.record import Row
from core.rules.redcap.functions import text
from core.rules.redcap.nodes import Open, Operand, number
from core.rules.redcap.parser import parse_logic
from core.rules.redcap.rows import RowView
from core.rules.visibility import visibility

_TAG = re.compile(r"@CALC[A-Z]{4}\s*\(")
"""The action tags that calculate: @CALCTEXT and @CALCDATE."""
_NEARLY = Decimal("1e-9")


def formula_of(field: Mapping[str, Any]) -> str:
    """The calculation of a dictionary row (redcap_dify.md 1.3); "" where it has none."""
    if field.get("field_type") == "calc":
        return str(field.get("select_choices_or_calculations") or "").strip()
    annotation = str(field.get("field_annotation") or "")
    found = _TAG.search(annotation)
    return _whole_call(annotation[found.start() + 1 :]) if found else ""


def _whole_call(annotation: str) -> str:
    """From the name of the tag to the parenthesis that closes it, quoted ones apart."""
    depth, quote = 0, ""
    for at, letter in enumerate(annotation):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "()":
            depth += 1 if letter == "(" else -1
            if depth == 0:
                return annotation[: at + 1]
    return annotation


def calculated(row: Row, formula: str) -> Operand:
    """What the calculation gives in this row, with blanks as REDCap has them. Raises RuleError."""
    return parse_logic(formula).node(RowView(row, visibility, is_calculation=True))


def agrees(column: Column, stored: str, expected: Operand) -> bool:
    """Whether the stored text says the same. Numbers are compared as numbers, nearly: REDCap has doubles."""
    told = written(column, expected)
    if stored == told:
        return True
    if column.kind in {Kind.DATE, Kind.DATETIME}:
        days = parse.moment(stored), parse.moment(told)
        return days[0] is not None and days[1] is not None and days[0].low == days[1].low
    numbers = number(stored), number(told)
    if numbers[0] is None or numbers[1] is None:
        return False
    return abs(numbers[0] - numbers[1]) <= _NEARLY * max(Decimal(1), abs(numbers[1]))


def written(column: Column, expected: Operand) -> str:
    """A calculation's result as REDCap would store it: dates in the precision of the field."""
    if isinstance(expected, Open):
        return ""
    told = text(expected)
    if isinstance(expected, Decimal) and "." in told:
        told = told.rstrip("0").rstrip(".")
    if column.kind is Kind.DATE:
        return told[: len("2024-03-01")]
    return told

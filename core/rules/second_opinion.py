"""What json-logic-qubit says of a rule that our checker has admitted: a hint for its author, no verdict.

Both evaluate the rule over examples of complete typed values, made of its own limits and codes.
The package's `method` operator would run Python, and blanks make it raise (reference/jsonlogic.md): it
is asked about the operators that both have, with no value missing, and what it cannot answer is no opinion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import islice
from random import Random
from typing import Any

from json_logic import jsonLogic

from core.rules import parse
from core.rules.context import Column, Kind, StudyContext
from core.rules.evaluation import Outcome, verdict_of
from core.rules.limits import parts
from core.rules.operators import OPERATORS
from core.rules.record import Record
from core.rules.rule import Rule
from core.rules.samples import LONGEST, is_constant, ticks

MOST_EXAMPLES = 24
MOST_STEPS = 50_000
_TODAY = date(2024, 3, 1)
Cells = dict[str, str]


@dataclass(frozen=True, slots=True)
class Difference:
    """An example on which the two decide differently: columns and their values, and whether it holds."""

    example: Mapping[str, Any]
    ours: bool
    theirs: bool


def first_difference(rule: Rule, context: StudyContext) -> Difference | None:
    """Where json-logic-qubit decides otherwise; None where it agrees or has no opinion."""
    names = [name for name, _event in rule.reads]
    constants = [one for one in parts(rule.logic) if is_constant(one) and one not in names]
    columns = [context.columns.get(name) for name in names]
    named = (name for part in parts(rule.logic) if isinstance(part, Mapping) for name in part)
    is_shared = all(OPERATORS[name].is_standard for name in named)
    if not is_shared or not columns or any(event is not None for _name, event in rule.reads):
        return None
    choices = [(c, _values(c, constants)) for c in columns if c is not None]
    if len(choices) < len(columns) or not all(values for _column, values in choices):
        return None
    draw = Random(rule.key)
    for _example in range(max(1, min(MOST_EXAMPLES, MOST_STEPS // rule.cost))):
        chosen = [(column, draw.choice(values)) for column, values in choices]
        data = {column.name: value for column, (value, _cells) in chosen}
        cells = {name: cell for _column, (_value, row) in chosen for name, cell in row.items()}
        ours = verdict_of(rule, Record(context, [cells], _TODAY).rows[0])
        theirs = _asked(rule.logic, data)
        is_decided = ours.outcome in {Outcome.PASS, Outcome.FAIL} and ours.reason is None
        if is_decided and theirs is not None and theirs is not (ours.outcome is Outcome.PASS):
            return Difference(data, ours.outcome is Outcome.PASS, theirs)
    return None


def _asked(logic: Any, data: Mapping[str, Any]) -> bool | None:
    try:
        return bool(jsonLogic(logic, data))
    except Exception:  # whatever it raises: it cannot read the rule
        return None


def _values(column: Column, constants: list[Any]) -> list[tuple[Any, Cells]]:
    """Values of a column as JSON, each with the cells that hold it."""
    texts = [str(one) for one in constants if len(str(one)) <= LONGEST]
    # A code is no number to us: 1 and "1" are one; to the package they are as the rule writes them.
    written = {str(one): one for one in constants}
    name, kind = column.name, column.kind
    if kind is Kind.TICKS:
        lists = [[], *([code] for code in column.choices)]
        return [
            ([written.get(code, _json(code)) for code in ticked], ticks(column, ticked))
            for ticked in lists
        ]
    if kind is Kind.CODE:
        return [(written.get(c, _json(c)), {name: c}) for c in islice(column.choices, 40)]
    if kind in {Kind.FLAG, Kind.TICK}:
        found = ["0", "1"]
    elif kind in {Kind.NUMBER, Kind.INTEGER}:
        limits = [number for text in texts if (number := parse.exact(text)) is not None]
        around = [limit + step for limit in limits or [Decimal(1)] for step in (-1, 0, 1)]
        is_whole = kind is Kind.INTEGER
        found = [f"{n:f}" for n in around if not is_whole or n == n.to_integral_value()]
    elif kind is Kind.DATE:
        found = ["2024-03-01", "2024-03-02", *(text for text in texts if parse.is_full_date(text))]
    elif kind is Kind.TEXT:
        found = ["x", *(text for text in texts if text.strip() == text != "")]
    else:
        return []
    is_text = kind in {Kind.TEXT, Kind.DATE}
    return [(cell if is_text else _json(cell), {name: cell}) for cell in islice(found, 40)]


def _json(text: str) -> Any:
    """A number where the text is one that JSON prints the same way."""
    number = parse.exact(text)
    if number is None or str(number) != text:
        return text
    return int(number) if number == number.to_integral_value() else float(number)

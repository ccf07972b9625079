"""The conditions that compiled rules are cut into: each is what the closures say of its cells alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, Final

from rules.context import StudyContext
from rules.evaluation import decide
from rules.record import Record, Row
from rules.rule import Rule
from rules.values import DAY, Moment, Unknown
from rules.verdict import NUMBERS

MAX_CACHED = 4096
ABSENT: Final = object()
"""The cell of a column that is not in the row."""


class UnusualError(Exception):
    """Cells of these columns that only the closures can take; the rules that read them go there."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__()
        self.names = frozenset(names)


class Memo(dict[Any, Any]):
    """key → `answer(key)`, remembered within bounds."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        super().__init__()
        self._answer = answer

    def __missing__(self, key: Any) -> Any:
        answer = self._answer(key)
        if len(self) >= MAX_CACHED:
            self.clear()
        self[key] = answer
        return answer


class Lone:
    """Rows at one kind of place that hold a few cells and nothing else."""

    def __init__(self, context: StudyContext, place: Mapping[str, Any], today: date) -> None:
        self.context = context
        self._place = place
        self._today = today

    def row(self, names: Iterable[str], cells: Iterable[Any]) -> Row:
        """The row with these cells; UnusualError unless they are texts."""
        held = {n: c for n, c in zip(names, cells, strict=True) if c is not ABSENT}
        if not all(isinstance(cell, str) for cell in held.values()):
            raise UnusualError(held)
        return Record(self.context, [{**self._place, **held}], self._today).rows[0]


def condition(part: Rule, names: Iterable[str]) -> Callable[[Row], int]:
    """The state of `part` on a lone row; UnusualError where it is no plain true, false or undecided."""

    def state(row: Row) -> int:
        try:
            return NUMBERS[decide(part, row)]
        except Exception:  # an impossible value, or a computation without a result
            raise UnusualError(names) from None

    return state


def complete_value(row: Row, name: str) -> Any:
    """A column as a comparable number or day; None unless it is complete and valid."""
    value = row.read(name).value
    if isinstance(value, Decimal):
        return value
    is_day = isinstance(value, Moment) and value.precision == DAY and not value.is_partial
    return value.low.toordinal() if is_day and isinstance(value, Moment) else None


def open_pair(part: Rule, names: tuple[str, str], lone: Lone) -> Callable[..., int]:
    """The state of a comparison in which a side is not complete: (cell, value, cell, value) → state.

    A side that is unknown altogether decides alone, whatever complete value stands beside it.
    """
    known: dict[Any, int] = {}
    state = condition(part, names)

    def evaluate(a_cell: Any, a: Any, b_cell: Any, b: Any) -> int:
        key = (a_cell if a is None else None, b_cell if b is None else None)
        found = known.get(key)
        if found is None:
            row = lone.row(names, (a_cell, b_cell))
            found = state(row)
            is_alone = any(isinstance(row.read(name).value, Unknown) for name in names)
            if is_alone and len(known) < MAX_CACHED:
                known[key] = found
        return found

    return evaluate

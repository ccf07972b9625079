"""The rows of one record: which row holds which form, and what a column reads there.

Sources: *Rows* and *Blanks* of contracts.md; reference/redcap_dify.md 1.2 (a field outside its
form's rows is exported as ""; the row alone does not tell blank from not applicable).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeAlias

from core.rules import convert, limits
from core.rules.context import Column, Kind, StudyContext
from core.rules.convert import Place, Reading
from core.rules.values import DAY, Moment, Reason, Unknown

_MAX_INSTANCE_DIGITS = 9
_WHERE = ("redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance")


Cause: TypeAlias = tuple[str, str | None]
"""A field and its event; None is the row itself."""


class Row:
    """One exported row and everything already read from it."""

    __slots__ = ("data", "place", "readings", "record", "visibility")

    def __init__(self, record: Record, data: Mapping[str, Any]) -> None:
        self.record = record
        self.data = data
        where = (data.get(_WHERE[0]), data.get(_WHERE[1]), data.get(_WHERE[2]))
        try:
            self.place = _place(*where)
        except TypeError:  # a list is no key
            self.place = _place.__wrapped__(*where)
        self.readings: dict[str, Reading] = {}
        self.visibility: dict[str, tuple[bool | None, Cause]] = {}

    def holds(self, form: str) -> bool:
        """Whether this row can hold `form` (a row of a repeating form holds that form only)."""
        if not form:
            return True
        if self.place.instrument is not None:
            return form == self.place.instrument
        return not self.record.is_repeating(form, self.place.event) and self.is_mapped(form)

    def is_mapped(self, form: str) -> bool:
        """Whether `form` is designated to this row's event."""
        return self.record.context.is_mapped(form, self.place.event)

    def read(self, name: str) -> Reading:
        """What the column `name` is worth here; read once."""
        reading = self.readings.get(name)
        if reading is None:
            reading = self.readings[name] = self._read(name)
        return reading

    def _read(self, name: str) -> Reading:
        context = self.record.context
        column = context.column(name)
        if column is not None and column.kind is Kind.RAW and name not in self.data:
            column = convert.untyped_checkbox(name, self.data) or column
        holder = None if column is None else self._holder(column)
        if column is None or holder is None:
            return convert.absent(name, self.place)
        return convert.read_cell(column, holder.data, holder.place, context)

    def _holder(self, column: Column) -> Row | None:
        """The row of the same event that holds the column; a filled cell of this row counts too."""
        if column.name == self.record.context.record_id_field or self._is_filled(column):
            return self
        if self.record.context.has_dictionary and self.holds(column.form):
            return self
        base = self.record.base_row(self.place.event)
        if self.place.instrument is None or base is None:
            base = None
        if not self.record.context.has_dictionary:
            return base if base is not None and base._is_filled(column) else self
        return base if base is not None and base.holds(column.form) else None

    def _is_filled(self, column: Column) -> bool:
        if column.kind is Kind.TICK or column.kind is Kind.TICKS:
            return False
        return convert.text_of(self.data.get(column.name)) not in {"", None}


class Record:
    """A participant's rows under one study context and one "today"."""

    def __init__(
        self, context: StudyContext, rows: Sequence[Mapping[str, Any]], today: date
    ) -> None:
        self.context = context
        self.today = today
        self.rows = [Row(self, row) for row in rows]
        self.forced: Reason | None = None
        self.spent = 0
        self.seen_repeating = {
            (row.place.event, row.place.instrument) for row in self.rows if row.place.instrument
        }

    @functools.cached_property
    def today_value(self) -> Moment:
        """Today as a value of the expression language."""
        midnight = datetime(self.today.year, self.today.month, self.today.day)  # noqa: DTZ001
        return Moment(midnight, midnight, DAY)

    def is_repeating(self, form: str, event: str | None) -> bool:
        """By the project file, or because this record has repeated rows of the form there."""
        return (event, form) in self.seen_repeating or self.context.is_repeating(form, event)

    def base_row(self, event: str | None) -> Row | None:
        """The event's one row without a repeating instrument; None when absent or repeated."""
        return self._base_rows.get(event)

    @functools.cached_property
    def _base_rows(self) -> dict[str | None, Row | None]:
        rows: dict[str | None, Row | None] = {}
        for row in self.rows:
            if row.place.instrument is None:
                rows[row.place.event] = None if row.place.event in rows else row
        return rows

    def spend(self, steps: int) -> None:
        """Count what the judgement under way takes. Raises TooMuchError."""
        self.spent += steps
        limits.check_spent(self.spent)

    def force(self, reason: Reason) -> Unknown:
        """Note that the rule under evaluation met an impossible value: it must FAIL."""
        self.forced = self.forced or reason
        return Unknown(reason)


@functools.lru_cache(maxsize=4096, typed=True)
def _place(event: Any, instrument: Any, instance: Any) -> Place:
    """Rows by the ten thousand stand at the same few places."""
    return Place(_name(event), _name(instrument), _instance(instance))


def _name(value: Any) -> str | None:
    return str(value).strip() or None if value is not None else None


def _instance(value: Any) -> int | None:
    text = convert.text_of(value) or ""
    is_number = text.isascii() and text.isdigit()  # "²" is a digit, too
    return int(text) if is_number and len(text) <= _MAX_INSTANCE_DIGITS else None

"""What logic sees from one exported row.

For a rule or a branching logic a blank is open: it may still be filled in, and names the field. For a
calculation it is what REDCap computes with: blank.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import date
from decimal import Decimal

from core.rules import convert
from core.rules.arithmetic import no_result
from core.rules.context import Column, Kind
from core.rules.convert import Place, Reading
from core.rules.record import Cause, Record, Row
from core.rules.redcap.nodes import HERE, MinutesSeconds, Open, Operand, Ref, UnfitError
from core.rules.values import Moment, Range, Reason, Unknown

RELATIVE_EVENTS = frozenset(
    {"first-event-name", "last-event-name", "previous-event-name", "next-event-name"}
)
INSTANCES = frozenset(
    {"current-instance", "previous-instance", "next-instance", "first-instance", "last-instance"}
)


def event_of(row: Row, said: str, form: str = "") -> str | None:
    """The event that is meant, "" where there is none there; None where the order of events is not known."""
    here = row.place.event
    if said in {"", HERE}:
        return here or ""
    if said not in RELATIVE_EVENTS:
        return said
    context = row.record.context
    arm = context.arms.get(here or "")
    if not here or not arm:
        return None
    of_arm = [event for event, number in context.arms.items() if number == arm]
    at = of_arm.index(here)
    candidates = {
        "first-event-name": of_arm,
        "last-event-name": of_arm[::-1],
        "previous-event-name": of_arm[:at][::-1],
        "next-event-name": of_arm[at + 1 :],
    }[said]
    return next((event for event in candidates if context.is_mapped(form, event)), "")


def instance_of(row: Row, said: str, event: str | None, form: str) -> int | None:
    """The number of the instance that is meant; 0 where there is none, None where it can't be told."""
    if said.isdigit():
        return int(said)
    if said in {"first-instance", "last-instance"}:
        there = instances(row.record, event, form)
        return 0 if not there else min(there) if said == "first-instance" else max(there)
    step = {"current-instance": 0, "previous-instance": -1, "next-instance": 1}.get(said)
    here = row.place.instance
    return None if step is None or here is None else here + step


def instances(record: Record, event: str | None, form: str) -> dict[int, Row]:
    """The repeated rows of a form (else of the whole event) by number."""
    is_form = record.is_repeating(form, event)
    return {
        row.place.instance: row
        for row in record.rows
        if row.place.event == event
        and row.place.instance is not None
        and row.place.instrument == (form if is_form else None)
    }


Shown = Callable[[Row, str], tuple[bool | None, Cause]]
"""Whether a field is shown in a row, and what leaves that open."""
SMART = frozenset(
    {
        HERE,
        "record-name",
        "arm-number",
        "record-dag-name",
        *RELATIVE_EVENTS,
        *INSTANCES,
    }
)
"""The smart variables that an export answers."""
_DAG, _DAG_VARIABLE = "redcap_data_access_group", "record-dag-name"


class RowView:
    """A view from `row`. `is_calculation`: blanks are blank, and the day of saving is not known.

    `is_rule`: what has no result decides nothing, as in other rules; for REDCap it is blank, and less than
    whatever it is compared with.
    """

    def __init__(
        self, row: Row, shown: Shown, *, is_calculation: bool = False, is_rule: bool = False
    ) -> None:
        self._row = row
        self._shown = shown
        self._is_calculation = is_calculation
        self._is_rule = is_rule
        self.today: date | None = None if is_calculation else row.record.today
        self.codes: Collection[str] = row.record.context.missing_codes

    def read(self, ref: Ref) -> Operand:
        """What stands there; open where it can't be told."""
        context = self._row.record.context
        if ref.name in SMART:
            return self._smart(ref.name)
        column = context.column(ref.name)
        if column is None:
            return Open(ref.name)
        event = event_of(self._row, ref.event, column.form)
        if event is None:
            return Open(ref.name)
        row = self._there(ref, event or None, column)
        if isinstance(row, Row):
            return self._at(row, ref, event)
        told = event if ref.event and event else None
        return row if told is None or not isinstance(row, Open) else replace(row, event=told)

    def reading(self, ref: Ref) -> Reading:
        """The cell that is meant; absent where no row is, or it can't be told which."""
        column = self._row.record.context.column(ref.name)
        event = None if column is None else event_of(self._row, ref.event, column.form)
        row = None if column is None or event is None else self._there(ref, event or None, column)
        if isinstance(row, Row):
            return row.read(ref.column)
        return convert.absent(ref.column, Place(event or None, None, None))

    def refuse(self, error: Exception) -> Operand | None:
        """What stands for what has no result; None where it is what REDCap makes of it."""
        if not self._is_rule:
            return None
        if isinstance(error, UnfitError):
            self._row.record.force(Reason.TYPE_MISMATCH)
            return Open("", why=Reason.TYPE_MISMATCH)
        return Open("", note=no_result(error))

    def _there(self, ref: Ref, event: str | None, column: Column) -> Row | Operand:
        """The row that is meant, or what a row that is not there is worth."""
        here, record = self._row, self._row.record
        is_nowhere = bool(ref.event) and event is None
        if is_nowhere:
            return self._blank(ref) if here.place.event else Open(ref.name)
        if ref.instance:
            number = instance_of(here, ref.instance, event, column.form)
            if number is None:
                return Open(ref.name)
            found = instances(record, event, column.form).get(number)
            if found is None and number == 1 and not record.is_repeating(column.form, event):
                found = record.base_row(event)
            return found or self._blank(ref)
        if event == here.place.event:
            return here
        found = record.base_row(event)
        if found is not None:
            return found
        is_empty = event in record.context.forms_by_event and not any(
            row.place.event == event and row.place.instrument is None for row in record.rows
        )
        is_once = not record.is_repeating(column.form, event)
        return self._blank(ref) if is_empty and is_once else Open(ref.name)

    def _blank(self, ref: Ref) -> Operand:
        return "" if self._is_calculation else Open(ref.name, is_blank=True)

    def _at(self, row: Row, ref: Ref, event: str) -> Operand:
        operand = self._operand(row, ref.name, row.read(ref.column))
        if row is self._row or not isinstance(operand, Open):
            return operand
        return replace(operand, event=operand.event or event or None)

    def _operand(self, row: Row, name: str, reading: Reading) -> Operand:
        value = reading.value
        if isinstance(value, Range):
            return Open(name, bounds=value, why=value.reason)
        if isinstance(value, Moment) and value.is_partial:
            return Open(name, bounds=value, why=Reason.PARTIAL_DATE)
        if reading.forced is not None:
            return Open(name, why=reading.forced)
        if isinstance(value, Unknown):
            return self._unknown(row, name, reading, value)
        if isinstance(value, bool):
            return "1" if value else "0"
        if isinstance(value, Decimal):
            return value
        text, column = convert.text_of(reading.raw) or "", row.record.context.column(reading.name)
        return MinutesSeconds(text) if column is not None and column.minutes_first else text

    def _unknown(self, row: Row, name: str, reading: Reading, value: Unknown) -> Operand:
        if self._is_calculation and value.reason is Reason.MISSING:
            column = row.record.context.column(reading.name)
            return "0" if column is not None and column.kind is Kind.TICK else ""
        if reading.is_blank:
            is_shown, (cause, event) = self._shown(row, name)
            return "" if is_shown is False else Open(cause or name, event, is_blank=True)
        if value.reason is Reason.NOT_EXPORTED and _can_never_hold(row, name):
            return ""
        is_code = value.reason is Reason.MISSING_CODE
        code = (convert.text_of(reading.raw) or "") if is_code else ""
        why = value.reason or Reason.NOT_EXPORTED
        return Open(name, missing_code=code, codes=frozenset(self.codes), why=why)

    def _smart(self, name: str) -> Operand:
        place = self._row.place
        if name == HERE:
            return place.event or ""
        if name == "record-name":
            return self.read(Ref(self._row.record.context.record_id_field))
        if name == _DAG_VARIABLE:
            return (
                convert.text_of(self._row.data[_DAG]) or ""
                if _DAG in self._row.data
                else Open(name)
            )
        if name == "arm-number":
            return self._row.record.context.arms.get(place.event or "") or Open(name)
        if name in RELATIVE_EVENTS:
            event = event_of(self._row, name)
            return Open(name) if event is None else event
        if place.instance is None:
            return Open(name)
        number = instance_of(self._row, name, place.event, place.instrument or "")
        return Open(name) if number is None else str(number) if number else ""


def _can_never_hold(row: Row, name: str) -> bool:
    """The field's form is not designated to this event: REDCap sees a blank, for ever."""
    column = row.record.context.columns.get(name)
    is_checkbox_choice = column is not None and column.kind is Kind.TICK
    return column is not None and not is_checkbox_choice and not row.is_mapped(column.form)

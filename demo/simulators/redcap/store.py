"""The records: values per row, change times and groups."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from demo.simulators.redcap.dictionary import Dictionary, checkbox_column

Values = dict[str, str]


class RowKey(NamedTuple):
    """Which row of a record: instance 0 on base rows, event "" in classic projects."""

    event: str
    instrument: str
    instance: int


@dataclass
class Record:
    """One record. `rows` hold export columns -> value; blank and unticked are not kept."""

    id: str
    dag: str = ""
    rows: dict[RowKey, Values] = field(default_factory=dict)
    changed: list[datetime] = field(default_factory=list)

    def base(self, event: str) -> Values:
        """The base row of an event; empty when there is none."""
        return self.rows.get(RowKey(event, "", 0), {})

    def next_instance(self, event: str, instrument: str) -> int:
        """The number a new instance of the form (or event) gets."""
        used = (k.instance for k in self.rows if (k.event, k.instrument) == (event, instrument))
        return max(used, default=0) + 1


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Record ids in the order people expect: 2 before 10, 331-2 before 331-10."""
    parts = re.findall(r"\d+|\D+", text)
    return tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in parts)


class Store:
    """All records of the project; hold `lock` while reading or writing."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.lock = threading.RLock()
        self.records: dict[str, Record] = {}

    def ordered(self) -> list[Record]:
        """The records in REDCap's order."""
        return [
            self.records[key]
            for key in sorted(self.records, key=lambda name: (natural_key(name), name))
        ]

    def ordered_rows(self, record: Record) -> list[tuple[RowKey, Values]]:
        """Rows by event, base row first, then forms and instances."""
        events = {event: n for n, event in enumerate(self.dictionary.events)}
        forms = {form: n + 1 for n, form in enumerate(self.dictionary.forms)}
        order = sorted(
            record.rows,
            key=lambda k: (events.get(k.event, 0), forms.get(k.instrument, 0), k.instance),
        )
        return [(key, record.rows[key]) for key in order]

    def row_key(self, record_id: str, event: str, instrument: str, instance: int | None) -> RowKey:
        """The row a save of `instrument` goes to; None = a new instance where it repeats."""
        dictionary = self.dictionary
        event = (event or dictionary.events[0]) if dictionary.longitudinal else ""
        form = instrument if dictionary.form_repeats(instrument, event) else ""
        if not form and not dictionary.event_repeats(event):
            return RowKey(event, "", 0)
        record = self.records.get(record_id) or Record(record_id)
        return RowKey(event, form, instance or record.next_instance(event, form))

    def write(
        self, record_id: str, key: RowKey, values: Values, when: datetime, dag: str | None = None
    ) -> bool:
        """Store columns; "" erases. Returns True when the record is new."""
        new = record_id not in self.records
        record = self.records.setdefault(record_id, Record(record_id))
        if dag is not None:
            record.dag = dag
        row = record.rows.setdefault(key, {})
        for column, value in values.items():
            unticked = value == "0" and self.dictionary.by_column[column][0].type == "checkbox"
            if value == "" or unticked:
                row.pop(column, None)
            else:
                row[column] = value
        record.changed.append(when.replace(microsecond=0))
        return new

    def to_columns(self, values: dict[str, Any]) -> Values:
        """`{"race": ["1","5"]}` or `{"race___1": "1"}` or plain fields -> export columns.

        Raises KeyError with the names that are no field of the project.
        """
        columns: Values = {}
        unknown = []
        for name, value in values.items():
            field_ = self.dictionary.by_name.get(name)
            if field_ is not None and field_.type == "checkbox":
                columns |= _ticked(name, value, (code for code, _ in field_.choices))
            elif name in self.dictionary.by_column:
                columns[name] = "" if value is None else str(value)
            else:
                unknown.append(name)
        if unknown:
            raise KeyError(*unknown)
        return columns


def _ticked(name: str, value: Any, codes: Iterable[str]) -> Values:
    ticked = value if isinstance(value, list) else [value]
    chosen = {str(code) for code in ticked}
    return {checkbox_column(name, code): "1" if code in chosen else "0" for code in codes}

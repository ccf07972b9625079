"""The values around `content=record`: rows, the columns they should have, and what is missing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.integrations.redcap.errors import RedcapProtocolError

Row = dict[str, str | int]
"""A flat row: every value a string ("" is blank), `redcap_repeat_instance` an integer or ""."""

JsonRow = dict[str, Any]

INSTANCE = "redcap_repeat_instance"
EVENT = "redcap_event_name"
SITE = "redcap_data_access_group"
CHOICE = "___"
"""Between a checkbox and the code of a choice in the name of its column."""


@dataclass(frozen=True)
class ExportShape:
    """What a full export of this project looks like, so that a silent gap can be seen (1.2).

    `metadata` and `export_field_names` are REDCap's own JSON.
    """

    metadata: Sequence[JsonRow] = field(repr=False)
    export_field_names: Sequence[JsonRow] = field(repr=False)
    longitudinal: bool

    @property
    def record_id_field(self) -> str:
        """The first row of the dictionary is the record id (1.3)."""
        return str(self.metadata[0]["field_name"])

    def columns(self, fields: Iterable[str] | None = None) -> frozenset[str]:
        """The columns an export of these fields must have; None means all."""
        named = set(fields or ())
        return frozenset(
            row["export_field_name"]
            for row in self.export_field_names
            if fields is None or row["original_field_name"] in named
        )


@dataclass(frozen=True)
class RecordExport:
    """One complete read. `rows` may be empty: "no such record" is an answer, not an error.

    `missing_columns`: promised by exportFieldNames, absent from at least one row, so the token
    may not see them and nothing may be concluded from their absence. `read_at`: UTC, before the
    request was sent.
    """

    rows: tuple[Row, ...] = field(repr=False)
    missing_columns: tuple[str, ...]
    read_at: datetime


def as_rows(body: object, content: str) -> list[JsonRow]:
    """A list of objects, else RedcapProtocolError."""
    if not isinstance(body, list) or not all(isinstance(row, dict) for row in body):
        raise RedcapProtocolError(200, "expected a list of objects", content)
    return body


def as_record_rows(body: object, shape: ExportShape) -> list[Row]:
    """Rows of `content=record`, numbers as strings; each must say whose and which event it is."""
    rows = as_rows(body, "record")
    needed = {shape.record_id_field} | ({EVENT} if shape.longitudinal else set())
    if any(not needed <= row.keys() for row in rows):
        raise RedcapProtocolError(200, "a row without record id or event", "record")
    return [{key: _value(key, value) for key, value in row.items()} for row in rows]


def missing_columns(rows: Sequence[Row], expected: frozenset[str]) -> tuple[str, ...]:
    """Expected columns that at least one row lacks; nothing can be said when there is no row."""
    present: set[str] | None = None
    for row in rows:
        if present is None:
            present = set(row)
        elif len(row) != len(present) or row.keys() != present:
            present &= row.keys()
    return () if present is None else tuple(sorted(expected - present))


def _value(key: str, value: object) -> str | int:
    if isinstance(value, str):
        if key == INSTANCE and value.isascii() and value.isdigit():
            return int(value)
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RedcapProtocolError(200, "a value that is no string", "record")
    return int(value) if key == INSTANCE else str(value)

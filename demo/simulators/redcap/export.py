"""content=record, action=export: flat and EAV (reference/redcap_dify.md 1.2)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from demo.simulators.http import Response
from demo.simulators.redcap.dictionary import CODED_TYPES, Dictionary, Field
from demo.simulators.redcap.formats import table
from demo.simulators.redcap.params import Params
from demo.simulators.redcap.rights import Token
from demo.simulators.redcap.selection import Selection, select
from demo.simulators.redcap.store import Record, RowKey, Store, Values

DAG_COLUMN = "redcap_data_access_group"
SURVEY_COLUMN = "redcap_survey_identifier"
HEADERS = {
    "redcap_event_name": "Event Name",
    "redcap_repeat_instrument": "Repeat Instrument",
    "redcap_repeat_instance": "Repeat Instance",
    DAG_COLUMN: "Data Access Group",
    SURVEY_COLUMN: "Survey Identifier",
}
Cell = Callable[[Record, RowKey, Values], Any]


@dataclass(frozen=True)
class Options:
    """How values are written."""

    labels: bool
    checkbox_labels: bool
    blank_gray: bool
    combine: bool
    decimal: str
    groups: bool
    survey: bool

    @staticmethod
    def read(params: Params, token: Token, dictionary: Dictionary) -> Options:
        """From the parameters; groups silently off for a user who is in one."""
        return Options(
            labels=params.get("rawOrLabel") == "label",
            checkbox_labels=params.flag("exportCheckboxLabel"),
            blank_gray=params.flag("exportBlankForGrayFormStatus"),
            combine=params.flag("combineCheckboxOptions"),
            decimal=params.get("decimalCharacter"),
            groups=params.flag("exportDataAccessGroups")
            and not token.dag
            and bool(dictionary.study.dags),
            survey=params.flag("exportSurveyFields"),
        )


def export_records(params: Params, token: Token, store: Store, now: datetime) -> Response:
    """The whole answer. Raises ApiError 400 for bad parameters."""
    selection = select(params, token, store.dictionary, now)
    writer = _Writer(store, selection, Options.read(params, token, store.dictionary))
    if params.get("type") == "eav":
        return table(list(writer.eav()), params.format, root="records", delimiter=params.delimiter)
    columns = writer.columns()
    headers = None
    if params.get("rawOrLabelHeaders") == "label":
        headers = [writer.header(name) for name, _ in columns]
    rows = [
        {name: cell(record, key, values) for name, cell in columns}
        for record, key, values in selection.rows(store)
    ]
    names = [name for name, _ in columns]
    if not names:
        rows = []
    return table(
        rows,
        params.format,
        root="records",
        columns=names,
        headers=headers,
        delimiter=params.delimiter,
    )


class _Writer:
    """Turns stored rows into answer rows."""

    def __init__(self, store: Store, selection: Selection, options: Options) -> None:
        self.store = store
        self.dictionary = store.dictionary
        self.selection = selection
        self.options = options

    def columns(self) -> list[tuple[str, Cell]]:
        """Flat columns in order; what identifies a row comes right after the record id."""
        found: list[tuple[str, Cell]] = []
        if not self.selection.with_id:
            found += self._group_columns()
        for field in self.selection.fields:
            if field.name == self.dictionary.record_id:
                found.append((field.name, lambda record, _key, _values: self.record_id(record)))
                found += self._row_columns() + self._group_columns()
            elif field.type == "checkbox" and self.options.combine:
                found.append((field.name, self._combined(field)))
            else:
                found += [(name, self._cell(field, name, code)) for name, code in field.columns]
        return found

    def header(self, column: str) -> str:
        """The label of a column for rawOrLabelHeaders=label."""
        if column in HEADERS:
            return HEADERS[column]
        field, code = self.dictionary.by_column.get(column) or (
            self.dictionary.by_name[column],
            "",
        )
        return f"{field.label} (choice={field.label_of(code)})" if code else field.label

    def eav(self) -> Iterator[dict[str, Any]]:
        """One row per stored value; a checkbox gives one per ticked choice."""
        for record, key, values in self.selection.rows(self.store):
            head = {"record": self.record_id(record)}
            head |= {name: cell(record, key, values) for name, cell in self._row_columns()}
            for name, cell in self._group_columns():
                if group := cell(record, key, values):
                    yield {**head, "field_name": name, "value": group}
            for field in self.selection.fields:
                for value in self._stored(record, key, values, field):
                    yield {**head, "field_name": field.name, "value": value}

    def record_id(self, record: Record) -> str:
        """The id; hashed where it is an identifier the token may not see (assumed)."""
        item = self.dictionary.by_name[self.dictionary.record_id]
        if item.identifier and self.selection.token.export != "full":
            return hashlib.sha256(record.id.encode()).hexdigest()[:32]
        return record.id

    def _stored(self, record: Record, key: RowKey, values: Values, field: Field) -> Iterator[str]:
        if field.name == self.dictionary.record_id:
            if not key.instrument:
                yield self.record_id(record)
            return
        if not self.dictionary.holds(field.form, key.event, key.instrument):
            return
        for column, code in field.columns:
            if column in values:
                raw = code or values[column]
                yield self._label(field, raw) if self.options.labels else raw

    def _row_columns(self) -> list[tuple[str, Cell]]:
        found: list[tuple[str, Cell]] = []
        if self.dictionary.longitudinal:
            found.append(("redcap_event_name", lambda _record, key, _values: self._event(key)))
        if self.dictionary.has_repeats:
            found.append(("redcap_repeat_instrument", lambda _r, key, _v: self._instrument(key)))
            found.append(("redcap_repeat_instance", lambda _r, key, _v: key.instance or ""))
        return found

    def _group_columns(self) -> list[tuple[str, Cell]]:
        found: list[tuple[str, Cell]] = []
        if self.options.groups:
            found.append((DAG_COLUMN, lambda record, _key, _values: self._group(record)))
        if self.options.survey and self.dictionary.study.project.get("surveys_enabled"):
            found.append((SURVEY_COLUMN, lambda _record, _key, _values: ""))
        return found

    def _event(self, key: RowKey) -> str:
        return self.dictionary.event_label(key.event) if self.options.labels else key.event

    def _instrument(self, key: RowKey) -> str:
        if self.options.labels and key.instrument:
            return self.dictionary.form_label(key.instrument)
        return key.instrument

    def _group(self, record: Record) -> str:
        if not self.options.labels:
            return record.dag
        groups = self.dictionary.study.dags
        names = {row["unique_group_name"]: row["data_access_group_name"] for row in groups}
        return str(names.get(record.dag, record.dag))

    def _cell(self, field: Field, column: str, code: str) -> Cell:
        default = self._default(field)
        holds = self.dictionary.holds

        def cell(_record: Record, key: RowKey, values: Values) -> str:
            if not holds(field.form, key.event, key.instrument):
                return ""
            return self._write(field, code, values.get(column, default))

        return cell

    def _combined(self, field: Field) -> Cell:
        def cell(_record: Record, key: RowKey, values: Values) -> str:
            if not self.dictionary.holds(field.form, key.event, key.instrument):
                return ""
            codes = [code for column, code in field.columns if column in values]
            return ",".join(self._label(field, c) if self.options.labels else c for c in codes)

        return cell

    def _default(self, field: Field) -> str:
        gray = "" if self.options.blank_gray else "0"
        return {"checkbox": "0", "status": gray}.get(field.type, "")

    def _write(self, field: Field, code: str, value: str) -> str:
        if code and self.options.labels:
            return self._tick(field, code, value)
        if self.options.labels:
            return self._label(field, value)
        return self._number(field, value)

    def _tick(self, field: Field, code: str, value: str) -> str:
        if self.options.checkbox_labels:
            return field.label_of(code) if value == "1" else ""
        return "Checked" if value == "1" else "Unchecked"

    def _label(self, field: Field, value: str) -> str:
        if value in self.dictionary.missing_codes:
            return self.dictionary.missing_codes[value]
        return field.label_of(value) if field.type in CODED_TYPES else self._number(field, value)

    def _number(self, field: Field, value: str) -> str:
        numeric = field.type == "calc" or field.validation.startswith("number")
        if not numeric or self.options.decimal not in (",", "."):
            return value
        return value.replace("." if self.options.decimal == "," else ",", self.options.decimal)

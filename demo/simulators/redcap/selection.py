"""Which records, rows and fields an export asks for (reference/redcap_dify.md 1.1, 1.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from demo.simulators.redcap.dictionary import Dictionary, Field
from demo.simulators.redcap.errors import ApiError, invalid_values
from demo.simulators.redcap.logic import Filter, compile_filter
from demo.simulators.redcap.params import Params
from demo.simulators.redcap.rights import Token
from demo.simulators.redcap.store import Record, RowKey, Store, Values


@dataclass(frozen=True)
class Selection:
    """One export's choice; `fields` in project order, rights already applied."""

    fields: tuple[Field, ...]
    records: frozenset[str] | None
    events: frozenset[str] | None
    begin: datetime | None
    end: datetime | None
    logic: Filter | None
    token: Token
    with_id: bool

    def rows(self, store: Store) -> Iterator[tuple[Record, RowKey, Values]]:
        """The chosen rows in REDCap's order."""
        for record in store.ordered():
            if self._wants_record(record):
                for key, values in store.ordered_rows(record):
                    if self._wants_row(store.dictionary, record, key, values):
                        yield record, key, values

    def _wants_record(self, record: Record) -> bool:
        if self.records is not None and record.id not in self.records:
            return False
        if not self.token.sees(record):
            return False
        if self.begin is None and self.end is None:
            return True
        return any(
            (self.begin is None or when >= self.begin) and (self.end is None or when <= self.end)
            for when in record.changed
        )

    def _wants_row(
        self, dictionary: Dictionary, record: Record, key: RowKey, values: Values
    ) -> bool:
        if self.events is not None and key.event not in self.events:
            return False
        if self.logic is not None and not self.logic.matches(record, key):
            return False
        if key.instrument:
            return any(field.form == key.instrument for field in self.fields)
        return self.with_id or any(
            column in values
            for field in self.fields
            if dictionary.holds(field.form, key.event, key.instrument)
            for column, _ in field.columns
        )


def select(params: Params, token: Token, dictionary: Dictionary, now: datetime) -> Selection:
    """Read and check the parameters. Raises ApiError 400 for values the project does not know."""
    wanted = _wanted_fields(params, dictionary)
    surveys = params.flag("exportSurveyFields")
    fields = tuple(
        field
        for field in wanted
        if token.may_export(field, dictionary.record_id)
        and field.columns
        and (surveys or field.type != "timestamp")
    )
    events = _known(params, "events", dictionary.events) if dictionary.longitudinal else []
    logic = params.get("filterLogic").strip()
    return Selection(
        fields=fields,
        records=frozenset(params.items("records")) or None,
        events=frozenset(events) or None,
        begin=_moment(params, "dateRangeBegin"),
        end=_moment(params, "dateRangeEnd"),
        logic=compile_filter(logic, dictionary, now) if logic else None,
        token=token,
        with_id=any(field.name == dictionary.record_id for field in fields),
    )


def _wanted_fields(params: Params, dictionary: Dictionary) -> list[Field]:
    known = [field.name for field in dictionary.fields if field.type != "timestamp"]
    names = set(_known(params, "fields", known))
    forms = set(_known(params, "forms", dictionary.forms))
    if not names and not forms:
        return dictionary.fields
    return [field for field in dictionary.fields if field.name in names or field.form in forms]


def _known(params: Params, name: str, known: list[str]) -> list[str]:
    values = params.items(name)
    unknown = [value for value in values if value not in known]
    if unknown and name == "forms" and params.widens_bad_forms():
        return []
    if unknown:
        raise invalid_values(name, unknown)
    return values


def _moment(params: Params, name: str) -> datetime | None:
    text = params.get(name).strip()
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        # Assumed text: the reference does not know what a malformed date answers.
        raise ApiError(400, f'The value of the parameter "{name}" is not valid') from None

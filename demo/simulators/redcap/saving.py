"""Saves: the study's own rows at the start, and a CRC's in the browser."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from demo.simulators.redcap.det import det_fields
from demo.simulators.redcap.log import Entry, Log, save_entry
from demo.simulators.redcap.store import RowKey, Store, Values
from demo.simulators.study import Study

LOADER = "SYSTEM"


@dataclass(frozen=True)
class Save:
    """One row to be written, already checked."""

    record: str
    key: RowKey
    instrument: str
    columns: Values
    dag: str | None
    user: str


def load_records(study: Study, store: Store, log: Log, when: datetime) -> None:
    """Fill an empty store; every record counts as created at `when`.

    Raises ValueError naming a record with a field the dictionary does not know.
    """
    for row in study.records:
        record, key = str(row["record"]), _loaded_key(row, store)
        columns = _columns(record, row["values"], store)
        new = store.write(record, key, columns, when, row.get("dag") or None)
        entry = save_entry(store.dictionary, record, key, columns, when=when, user=LOADER, new=new)
        log.add(entry)


def _loaded_key(row: dict[str, Any], store: Store) -> RowKey:
    event, instance = row.get("event") or "", row.get("instance")
    instrument = row.get("instrument") or ""
    if instance and not instrument:
        return RowKey(event, "", int(instance))
    return store.row_key(str(row["record"]), event, instrument, instance)


def _columns(record: str, values: dict[str, Any], store: Store) -> Values:
    try:
        columns = store.to_columns(values)
    except KeyError as error:
        names = ", ".join(map(str, error.args))
        raise ValueError(f"record {record}: unknown fields: {names}") from None
    columns.pop(store.dictionary.record_id, None)
    return columns


def created_before(now: datetime, today: datetime) -> datetime:
    """When the loaded records were entered: the morning before the study's day."""
    return min(now, today).replace(hour=8, minute=0, second=0, microsecond=0) - timedelta(days=1)


def parse_save(row: dict[str, Any], store: Store) -> Save:
    """One object of POST /_control/redcap/records. Raises ValueError for unknown names."""
    dictionary = store.dictionary
    record, event = str(row["record"]), row.get("event") or ""
    columns = _columns(record, row.get("values") or {}, store)
    instrument = row.get("instrument") or _form_of(columns, store)
    if instrument not in dictionary.forms:
        raise ValueError(f"unknown instrument: {instrument!r}")
    if dictionary.longitudinal and event and event not in dictionary.events:
        raise ValueError(f"unknown event: {event!r}")
    instance = row.get("instance")
    key = store.row_key(record, event, instrument, int(instance) if instance else None)
    if not dictionary.form_in_event(instrument, key.event):
        raise ValueError(f"{instrument} is not designated for {key.event}")
    return Save(record, key, instrument, columns, row.get("dag"), row.get("user") or "crc")


def save(change: Save, store: Store, log: Log, when: datetime) -> dict[str, str]:
    """Write as the browser does: form status, log, change time. Returns the trigger's fields."""
    status = f"{change.instrument}_complete"
    present = store.records.get(change.record)
    known = present.rows.get(change.key, {}) if present else {}
    columns = dict(change.columns)
    if status not in known:
        columns.setdefault(status, "0")
    new = store.write(change.record, change.key, columns, when, change.dag)
    log.add(
        save_entry(
            store.dictionary,
            change.record,
            change.key,
            columns,
            when=when,
            user=change.user,
            new=new,
        )
    )
    record = store.records[change.record]
    return det_fields(store.dictionary, record, change.key, change.instrument, change.user)


def delete(record: str, store: Store, log: Log, when: datetime, user: str) -> bool:
    """Remove a record; False when there is none."""
    if store.records.pop(record, None) is None:
        return False
    details = f"{store.dictionary.record_id} = '{record}'"
    log.add(Entry(when, user, f"Delete record {record}", details, record, "record_delete"))
    return True


def delete_instance(row: dict[str, Any], store: Store, log: Log, when: datetime, user: str) -> None:
    """Remove one instance of a repeating form, as "Delete data for this form only" does."""
    key = _loaded_key(row, store)
    record = store.records[str(row["record"])]
    del record.rows[key]
    record.changed.append(when.replace(microsecond=0))
    action = f"Update record {record.id}"
    log.add(Entry(when, user, action, f"[instance = {key.instance}]", record.id, "record_edit"))


def rename(old: str, new: str, store: Store, log: Log, when: datetime, user: str) -> None:
    """Give a record another id; the trigger does not fire, and the log knows the old id no more."""
    record = store.records.pop(old)
    record.id = new
    record.changed.append(when.replace(microsecond=0))
    store.records[new] = record
    log.rename(old, new)
    details = f"{store.dictionary.record_id} = '{new}'"
    log.add(Entry(when, user, f"Update record {new}", details, new, "record_edit"))


def _form_of(columns: Values, store: Store) -> str:
    first = next(iter(columns), "")
    return store.dictionary.by_column[first][0].form if first else ""

"""The project's log (reference/redcap_dify.md 1.5)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from datetime import datetime

from demo.simulators.redcap.dictionary import Dictionary
from demo.simulators.redcap.params import Params
from demo.simulators.redcap.rights import Token
from demo.simulators.redcap.store import RowKey, Store, Values

LIMIT = 200_000
RECORD_KINDS = ("record_add", "record_edit", "record_delete")


@dataclass(frozen=True)
class Entry:
    """One line; `kind` is what the parameter logtype selects."""

    when: datetime
    username: str
    action: str
    details: str
    record: str
    kind: str


class Log:
    """Newest first when read, minutes without seconds, as REDCap shows it."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=LIMIT)

    def add(self, entry: Entry) -> None:
        """Append the newest entry."""
        self._entries.append(entry)

    def rename(self, old: str, new: str) -> None:
        """Let the entries about a record name its new id."""
        for index, entry in enumerate(self._entries):
            if entry.record == old:
                action = entry.action.replace(f" record {old}", f" record {new}")
                self._entries[index] = replace(entry, record=new, action=action)

    def rows(self, params: Params, token: Token, store: Store) -> list[dict[str, str]]:
        """What content=log answers for these parameters and this user."""
        begin, end = params.get("beginTime"), params.get("endTime")
        group = token.dag or _group_name(params.get("dag"), store.dictionary)
        rows = []
        for entry in reversed(self._entries):
            when = f"{entry.when:%Y-%m-%d %H:%M}"
            in_time = (not begin or when >= begin) and (not end or when <= end)
            if in_time and _wanted(entry, params) and _in_group(entry, group, store):
                rows.append(
                    {
                        "timestamp": when,
                        "username": entry.username,
                        "action": entry.action,
                        "details": entry.details,
                        "record": entry.record,
                    }
                )
        return rows


def _wanted(entry: Entry, params: Params) -> bool:
    kind, user, record = params.get("logtype"), params.get("user"), params.get("record")
    kinds = RECORD_KINDS if kind == "record" else (kind,)
    return (
        (not kind or entry.kind in kinds)
        and (not user or user == entry.username)
        and (not record or record == entry.record)
    )


def _group_name(group_id: str, dictionary: Dictionary) -> str:
    ids: dict[str, str] = {number: name for name, number in dictionary.dag_ids.items()}
    return ids.get(group_id, group_id)


def _in_group(entry: Entry, group: str, store: Store) -> bool:
    if not group:
        return True
    record = store.records.get(entry.record)
    return record is not None and record.dag == group


def save_entry(
    dictionary: Dictionary,
    record: str,
    key: RowKey,
    values: Values,
    *,
    when: datetime,
    user: str,
    new: bool,
    via: str = "",
) -> Entry:
    """The entry of a save: values as saved, event in the action, instance in the details."""
    verb = "Create" if new else "Update"
    event = f" ({dictionary.event_label(key.event)})" if key.event else ""
    prefix = f"[instance = {key.instance}], " if key.instance else ""
    parts = [_detail(dictionary, column, value) for column, value in values.items()]
    return Entry(
        when=when,
        username=user,
        action=f"{verb} record{via} {record}{event}",
        details=prefix + ", ".join(parts),
        record=record,
        kind="record_add" if new else "record_edit",
    )


def _detail(dictionary: Dictionary, column: str, value: str) -> str:
    field, code = dictionary.by_column[column]
    if field.type == "checkbox":
        return f"{field.name}({code}) = {'checked' if value == '1' else 'unchecked'}"
    return f"{column} = '{value}'"

"""Imports and deletes: accepted as REDCap does, counted by the service (1.7, 1.8).

The product must never call these; they exist so that a test can prove it.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from defusedxml import ElementTree

from demo.simulators.http import Response
from demo.simulators.redcap.dictionary import Dictionary, Field
from demo.simulators.redcap.errors import BAD_FORMAT, NO_DELETE, ApiError
from demo.simulators.redcap.formats import XML_HEAD, plain
from demo.simulators.redcap.log import Log, save_entry
from demo.simulators.redcap.params import Params
from demo.simulators.redcap.rights import Token
from demo.simulators.redcap.saving import delete
from demo.simulators.redcap.store import RowKey, Store, Values

Row = dict[str, str]
META_COLUMNS = (
    "redcap_event_name",
    "redcap_repeat_instrument",
    "redcap_repeat_instance",
    "redcap_data_access_group",
)
_DATE = r"\d{4}[-/]\d{2}[-/]\d{2}"
_PATTERNS = {
    "integer": r"[-+]?\d+",
    "number": r"[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?",
    "time": r"([0-9]|[0-1][0-9]|2[0-3]):[0-5][0-9]",
    "alpha_only": r"[A-Za-z]+",
}


def import_records(params: Params, token: Token, store: Store, log: Log, now: datetime) -> Response:
    """All or nothing. Raises ApiError 400 with REDCap's own csv-like lines."""
    rows = _read(params)
    if rows is None:
        return _answer([], params)
    if params.get("type") == "eav":
        rows = _from_eav(rows, store.dictionary)
    _check_names(rows, store.dictionary)
    problems = [line for row in rows for line in _problems(row, store.dictionary)]
    if problems:
        raise ApiError(400, "\n".join(problems))
    names: dict[str, None] = {}
    for row in rows:
        names[_write(row, params, token, store, log, now)] = None
    return _answer(list(names), params)


def delete_records(params: Params, token: Token, store: Store, log: Log, now: datetime) -> Response:
    """The number deleted, as text. Raises ApiError 400 naming records that do not exist."""
    if not token.record_delete:
        raise ApiError(403, NO_DELETE)
    names = params.items("records")
    missing = [n for n in names if n not in store.records or not token.sees(store.records[n])]
    if missing:
        text = (
            "One or more of the records provided cannot be deleted because they do not exist in "
            f"the project. The following records do not exist: {', '.join(missing)}"
        )
        raise ApiError(400, text)
    return plain(str(sum(delete(name, store, log, now, token.user) for name in names)))


def _read(params: Params) -> list[Row] | None:
    """The rows of `data`; None for an object instead of a list (200, nothing happens)."""
    data = params.get("data")
    try:
        return _PARSERS[params.format](data)
    except (ValueError, KeyError, ElementTree.ParseError):
        raise ApiError(400, "The data being imported is not formatted correctly") from None


def _from_json(data: str) -> list[Row] | None:
    rows: Any = json.loads(data)
    if not isinstance(rows, list):
        return None
    return [{k: "" if v is None else str(v) for k, v in row.items()} for row in rows]


def _from_csv(data: str) -> list[Row] | None:
    return [{k: v or "" for k, v in row.items()} for row in csv.DictReader(io.StringIO(data))]


def _from_xml(data: str) -> list[Row] | None:
    root = ElementTree.fromstring(data)
    return [{cell.tag: cell.text or "" for cell in item} for item in root.iter("item")]


_PARSERS: dict[str, Callable[[str], list[Row] | None]] = {
    "json": _from_json,
    "csv": _from_csv,
    "xml": _from_xml,
}


def _from_eav(rows: list[Row], dictionary: Dictionary) -> list[Row]:
    flat: list[Row] = []
    for row in rows:
        item = dictionary.by_name.get(row["field_name"])
        name, value = row["field_name"], row["value"]
        if item is not None and item.type == "checkbox":
            name, value = next((c for c, code in item.columns if code == value), name), "1"
        head = {key: row[key] for key in META_COLUMNS if key in row}
        flat.append({dictionary.record_id: row["record"], **head, name: value})
    return flat


def _check_names(rows: list[Row], dictionary: Dictionary) -> None:
    known = {*dictionary.by_column, *META_COLUMNS}
    unknown = list(dict.fromkeys(name for row in rows for name in row if name not in known))
    if unknown:
        names = ", ".join(unknown)
        text = f"The following fields were not found in the project as real data fields: {names}"
        raise ApiError(400, text)
    named = [row.get("redcap_event_name", "") for row in rows]
    wrong = list(dict.fromkeys(e for e in named if e and e not in dictionary.events))
    if wrong:
        text = f"The following values of redcap_event_name are invalid: {', '.join(wrong)}"
        raise ApiError(400, text)


def _problems(row: Row, dictionary: Dictionary) -> list[str]:
    found = []
    for column, value in row.items():
        if value == "" or column in META_COLUMNS or column == dictionary.record_id:
            continue
        field, code = dictionary.by_column[column]
        problem = _problem(field, code, value, dictionary)
        if problem:
            found.append(f'"{row.get(dictionary.record_id, "")}","{column}","{value}","{problem}"')
    return found


def _problem(field: Field, code: str, value: str, dictionary: Dictionary) -> str:
    if value in dictionary.missing_codes:
        return ""
    codes = ("0", "1") if code else tuple(code for code, _ in field.choices)
    if codes and value not in codes:
        return f"The value is not a valid category for {field.name}"
    if field.validation.startswith("date"):
        return "" if _is_date(value) else BAD_FORMAT
    pattern = _PATTERNS.get(field.validation) if field.type == "text" else None
    return BAD_FORMAT if pattern and not re.fullmatch(pattern, value, re.ASCII) else ""


def _is_date(value: str) -> bool:
    if not re.match(_DATE, value):
        return False
    try:
        datetime.fromisoformat(value.replace("/", "-"))
    except ValueError:
        return False
    return True


def _write(row: Row, params: Params, token: Token, store: Store, log: Log, now: datetime) -> str:
    dictionary = store.dictionary
    name = row.get(dictionary.record_id, "")
    key = _key(row, name, store)
    erase = params.get("overwriteBehavior") == "overwrite"
    ignored = (*META_COLUMNS, dictionary.record_id)
    columns: Values = {c: v for c, v in row.items() if c not in ignored and (v or erase)}
    if not columns and len(row) < 2:
        return name
    group = token.dag or row.get("redcap_data_access_group") or None
    new = store.write(name, key, columns, now, group)
    entry = save_entry(
        dictionary, name, key, columns, when=now, user=token.user, new=new, via=" (import)"
    )
    log.add(entry)
    return name


def _key(row: Row, name: str, store: Store) -> RowKey:
    instance = row.get("redcap_repeat_instance", "")
    number = int(instance) if instance.isdigit() else None
    event = row.get("redcap_event_name", "")
    return store.row_key(name, event, row.get("redcap_repeat_instrument", ""), number)


def _answer(names: list[str], params: Params) -> Response:
    wanted, form = params.get("returnContent") or "count", params.error_format
    if wanted == "nothing":
        return plain("")
    if wanted == "auto_ids":
        names = [f"{name},{name}" for name in names]
    if wanted != "count":
        return _ids(names, form)
    if form == "json":
        return Response.json({"count": len(names)})
    if form == "csv":
        return plain(str(len(names)))
    return Response.text(f"{XML_HEAD}<count>{len(names)}</count>", content_type="text/xml")


def _ids(names: list[str], form: str) -> Response:
    if form == "json":
        return Response.json(names)
    if form == "csv":
        return plain("\n".join(["id", *names]) + "\n")
    body = "".join(f"<id>{name}</id>" for name in names)
    return Response.text(f"{XML_HEAD}<ids>{body}</ids>", content_type="text/xml")

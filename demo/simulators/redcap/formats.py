"""json, csv and xml bodies (reference/redcap_dify.md 1.1, 1.2, 1.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

from demo.simulators.http import Response
from demo.simulators.redcap.errors import ApiError

XML_HEAD = '<?xml version="1.0" encoding="UTF-8" ?>'
CONTENT_TYPES = {
    "json": "application/json; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "xml": "text/xml; charset=utf-8",
}
# The characters for which PHP's fputcsv quotes a cell.
_QUOTED = set('" \t\r\n\\')


def table(
    rows: Sequence[dict[str, Any]],
    form: str,
    *,
    root: str = "items",
    columns: Sequence[str] | None = None,
    headers: Sequence[str] | None = None,
    delimiter: str = ",",
) -> Response:
    """A list of rows; `columns` fixes the csv columns, `headers` replaces their names."""
    if form == "json":
        return _typed(Response.json(list(rows)), form)
    if form == "csv":
        names = list(columns or (rows[0] if rows else []))
        return _typed(Response.text(_csv(rows, names, headers or names, delimiter)), form)
    body = "".join(f"<item>{_xml_cells(row)}</item>" for row in rows)
    return _typed(Response.text(f"{XML_HEAD}<{root}>{body}</{root}>"), form)


def single(row: dict[str, Any], form: str, root: str) -> Response:
    """One object, as content=project answers."""
    if form == "json":
        return _typed(Response.json(row), form)
    if form == "csv":
        return table([row], form)
    return _typed(Response.text(f"{XML_HEAD}<{root}>{_xml_cells(row)}</{root}>"), form)


def error(problem: ApiError, form: str) -> Response:
    """The error envelope of 1.8."""
    if form == "json":
        return _typed(Response.json({"error": problem.text}, problem.status), form)
    if form == "csv":
        return _typed(Response.text(f"ERROR: {problem.text}", problem.status), form)
    text = f"{XML_HEAD}<hash><error>{escape(problem.text)}</error></hash>"
    return _typed(Response.text(text, problem.status), form)


def plain(text: str) -> Response:
    """Bare text: version, generateNextRecordName, number of deleted records."""
    return Response.text(text)


def _typed(response: Response, form: str) -> Response:
    response.content_type = CONTENT_TYPES[form]
    return response


def _csv(
    rows: Sequence[dict[str, Any]], columns: list[str], headers: Sequence[str], delimiter: str
) -> str:
    if not rows:
        return "\n"
    special = _QUOTED | {delimiter}
    lines = [delimiter.join(_csv_cell(name, special) for name in headers)]
    for row in rows:
        lines.append(delimiter.join(_csv_cell(row.get(name), special) for name in columns))
    return "\n".join(lines) + "\n"


def _csv_cell(value: Any, special: set[str]) -> str:
    text = "" if value is None else str(value)
    if special.isdisjoint(text):
        return text
    return '"' + text.replace('"', '""') + '"'


def _xml_cells(row: dict[str, Any]) -> str:
    return "".join(f"<{name}>{_xml_value(value)}</{name}>" for name, value in row.items())


def _xml_value(value: Any) -> str:
    if isinstance(value, dict):
        return _xml_cells(value)
    if value is None or value == "":
        return ""
    if isinstance(value, int):
        return str(value)
    return f"<![CDATA[{str(value).replace(']]>', ']]]]><![CDATA[>')}]]>"

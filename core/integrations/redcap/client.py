"""The questions the product asks REDCap. Reads only (reference/redcap_dify.md 2.1)."""

import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from urllib.parse import urlsplit

from core.integrations.redcap.errors import RedcapProtocolError
from core.integrations.redcap.export import (
    ExportShape,
    JsonRow,
    RecordExport,
    Row,
    as_record_rows,
    as_rows,
    missing_columns,
)
from core.integrations.redcap.limiter import Limiter, limiter_for
from core.integrations.redcap.transport import PAUSE_S, QUERIES, Transport

BATCH = 100
_VERSION = re.compile(r"\d+(\.\d+){1,3}")
_PROJECT_FLAGS = ("is_longitudinal", "has_repeating_instruments_or_events")


class RedcapClient:
    """One REDCap project behind `url` (ends in /api/) and its token.

    Every method raises RedcapPermissionError, RedcapUnavailable, RedcapProtocolError or their
    parent RedcapError; none returns half an answer. `shape` spares the questions about the
    dictionary when the caller keeps it.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        limiter: Limiter | None = None,
        shape: ExportShape | None = None,
        sleep: Callable[[float], None] = time.sleep,
        pause: float = PAUSE_S,
    ) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not url.endswith("/api/"):
            raise ValueError("a REDCap URL starts with http(s):// and ends in /api/")
        self._transport = Transport(url, token, limiter or limiter_for(url), sleep, pause)
        self._shape = shape
        self._settings: JsonRow | None = None

    def __repr__(self) -> str:
        return f"RedcapClient({self._transport.url!r})"

    def project(self) -> JsonRow:
        """Settings of the project: one object, its flags as 0/1 (1.5)."""
        body = self._transport.ask_json("project")
        if not isinstance(body, dict) or any(str(body.get(f)) not in "01" for f in _PROJECT_FLAGS):
            raise RedcapProtocolError(200, "expected one object with its flags", "project")
        self._settings = body
        return body

    def metadata(self) -> list[JsonRow]:
        """The data dictionary; its first row is the record-id field (1.3)."""
        rows = self._list("metadata")
        if not rows or any("field_name" not in row or "form_name" not in row for row in rows):
            raise RedcapProtocolError(200, "expected rows with field and form names", "metadata")
        return rows

    def events(self) -> list[JsonRow]:
        """Events of a longitudinal project; [] for a classic one, which has none (1.4)."""
        return self._list("event") if self._flag("is_longitudinal") else []

    def form_event_mapping(self) -> list[JsonRow]:
        """Which form is filled at which event; [] for a classic project."""
        return self._list("formEventMapping") if self._flag("is_longitudinal") else []

    def instruments(self) -> list[JsonRow]:
        """Forms: instrument_name, instrument_label."""
        return self._list("instrument")

    def repeating(self) -> list[JsonRow]:
        """Repeating forms and events; [] where the project has none (REDCap answers 400)."""
        repeats = self._flag("has_repeating_instruments_or_events")
        return self._list("repeatingFormsEvents") if repeats else []

    def export_field_names(self) -> list[JsonRow]:
        """Export columns of every field, checkbox choices included (1.6)."""
        rows = self._list("exportFieldNames")
        if any("original_field_name" not in r or "export_field_name" not in r for r in rows):
            raise RedcapProtocolError(200, "expected original and export names", "exportFieldNames")
        return rows

    def dags(self) -> list[JsonRow]:
        """Data access groups, which are the sites."""
        return self._list("dag")

    def version(self) -> str:
        """REDCap's version, plain text such as 16.1.3."""
        text = self._transport.ask_text("version").strip()
        if not _VERSION.fullmatch(text):
            raise RedcapProtocolError(200, "expected a version number", "version")
        return text

    def log(self, *, begin: datetime | None = None) -> list[JsonRow]:
        """Log rows, newest first. `begin`: wall-clock time of REDCap's server (1.5)."""
        given = {"beginTime": f"{begin:%Y-%m-%d %H:%M}"} if begin else {}
        return as_rows(self._transport.ask_json("log", given), "log")

    def open_queries(self, pid: str) -> list[JsonRow]:
        """Open data queries as the external module exports them (1.12); `pid`: number of the project.

        Raises RedcapProtocolError also where the module is not there: its page is no JSON then.
        """
        body = self._transport.ask_queries(pid)
        rows = as_rows([*body.values()] if isinstance(body, dict) else body, QUERIES)
        for row in rows:
            told = row.get("resolutions") or {}
            replies = as_rows([*told.values()] if isinstance(told, dict) else told, QUERIES)
            number = str(row.get("status_id") or "")
            if not (number.isascii() and number.isdigit() and row.get("record")):
                raise RedcapProtocolError(200, "a query without number or record", QUERIES)
            row["resolutions"] = sorted(replies, key=lambda one: str(one.get("ts") or ""))
        # Older versions of the module know no filter; a comment on a field has no status.
        return [row for row in rows if row.get("query_status") == "OPEN"]

    def shape(self) -> ExportShape:
        """What a full export looks like; read once per client."""
        if self._shape is None:
            self._shape = ExportShape(
                metadata=self.metadata(),
                export_field_names=self.export_field_names(),
                longitudinal=self._flag("is_longitudinal"),
            )
        return self._shape

    def records(
        self,
        record_ids: Collection[str] | None = None,
        *,
        fields: Sequence[str] | None = None,
        date_range_begin: datetime | None = None,
    ) -> RecordExport:
        """Rows of these records (None: all), with site and record id, in batches of 100.

        `fields` None: every field. `date_range_begin` is REDCap's server time.
        Rows of a record that was not asked for are dropped: ids are compared exactly, so "7"
        never brings "007" (edge case E10). One failed batch fails the whole read, and so does one
        that lacks a record which REDCap itself has just listed.
        """
        read_at, shape = datetime.now(UTC), self.shape()
        if fields is not None:  # with the record id, which REDCap does not add (1.1)
            fields = list(dict.fromkeys([shape.record_id_field, *fields]))
        params = _selection(fields)
        if date_range_begin is not None:
            params["dateRangeBegin"] = f"{date_range_begin:%Y-%m-%d %H:%M:%S}"
        rows: list[Row] = []
        for batch in self._batches(record_ids, params, narrow=fields is not None):
            some = self._batch(batch, params)
            if record_ids is None and batch and not _are_all_there(batch, some, shape):
                raise RedcapProtocolError(200, "records listed a moment ago are missing", "record")
            rows += some
        expected = shape.columns(fields)
        return RecordExport(tuple(rows), missing_columns(rows, expected), read_at)

    def _batches(
        self, record_ids: Collection[str] | None, params: dict[str, str | list[str]], narrow: bool
    ) -> Iterator[list[str] | None]:
        """Ids in hundreds. A narrow read of everything is one call, a wide one starts with ids."""
        if record_ids is None and narrow:
            yield None
            return
        if record_ids is None:
            key = self.shape().record_id_field
            record_ids = [str(row[key]) for row in self._batch(None, {**params, "fields": [key]})]
        unique = list(dict.fromkeys(record_ids))
        for start in range(0, len(unique), BATCH):
            yield unique[start : start + BATCH]

    def _batch(self, record_ids: list[str] | None, params: dict[str, str | list[str]]) -> list[Row]:
        asked = params if record_ids is None else {**params, "records": record_ids}
        shape = self.shape()
        rows = as_record_rows(self._transport.ask_json("record", asked), shape)
        if record_ids is None:
            return rows
        wanted = set(record_ids)
        return [row for row in rows if row[shape.record_id_field] in wanted]

    def _list(self, content: str) -> list[JsonRow]:
        return as_rows(self._transport.ask_json(content), content)

    def _flag(self, name: str) -> bool:
        """A setting that holds for the life of this client; an outage raises, it is no "no"."""
        return str((self._settings or self.project())[name]) == "1"


def _are_all_there(ids: Collection[str], rows: Sequence[Row], shape: ExportShape) -> bool:
    return {*ids} <= {str(row[shape.record_id_field]) for row in rows}


def _selection(fields: Sequence[str] | None) -> dict[str, str | list[str]]:
    params: dict[str, str | list[str]] = {
        "type": "flat",
        "rawOrLabel": "raw",
        "exportDataAccessGroups": "true",
        "exportBlankForGrayFormStatus": "true",
    }
    return params if fields is None else {**params, "fields": [*fields]}

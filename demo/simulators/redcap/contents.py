"""The read-only contents besides records and log (reference/redcap_dify.md 1.3-1.6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from demo.simulators.http import Response
from demo.simulators.redcap.dictionary import Dictionary
from demo.simulators.redcap.errors import NO_REPEATING, ApiError, classic, invalid_values
from demo.simulators.redcap.formats import plain, single, table
from demo.simulators.redcap.params import Params
from demo.simulators.redcap.rights import Access, Token, user_rows
from demo.simulators.redcap.store import Store
from demo.simulators.study import METADATA_COLUMNS

VERSION = "16.1.3"
_SCHEDULING = ("day_offset", "offset_min", "offset_max")
_UNNAMED = ("file", "descriptive", "timestamp")


class Contents:
    """Answers by content name; each method gets the parameters and the token's user."""

    def __init__(self, store: Store, access: Access) -> None:
        self.store = store
        self.dictionary: Dictionary = store.dictionary
        self.access = access
        self.answers: dict[str, Callable[[Params, Token], Response]] = {
            "metadata": self._metadata,
            "event": self._event,
            "arm": self._arm,
            "formEventMapping": self._mapping,
            "instrument": self._instrument,
            "project": self._project,
            "version": lambda _params, _token: plain(VERSION),
            "repeatingFormsEvents": self._repeating,
            "dag": self._dag,
            "userDagMapping": self._user_dag,
            "user": self._user,
            "exportFieldNames": self._field_names,
            "generateNextRecordName": self._next_name,
        }

    def _metadata(self, params: Params, _: Token) -> Response:
        rows = self.dictionary.study.metadata
        names, forms = params.items("fields"), params.items("forms")
        _check("fields", names, [row["field_name"] for row in rows])
        _check("forms", forms, self.dictionary.forms)
        if names or forms:
            rows = [r for r in rows if r["field_name"] in names or r["form_name"] in forms]
        return table(rows, params.format, root="records", columns=METADATA_COLUMNS)

    def _event(self, params: Params, _: Token) -> Response:
        if not self.dictionary.longitudinal:
            raise classic("events")
        scheduling = self.dictionary.study.project.get("scheduling_enabled")
        rows = [
            {k: v for k, v in row.items() if scheduling or k not in _SCHEDULING}
            for row in self._of_arms(params, self.dictionary.study.events)
        ]
        return table(rows, params.format, root="events")

    def _arm(self, params: Params, _: Token) -> Response:
        if not self.dictionary.longitudinal:
            raise classic("arms")
        used = {row["arm_num"] for row in self.dictionary.study.events}
        rows = [row for row in self.dictionary.study.arms if row["arm_num"] in used]
        return table(self._of_arms(params, rows), params.format, root="arms")

    def _mapping(self, params: Params, _: Token) -> Response:
        if not self.dictionary.longitudinal:
            raise classic("form/event mappings")
        return table(self._of_arms(params, self.dictionary.study.mapping), params.format)

    def _of_arms(self, params: Params, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        arms = params.items("arms")
        return [row for row in rows if not arms or str(row["arm_num"]) in arms]

    def _instrument(self, params: Params, _: Token) -> Response:
        rows = [
            {"instrument_name": form, "instrument_label": self.dictionary.form_label(form)}
            for form in self.dictionary.forms
        ]
        return table(rows, params.format)

    def _project(self, params: Params, _: Token) -> Response:
        return single(self.dictionary.study.project, params.format, "items")

    def _repeating(self, params: Params, _: Token) -> Response:
        if not self.dictionary.has_repeats:
            raise ApiError(400, NO_REPEATING)
        keys = ("event_name", "form_name", "custom_form_label")
        wanted = keys if self.dictionary.longitudinal else keys[1:]
        rows = [{k: row.get(k, "") for k in wanted} for row in self.dictionary.study.repeating]
        return table(rows, params.format)

    def _dag(self, params: Params, _: Token) -> Response:
        return table(self.dictionary.study.dags, params.format, root="dags")

    def _user_dag(self, params: Params, _: Token) -> Response:
        rows = [
            {"username": row["username"], "redcap_data_access_group": row["data_access_group"]}
            for row in user_rows(self.dictionary, self.access)
        ]
        return table(rows, params.format)

    def _user(self, params: Params, _: Token) -> Response:
        rows = user_rows(self.dictionary, self.access)
        if params.format == "csv":
            rows = [{key: _flat(value) for key, value in row.items()} for row in rows]
        return table(rows, params.format, root="users")

    def _field_names(self, params: Params, _: Token) -> Response:
        wanted = params.get("field")
        _check("field", [wanted] if wanted else [], list(self.dictionary.by_name))
        rows = [
            {"original_field_name": item.name, "choice_value": code, "export_field_name": column}
            for item in self.dictionary.fields
            if item.type not in _UNNAMED and wanted in ("", item.name)
            for column, code in item.columns
        ]
        return table(rows, params.format, root="fields")

    def _next_name(self, _: Params, token: Token) -> Response:
        prefix = f"{self.dictionary.dag_ids.get(token.dag, token.dag)}-" if token.dag else ""
        names = (name for name in self.store.records if name.startswith(prefix))
        tails = (name.removeprefix(prefix) for name in names)
        numbers = [int(tail) for tail in tails if tail.isdigit()]
        return plain(f"{prefix}{max(numbers, default=0) + 1}")


def _check(parameter: str, values: list[str], known: list[str]) -> None:
    unknown = [value for value in values if value not in known]
    if unknown:
        raise invalid_values(parameter, unknown)


def _flat(value: Any) -> Any:
    if isinstance(value, dict):
        return ",".join(f"{name}:{right}" for name, right in value.items())
    return value

"""The external module data_quality_api: its export page (reference/redcap_dify.md 1.12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from demo.simulators.http import Request, Response
from demo.simulators.redcap.errors import NOT_IMPLEMENTED, ApiError

PREFIX = "vanderbilt_dataQuality"
# Assumed: the reference has no text for a module that is not there.
_ABSENT = "<h1>The requested module is currently disabled or does not exist.</h1>"
_BLANK = ("rule_id", "pd_rule_id", "repeat_instrument", "status", "assigned_username", "group_id")
_UNSAID = ("response", "upload_doc_id")


def is_for_module(request: Request) -> bool:
    """Whether an external module is called, not REDCap's own API."""
    return request.query.get("type") == ["module"]


def page_of(request: Request) -> str:
    """Which page of which module: export, import; "" for another module."""
    if request.query.get("prefix") != [PREFIX]:
        return ""
    return request.query.get("page", [""])[-1]


def absent() -> Response:
    """What stands there where the module is not enabled: a page, no JSON."""
    return Response.text(_ABSENT, 200, "text/html; charset=UTF-8")


def export_page(request: Request, rows: Sequence[dict[str, Any]], project_id: str) -> Response:
    """The queries by their numbers; nothing at all for the number of another project."""
    form = request.form()
    if request.query.get("pid") != [project_id]:
        return Response.text("")
    wanted = form.get("status", [""])[-1]
    found = [row for row in rows if wanted in ("", _status(row))]
    # PHP writes an empty object as a list.
    body = {str(row["status_id"]): _row(row, project_id) for row in found}
    return Response.json(body or [])


def refuse_write() -> ApiError:
    """What this stand-in says to page=import."""
    return ApiError(501, NOT_IMPLEMENTED)


def _status(row: dict[str, Any]) -> str:
    """The module's own filter takes a field without a status for open."""
    return str(row.get("query_status") or "OPEN")


def _row(row: dict[str, Any], project_id: str) -> dict[str, Any]:
    number = str(row["status_id"])
    whole = dict.fromkeys(_BLANK) | {"non_rule": "1", "exclude": "0", "instance": "1"} | row
    replies = {
        str(place): dict.fromkeys(_UNSAID)
        | {"res_id": str(place), "status_id": number, "field_comment_edited": "0"}
        | {"response_requested": "0", "current_query_status": row.get("query_status")}
        | reply
        for place, reply in enumerate(row.get("resolutions", ()), int(number) * 10)
    }
    return whole | {"status_id": number, "project_id": project_id, "resolutions": replies}

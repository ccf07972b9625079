"""The REDCap stand-in: dispatch, counters and its control API (reference/redcap_dify.md 1)."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from demo.simulators.http import Request, Response
from demo.simulators.redcap import data_quality, formats
from demo.simulators.redcap.contents import Contents
from demo.simulators.redcap.det import Trigger, addresses
from demo.simulators.redcap.dictionary import Dictionary
from demo.simulators.redcap.errors import BAD_CONTENT, NO_LOGGING, NOT_IMPLEMENTED, ApiError
from demo.simulators.redcap.export import export_records
from demo.simulators.redcap.imports import delete_records, import_records
from demo.simulators.redcap.log import Entry, Log
from demo.simulators.redcap.params import Params
from demo.simulators.redcap.rights import Access, Token, require_export, require_import
from demo.simulators.redcap.saving import (
    created_before,
    delete,
    delete_instance,
    load_records,
    parse_save,
    rename,
    save,
)
from demo.simulators.redcap.store import Store
from demo.simulators.state import State
from demo.simulators.study import load_study, place_dates

HOST = "127.0.0.1"
WRITES = ("import", "delete", "rename", "switch", "createFolder", "createRepository")
# Contents REDCap has and this stand-in has not.
_SURVEY_CONTENTS = ("surveyLink", "surveyQueueLink", "surveyAccessCode", "surveyReturnCode")
_FILE_CONTENTS = ("file", "fileRepository", "fileinfo", "filesize", "pdf", "project_xml")
_OTHER_CONTENTS = ("report", "participantList", "userRole", "userRoleMapping", "randomization")
NOT_HERE = frozenset(_SURVEY_CONTENTS + _FILE_CONTENTS + _OTHER_CONTENTS)
LOG_DETAILS = {
    "record": ("Data export (API)", "Export records (API)", "export"),
    "log": ("Manage/Design", "Export Logging (API)", "manage"),
    "metadata": ("Manage/Design", "Download data dictionary (API)", "manage"),
}


class RedcapService:
    """One project, many tokens. `comma_strings` is accept, reject or lenient (1.1)."""

    name = "redcap"
    prefix = "/redcap/"

    def __init__(self, state: State, study_dir: Path) -> None:
        self.state = state
        self._study_dir = study_dir
        self._token_rows: list[dict[str, Any]] = []
        self._trigger = Trigger()
        self.reset()
        state.on_today_changed.append(self.reset)

    def reset(self) -> None:
        """Reload the study; tokens and the trigger's URL stay."""
        study = load_study(self._study_dir, self.state.today())
        store = Store(Dictionary(study))
        log, access = Log(), Access()
        load_records(study, store, log, created_before(self.state.local_now(), self._today()))
        self._store, self._log, self._access = store, log, access
        self._contents = Contents(store, access)
        self._comma_strings, self._has_module = "accept", True
        self._queries = [*study.queries]
        self._imports = 0
        self._calls: Counter[str] = Counter()
        self._minutes: Counter[int] = Counter()
        self._trigger.sent.clear()
        self._take_tokens()

    def configure(self, settings: dict[str, Any]) -> None:
        """`tokens` and `det_url`, each only when present."""
        if "tokens" in settings:
            self._token_rows = settings["tokens"] or []
            self._take_tokens()
        if "det_url" in settings:
            self._trigger.url = settings["det_url"] or ""

    def handle(self, request: Request) -> Response:
        """POST /redcap/api/; everything else as the web server in front answers."""
        if request.path == "/redcap/api":
            return Response(301, headers={"Location": "/redcap/api/"})
        if request.path != "/redcap/api/":
            return Response.text("<h1>Not Found</h1>", 404, "text/html; charset=UTF-8")
        params = Params(request, self._comma_strings)
        try:
            with self._store.lock:
                if data_quality.is_for_module(request):
                    return self._module(request, params)
                return self._answer(params)
        except ApiError as problem:
            return formats.error(problem, params.error_format)

    def control(self, path: str, request: Request) -> Response | None:
        """records, queries, counters, det and switches below /_control/redcap/."""
        if path == "records" and request.method == "POST":
            base = f"http://{request.headers.get('Host', HOST)}{self.prefix}"
            return self._save(request.json(), base)
        if path == "counters":
            return Response.json(self._counters())
        if path == "det":
            return Response.json(self._trigger.sent)
        if path == "switches":
            if request.method == "POST":
                told = request.json()
                self._comma_strings = told.get("comma_strings", self._comma_strings)
                self._has_module = told.get("module", self._has_module)
            return Response.json({"comma_strings": self._comma_strings, "module": self._has_module})
        if path == "queries" and request.method == "POST":
            self._queries = place_dates(request.json(), self.state.today())
            return Response.json({"ok": True})
        return None

    def _take_tokens(self) -> None:
        users = self._store.dictionary.study.users
        self._access.replace([Token.parse(row, users) for row in self._token_rows])

    def _today(self) -> datetime:
        return datetime.combine(self.state.today(), self.state.local_now().time())

    def _answer(self, params: Params) -> Response:
        content, action = params.get("content"), _action(params)
        self._calls[content] += 1
        self._minutes[int(self.state.timestamp() // 60)] += 1
        if action in WRITES:
            self._imports += 1
        token = self._access.authenticate(params.get("token"))
        if content in NOT_HERE or (action in WRITES and content in self._contents.answers):
            raise ApiError(501, NOT_IMPLEMENTED)
        if content == "record" and action in WRITES:
            return self._write(action, params, token)
        answer = self._read(content, params, token)
        self._log_call(content, token)
        return answer

    def _module(self, request: Request, params: Params) -> Response:
        page = data_quality.page_of(request)
        if page == "import":
            self._imports += 1
        if not self._has_module or not page:
            return data_quality.absent()
        self._calls[f"{data_quality.PREFIX}.{page}"] += 1
        require_export(self._access.authenticate(params.get("token")), data=False)
        if page != "export":
            raise data_quality.refuse_write()
        number = str(self._store.dictionary.study.project.get("project_id"))
        return data_quality.export_page(request, self._queries, number)

    def _read(self, content: str, params: Params, token: Token) -> Response:
        known = content in ("record", "log") or content in self._contents.answers
        if not known:
            raise ApiError(400, BAD_CONTENT)
        if content != "version":
            require_export(token, data=content == "record")
        if params.format == "odm":
            raise ApiError(501, NOT_IMPLEMENTED)
        if content == "record":
            return export_records(params, token, self._store, self._today())
        if content != "log":
            return self._contents.answers[content](params, token)
        if not token.logging:
            raise ApiError(403, NO_LOGGING)
        return formats.table(self._log.rows(params, token, self._store), params.format)

    def _write(self, action: str, params: Params, token: Token) -> Response:
        if action == "import":
            require_import(token)
            return import_records(params, token, self._store, self._log, self._now())
        if action == "delete":
            return delete_records(params, token, self._store, self._log, self._now())
        raise ApiError(501, NOT_IMPLEMENTED)

    def _counters(self) -> dict[str, Any]:
        busiest = max(self._minutes.values(), default=0)
        calls = dict(self._calls)
        return {"imports": self._imports, "calls": calls, "max_per_minute": busiest}

    def _save(self, body: Any, base: str = f"http://{HOST}/redcap/") -> Response:
        rows = place_dates(body if isinstance(body, list) else [body], self.state.today())
        with self._store.lock:
            for row in rows:
                self._check_save(row)
            for row in rows:
                self._save_one(row, base)
        return Response.json({"ok": True, "saved": len(rows)})

    def _check_save(self, row: dict[str, Any]) -> None:
        """All or nothing: a bad row must not leave the ones before it saved."""
        if not (row.get("delete") or row.get("rename")):
            parse_save(row, self._store)
        elif str(row["record"]) not in self._store.records:
            raise ValueError(f"no such record: {row['record']}")
        elif str(row.get("rename")) in self._store.records:
            raise ValueError(f"there is such a record: {row['rename']}")

    def _save_one(self, row: dict[str, Any], base: str) -> None:
        record, user = str(row.get("record")), row.get("user") or "crc"
        if row.get("delete") and row.get("instance"):
            delete_instance(row, self._store, self._log, self._now(), user)
            return
        if row.get("delete"):
            delete(record, self._store, self._log, self._now(), user)
            return
        if row.get("rename"):
            rename(record, str(row["rename"]), self._store, self._log, self._now(), user)
            return
        change = parse_save(row, self._store)
        fields = save(change, self._store, self._log, self._now())
        self._trigger.fire(fields | addresses(base, fields["project_id"]))

    def _now(self) -> datetime:
        return self.state.local_now()

    def _log_call(self, content: str, token: Token) -> None:
        default = ("Manage/Design", f"Export {content} (API)", "manage")
        action, details, kind = LOG_DETAILS.get(content, default)
        self._log.add(Entry(self._now(), token.user, action, details, "", kind))


def _action(params: Params) -> str:
    """`action`; a body with `data` and no action is an import."""
    return params.get("action") or ("import" if params.has("data") else "export")

"""A small hospital for the tests: a study of our own behind the stand-ins, over real HTTP.

Two sites, two arms of events, a repeating form, a checkbox with an awkward code, missing codes, the
records "7" and "007", and names of which one contains another.
"""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx

from demo.simulators.dify.service import DifyService
from demo.simulators.redcap.service import RedcapService
from demo.simulators.server import RunningServer, start_in_thread
from demo.simulators.state import Fault, State
from demo.simulators.study import METADATA_COLUMNS

FULL, DEIDENTIFIED, SITE_A, NO_EXPORT = "A" * 32, "B" * 32, "C" * 32, "D" * 32
DATASET, DIFY_KEY = "0f6b1f6e-0f0a-4a53-9a0b-0d1f1e4b7a90", "dataset-key"
SCREENING, V1, V2, LOG = "screening_arm_1", "v1_arm_1", "v2_arm_1", "log_arm_1"

FIELDS: list[dict[str, str]] = [
    {"field_name": "record_id", "form_name": "demo", "field_label": "受试者编号"},
    {"field_name": "subject_name", "form_name": "demo", "field_label": "姓名", "identifier": "y"},
    {"field_name": "phone", "form_name": "demo", "field_label": "电话", "identifier": "y"},
    {
        "field_name": "sex",
        "form_name": "demo",
        "field_type": "radio",
        "field_label": "性别",
        "select_choices_or_calculations": "1, 男 | 2, 女",
    },
    {
        "field_name": "exclusion",
        "form_name": "demo",
        "field_type": "checkbox",
        "field_label": "排除<b>标准</b>",
        "select_choices_or_calculations": "1, 感染 | 2, 妊娠, 哺乳 | -1, 以上都无",
    },
    {
        "field_name": "weight",
        "form_name": "demo",
        "field_label": "体重",
        "field_note": "单位:kg",
        "text_validation_type_or_show_slider_number": "number",
    },
    {"field_name": "enroll_date", "form_name": "demo", "field_label": "入组日期"},
    {"field_name": "first_dose_date", "form_name": "demo", "field_label": "首次给药日期"},
    {"field_name": "withdraw_date", "form_name": "demo", "field_label": "退出日期"},
    {"field_name": "visit_date", "form_name": "visit", "field_label": "访视日期"},
    {"field_name": "ae_term", "form_name": "ae", "field_label": "不良事件名称"},
    {
        "field_name": "ae_serious",
        "form_name": "ae",
        "field_type": "yesno",
        "field_label": "是否严重",
    },
]
MAPPING = [(SCREENING, "demo"), (V1, "visit"), (V2, "visit"), (LOG, "ae")]
DOCUMENTS = {
    "方案.md": "# 5 访视\n## 5.3 访视安排\nV2 访视在第 28 天,允许前后 7 天。\n"
    "# 6 安全性\n## 6.2 妊娠\n受试者发生妊娠时应立即停药并报告。\n"
}


def person(record: str, site: str, name: str, phone: str, **values: str) -> dict[str, Any]:
    """The screening row of one subject."""
    given = {"subject_name": name, "phone": phone, "demo_complete": "2", **values}
    return {"record": record, "event": SCREENING, "dag": site, "values": given}


PEOPLE: list[dict[str, Any]] = [
    person("7", "site_a", "赵七", "13800000007", sex="1", enroll_date="2024-03-01"),
    person("007", "site_b", "钱邦德", "13800000107", sex="2"),
    person(
        "P001",
        "site_a",
        "张三",
        "13800000001",
        sex="1",
        weight="61.5",
        exclusion___1="0",
        exclusion___2="1",
        exclusion____1="0",
        enroll_date="2024-02-28",
        first_dose_date="2024-03-01",
    ),
    {"record": "P001", "event": V1, "dag": "site_a", "values": {"visit_date": "2024-03-04"}},
    {"record": "P001", "event": V2, "dag": "site_a", "values": {"visit_date": "2024-04-05"}},
    {
        "record": "P001",
        "event": LOG,
        "instrument": "ae",
        "instance": 1,
        "dag": "site_a",
        "values": {"ae_term": "恶心", "ae_serious": "0"},
    },
    {
        "record": "P001",
        "event": LOG,
        "instrument": "ae",
        "instance": 2,
        "dag": "site_a",
        "values": {"ae_term": "皮疹", "ae_serious": "1"},
    },
    person("P002", "site_b", "张三丰", "13800000002", weight="UNK"),
    person("P003", "site_a", "Anna Li", "13800000003"),
]


class Hospital:
    """The running stand-ins with their control calls as methods."""

    def __init__(self, state: State, server: RunningServer) -> None:
        self._state, self._url = state, server.url
        self.redcap_url = f"{server.url}/redcap/api/"
        self.dify_url = f"{server.url}/dify/v1"

    def fault(self, kind: str, value: Any = None, times: int = 1, body: str = "") -> None:
        """Plan a misbehaviour of REDCap; `body` picks requests whose body contains it."""
        self._state.add_faults([Fault("redcap", "", kind, value, times, body)])

    def dify_fault(self, kind: str, value: Any = None, times: int = 1) -> None:
        """Plan a misbehaviour of Dify."""
        self._state.add_faults([Fault("dify", "", kind, value, times)])

    def forms(self, content: str = "") -> list[dict[str, str]]:
        """The forms REDCap received, of one content when named."""
        bodies = [row["body"] for row in self._state.requests("redcap")]
        forms = [dict(parse_qsl(body, keep_blank_values=True)) for body in bodies]
        return [form for form in forms if content in ("", form.get("content"))]

    def addresses(self) -> list[str]:
        """What stood behind the question marks of REDCap's address."""
        return [row["query"] for row in self._state.requests("redcap")]

    def imports(self) -> int:
        """How often REDCap was asked to write."""
        return int(httpx.get(f"{self._url}/_control/redcap/counters").json()["imports"])

    def queries(self) -> list[dict[str, Any]]:
        """The JSON bodies Dify received."""
        return [json.loads(row["body"]) for row in self._state.requests("dify")]

    def save(self, rows: Sequence[dict[str, Any]]) -> None:
        """Change data as a CRC would."""
        self.control("redcap/records", list(rows))

    def control(self, path: str, body: Any) -> None:
        """POST to the control API of the stand-ins."""
        httpx.post(f"{self._url}/_control/{path}", json=body).raise_for_status()


@contextmanager
def open_hospital(
    directory: Path, *, classic: bool = False, people: Sequence[dict[str, Any]] = PEOPLE
) -> Iterator[Hospital]:
    """Stand-ins over a study written into `directory`."""
    _write_study(directory, people, classic=classic)
    state = State()
    redcap, dify = RedcapService(state, directory), DifyService(state, directory)
    redcap.configure(
        {
            "tokens": [
                {"token": FULL, "user": "full"},
                {"token": DEIDENTIFIED, "user": "deid", "export": "identifiers_removed"},
                {"token": SITE_A, "user": "crc_a", "dag": "site_a"},
                {"token": NO_EXPORT, "user": "none", "export": "none"},
            ]
        }
    )
    dify.configure({"key": DIFY_KEY, "dataset_id": DATASET})
    server = start_in_thread(state, [redcap, dify])
    try:
        yield Hospital(state, server)
    finally:
        server.stop()


def _write_study(directory: Path, people: Sequence[dict[str, Any]], *, classic: bool) -> None:
    root = directory / "redcap"
    root.mkdir(parents=True)
    (directory / "documents").mkdir()
    for name, text in DOCUMENTS.items():
        (directory / "documents" / name).write_text(text, "utf-8")
    with (root / "metadata.csv").open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, METADATA_COLUMNS, restval="")
        writer.writeheader()
        writer.writerows({"field_type": "text", **field} for field in FIELDS)
    for name, content in _files(people, classic=classic).items():
        (root / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False), "utf-8")


def _files(people: Sequence[dict[str, Any]], *, classic: bool) -> dict[str, Any]:
    instruments = [
        {"instrument_name": name, "instrument_label": label}
        for name, label in (("demo", "基本信息"), ("visit", "访视记录"), ("ae", "不良事件"))
    ]
    sites = [
        {"data_access_group_name": site, "unique_group_name": site, "data_access_group_id": number}
        for number, site in enumerate(("site_a", "site_b"), 1)
    ]
    flags = {"is_longitudinal": 0, "has_repeating_instruments_or_events": 0}
    common = {"instruments": instruments, "dags": sites}
    if classic:
        rows = [{**row, "event": ""} for row in people if row["event"] == SCREENING]
        return {**common, "project": _project(**flags), "records": rows}
    return {
        **common,
        "project": _project(is_longitudinal=1, has_repeating_instruments_or_events=1),
        "arms": [{"arm_num": 1, "name": "研究组"}],
        "events": [
            {
                "event_name": event.removesuffix("_arm_1").upper(),
                "arm_num": 1,
                "unique_event_name": event,
                "custom_event_label": None,
                "event_id": number,
            }
            for number, event in enumerate((SCREENING, V1, V2, LOG), 41)
        ],
        "mapping": [
            {"arm_num": 1, "unique_event_name": event, "form": form} for event, form in MAPPING
        ],
        "repeating": [{"event_name": LOG, "form_name": "ae", "custom_form_label": ""}],
        "records": list(people),
    }


def _project(**flags: int) -> dict[str, Any]:
    codes = "NA, 不适用 | UNK, 未知"
    return {"project_id": 14, "project_title": "测试研究", "missing_data_codes": codes, **flags}


Canned = tuple[int, bytes]
Answer = Callable[[dict[str, str]], Canned]


@contextmanager
def canned(answer: Answer, headers: dict[str, str] | None = None) -> Iterator[str]:
    """A server that answers each form as `answer` says: for what the stand-ins do not do."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            form = dict(parse_qsl(self.rfile.read(length).decode(), keep_blank_values=True))
            status, body = answer(form)
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/api/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

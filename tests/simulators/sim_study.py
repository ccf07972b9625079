"""A small study on disk and the stand-ins serving it over real HTTP."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import httpx

from demo.simulators.dify.service import DifyService
from demo.simulators.redcap.service import RedcapService
from demo.simulators.server import RunningServer, start_in_thread
from demo.simulators.state import State
from demo.simulators.study import METADATA_COLUMNS

TODAY = date(2026, 3, 20)
FULL = "F" * 32
DEID = "D" * 32
NO_IDS = "1" * 32
SITE_A = "A" * 32
SITE_B = "B" * 32
NO_DATA = "0" * 32
WRITER = "C" * 32
IMPORT_ONLY = "E" * 32
TOKENS: list[dict[str, Any]] = [
    {"token": FULL, "user": "api_full", "export": "full", "dag": None, "logging": True},
    {"token": DEID, "user": "api_deid", "export": "deidentified", "dag": None},
    {"token": NO_IDS, "user": "api_noids", "export": "identifiers_removed", "dag": None},
    {"token": SITE_A, "user": "crc_a", "export": "full", "dag": "site_a", "logging": True},
    {"token": SITE_B, "user": "crc_b", "export": "full", "dag": "site_b", "logging": False},
    {"token": NO_DATA, "user": "nobody", "export": "none", "dag": None},
    {"token": WRITER, "user": "writer", "export": "full", "dag": None, "api_import": True},
    {"token": IMPORT_ONLY, "user": "loader", "api_export": False, "api_import": True},
]
DIFY_KEY = "dataset-abc123"
DATASET = "11111111-2222-3333-4444-555555555555"

# field, form, type, label, choices, validation, identifier
FIELDS = [
    ("record_id", "demographics", "text", "受试者编号", "", "", ""),
    ("full_name", "demographics", "text", "姓名", "", "", "y"),
    ("dob", "demographics", "text", "Date of birth", "", "date_dmy", "y"),
    ("sex", "demographics", "radio", "性别", "1, 男 | 2, 女", "", ""),
    ("race", "demographics", "checkbox", "Race", "1, Asian | -4, Other, mixed | k>=9, Odd", "", ""),
    ("smoker", "demographics", "yesno", "吸烟", "", "", ""),
    ("alive", "demographics", "truefalse", "Alive", "", "", ""),
    ("intro", "demographics", "descriptive", "Please read", "", "", ""),
    ("photo", "demographics", "file", "Photo", "", "", ""),
    ("remarks", "demographics", "notes", "备注", "", "", ""),
    ("visit_date", "labs", "text", "Visit date", "", "date_ymd", ""),
    ("hb", "labs", "text", "Hb", "", "number", ""),
    ("hb_unit", "labs", "text", "Unit", "", "", ""),
    ("bmi", "labs", "calc", "BMI", "round([hb]/2, 1)", "", ""),
    ("pain", "diary", "text", "Pain 0-10", "", "integer", ""),
    ("ae_term", "ae", "text", "AE", "", "", ""),
    ("ae_grade", "ae", "dropdown", "Grade", "1, Mild | 2, Severe", "", ""),
    ("ae_start", "ae", "text", "Start", "", "date_ymd", ""),
]
EVENTS = [
    ("Screening", 1, "screening_arm_1", 41),
    ("Visit 1", 1, "v1_arm_1", 42),
    ("Diary", 1, "diary_arm_1", 43),
    ("Log", 1, "log_arm_1", 44),
    ("Screening", 2, "screening_arm_2", 45),
]
MAPPING = [
    (1, "screening_arm_1", "demographics"),
    (1, "screening_arm_1", "labs"),
    (1, "v1_arm_1", "labs"),
    (1, "diary_arm_1", "diary"),
    (1, "log_arm_1", "ae"),
    (2, "screening_arm_2", "demographics"),
]
RECORDS: list[dict[str, Any]] = [
    {
        "record": "10",
        "event": "screening_arm_1",
        "instrument": "",
        "instance": None,
        "dag": "site_a",
        "values": {
            "full_name": "张三",
            "dob": "1970-02-03",
            "sex": "1",
            "race": ["1", "-4"],
            "smoker": "1",
            "alive": "1",
            "photo": "face.jpg",
            "remarks": 'said "ok", left',
            "demographics_complete": "2",
            "visit_date": "{{T-10}}",
            "hb": "130.5",
            "hb_unit": "g/L",
            "bmi": "22.1",
            "labs_complete": "1",
        },
    },
    {
        "record": "10",
        "event": "v1_arm_1",
        "instrument": "",
        "instance": None,
        "values": {"visit_date": "{{T+3}}", "hb": "UNK"},
    },
    {
        "record": "10",
        "event": "diary_arm_1",
        "instrument": "",
        "instance": 1,
        "values": {"pain": "3", "diary_timestamp": "{{T}} 09:30:00", "diary_complete": "2"},
    },
    {
        "record": "10",
        "event": "diary_arm_1",
        "instrument": "",
        "instance": 2,
        "values": {"pain": "7"},
    },
    {
        "record": "10",
        "event": "log_arm_1",
        "instrument": "ae",
        "instance": 2,
        "values": {"ae_term": "Rash", "ae_grade": "2", "ae_complete": "0"},
    },
    {
        "record": "10",
        "event": "log_arm_1",
        "instrument": "ae",
        "instance": 1,
        "values": {"ae_term": "Nausea", "ae_grade": "1", "ae_start": "{{T-2}}"},
    },
    {
        "record": "2",
        "event": "screening_arm_1",
        "instrument": "",
        "instance": None,
        "dag": "site_b",
        "values": {"sex": "2", "race___k__9": "1", "hb": "99"},
    },
    {
        "record": "331-1",
        "event": "screening_arm_2",
        "instrument": "",
        "instance": None,
        "values": {"full_name": "李四", "smoker": "0"},
    },
]
PROJECT = {
    "project_id": 14,
    "project_title": "演示",
    "is_longitudinal": 1,
    "has_repeating_instruments_or_events": 1,
    "surveys_enabled": 1,
    "scheduling_enabled": 0,
    "missing_data_codes": "NA, Not applicable | UNK, Unknown",
}
PROTOCOL = """# 研究方案

## 1 研究目的
评价试验药物治疗非小细胞肺癌的疗效与安全性。

## 5 研究流程

### 5.3 访视安排
V2 访视时间窗为第 28 天 ± 7 天,需完成:
1. 血常规
2. CT 检查

## 6.1 合并用药
研究期间禁止使用强效 CYP3A4 抑制剂,例如酮康唑。

## 8 不良事件
严重不良事件 (SAE) 须在 {{T}} 起 24 小时内报告。
"""


def metadata_rows() -> list[dict[str, str]]:
    """The dictionary of the study as 18-column rows."""
    rows = []
    for name, form, kind, label, choices, validation, identifier in FIELDS:
        row = dict.fromkeys(METADATA_COLUMNS, "")
        row |= {"field_name": name, "form_name": form, "field_type": kind, "field_label": label}
        row["select_choices_or_calculations"] = choices
        row["text_validation_type_or_show_slider_number"] = validation
        row["identifier"] = identifier
        rows.append(row)
    return rows


def study_parts() -> dict[str, Any]:
    """The JSON files of the study by name."""
    names = ("event_name", "arm_num", "unique_event_name", "event_id")
    forms = ("demographics", "labs", "diary", "ae")
    return {
        "project": PROJECT,
        "arms": [{"arm_num": n, "name": f"Drug {x}"} for n, x in ((1, "A"), (2, "B"), (3, "C"))],
        "events": [
            {**dict(zip(names, row, strict=True)), "custom_event_label": None, "day_offset": 1}
            for row in EVENTS
        ],
        "mapping": [
            {"arm_num": arm, "unique_event_name": event, "form": form}
            for arm, event, form in MAPPING
        ],
        "instruments": [
            {"instrument_name": f, "instrument_label": f.title(), "survey": f == "diary"}
            for f in forms
        ],
        "repeating": [
            {"event_name": "diary_arm_1", "form_name": "", "custom_form_label": ""},
            {"event_name": "log_arm_1", "form_name": "ae", "custom_form_label": "[ae_term]"},
        ],
        "dags": [
            {
                "data_access_group_name": f"Site {x.upper()}",
                "unique_group_name": f"site_{x}",
                "data_access_group_id": n,
            }
            for x, n in (("a", 901), ("b", 902))
        ],
        "users": [
            {
                "username": "api_full",
                "email": "full@example.cn",
                "data_access_group": "",
                "export": "full",
                "forms_export": {"demographics": 1, "labs": 1, "diary": 1, "ae": 1},
            },
            {"username": "api_noids", "data_access_group": "", "forms_export": {"diary": 0}},
        ],
        "records": RECORDS,
    }


def write_study(
    directory: Path, parts: dict[str, Any], metadata: list[dict[str, str]] | None = None
) -> Path:
    """Write a study directory; returns it."""
    root = directory / "redcap"
    root.mkdir(parents=True)
    (directory / "documents").mkdir()
    for name, value in parts.items():
        (root / f"{name}.json").write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    with (root / "metadata.csv").open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, METADATA_COLUMNS)
        writer.writeheader()
        writer.writerows(metadata or metadata_rows())
    (directory / "documents" / "方案V2.1.md").write_text(PROTOCOL, "utf-8")
    return directory


class Sim:
    """A running server with short calls for the tests."""

    def __init__(self, state: State, server: RunningServer) -> None:
        self.state = state
        self.server = server
        self.url = server.url
        self.http = httpx.Client(base_url=server.url, timeout=10, trust_env=False)

    def control(self, path: str, body: Any = None) -> Any:
        """POST when there is a body, else GET; the answer must be 200."""
        answer = self.try_control(path, body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def try_control(self, path: str, body: Any = None) -> httpx.Response:
        """As `control`, whatever the status."""
        if body is None:
            return self.http.get(f"/_control/{path}")
        return self.http.post(f"/_control/{path}", json=body)

    def call(self, content: str = "record", token: str = FULL, **params: Any) -> httpx.Response:
        """One API call; lists become `name[i]`, format defaults to json."""
        data: dict[str, str] = {"token": token, "content": content, "format": "json"}
        for name, value in params.items():
            if isinstance(value, list):
                data |= {f"{name}[{n}]": str(item) for n, item in enumerate(value)}
            else:
                data[name] = str(value)
        return self.http.post("/redcap/api/", data=data)

    def rows(self, content: str = "record", token: str = FULL, **params: Any) -> Any:
        """The JSON of a call that must succeed."""
        answer = self.call(content, token, **params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def retrieve(
        self, body: Any, key: str = f"Bearer {DIFY_KEY}", dataset: str = DATASET
    ) -> httpx.Response:
        """One Dify retrieve call."""
        path = f"/dify/v1/datasets/{dataset}/retrieve"
        return self.http.post(path, json=body, headers={"Authorization": key} if key else {})

    def close(self) -> None:
        """Stop server and client."""
        self.http.close()
        self.server.stop()


def serve_study(directory: Path) -> Iterator[Sim]:
    """A server for the study in `directory`."""
    state = State()
    services = [RedcapService(state, directory), DifyService(state, directory)]
    sim = Sim(state, start_in_thread(state, services))
    yield sim
    sim.close()


def configure(sim: Sim, **redcap: Any) -> None:
    """What `manage.py demo` posts."""
    sim.control(
        "configure",
        {
            "redcap": {"tokens": TOKENS, "det_url": None, **redcap},
            "dify": {"key": DIFY_KEY, "dataset_id": DATASET},
        },
    )

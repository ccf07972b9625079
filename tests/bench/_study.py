"""A study in the benchmark's database: project, people, dictionary, roster; no outside system."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from django.utils.timezone import now

from projects.models import Member, Project, Role
from study.models import Dictionary, Subject, SyncState
from tests.bench import _data

CODE = "BENCH"
SUBJECTS = 200
_NAMES = ("王", "李", "张", "刘", "陈", "杨", "赵", "黄"), ("晓明", "建国", "丽华", "志强", "秀英")


def project() -> Project:
    """A study whose dictionary and roster were just read. No REDCap is set up: nothing is asked of one."""
    made = Project.objects.create(code=CODE, name="Benchmark", start_date=date(2020, 1, 6))
    identifier = {**_field("patient_name", "患者姓名"), "identifier": "y"}
    metadata = [*_data.dictionary(), identifier]
    content: dict[str, Any] = {
        "project": {"is_longitudinal": "0", "missing_data_codes": ""},
        "metadata": metadata,
        "events": [],
        "mapping": [],
        "repeating": [],
        "export_field_names": [],
        "instruments": [{"instrument_name": "base", "instrument_label": "base"}],
    }
    Dictionary.objects.create(project=made, content=content, digest="bench", read_at=now())
    Subject.objects.bulk_create(_subject(made, number) for number in range(SUBJECTS))
    SyncState.objects.create(project=made, roster_at=now(), records=SUBJECTS)
    return made


def _field(name: str, label: str) -> dict[str, str]:
    empty = dict.fromkeys(_data.dictionary()[0], "")
    return {**empty, "field_name": name, "field_label": label, "form_name": "base"} | {
        "field_type": "text"
    }


def _subject(made: Project, number: int) -> Subject:
    first, last = _NAMES
    name = f"{first[number % 8]}{last[number % 5]}{chr(0x5B89 + number)}"
    return Subject(
        project=made,
        record_id=f"P{number + 1:03}",
        site="site_a" if number % 2 else "site_b",
        identifiers=json.dumps({"patient_name": name}, ensure_ascii=False),
        synced_at=now(),
    )


def people(made: Project) -> dict[str, Member]:
    """The demo's personas."""
    roles = {"zhangyi": (Role.PI, ""), "wanghushi": (Role.CRC, "site_a"), "admin": (Role.ADMIN, "")}
    roles["crc_b"] = (Role.CRC, "site_b")
    return {
        userid: Member.objects.create(project=made, wecom_userid=userid, role=role, site=site)
        for userid, (role, site) in roles.items()
    }

"""A stored study that reads the small hospital of tests.hospital."""

from __future__ import annotations

from datetime import date
from typing import Any

from projects.models import Member, Project
from study.models import VisitPlanEntry
from tests.hospital import FULL, V1, V2, Hospital


def study(hospital: Hospital, **fields: Any) -> Project:
    """A study whose REDCap is the hospital's."""
    return Project.objects.create(
        **{
            "code": "TEST-IIT",
            "name": "测试研究",
            "start_date": date(2024, 1, 1),
            "redcap_url": hospital.redcap_url,
            "redcap_token": FULL,
            "withdraw_field": "withdraw_date",
            **fields,
        }
    )


def member(project: Project, site: str = "", **fields: Any) -> Member:
    """Somebody of the study; `site` "" sees all."""
    userid = f"crc_{site or 'all'}"
    return Member.objects.create(
        project=project, wecom_userid=userid, role="CRC", site=site, **fields
    )


def plan(project: Project, *entries: dict[str, Any]) -> None:
    """V1 and V2, whose date is the same field at two events, unless entries are given."""
    usual = [
        {"visit": "V1", "event": V1, "day": 1, "minus": 3, "plus": 3},
        {"visit": "V2", "event": V2, "day": 28, "minus": 7, "plus": 7},
    ]
    for position, entry in enumerate(entries or usual):
        VisitPlanEntry.objects.create(
            project=project,
            position=position,
            **{"anchor_field": "first_dose_date", "date_field": "visit_date", **entry},
        )

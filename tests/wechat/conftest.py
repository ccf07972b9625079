"""The personas of the demo study and the stand-in for the tests of the channel."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest
from django.db import connection
from pytest_django import Settings

from projects.models import Member, Project, Role
from study.models import Subject
from tests.wechat.callback_kit import AES_KEY, CORP, TOKEN
from tests.wecom_standin import AGENT, SECRET, WecomSim, open_wecom


@pytest.fixture
def project(db: None) -> Project:
    return Project.objects.create(
        code="LUNG-IIT", name="肺癌研究", start_date=date(2026, 1, 6), target_enrolment=40
    )


@pytest.fixture
def people(project: Project) -> dict[str, Member]:
    """PI, one CRC a site, the administrator."""
    roles = [
        ("zhangyi", Role.PI, "", "张医"),
        ("wanghushi", Role.CRC, "site_a", "王护士"),
        ("crc_b", Role.CRC, "site_b", "李护士"),
        ("admin", Role.ADMIN, "", "管理员"),
    ]
    return {
        name: Member.objects.create(
            project=project, wecom_userid=name, role=role, site=site, display_name=shown
        )
        for name, role, site, shown in roles
    }


@pytest.fixture
def subjects(project: Project) -> dict[str, Subject]:
    from django.utils.timezone import now

    identifiers = '{"subject_name": "陈建国", "phone": "13800000001"}'
    return {
        record: Subject.objects.create(
            project=project,
            record_id=record,
            site=site,
            identifiers=identifiers,
            synced_at=now(),
        )
        for record, site in (("P001", "site_a"), ("P002", "site_b"))
    }


@pytest.fixture(autouse=True)
def _keys(settings: Settings) -> None:
    """What WeCom and we agreed on, whatever the environment says."""
    settings.WECOM_CORP_ID, settings.WECOM_AGENT_ID = CORP, AGENT
    settings.WECOM_AIBOT_ID = settings.WECOM_AIBOT_TOKEN = settings.WECOM_AIBOT_AES_KEY = ""
    settings.WECOM_SECRET = SECRET
    settings.WECOM_TOKEN, settings.WECOM_AES_KEY = TOKEN, AES_KEY
    settings.WECOM_TOKEN_OLD = settings.WECOM_AES_KEY_OLD = ""
    settings.PUBLIC_URL = "http://127.0.0.1:8000"


@pytest.fixture(autouse=True)
def _no_audit_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Transactional tests empty the audit table while its guard is still down (tests/conftest.py)."""
    yield
    marker = request.node.get_closest_marker("django_db")
    if marker and marker.kwargs.get("transaction"):
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM iit_audit_log")


@pytest.fixture
def wecom(settings: Settings) -> Iterator[WecomSim]:
    with open_wecom() as sim:
        settings.WECOM_API_BASE = sim.base
        yield sim

"""A trail that does not hold, or that nothing guards, is told to those who must know (design.md 9.9)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.db import connection
from pytest_django import Settings

from core.house import audit_guard
from core.house.db import atomic
from engines.briefing import daily_briefing
from engines.briefing_material import Material, Reading
from projects import audit, audit_anchors
from projects.models import AuditEntry, AuditHead, Member, Project
from skills.graph import Node
from wechat import housekeeping
from wechat.models import Alert, OutboxMessage
from wechat.outbound import alerts, audit_alarm

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def trail(project: Project) -> Project:
    for _time in range(3):
        with atomic():
            audit.record("login", actor="zhangyi", project=project)
    audit_anchors.take()
    return project


@pytest.fixture
def administrators(people: dict[str, Member]) -> None:
    """One of the study, one of a site."""
    project = people["zhangyi"].project
    Member.objects.create(project=project, wecom_userid="adm_all", role="ADMIN")
    Member.objects.create(project=project, wecom_userid="adm_site", role="ADMIN", site="site_a")


def told() -> set[str]:
    rows = OutboxMessage.objects.filter(key__startswith="audit-alarm:")
    return set(rows.values_list("to_user", flat=True))


def opened() -> list[Alert]:
    return list(Alert.objects.filter(code=alerts.Code.AUDIT, cleared_at=None))


def test_a_whole_trail_is_anchored_and_nobody_is_told(trail: Project) -> None:
    with atomic():
        audit.record("login", actor="zhangyi", project=trail)
    housekeeping.run_due()
    last = json.loads(audit_anchors.path().read_bytes().splitlines()[-1])
    assert (last["chain"], last["seq"]) == (str(trail.pk), 4)
    assert (opened(), told()) == ([], set())


@pytest.mark.usefixtures("administrators")
def test_storage_of_the_anchors_that_is_away_is_told(
    trail: Project, tmp_path: Path, settings: Settings
) -> None:
    settings.AUDIT_ANCHORS = str(tmp_path)
    assert audit_alarm.watch() == 2
    assert [one.detail for one in opened()] == [
        "anchors 0 anchor not written: IsADirectoryError (+1)"
    ]
    assert told() == {"adm_all", "admin"}


@pytest.mark.parametrize("trigger", audit_guard.TRIGGERS[connection.vendor])
def test_a_missing_trigger_is_an_alarm(
    trail: Project, administrators: None, trigger: str, caplog: pytest.LogCaptureFixture
) -> None:
    suffix = " ON iit_audit_log" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {trigger}{suffix}")
    housekeeping.run_due()
    assert [trigger in alert.detail for alert in opened()] == [True]
    assert "adm_all" in told()
    assert "adm_site" not in told()
    assert "ALERT audit" in caplog.text
    before = OutboxMessage.objects.count()
    audit_alarm.watch()
    assert OutboxMessage.objects.count() == before, "once a day and person"
    audit_guard.install(connection)
    audit_alarm.watch()
    assert opened(), "a person says that it is over"


def test_a_cut_tail_is_seen_at_the_next_look(trail: Project, administrators: None) -> None:
    audit_guard.remove(connection)
    AuditEntry.objects.filter(number=3).delete()
    AuditHead.objects.filter(chain=str(trail.pk)).update(length=2, anchored=0, claim=None)
    audit_guard.install(connection)
    assert audit_alarm.watch() > 0
    assert f"{trail.pk} 3 missing" in opened()[0].detail


def test_an_old_edit_is_found_by_the_nightly_walk(trail: Project) -> None:
    audit_guard.remove(connection)
    AuditEntry.objects.filter(number=1).update(actor="forged")
    audit_guard.install(connection)
    assert audit_alarm.watch() == 0
    assert audit_alarm.verify_trail() == 1
    assert f"{trail.pk} 1 changed" in opened()[0].detail


def test_anchors_that_cannot_be_written_are_an_alarm(trail: Project, settings: Settings) -> None:
    settings.AUDIT_ANCHORS = str(settings.VAR_DIR / "nowhere" / "anchors.jsonl")
    assert audit_alarm.watch() > 0
    assert "anchor not written" in opened()[0].detail


@pytest.mark.parametrize(
    ("role", "site", "is_told"),
    [("ADMIN", "", True), ("ADMIN", "site_a", False), ("PI", "", False), ("CRC", "", False)],
)
def test_the_daily_message_says_where_the_chain_ends(
    trail: Project, role: str, site: str, is_told: bool
) -> None:
    reader = Member(project=trail, wecom_userid="reader", role=role, site=site)
    material = Material(
        trail,
        Node.model_validate({"type": "notify", "content": "daily_briefing", "roles": ["ADMIN"]}),
        trail.created_at,
        Reading(),
    )
    ending = audit_anchors.end(str(trail.pk))[1][:16]
    assert (f"3 {ending}" in daily_briefing(material.for_reader(reader)).render()) == is_told
    audit_guard.remove(connection)
    assert ("audit verify" in daily_briefing(material.for_reader(reader)).render()) == is_told
    audit_guard.install(connection)

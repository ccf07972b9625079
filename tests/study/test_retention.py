"""Old versions go after the project's time, the newest never; identifiers go from old versions, too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from projects.models import Project
from study import door, sync, tasks, versions
from study.dictionary import load
from study.identifier_filter import hidden_columns
from study.models import Reading, ReadingState
from study.query.errors import QueryError
from study.readings import forget_identifiers
from tests.hospital import SCREENING, Hospital, open_hospital
from tests.projects.studies import study

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Hospital]:
    with open_hospital(tmp_path) as opened:
        yield opened


@pytest.fixture
def project(hospital: Hospital, settings: Settings) -> Project:
    """P001's weight was 61.5 until 20 days ago, then 70 until 5 days ago, then 80."""
    settings.REDCAP_REQUESTS_PER_SECOND = 1000
    made = study(hospital, reading_days=10)
    sync.sweep(made)
    for weight in ("70", "80"):
        values = {"weight": weight}
        hospital.save([{"record": "P001", "event": SCREENING, "values": values}])
        sync.poll(made)
    Reading.objects.update(is_followed=True, first_seen=ago(30))
    first, second, third = Reading.objects.filter(record_id="P001", event=SCREENING).order_by("pk")
    for row, begin, end in ((first, 30, 20), (second, 20, 5), (third, 5, None)):
        row.first_seen, row.last_seen = ago(begin), ago(end) if end else None
        row.save()
    ReadingState.objects.update(whole_since=ago(30), version=7)
    return made


NOW = timezone.now()


def ago(days: int) -> timezone.datetime:
    return NOW - timedelta(days=days)


def weights() -> list[str]:
    rows = Reading.objects.filter(record_id="P001", event=SCREENING).order_by("pk")
    return [json.loads(row.values)["weight"] for row in rows]


@pytest.mark.full
def test_what_ended_before_goes_and_no_earlier_time_is_told(project: Project) -> None:
    tasks.forget_readings()
    assert weights() == ["70", "80"]
    assert Reading.objects.filter(is_current=True, first_seen=ago(30)).exists()
    with pytest.raises(QueryError):
        versions.time_of(project, ago(15).isoformat())
    told = door.ask_one(project, None, {"select": ["weight"], "as_of": ago(7).isoformat()}).facts
    assert ("P001", "70") in {(fact.subject, fact.text) for fact in told}
    changes = versions.of_project(project)["P001"]
    assert [(one.column, one.before, one.after) for one in changes] == [("weight", "70", "80")]


def test_what_nobody_followed_up_stays(project: Project) -> None:
    Reading.objects.filter(last_seen=ago(20)).update(is_followed=False)
    tasks.forget_readings()
    assert weights() == ["61.5", "70", "80"]


@pytest.mark.full
def test_a_field_that_identifies_by_now_leaves_old_versions(project: Project) -> None:
    metadata = load(project)
    old = Reading.objects.filter(is_current=False).first()
    assert old is not None
    old.values = json.dumps(json.loads(old.values) | {"phone": "13900001111"})
    old.save()
    assert "phone" in hidden_columns(metadata)
    forget_identifiers(project, metadata)
    old.refresh_from_db()
    assert "13900001111" not in old.values
    assert json.loads(old.values)["weight"] == "61.5"

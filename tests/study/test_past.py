"""What was known at an earlier time, and what has changed since, from versions of readings."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as some
from pytest_django import Settings

from projects.models import Project
from study import door, sync, versions
from study.dictionary import load
from study.models import ReadingState, SyncState
from study.query.errors import QueryError
from study.readings import current_rows
from tests.hospital import SCREENING, Hospital, open_hospital, person
from tests.projects.studies import member, study

pytestmark = [pytest.mark.django_db, pytest.mark.database]
CHANGES = ["@changes.field", "@changes.from", "@changes.to", "@changes.at"]


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Hospital]:
    with open_hospital(tmp_path) as opened:
        yield opened


@pytest.fixture
def project(hospital: Hospital, settings: Settings) -> Project:
    settings.REDCAP_REQUESTS_PER_SECOND = 1000
    made = study(hospital)
    sync.sweep(made)
    return made


def save(hospital: Hospital, record: str = "P001", **values: str) -> None:
    hospital.save([{"record": record, "event": SCREENING, "values": values}])


def weight(project: Project, **query: Any) -> dict[str, str]:
    told = door.ask_one(project, None, {"select": ["weight"], **query})
    return {fact.subject: fact.text for fact in told.facts if fact.kind == "value"}


def changes(project: Project, reader: Any = None, **query: Any) -> list[tuple[str, ...]]:
    told = door.ask_one(project, reader, {"select": CHANGES, **query}).facts
    rows = [told[n : n + len(CHANGES)] for n in range(0, len(told), len(CHANGES))]
    return [(row[0].subject, *(fact.text for fact in row[:3])) for row in rows]


@pytest.mark.full
def test_an_earlier_time_is_answered_as_it_was_known_then(
    hospital: Hospital, project: Project
) -> None:
    before = timezone.now().isoformat()
    save(hospital, weight="81.5")
    hospital.save([person("P100", "site_b", "孙一", "13800000100", weight="70")])
    hospital.save([{"record": "P003", "delete": True}])
    sync.poll(project)
    assert weight(project)["P001"] == "81.5"
    assert weight(project, as_of=before)["P001"] == "61.5"
    everybody = door.ask_one(project, None, {"as_of": before}).facts
    assert {"P003"} <= {fact.subject for fact in everybody}
    assert "P100" not in {fact.subject for fact in everybody}
    told = door.ask_one(project, None, {"select": ["weight"], "as_of": before}).read_at
    assert told is not None
    assert timezone.datetime.fromisoformat(told) <= timezone.datetime.fromisoformat(before)


@pytest.mark.parametrize("as_of", ["2020-01-01", "2020-01-01T09:00", "2020-01-01T09:00+00:00"])
def test_a_time_before_the_first_reading_is_refused(project: Project, as_of: str) -> None:
    with pytest.raises(QueryError) as caught:
        weight(project, as_of=as_of)
    assert caught.value.at == "as_of"


def test_today_and_what_is_to_come_is_now(hospital: Hospital, project: Project) -> None:
    save(hospital, weight="81.5")
    sync.poll(project)
    assert weight(project, as_of="2999-01-01") == weight(project)


def test_findings_have_no_earlier_time(project: Project) -> None:
    with pytest.raises(QueryError):
        door.ask_one(
            project,
            None,
            {"select": ["@findings.status"], "as_of": timezone.now().isoformat()},
        )


@pytest.mark.full
def test_what_changed_is_told_with_before_after_and_labels(
    hospital: Hospital, project: Project
) -> None:
    assert changes(project) == []
    save(hospital, weight="81.5", sex="2")
    sync.poll(project)
    assert sorted(changes(project)) == [
        ("P001", "sex", "男", "女"),
        ("P001", "weight", "61.5", "81.5"),
    ]
    first = timezone.now()
    save(hospital, "P002", weight="55")
    sync.poll(project)
    since = {"field": "@changes.at", "op": ">=", "value": f"{timezone.localtime(first):%Y-%m-%d}"}
    assert ("P002", "weight", "UNK", "55") in changes(project, where=[since])
    tomorrow = f"{timezone.localtime(first) + timedelta(days=1):%Y-%m-%d}"
    assert changes(project, where=[since | {"value": tomorrow}]) == []
    assert changes(project, where=[{"field": "@changes.field", "op": "=", "value": "sex"}]) == [
        ("P001", "sex", "男", "女")
    ]


def test_changes_are_scoped_and_tell_no_identifier(hospital: Hospital, project: Project) -> None:
    save(hospital, weight="81.5", phone="13911112222")
    save(hospital, "P002", weight="55")
    sync.poll(project)
    reader = member(project, "site_b")
    assert {row[0] for row in changes(project, reader)} == {"P002"}
    assert {row[1] for row in changes(project)} == {"weight"}


def test_what_a_query_must_not_name_is_no_change_either(
    hospital: Hospital, project: Project
) -> None:
    save(hospital, weight="81.5", sex="2")
    sync.poll(project)
    told = door.ask_one(project, None, {"select": CHANGES}, blinded=["weight"]).facts
    assert {fact.text for fact in told if fact.field == "@changes.field"} == {"sex"}


STEPS = some.lists(
    some.tuples(some.sampled_from(["P001", "P002", "P003"]), some.sampled_from(["", "50", "60"])),
    min_size=1,
    max_size=6,
)


@pytest.mark.full
@settings(max_examples=8)
@given(steps=STEPS, swept=some.booleans())
def test_as_of_equals_a_snapshot_taken_then(steps: list[tuple[str, str]], swept: bool) -> None:
    """Whatever is saved, in whatever order: the versions tell each moment as it was read."""
    with (
        tempfile.TemporaryDirectory() as directory,
        open_hospital(Path(directory)) as hospital,
        transaction.atomic(),
    ):
        project = study(hospital)
        sync.sweep(project)
        taken = []
        for record, value in steps:
            save(hospital, record, weight=value)
            (sync.sweep if swept else sync.poll)(project)
            taken.append((timezone.now(), current_rows(project, load(project))))
        for at, rows in taken:
            known = versions.records_at(project, load(project), None, None, at)
            assert {data.record_id: list(data.rows) for data in known} == rows
        assert SyncState.objects.get(project=project).cause == ""
        assert ReadingState.objects.get(project=project).whole_since is not None
        transaction.set_rollback(True)

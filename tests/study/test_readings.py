"""Readings: versions of what was read, for all subjects in one export, without identifiers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.db import connection, transaction
from pytest_django import Settings

from core.integrations.redcap import RedcapError
from projects.models import Project
from study import readings
from study.dictionary import load
from study.identifier_filter import IdentifierFilter
from study.models import Reading, ReadingState, Subject, SyncState
from study.records import read_record
from tests.hospital import SCREENING, V1, Hospital, open_hospital
from tests.projects.studies import member, study

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Hospital]:
    with open_hospital(tmp_path) as opened:
        yield opened


@pytest.fixture
def project(hospital: Hospital, settings: Settings) -> Project:
    settings.REDCAP_REQUESTS_PER_SECOND = 1000
    return study(hospital)


def rows(project: Project, record_id: str) -> list[dict[str, object]]:
    return readings.current_rows(project, load(project), [record_id]).get(record_id, [])


def change(hospital: Hospital, record: str, **values: str) -> None:
    hospital.save([{"record": record, "event": SCREENING, "values": values}])


def test_one_export_keeps_all_subjects_and_the_roster(hospital: Hospital, project: Project) -> None:
    readings.read_all(project)

    stored = set(Reading.objects.values_list("record_id", flat=True))
    assert stored == set(Subject.objects.values_list("record_id", flat=True))
    assert len(stored) == 5
    # The ids, then everything of the first hundred of them.
    assert sum(form.get("content") == "record" for form in hospital.forms()) == 2


def test_what_is_kept_is_what_redcap_shows_but_for_identifiers(project: Project) -> None:
    readings.read_all(project)
    live = read_record(project=project, record_id="P001")
    assert live is not None

    kept = rows(project, "P001")
    hidden = {"subject_name", "phone"}
    assert kept == [{k: v for k, v in row.items() if k not in hidden} for row in live.rows]
    assert any(row.get("subject_name") for row in live.rows)


def test_the_name_of_an_identifying_file_is_not_kept(project: Project) -> None:
    """REDCap exports it, and leaves its column out of the names of export columns."""
    metadata = load(project)
    scan = {
        **metadata.metadata[1],
        "field_name": "id_card",
        "field_type": "file",
        "field_label": "证件",
        "identifier": "y",
    }
    with_file = replace(metadata, metadata=[*metadata.metadata, scan])
    live = read_record(project=project, record_id="P001")
    assert live is not None
    held = replace(live, rows=({**live.rows[0], "id_card": "张三_身份证.jpg"}, *live.rows[1:]))

    kept = IdentifierFilter(project, with_file).rows(held)

    assert kept[0]["sex"] == "1"
    assert all("id_card" not in row for row in kept)


def test_no_identifier_and_no_value_stands_in_the_table(project: Project) -> None:
    readings.read_all(project)
    live = read_record(project=project, record_id="P001")
    assert live is not None
    secrets = {
        str(row.get(n, "")) for row in live.rows for n in ("subject_name", "phone", "weight")
    }
    with connection.cursor() as cursor:
        cursor.execute("select * from iit_readings")
        stored = str(cursor.fetchall())
    assert not [secret for secret in secrets if secret and secret in stored]
    plain = json.dumps([json.loads(r.values) for r in Reading.objects.all()], ensure_ascii=False)
    names = {s.identifiers for s in Subject.objects.all()}
    values = {value for name in names for value in json.loads(name).values()}
    assert values
    assert not [value for value in values if value in plain]


def test_reading_the_same_again_adds_nothing(project: Project) -> None:
    readings.read_all(project)
    before = list(Reading.objects.values("pk", "last_seen"))
    version = ReadingState.objects.get().version
    readings.read_all(project)
    assert list(Reading.objects.values("pk", "last_seen")) == before
    assert ReadingState.objects.get().version == version


def test_a_change_makes_a_version_and_ends_the_one_before(
    hospital: Hospital, project: Project
) -> None:
    first = readings.read_all(project)
    change(hospital, "P001", weight="81.5")
    second = readings.read_all(project)

    assert [row["weight"] for row in rows(project, "P001") if row["weight"]] == ["81.5"]
    versions = Reading.objects.filter(record_id="P001", event=SCREENING).order_by("first_seen")
    assert [v.is_current for v in versions] == [False, True]
    assert [v.first_seen for v in versions] == [first, second]
    assert versions[0].last_seen == second


@pytest.mark.full
def test_what_a_transaction_took_back_is_not_remembered(
    hospital: Hospital, project: Project
) -> None:
    readings.read_all(project)
    with transaction.atomic():
        change(hospital, "P001", weight="81.5")
        readings.read_all(project)
        assert [row["weight"] for row in rows(project, "P001") if row["weight"]] == ["81.5"]
        transaction.set_rollback(True)
    change(hospital, "P001", weight="90")
    readings.read_all(project)
    assert [row["weight"] for row in rows(project, "P001") if row["weight"]] == ["90"]


def test_what_names_the_subject_is_masked_in_its_notes(
    hospital: Hospital, project: Project
) -> None:
    live = read_record(project=project, record_id="P001")
    assert live is not None
    name = next(str(row["subject_name"]) for row in live.rows if row.get("subject_name"))
    change(hospital, "P001", withdraw_date=f"{name}自述乏力")
    readings.read_all(project)
    (kept,) = [row["withdraw_date"] for row in rows(project, "P001") if row["withdraw_date"]]
    assert str(kept) == f"[{load(project).label('subject_name')}]自述乏力"


def test_a_live_reading_of_one_subject_is_kept_and_touches_no_other(
    hospital: Hospital, project: Project
) -> None:
    readings.read_all(project)
    others = list(Reading.objects.exclude(record_id="P001").values("pk", "is_current"))
    change(hospital, "P001", weight="70")
    live = read_record(project=project, record_id="P001")
    assert live is not None
    readings.keep_readings(project, [live])

    assert any(row["weight"] == "70" for row in rows(project, "P001"))
    assert list(Reading.objects.exclude(record_id="P001").values("pk", "is_current")) == others


@pytest.mark.parametrize(
    ("kind", "value", "body"),
    [("status", 500, ""), ("body", "<html>502</html>", ""), ("body", "[]", "")],
)
def test_a_reading_that_fails_leaves_what_was_read(
    hospital: Hospital, project: Project, kind: str, value: object, body: str
) -> None:
    readings.read_all(project)
    before = list(Reading.objects.values())
    hospital.fault(kind, value, times=9, body="content=record")
    with pytest.raises(RedcapError):
        readings.read_all(project)
    assert list(Reading.objects.values()) == before
    assert SyncState.objects.get(project=project).error


def test_a_member_with_a_site_gets_their_own(project: Project) -> None:
    readings.read_all(project)
    metadata = load(project)
    own = readings.of_members(project, metadata, member(project, "site_a"), None)
    every = readings.of_members(project, metadata, None, None)
    assert {data.site for data in own} == {"site_a"}
    assert {data.record_id for data in own} < {data.record_id for data in every}
    asked = [data.record_id for data in every if data.site == "site_b"]
    reader = project.members.get(wecom_userid="crc_site_a")
    assert asked
    assert readings.of_members(project, metadata, reader, asked) == []


def test_blank_and_not_shown_stay_two_things(project: Project) -> None:
    readings.read_all(project)
    state = ReadingState.objects.get()
    state.missing_columns = ["withdraw_date"]
    state.save()
    assert all("withdraw_date" not in row and "weight" in row for row in rows(project, "P001"))
    assert any(row["redcap_event_name"] == V1 for row in rows(project, "P001"))

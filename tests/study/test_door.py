"""The one door to data: live for few, from readings for many, scoped, and honest in an outage."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.utils import timezone
from pytest_django import Settings

from core.integrations.redcap import RedcapError
from projects.models import Person, Project
from study import door
from study.models import ReadingState
from study.query.errors import QueryError
from tests.hospital import SCREENING, Hospital, open_hospital
from tests.projects.studies import member, study

pytestmark = pytest.mark.django_db


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Hospital]:
    with open_hospital(tmp_path) as opened:
        yield opened


@pytest.fixture
def project(hospital: Hospital, settings: Settings) -> Project:
    settings.REDCAP_REQUESTS_PER_SECOND = 1000
    cache.clear()
    return study(hospital)


EVERYBODY: dict[str, Any] = {"aggregate": "count"}


def weight(project: Project, *ids: str, reader: Any = None) -> list[tuple[str, Any]]:
    told = door.ask_one(project, reader, {"subjects": list(ids) or None, "select": ["weight"]})
    return [(fact.subject, fact.text) for fact in told.facts if fact.kind == "value"]


def save(hospital: Hospital, record: str, value: str) -> None:
    hospital.save([{"record": record, "event": SCREENING, "values": {"weight": value}}])


def age_readings(project: Project, minutes: int) -> None:
    cache.clear()
    at = timezone.now() - timedelta(minutes=minutes)
    ReadingState.objects.filter(project=project).update(read_at=at)


def exports(hospital: Hospital) -> int:
    return sum(form.get("content") == "record" for form in hospital.forms())


@pytest.mark.full
def test_a_question_about_one_subject_is_read_live(hospital: Hospital, project: Project) -> None:
    door.ask_one(project, None, EVERYBODY)
    save(hospital, "P001", "81.5")
    assert weight(project, "P001") == [("P001", "81.5")]


@pytest.mark.full
def test_a_question_about_many_stands_on_fresh_readings(
    hospital: Hospital, project: Project
) -> None:
    save(hospital, "P001", "70")
    door.ask_one(project, None, EVERYBODY)
    before = exports(hospital)
    save(hospital, "P001", "81.5")
    assert ("P001", "70") in weight(project)
    assert exports(hospital) == before
    age_readings(project, 6)
    assert ("P001", "81.5") in weight(project)


@pytest.mark.full
def test_what_was_read_live_is_in_the_readings(hospital: Hospital, project: Project) -> None:
    door.ask_one(project, None, EVERYBODY)
    save(hospital, "P001", "66.6")
    weight(project, "P001")
    assert ("P001", "66.6") in weight(project)


@pytest.mark.parametrize("ids", [("P001",), ()])
def test_an_outage_is_answered_from_readings_with_their_time(
    hospital: Hospital, project: Project, ids: tuple[str, ...]
) -> None:
    save(hospital, "P001", "70")
    door.ask_one(project, None, EVERYBODY)
    age_readings(project, 90)
    hospital.fault("status", 500, times=50)
    told = door.ask_one(project, None, {"subjects": list(ids) or None, "select": ["weight"]})
    assert "70" in [fact.text for fact in told.facts]
    assert told.read_at is not None
    assert timezone.datetime.fromisoformat(told.read_at) < timezone.now() - timedelta(minutes=80)


@pytest.mark.parametrize("ids", [("P001",), ()])
def test_an_outage_before_the_first_reading_is_an_error(
    hospital: Hospital, project: Project, ids: tuple[str, ...]
) -> None:
    hospital.fault("status", 500, times=50)
    with pytest.raises(RedcapError):
        weight(project, *ids)


def test_a_foreign_subject_reads_like_an_invented_one(project: Project) -> None:
    reader = member(project, "site_a")
    own = {subject for subject, _text in weight(project, reader=reader)}
    foreign = {subject for subject, _text in weight(project)} - own
    assert own
    assert foreign
    answers = {
        name: door.ask_one(project, reader, {"subjects": [name], "select": ["weight"]}).as_json()
        for name in (*sorted(foreign), "P999")
    }
    assert len({json.dumps(told) for told in answers.values()}) == 1
    assert answers["P999"]["facts"] == []


def test_who_left_the_study_is_told_nothing(project: Project) -> None:
    reader = member(project, is_active=False)
    assert door.ask_one(project, reader, EVERYBODY).facts[0].value == 0
    assert weight(project, "P001", reader=reader) == []


@pytest.mark.parametrize("name", ["subject_name", "weight"])
def test_an_identifier_and_a_blinded_field_do_not_exist(project: Project, name: str) -> None:
    def refused(field: str, **more: Any) -> dict[str, Any]:
        with pytest.raises(QueryError) as caught:
            door.ask_one(project, None, {"select": [field], **more}, blinded=["weight"])
        return caught.value.as_json()["error"]

    told, invented = refused(name), refused("no_such_field")
    assert told["at"] == invented["at"]
    assert told["message"].replace(name, "?") == invented["message"].replace("no_such_field", "?")
    assert not {"subject_name", "phone", "weight"} & set(told["nearest"])


def test_the_command_answers_line_by_line(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person.objects.create(wecom_userid="crc_x")
    project.members.create(person=person, wecom_userid="crc_x", role="CRC", site="site_a")
    lines = ['{"aggregate": "count"}', "no json", '{"select": ["nothing_like_it"]}', "[]"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))
    out = io.StringIO()
    call_command("query", "--user", "CRC_X", stdout=out)
    told = [json.loads(line) for line in out.getvalue().splitlines()]
    assert told[0]["facts"][0]["value"] == 3  # of five
    assert set(told[2]["error"]) == {"at", "message", "nearest"}
    assert [sorted(one) for one in told[1:]] == [["error"]] * 3


@pytest.mark.parametrize("words", [["--user", "nobody"], ["--user", "crc_x", "--project", "NO"]])
def test_who_is_no_member_is_told_so(project: Project, words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        call_command("query", *words, stderr=io.StringIO())
    assert caught.value.code == 3

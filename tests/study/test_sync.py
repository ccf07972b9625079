"""Readings kept current over real HTTP: what a fault hides is shown, and made up for, once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from core.integrations.redcap import RedcapError
from projects.models import Project
from study import change_handlers, door, readings, roster, sync, tasks
from study.dictionary import load
from study.models import Reading, ReadingState, Subject, SyncState
from study.readings import current_rows
from study.records import read_record
from tests.hospital import DEIDENTIFIED, FULL, LOG, SCREENING, Hospital, open_hospital, person
from tests.projects.studies import study
from tests.support.tasks import drain

pytestmark = pytest.mark.django_db
DAY = 86_400
HTML = "<html><body>502 Bad Gateway</body></html>"


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Hospital]:
    with open_hospital(tmp_path) as opened:
        yield opened


@pytest.fixture
def project(hospital: Hospital, settings: Settings) -> Project:
    settings.REDCAP_REQUESTS_PER_SECOND = 1000
    made = study(hospital)
    assert sync.sweep(made)
    return made


class Heard(list[tuple[str, set[str]]]):
    """What a handler of changes hears, one entry a subject and time."""

    def __call__(self, _project: Project, record_id: str, columns: Any) -> None:
        self.append((record_id, set(columns)))


@pytest.fixture
def told() -> Heard:
    return Heard()


def save(hospital: Hospital, record: str = "P001", **values: str) -> None:
    hospital.save([{"record": record, "event": SCREENING, "values": values}])


def weights(project: Project) -> dict[str, str]:
    rows = current_rows(project, load(project))
    return {i: str(row["weight"]) for i, some in rows.items() for row in some if row["weight"]}


def state(project: Project) -> SyncState:
    return SyncState.objects.get(project=project)


def exports(hospital: Hospital) -> int:
    return len(hospital.forms("record"))


def test_a_poll_reads_what_has_changed_and_nothing_else(
    hospital: Hospital, project: Project
) -> None:
    before = state(project)
    save(hospital, weight="81.5")
    count = exports(hospital)
    assert sync.poll(project)
    assert weights(project)["P001"] == "81.5"
    asked = hospital.forms("record")[count:]
    assert [form.get("records[0]") for form in asked] == ["P001"]
    after = state(project)
    assert before.polled_at is not None
    assert after.polled_at is not None
    assert after.polled_at > before.polled_at
    assert after.swept_at == before.swept_at
    assert ReadingState.objects.get().read_at == after.polled_at
    assert not after.is_incomplete


def test_a_poll_finds_new_subjects_and_those_that_are_gone(
    hospital: Hospital, project: Project
) -> None:
    hospital.save([person("P100", "site_b", "孙一", "13800000100", weight="70")])
    hospital.save([{"record": "P003", "delete": True}])
    sync.poll(project)
    assert weights(project)["P100"] == "70"
    assert Subject.objects.get(record_id="P100").site == "site_b"
    assert "P003" not in current_rows(project, load(project))
    assert not Subject.objects.get(record_id="P003").is_present
    ended = Reading.objects.get(record_id="P003")
    assert (ended.is_current, ended.last_seen is None) == (False, False)


@pytest.mark.parametrize("first", ["", "roster", "trigger"])
def test_a_poll_counts_a_renamed_subject_once(
    hospital: Hospital, project: Project, first: str
) -> None:
    """Also where the roster, or a save that the trigger told, knows the new id before the log is read."""
    hospital.save([{"record": "P003", "rename": "P300"}])
    if first == "roster":
        roster.sync_roster(project)
    if first == "trigger":
        found = read_record(project=project, record_id="P300")
        assert found
        sync.keep_some(project, [found])
    sync.poll(project)
    there = current_rows(project, load(project))
    assert ("P003" in there, "P300" in there) == (False, True)
    assert roster.present_ids(project) == frozenset(there)
    count = exports(hospital)
    save(hospital, weight="81.5")
    sync.poll(project)
    assert exports(hospital) == count + 1, "nobody has come: the records are not listed"


def test_a_row_that_was_deleted_ends(hospital: Hospital, project: Project) -> None:
    live = read_record(project=project, record_id="P001")
    assert live is not None
    later = replace(live, rows=live.rows[:-1], read_at=timezone.now())
    readings.keep_readings(project, [later])
    [ended] = Reading.objects.filter(is_current=False)
    assert (ended.event, ended.instance, ended.last_seen) == (LOG, 2, later.read_at)


@pytest.mark.full
def test_a_value_that_changes_while_it_is_read_is_read_again(
    hospital: Hospital, project: Project
) -> None:
    """The log was read before the export: what came between them stands in the log of the next poll."""
    save(hospital, weight="70")
    sync.poll(project)
    save(hospital, weight="71")
    sync.poll(project)
    assert weights(project)["P001"] == "71"
    assert Reading.objects.filter(record_id="P001", event=SCREENING).count() == 3


def test_polling_twice_writes_nothing_the_second_time(
    hospital: Hospital, project: Project, told: Heard
) -> None:
    save(hospital, weight="81.5")
    sync.poll(project)
    rows = list(Reading.objects.values_list("pk", "last_seen"))
    sync.poll(project)
    assert list(Reading.objects.values_list("pk", "last_seen")) == rows
    assert [change_handlers.handle_changes(project, told).left for _time in range(2)] == [0, 0]
    assert told == [("P001", {"weight"})]


def test_the_first_reading_is_no_change(project: Project, told: Heard) -> None:
    change_handlers.handle_changes(project, told)
    assert told == []


def test_what_a_follower_could_not_do_is_asked_for_again(
    hospital: Hospital, project: Project
) -> None:
    heard = []

    def busy(project: Project, record_id: str, columns: Any) -> None:
        heard.append(record_id)
        if len(heard) == 1:
            raise change_handlers.NotNow("later")

    save(hospital, weight="81.5")
    sync.poll(project)
    assert [change_handlers.handle_changes(project, busy).left for _time in range(3)] == [1, 0, 0]
    assert heard == ["P001", "P001"]
    assert change_handlers.projects_with_changes() == []


def test_a_subject_that_cannot_be_worked_on_stops_no_other(project: Project) -> None:
    heard = []

    def broken(project: Project, record_id: str, columns: Any) -> None:
        heard.append(record_id)
        if len(heard) == 1:
            raise LookupError

    people = {*Reading.objects.values_list("record_id", flat=True)}
    assert len(people) > 1
    Reading.objects.update(is_followed=False)
    assert change_handlers.handle_changes(project, broken).left == 1
    assert {*heard} == people
    assert [*Reading.objects.filter(is_followed=False).values_list("record_id", flat=True)]
    assert change_handlers.handle_changes(project, broken).left == 0


FAULTS = [
    ("status", 403, "refused"),
    ("status", 500, "server"),
    ("status", {"status": 502, "body": HTML, "content_type": "text/html"}, "server"),
    ("body", HTML, "unreadable"),
    ("body", '[{"record_id":"P001","redcap_event_name":"screening_arm_1","wei', "unreadable"),
    ("reset", None, "network"),
    ("timeout_after", 0.05, "network"),
    ("body", "[]", "empty"),
]
NAMES = ["403", "500", "502", "html", "cut", "reset", "hung", "nothing"]


@pytest.mark.parametrize(("kind", "value", "cause"), FAULTS, ids=NAMES)
def test_a_sweep_that_fails_says_why_and_leaves_what_was_read(
    hospital: Hospital, project: Project, kind: str, value: Any, cause: str
) -> None:
    save(hospital, weight="81.5")
    before, rows = state(project), list(Reading.objects.values())
    hospital.fault(kind, value, times=9, body="content=record")
    with pytest.raises(RedcapError):
        sync.sweep(project)
    failed = state(project)
    assert (failed.cause, failed.is_incomplete) == (cause, True)
    assert (failed.polled_at, failed.swept_at) == (before.polled_at, before.swept_at)
    assert list(Reading.objects.values()) == rows
    assert failed.lease_until is None


@pytest.mark.full
@pytest.mark.parametrize(("kind", "value", "cause"), FAULTS[:-1], ids=NAMES[:-1])
def test_a_poll_that_fails_is_made_up_for_once(
    hospital: Hospital, project: Project, told: Heard, kind: str, value: Any, cause: str
) -> None:
    save(hospital, weight="81.5")
    hospital.fault(kind, value, times=3, body="content=record")
    with pytest.raises(RedcapError):
        sync.poll(project)
    failed = state(project)
    assert (failed.cause, failed.is_incomplete) == (cause, True)
    assert weights(project).get("P001") == "61.5"
    change_handlers.handle_changes(project, told)
    assert told == []

    for _time in range(3):  # what is left of the planned faults
        try:
            sync.poll(project)
        except RedcapError:
            continue
    healed = state(project)
    assert (healed.cause, healed.error, healed.is_incomplete) == ("", "", False)
    assert weights(project)["P001"] == "81.5"
    change_handlers.handle_changes(project, told)
    change_handlers.handle_changes(project, told)
    assert told == [("P001", {"weight"})]


@pytest.mark.parametrize("content", ["log", "record"])
def test_an_empty_answer_is_a_fault_where_something_is_known(
    hospital: Hospital, project: Project, content: str
) -> None:
    save(hospital, weight="81.5")
    before = list(Reading.objects.values())
    hospital.fault("body", "[]", times=1, body=f"content={content}")
    with pytest.raises(RedcapError):
        sync.poll(project)
    assert state(project).is_incomplete
    assert list(Reading.objects.values()) == before
    assert all(subject.is_present for subject in Subject.objects.all())


def test_one_batch_of_a_sweep_that_is_empty_ends_nobody(
    hospital: Hospital, project: Project
) -> None:
    hospital.fault("body", "[]", times=1, body="records%5B0%5D")
    with pytest.raises(RedcapError):
        sync.sweep(project)
    assert Reading.objects.filter(is_current=False).count() == 0
    assert state(project).cause == "unreadable"


@pytest.mark.full
def test_columns_that_are_hidden_are_not_blank_and_no_change(
    hospital: Hospital, project: Project, told: Heard
) -> None:
    names = {s.record_id: s.identifiers for s in Subject.objects.all()}
    Project.objects.update(redcap_token=DEIDENTIFIED)
    project.refresh_from_db()
    sync.sweep(project)
    failing = state(project)
    assert failing.cause == "columns"
    assert "subject_name" in failing.error
    assert ReadingState.objects.get().missing_columns
    assert {s.record_id: s.identifiers for s in Subject.objects.all()} == names
    change_handlers.handle_changes(project, told)
    assert told == []
    assert Reading.objects.filter(is_current=False).count() == 0

    save(hospital, weight="81.5")
    Project.objects.update(redcap_token=FULL)
    project.refresh_from_db()
    sync.poll(project)  # reads everything: what others show now is another, too
    assert state(project).cause == ""
    assert ReadingState.objects.get().missing_columns == []
    assert weights(project)["P001"] == "81.5"


@pytest.mark.full
def test_a_day_of_outage_is_made_up_for_by_one_poll(
    hospital: Hospital, project: Project, told: Heard
) -> None:
    hospital.control("clock", {"advance_s": DAY / 2})
    hospital.fault("status", 503, times=6)
    for _time in range(2):
        save(hospital, weight="90")
        with pytest.raises(RedcapError):
            sync.poll(project)
    save(hospital, "P002", weight="55")
    hospital.control("clock", {"advance_s": DAY / 2})
    sync.poll(project)
    assert (weights(project)["P001"], weights(project)["P002"]) == ("90", "55")
    for _time in range(2):
        change_handlers.handle_changes(project, told)
    assert sorted(told) == [("P001", {"weight"}), ("P002", {"weight"})]


@pytest.mark.full
def test_without_the_right_to_the_log_times_of_change_are_asked_for(
    hospital: Hospital, project: Project
) -> None:
    hospital.fault("status", 403, times=1, body="content=log")
    save(hospital, weight="81.5")
    hospital.save([person("P100", "site_b", "孙一", "13800000100", weight="70")])
    hospital.save([{"record": "P003", "delete": True}])
    sync.poll(project)
    assert (weights(project)["P001"], weights(project)["P100"]) == ("81.5", "70")
    assert "P003" not in current_rows(project, load(project))
    assert state(project).cursor == ""


def test_a_token_that_is_refused_altogether_is_shown_as_refused(
    hospital: Hospital, project: Project
) -> None:
    hospital.fault("status", 403, times=9)
    with pytest.raises(RedcapError):
        sync.poll(project)
    assert state(project).cause == "refused"


def test_one_at_a_time(hospital: Hospital, project: Project) -> None:
    SyncState.objects.update(lease_until=timezone.now() + timedelta(seconds=30))
    count = exports(hospital)
    assert not sync.poll(project)
    assert not sync.sweep(project)
    assert exports(hospital) == count
    SyncState.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert sync.poll(project)


def test_the_nightly_sweep_is_made_up_for(hospital: Hospital, project: Project) -> None:
    swept = state(project).swept_at
    sync.tick(project)
    assert state(project).swept_at == swept
    SyncState.objects.update(swept_at=timezone.now() - timedelta(days=2))
    sync.tick(project)
    after = state(project).swept_at
    assert after is not None
    assert swept is not None
    assert after > swept


def test_a_study_set_up_half_stops_no_other(hospital: Hospital, project: Project) -> None:
    half = study(hospital, code="A-HALF", redcap_token="")
    wrong = study(hospital, code="B-WRONG", redcap_token="0" * 32)
    save(hospital, weight="81.5")
    tasks.read_studies()
    drain()
    assert weights(project)["P001"] == "81.5"
    assert (state(half).cause, state(wrong).cause) == ("setup", "refused")


@pytest.mark.full
def test_a_failing_redcap_is_shown_on_home_project_and_metrics(
    hospital: Hospital, project: Project, admin_client: Client
) -> None:
    hospital.fault("status", 403, times=9)
    with pytest.raises(RedcapError):
        sync.poll(project)
    label = "REDCap 拒绝该令牌（403）"
    home = admin_client.get("/admin/").content.decode()
    page = admin_client.get(f"/admin/projects/project/{project.pk}/change/").content.decode()
    assert label in home
    assert label in page
    metrics = admin_client.get("/metrics").content.decode()
    assert f'iit_redcap_failing{{cause="refused",project="{project.code}"}} 1.0' in metrics
    assert f'iit_redcap_read_age_seconds{{project="{project.code}"}}' in metrics


def test_a_question_over_many_fetches_what_changed_first(
    hospital: Hospital, project: Project
) -> None:
    cache.clear()
    at = timezone.now() - timedelta(minutes=6)
    ReadingState.objects.filter(project=project).update(read_at=at)
    save(hospital, weight="81.5")
    count = exports(hospital)
    answer = door.ask_one(project, None, {"select": ["weight"]})
    assert ("P001", "81.5") in {(fact.subject, fact.text) for fact in answer.facts}
    assert exports(hospital) == count + 1

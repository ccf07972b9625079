"""The roster follows REDCap and forgets nobody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from core.integrations.redcap import RedcapError, RedcapPermissionError
from core.privacy.gate import Gate
from projects.models import AuditEntry, Project
from study import dictionary, roster
from study.identities import known_identifiers, names_in
from study.models import Subject, SyncState
from study.request_cache import Reader
from tests.hospital import DEIDENTIFIED, SCREENING, Hospital, open_hospital, person
from tests.projects.studies import member, study

pytestmark = pytest.mark.django_db


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Hospital]:
    with open_hospital(tmp_path) as opened:
        yield opened


@pytest.fixture
def project(hospital: Hospital, settings: Settings) -> Project:
    settings.REDCAP_REQUESTS_PER_SECOND = 1000
    return study(hospital)


def subject(record_id: str) -> Subject:
    return Subject.objects.get(record_id=record_id)


def test_everybody_with_site_and_identifiers(project: Project) -> None:
    result = roster.sync_roster(project)

    assert (result.present, result.added, result.vanished) == (5, 5, 0)
    assert {s.record_id: s.site for s in Subject.objects.all()} == {
        "7": "site_a",
        "007": "site_b",
        "P001": "site_a",
        "P002": "site_b",
        "P003": "site_a",
    }
    assert json.loads(subject("P001").identifiers) == {
        "subject_name": "张三",
        "phone": "13800000001",
    }
    assert SyncState.objects.get().records == 5


def test_identifiers_are_encrypted_at_rest(project: Project) -> None:
    roster.sync_roster(project)

    raw = Subject.objects.extra(select={"raw": "identifiers"}).values_list("raw", flat=True)
    assert not [text for text in raw if "138" in text or "张" in text]


def test_a_second_reading_changes_nothing(project: Project) -> None:
    roster.sync_roster(project)
    stored = list(Subject.objects.values_list("pk", "record_id"))

    result = roster.sync_roster(project)

    assert (result.added, result.changed, result.vanished) == (0, 0, 0)
    assert list(Subject.objects.values_list("pk", "record_id")) == stored
    assert AuditEntry.objects.filter(action="roster.sync").count() == 1


@pytest.mark.full
def test_who_vanishes_is_kept_and_may_come_back(project: Project, hospital: Hospital) -> None:
    roster.sync_roster(project)

    hospital.save([{"record": "P003", "delete": True}])
    assert roster.sync_roster(project).vanished == 1
    assert not subject("P003").is_present
    assert roster.sync_roster(project).vanished == 0

    back = person("P003", "site_a", "Anna Li", "13800000003")
    hospital.save([{**back, "instrument": "demo", "event": SCREENING}])
    assert roster.sync_roster(project).changed == 1
    assert subject("P003").is_present


def test_new_values_are_taken_over(project: Project, hospital: Hospital) -> None:
    roster.sync_roster(project)

    hospital.save([{**person("7", "site_a", "赵八", "1"), "instrument": "demo"}])
    result = roster.sync_roster(project)

    assert result.changed == 1
    assert json.loads(subject("7").identifiers)["subject_name"] == "赵八"
    gate = Gate(known_identifiers(Reader(project)))
    assert "赵八" not in gate.text("赵八")
    assert "赵七" in gate.text("赵七"), "nobody's name any more"


def test_no_record_at_all_is_taken_for_a_failure(project: Project, hospital: Hospital) -> None:
    roster.sync_roster(project)
    hospital.fault("body", [])

    with pytest.raises(RedcapError):
        roster.sync_roster(project)
    assert Subject.objects.filter(is_present=True).count() == 5
    assert SyncState.objects.get().error


def test_a_failure_is_noted_and_a_success_clears_it(project: Project, hospital: Hospital) -> None:
    roster.sync_roster(project)
    hospital.fault("status", 403)
    with pytest.raises(RedcapPermissionError):
        roster.sync_roster(project)
    state = SyncState.objects.get()
    assert "403" in state.error
    assert state.failed_at is not None

    roster.sync_roster(project)
    assert SyncState.objects.get().error == ""


def test_a_token_without_identifiers_does_not_make_us_forget(project: Project) -> None:
    roster.sync_roster(project)
    project.redcap_token = DEIDENTIFIED

    roster.sync_roster(project)

    assert json.loads(subject("P001").identifiers)["subject_name"] == "张三"
    assert "subject_name" in SyncState.objects.get().error


def test_fresh_is_not_read_again(project: Project, hospital: Hospital) -> None:
    assert roster.ensure_fresh(project)
    asked = len(hospital.forms("record"))

    assert roster.ensure_fresh(project)
    assert len(hospital.forms("record")) == asked

    SyncState.objects.update(roster_at=timezone.now() - timedelta(seconds=61))
    assert roster.ensure_fresh(project)
    assert len(hospital.forms("record")) == asked + 1


def test_an_outage_keeps_the_stored_roster(project: Project, hospital: Hospital) -> None:
    roster.sync_roster(project)
    SyncState.objects.update(roster_at=datetime(2020, 1, 1, tzinfo=UTC))
    hospital.fault("status", 403, times=9)

    assert not roster.ensure_fresh(project)
    assert names_in(Reader(project), "张三的 ALT") == {"张三": ["P001"]}


def test_without_any_roster_an_outage_shows(project: Project, hospital: Hospital) -> None:
    dictionary.load(project)
    hospital.fault("status", 403, times=9)

    with pytest.raises(RedcapPermissionError):
        roster.ensure_fresh(project)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("张三的ALT是多少?", {"张三": ["P001"]}),
        ("张三丰入组了吗", {"张三丰": ["P002"]}),
        ("张三和张三丰", {"张三": ["P001"], "张三丰": ["P002"]}),
        ("请问 anna li 的访视", {"anna li": ["P003"]}),
        ("Joanna Limited", {}),
        ("赵七、钱邦德", {"赵七": ["7"], "钱邦德": ["007"]}),
        ("李四", {}),
        ("", {}),
    ],
)
def test_names_are_resolved(project: Project, text: str, found: dict[str, list[str]]) -> None:
    roster.sync_roster(project)

    assert names_in(Reader(project), text) == found


def test_names_of_the_other_site_are_unknown(project: Project) -> None:
    """E43: a longer name of the other site does not become a shorter one of one's own."""
    roster.sync_roster(project)

    assert names_in(Reader(project, member(project, "site_a")), "张三丰和张三") == {
        "张三": ["P001"]
    }
    assert names_in(Reader(project, member(project, "site_b")), "张三的ALT") == {}


def test_namesakes_all_come_back(project: Project, hospital: Hospital) -> None:
    rows = [person("P010", "site_a", "张三", "13800000010")]
    hospital.save([{**row, "instrument": "demo"} for row in rows])
    roster.sync_roster(project)

    assert names_in(Reader(project), "张三怎么样了") == {"张三": ["P001", "P010"]}


def test_who_vanished_is_not_found_by_name_but_still_masked(
    project: Project, hospital: Hospital
) -> None:
    roster.sync_roster(project)
    hospital.save([{"record": "P003", "delete": True}])
    roster.sync_roster(project)

    assert names_in(Reader(project, member(project)), "Anna Li") == {}
    assert "Anna" not in Gate(known_identifiers(Reader(project))).text("Anna Li")


def test_the_gate_masks_what_the_roster_knows(project: Project) -> None:
    roster.sync_roster(project)

    sent = Gate(known_identifiers(Reader(project))).text(
        "张三丰 13800000002 与 Anna Li, 受试者 P002"
    )

    assert "张三" not in sent
    assert "13800000002" not in sent
    assert "Anna" not in sent
    assert "P002" in sent


def test_nobody_known_is_nothing_to_mask(project: Project) -> None:
    reader = Reader(project)
    assert Gate(known_identifiers(reader)).text("张三") == "张三"
    assert names_in(reader, "张三") == {}

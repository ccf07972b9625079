"""Many moves between sites at once, and another REDCap project, wait for somebody who sees all sites.

The attack: whoever decides what REDCap says forges the sites of the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.timezone import now
from pytest_django import Settings

from core.house.db import atomic
from projects.models import AuditEntry, Person, Project
from study import dictionary, records, roster, sync
from study.client import OtherProjectError
from study.models import Dictionary, Subject, SyncState
from tests.hospital import Hospital, open_hospital, person
from tests.projects.studies import member, study

pytestmark = pytest.mark.django_db
PEOPLE = [f"S{number:02}" for number in range(20)]


def row(record: str, site: str) -> dict[str, Any]:
    return {**person(record, site, f"人{record}", f"139{record[1:]}000000"), "instrument": "demo"}


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Hospital]:
    people = [
        person(record, "site_b", f"人{record}", f"139{record[1:]}000000") for record in PEOPLE
    ]
    with open_hospital(tmp_path, people=people) as opened:
        yield opened


@pytest.fixture
def project(hospital: Hospital, settings: Settings) -> Project:
    settings.REDCAP_REQUESTS_PER_SECOND = 1000
    found = study(hospital)
    roster.sync_roster(found)
    return found


def sites() -> set[str]:
    return {*Subject.objects.values_list("site", flat=True)}


def admin_of(project: Project, site: str) -> Client:
    user = User.objects.create(username=f"chief{site}", is_staff=True)
    someone = Person.objects.create(user=user)
    project.members.create(person=someone, role="ADMIN", site=site)
    client = Client()
    client.force_login(user, "django.contrib.auth.backends.ModelBackend")
    return client


def moved() -> int:
    return Subject.objects.filter(site="site_a").count()


def test_forged_sites_wait(project: Project, hospital: Hospital) -> None:
    reader = member(project, "site_a")
    hospital.save([row(record, "site_a") for record in PEOPLE[:18]])
    assert records.read_records(project=project, member=reader) == []  # before anybody has noticed
    roster.sync_roster(project)
    assert sites() == {"site_b"}
    assert len(roster.waiting_moves(project)) == 18
    assert records.read_records(project=project, member=reader) == []
    assert not Subject.objects.for_member(reader)
    assert AuditEntry.objects.filter(action="roster.moves_held").count() == 1
    roster.sync_roster(project)
    assert AuditEntry.objects.filter(action="roster.moves_held").count() == 1


@pytest.mark.full
def test_one_by_one_is_no_way_around(project: Project, hospital: Hospital) -> None:
    """Variant: each by a trigger of its own, as REDCap tells of single saves."""
    for record in PEOPLE[:10]:
        hospital.save([row(record, "site_a")])
        data = records.read_record(project=project, record_id=record)
        assert data
        with atomic():
            roster.keep_some_subjects(project, dictionary.load(project), [data])
    assert moved() == roster.FREE
    assert len(roster.waiting_moves(project)) == 10 - roster.FREE


def test_gone_and_back_at_another_site_is_a_move(project: Project, hospital: Hospital) -> None:
    """Variant: deleted, read, entered again."""
    hospital.save([{"record": record, "delete": True} for record in PEOPLE[:12]])
    roster.sync_roster(project)
    hospital.save([row(record, "site_a") for record in PEOPLE[:12]])
    roster.sync_roster(project)
    assert moved() == 0
    assert len(roster.waiting_moves(project)) == 12


def test_a_few_moves_are_daily_life(project: Project, hospital: Hospital) -> None:
    hospital.save([row(record, "site_a") for record in PEOPLE[: roster.FREE]])
    roster.sync_roster(project)
    assert moved() == roster.FREE
    Subject.objects.update(moved_at=now() - 2 * roster.WITHIN)
    hospital.save([row(PEOPLE[5], "site_a")])
    roster.sync_roster(project)
    assert moved() == roster.FREE + 1


@pytest.mark.full
def test_who_sees_all_sites_confirms_what_was_shown(project: Project, hospital: Hospital) -> None:
    hospital.save([row(record, "site_a") for record in PEOPLE[:18]])
    roster.sync_roster(project)
    url = f"/admin/projects/project/{project.pk}/confirm/"
    shown = roster.digest_of_moves(roster.waiting_moves(project))
    assert admin_of(project, "site_a").post(url, {"do": "moves", "seen": shown}).status_code == 403
    chief = admin_of(project, "")
    assert PEOPLE[17] in chief.get(url).content.decode()
    assert (
        'data-test="confirm"'
        in chief.get(f"/admin/projects/project/{project.pk}/change/").content.decode()
    )
    chief.post(url, {"do": "moves", "seen": "other"})
    assert moved() == 0
    chief.post(url, {"do": "moves", "seen": shown})
    assert (moved(), roster.waiting_moves(project)) == (18, [])
    assert AuditEntry.objects.get(action="roster.moves_accepted").actor == "chief"


def test_what_went_back_does_not_wait(project: Project, hospital: Hospital) -> None:
    hospital.save([row(record, "site_a") for record in PEOPLE[:18]])
    roster.sync_roster(project)
    hospital.save([row(record, "site_b") for record in PEOPLE[:18]])
    roster.sync_roster(project)
    assert (moved(), roster.waiting_moves(project)) == (0, [])


# --- another project behind the token --------------------------------------------------------------


@pytest.fixture
def elsewhere(project: Project) -> Project:
    """What is stored came from project 99; the token opens 14."""
    stored = Dictionary.objects.get(project=project)
    stored.content["project"]["project_id"] = 99
    stored.save()
    return project


@pytest.mark.parametrize("way", ["typed anew", "behind the same token"])
def test_another_project_is_not_read(elsewhere: Project, way: str) -> None:
    if way == "typed anew":
        Project.objects.update(redcap_is_new=True)
    else:
        with pytest.raises(OtherProjectError):
            dictionary.refresh(elsewhere)
    found = Project.objects.get(pk=elsewhere.pk)
    assert found.redcap_is_new
    for read in (roster.sync_roster, sync.tick, dictionary.refresh):
        with pytest.raises(OtherProjectError):
            read(found)
    assert SyncState.objects.get(project=found).cause == SyncState.Cause.OTHER
    assert Dictionary.objects.get(project=found).content["project"]["project_id"] == 99


@pytest.mark.full
def test_another_project_is_confirmed(elsewhere: Project) -> None:
    Project.objects.update(redcap_is_new=True)
    url = f"/admin/projects/project/{elsewhere.pk}/confirm/"
    chief = admin_of(elsewhere, "")
    assert 'data-test="other-project"' in chief.get(url).content.decode()
    chief.post(url, {"do": "redcap", "seen": "15"})
    assert Project.objects.get().redcap_is_new
    assert (
        admin_of(elsewhere, "site_a").post(url, {"do": "redcap", "seen": "14"}).status_code == 403
    )
    chief.post(url, {"do": "redcap", "seen": "14"})
    assert not Project.objects.get().redcap_is_new
    assert AuditEntry.objects.get(action="redcap.accept").new == {"project_id": "14"}
    roster.sync_roster(Project.objects.get())


def test_the_same_project_at_a_new_address_needs_nobody(project: Project) -> None:
    Project.objects.update(redcap_is_new=True)
    roster.sync_roster(Project.objects.get())
    assert not Project.objects.get().redcap_is_new


@pytest.mark.full
def test_a_token_that_is_typed_is_compared(project: Project) -> None:
    chief = admin_of(project, "")
    url = f"/admin/projects/project/{project.pk}/setup/"
    fields = {
        "do": "connect",
        "redcap_url": project.redcap_url,
        "redcap_token": project.redcap_token,
    }
    stored = Dictionary.objects.get(project=project)
    stored.content["project"]["project_id"] = 99
    stored.save()
    page = chief.post(url, fields).content.decode()
    assert "14" in page
    assert Project.objects.get().redcap_is_new


def test_what_was_read_anew_since_it_was_shown_is_not_taken_over(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REDCap takes a move back between the look at what waits and the confirmation."""
    Subject.objects.filter(record_id__in=PEOPLE[:5]).update(site_waiting="site_a")
    shown = roster.digest_of_moves(roster.waiting_moves(project))

    def late(*_given: Any, **_named: Any) -> str:
        Subject.objects.filter(record_id=PEOPLE[0]).update(site_waiting=None)
        return shown

    monkeypatch.setattr(roster, "digest_of_moves", late)
    assert roster.accept_moves(project=project, shown=shown, actor="admin")
    taken = Subject.objects.filter(site="site_a").values_list("record_id", flat=True)
    assert {*taken} == {*PEOPLE[1:5]}

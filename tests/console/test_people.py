"""Linking and moving logins: superusers alone, audited in the house and the studies, told to both."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from projects import tokens
from projects.models import AuditEntry, Person
from tests.console.test_members import browser
from tests.house.kit import make_member, make_project
from tests.wechat.working import outgoing

pytestmark = pytest.mark.django_db
PEOPLE = "/admin/projects/person/"


@pytest.fixture
def root(db: None) -> Client:
    alpha, beta = make_project("ALPHA"), make_project("BETA")
    make_member(alpha, "pi", "PI", language="en")
    make_member(beta, "crc", "CRC", language="en")
    make_member(alpha, "chief", "ADMIN")
    User.objects.create(username="root", is_superuser=True)
    User.objects.update(is_staff=True)
    return browser("root")


def person(userid: str) -> Person:
    return Person.objects.get(wecom_userid=userid)


def login(name: str) -> User:
    return User.objects.get(username=name)


def link(client: Client, row: Person | None, **fields: Any) -> Any:
    return client.post(f"{PEOPLE}{row.pk}/change/" if row else f"{PEOPLE}add/", fields)


def trail() -> list[tuple[Any, ...]]:
    rows = AuditEntry.objects.filter(action__startswith="person.").order_by("pk")
    return [
        (row.action, row.project.code if row.project else "", row.label, row.old, row.new)
        for row in rows
    ]


@pytest.mark.parametrize("name", ["chief", "pi"])
def test_only_superusers_see_or_link_people(name: str, root: Client) -> None:
    client = browser(name)
    row = person("pi")
    assert client.get(PEOPLE).status_code == 403
    assert client.get(f"{PEOPLE}{row.pk}/change/").status_code == 403
    assert link(client, row, user=login("chief").pk).status_code == 403
    assert link(client, None, wecom_userid="x").status_code == 403
    assert (person("pi").login, trail()) == ("pi", [])


@pytest.mark.full
def test_a_moved_login_is_audited_and_told_to_both(root: Client) -> None:
    answer = link(root, person("crc"), user=login("pi").pk, reason="left the hospital")
    assert answer.status_code == 302
    assert (person("pi").login, person("crc").login) == ("", "pi")
    given = ({"wecom_userid": "crc", "login": "crc"}, {"wecom_userid": "crc", "login": "pi"})
    taken = ({"wecom_userid": "pi", "login": "pi"}, {"wecom_userid": "pi", "login": ""})
    assert sorted(map(repr, trail())) == sorted(
        repr(("person.link", code, who, *change))
        for who, change, codes in (("crc", given, ("", "BETA")), ("pi", taken, ("", "ALPHA")))
        for code in codes
    )
    entry = AuditEntry.objects.filter(action="person.link").first()
    assert entry is not None
    assert (entry.actor, entry.login, entry.reason) == ("root", "root", "left the hospital")
    (lost,), (gained,) = outgoing("pi"), outgoing("crc")
    assert '"pi" is no longer linked' in lost
    assert '"crc" is no longer linked' in gained
    assert '"pi" is now linked' in gained
    projects = browser("pi").get("/api/v1/projects/").json()["results"]
    assert [row["code"] for row in projects] == ["BETA"]
    assert browser("crc").get("/api/v1/projects/").json()["results"] == []


def test_a_taken_login_opens_nothing(root: Client) -> None:
    link(root, person("pi"), user="")
    assert browser("pi").get("/api/v1/projects/").json()["results"] == []
    assert len(outgoing("pi")) == 1


def test_what_stays_is_neither_audited_nor_told(root: Client) -> None:
    assert link(root, person("pi"), user=login("pi").pk).status_code == 302
    assert (trail(), outgoing()) == ([], [])


def test_somebody_without_wecom_gets_a_userid(root: Client) -> None:
    monitor = Person.objects.create(user=User.objects.create(username="monitor"))
    row = make_member(make_project("GAMMA"), "x")
    type(row).objects.filter(pk=row.pk).update(person=monitor, wecom_userid="")
    assert link(root, monitor, wecom_userid="Mo", user=login("monitor").pk).status_code == 302
    row.refresh_from_db()
    assert (row.wecom_userid, row.identity) == ("mo", "mo")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"wecom_userid": "PI"},
        {"wecom_userid": "pi", "user": "chief"},
        {"user": "spelled like"},
    ],
    ids=str,
)
def test_nobody_goes_by_anothers_name(fields: dict[str, str], root: Client) -> None:
    """Nor by none; where the userid is known, the login is linked there."""
    User.objects.create(username="CRC")
    names = {"spelled like": "CRC"}
    given = {**fields}
    if "user" in fields:
        given["user"] = str(login(names.get(fields["user"], fields["user"])).pk)
    before = Person.objects.count()
    assert link(root, None, **given).status_code == 200
    assert Person.objects.count() == before
    assert trail() == []


def test_a_userid_stays_with_its_person(root: Client) -> None:
    link(root, person("pi"), wecom_userid="other", user=login("pi").pk)
    assert person("pi").login == "pi"


def test_every_entry_names_the_login_and_the_identity(root: Client) -> None:
    """Where a person's login is called otherwise: in the console, through the API with a token."""
    row = person("chief")
    User.objects.filter(pk=row.user_id).update(username="li.na")
    member = row.memberships.get()
    fields = {"role": "PI", "site": "site_a", "language": "en", "is_active": "on"}
    url = f"/admin/projects/member/{person('pi').memberships.get().pk}/change/"
    assert browser("li.na").post(url, fields).status_code == 302
    client = APIClient()
    key = tokens.create(user=login("li.na"), actor="test")
    client.credentials(HTTP_AUTHORIZATION=f"Token {key}")
    body = {"project": "ALPHA", "alias_name": "age", "actual_name": "age_y"}
    assert client.post("/api/v1/field-mappings/", body, format="json").status_code == 201
    made = AuditEntry.objects.filter(project=member.project)
    assert {(entry.actor, entry.login) for entry in made} == {("chief", "li.na")}
    assert made.count() == 2

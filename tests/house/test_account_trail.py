"""What happens to a login stands in the trail: log-ins, failed ones, log-outs, accounts, rights, passwords."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from pytest_django import Settings

from projects.models import AuditEntry, Person

pytestmark = pytest.mark.django_db
OLD, NEW = "gentle-Harbour-71", "quiet-Lantern-38"
USERS = "/admin/auth/user/"


@pytest.fixture
def root(db: None) -> User:
    user = User.objects.create_superuser("root", password=OLD)
    Person.objects.create(wecom_userid="chief", user=user)
    return user


@pytest.fixture
def client(root: User) -> Client:
    client = Client()
    client.post("/admin/login/", {"username": "root", "password": OLD})
    return client


def entries(*actions: str) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(action__in=actions).order_by("number"))


def one(action: str) -> AuditEntry:
    return AuditEntry.objects.get(action=action)


def test_log_in_and_log_out(client: Client) -> None:
    client.post("/admin/logout/")
    for action in ("login", "logout"):
        entry = one(action)
        assert (entry.actor, entry.login, entry.label) == ("chief", "root", "root")
        assert entry.new == {"address": "127.0.0.1"}


def test_a_failed_log_in_names_the_login_but_no_typed_word(root: User) -> None:
    form = {"username": "root", "password": NEW}
    Client().post("/admin/login/", form)
    Client().post("/admin/login/", {"username": NEW, "password": "x"})
    known, unknown = entries("login.failed")
    assert (known.label, known.actor, known.login) == ("root", "anonymous", "")
    assert unknown.label == ""
    assert NEW not in str(list(AuditEntry.objects.values()))


def test_who_goes_on_during_a_lock_out_does_not_fill_the_trail(
    root: User, settings: Settings
) -> None:
    settings.AXES_ENABLED, settings.AXES_FAILURE_LIMIT = True, 3
    for _time in range(6):
        Client().post("/admin/login/", {"username": "root", "password": NEW})
    locked = [entry.new["locked_out"] for entry in entries("login.failed")]
    assert locked == [False, False, True]


@pytest.mark.full
def test_an_account_from_its_making_to_its_end(client: Client) -> None:
    made: dict[str, Any] = {"username": "ann", "usable_password": "true", "is_staff": "on"}
    client.post(f"{USERS}add/", made | {"password1": OLD, "password2": OLD})
    ann = User.objects.get(username="ann")
    page = f"{USERS}{ann.pk}/change/"
    kept = {"username": "ann", "is_active": "on", "is_staff": "on"}
    steps = [
        ("account.change", kept | {"email": "ann@example.org"}),
        ("account.rights", kept | {"email": "ann@example.org", "is_superuser": "on"}),
        ("account.disable", {"username": "ann", "is_staff": "on", "is_superuser": "on"}
         | {"email": "ann@example.org"}),
        ("account.enable", kept | {"email": "ann@example.org", "is_superuser": "on"}),
    ]  # fmt: skip
    for action, form in steps:
        before = {entry.pk for entry in AuditEntry.objects.all()}
        assert client.post(page, form).status_code == 302
        assert [entry.action for entry in AuditEntry.objects.exclude(pk__in=before)] == [action]
    said = {"usable_password": "true", "password1": NEW, "password2": NEW}
    client.post(f"{USERS}{ann.pk}/password/", said)
    told = AuditEntry.objects.filter(object_type="user", object_id=str(ann.pk)).order_by("number")
    expected = ["account.create", *(action for action, _form in steps), "password.change"]
    assert [entry.action for entry in told] == expected
    assert {(entry.actor, entry.login) for entry in told} == {("chief", "root")}
    assert told[0].new == {"is_active": True, "is_staff": True, "is_superuser": False}
    rights = one("account.rights")
    assert (rights.old["is_superuser"], rights.new["is_superuser"]) == (False, True)
    for secret in (OLD, NEW, "ann@example.org"):
        assert secret not in str(list(AuditEntry.objects.values()))


def test_groups_and_permissions_from_both_ends(root: User) -> None:
    group = Group.objects.create(name="monitors")
    root.groups.add(group)
    group.user_set.remove(root)  # type: ignore[attr-defined]
    root.user_permissions.set(Permission.objects.all()[:1])
    group.permissions.clear()
    given = [entry.new for entry in entries("account.rights")]
    assert given[:2] == [
        {"of": "group", "added": ["monitors"]},
        {"of": "user", "removed": ["root"]},
    ]
    assert [set(new) - {"of"} for new in given[2:]] == [{"added"}, {"cleared"}]


def test_a_log_in_itself_is_no_change(client: Client) -> None:
    assert not entries("account.change", "account.rights", "password.change")[:]

"""Tokens of programs: stored as hashes, listed and revoked by their owner (contracts.md, HTTP)."""

from __future__ import annotations

import re
from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils.timezone import now
from rest_framework.test import APIClient

from projects.models import ApiToken, AuditEntry, TokenScope
from tests.house.kit import make_member, make_project

pytestmark = pytest.mark.django_db
PROJECTS = "/api/v1/projects/"
PAGE = "/admin/projects/apitoken/"
BACKEND = "django.contrib.auth.backends.ModelBackend"


def make(username: str, *arguments: str) -> str:
    """What `drf_create_token` prints, as programs read it."""
    out = StringIO()
    call_command("drf_create_token", username, *arguments, stdout=out)
    found = re.fullmatch(rf"Generated token (\w{{40}}) for user {username}\n", out.getvalue())
    assert found is not None
    return found[1]


def status(key: str) -> int:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {key}")
    code: int = client.get(PROJECTS).status_code
    return code


@pytest.fixture
def ann(db: None) -> User:
    return User.objects.create_user("ann", is_staff=True)


def in_browser(user: User) -> Client:
    client = Client()
    client.force_login(user, backend=BACKEND)
    return client


def test_a_token_opens_the_api_and_stands_nowhere_in_the_database(ann: User) -> None:
    key = make("ann")
    assert status(key) == 200
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            assert key not in str(cursor.fetchall()), table


def test_a_second_token_leaves_the_first_and_reset_ends_both(ann: User) -> None:
    first, second = make("ann"), make("ann")
    assert (status(first), status(second)) == (200, 200)
    third = make("ann", "--reset")
    assert [status(key) for key in (first, second, third)] == [401, 401, 200]


def test_nobody_has_no_token() -> None:
    with pytest.raises(CommandError, match="user bob does not exist"):
        make("bob")


def test_a_token_lasts_as_long_as_was_said(ann: User) -> None:
    short, long = make("ann", "--days", "1"), make("ann")
    assert (status(short), status(long)) == (200, 200)
    with time_machine.travel(now() + timedelta(days=1, minutes=1)):
        assert (status(short), status(long)) == (401, 200)


def test_the_last_use_is_noted_but_not_each_time(ann: User) -> None:
    key = make("ann")
    assert ApiToken.objects.get().last_used_at is None
    assert status(key) == 200
    first = ApiToken.objects.get().last_used_at
    assert status(key) == 200
    assert ApiToken.objects.get().last_used_at == first
    with time_machine.travel(now() + timedelta(hours=1)):
        assert status(key) == 200
    assert ApiToken.objects.get().last_used_at > first


def test_the_page_lists_ones_own_and_for_a_superuser_all(ann: User) -> None:
    User.objects.create_user("bob", is_staff=True)
    root = User.objects.create_superuser("root")
    mine, his = make("ann"), make("bob")
    own = in_browser(ann).get(PAGE).content.decode()
    assert mine[:8] in own
    assert his[:8] not in own
    every = in_browser(root).get(PAGE).content.decode()
    assert mine[:8] in every
    assert his[:8] in every
    assert mine not in own + every
    assert his not in every


def test_owner_and_superuser_revoke_and_nobody_else(ann: User) -> None:
    bob = User.objects.create_user("bob", is_staff=True)
    root = User.objects.create_superuser("root")
    key, other = make("ann"), make("ann")
    first, second = ApiToken.objects.order_by("pk")

    def revoke(user: User, token: ApiToken) -> None:
        said = {"action": "revoke_selected", "_selected_action": [token.pk]}
        assert in_browser(user).post(PAGE, said).status_code in {302, 403}

    revoke(bob, first)
    assert status(key) == 200
    revoke(ann, first)
    assert (status(key), status(other)) == (401, 200)
    revoke(root, second)
    assert status(other) == 401


def test_making_and_revoking_are_in_the_trail(ann: User) -> None:
    make("ann", "--days", "3")
    make("ann", "--reset")
    entries = AuditEntry.objects.filter(action__startswith="token.").order_by("number")
    assert [(entry.action, entry.actor) for entry in entries] == [
        ("token.create", "command"),
        ("token.revoke", "command"),
        ("token.create", "command"),
    ]
    assert entries[0].new["user"] == "ann"


def made(user: User, **said: object) -> str:
    """The token that the page shows once."""
    given = {"name": "EDC 导出", "scopes": ["read"], "days": "30"} | said
    answer = in_browser(user).post(f"{PAGE}add/", given)
    assert answer.status_code == 200
    found = re.search(r'id="token" value="(\w{40})" readonly', answer.content.decode())
    assert found is not None, answer.context["errors"]
    assert "no-store" in answer["Cache-Control"]
    return found[1]


@pytest.fixture
def member(ann: User) -> User:
    make_member(make_project("ALPHA"), "ann")
    return ann


def test_a_member_makes_one_that_is_shown_once(member: User) -> None:
    key = made(member)
    assert status(key) == 200
    row = ApiToken.objects.get()
    assert (row.user, row.name, row.scopes) == (member, "EDC 导出", ["read"])
    assert timedelta(days=29) < row.expires_at - now() < timedelta(days=31)
    page = in_browser(member).get(PAGE).content.decode()
    assert key[:8] in page
    assert "EDC 导出" in page
    assert key not in page
    with time_machine.travel(now() + timedelta(days=31)):
        assert status(key) == 401


@pytest.mark.full
def test_all_ticked_is_all_that_its_owner_may_and_nothing_ticked_is_refused(member: User) -> None:
    made(member, scopes=TokenScope.values, days="")
    assert (ApiToken.objects.get().scopes, ApiToken.objects.get().expires_at) == (None, None)
    refused = in_browser(member).post(f"{PAGE}add/", {"name": "x", "scopes": [], "days": "30"})
    assert refused.context["adminform"].form.errors.keys() == {"scopes"}
    wrong = in_browser(member).post(f"{PAGE}add/", {"name": "x", "scopes": ["all"], "days": "7"})
    assert wrong.context["adminform"].form.errors.keys() == {"scopes", "days"}
    assert ApiToken.objects.count() == 1


def test_who_is_in_no_study_makes_none(ann: User) -> None:
    assert in_browser(ann).get(f"{PAGE}add/").status_code == 403
    assert in_browser(ann).post(f"{PAGE}add/", {"scopes": ["read"]}).status_code == 403
    assert not ApiToken.objects.exists()


def test_the_trail_says_what_a_token_was_made_for(member: User) -> None:
    made(member, scopes=["memory", "read"])
    entry = AuditEntry.objects.get(action="token.create")
    assert (entry.actor, entry.new["scopes"]) == ("ann", ["read", "memory"])


def test_the_command_narrows(ann: User) -> None:
    make("ann", "--scope", "read", "--scope", "ask")
    assert ApiToken.objects.get().scopes == ["read", "ask"]
    with pytest.raises(CommandError):
        make("ann", "--scope", "everything")

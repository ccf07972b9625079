"""When a log-in to the console ends: without use, after a day, with its password."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from http.cookies import SimpleCookie

import pytest
import time_machine
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from projects import tokens
from projects.models import ApiToken, AuditEntry

pytestmark = pytest.mark.django_db
PAGE = "/admin/"
OLD, NEW = "gentle-Harbour-71", "quiet-Lantern-38"


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel("2026-11-02T08:00:00+00:00", tick=False) as clock:
        yield clock


@pytest.fixture
def ann(db: None) -> User:
    return User.objects.create_superuser("ann", password=OLD)


def log_in(password: str = OLD) -> Client:
    client = Client()
    client.post("/admin/login/", {"username": "ann", "password": password})
    return client


def is_in(client: Client, **headers: str) -> bool:
    """Asked by what a page is answered with."""
    return client.get(PAGE, headers=headers).status_code == 200


def test_unused_it_ends(ann: User, clock: time_machine.Traveller) -> None:
    client = log_in()
    clock.shift(timedelta(minutes=29))
    assert is_in(client)
    clock.shift(timedelta(minutes=31))
    assert not is_in(client)


def test_a_copied_cookie_ends_too(ann: User, clock: time_machine.Traveller) -> None:
    """The end is the server's: what a browser keeps longer opens nothing."""
    copied = log_in().cookies["sessionid"].value
    clock.shift(timedelta(minutes=31))
    client = Client()
    client.cookies = SimpleCookie({"sessionid": copied})
    assert not is_in(client)


@pytest.mark.full
def test_use_moves_the_end_up_to_a_day(ann: User, clock: time_machine.Traveller) -> None:
    client = log_in()
    for _time in range(24 * 4 - 1):
        clock.shift(timedelta(minutes=15))
        assert is_in(client)
    clock.shift(timedelta(minutes=15))
    assert not is_in(client)
    assert not Session.objects.exists()


def test_both_are_settings(ann: User, clock: time_machine.Traveller, settings: Settings) -> None:
    settings.SESSION_HOURS = 2
    settings.SESSION_COOKIE_AGE = 90 * 60
    client = log_in()
    clock.shift(timedelta(minutes=80))
    assert is_in(client)
    clock.shift(timedelta(minutes=41))
    assert not is_in(client)


@pytest.mark.full
def test_a_page_that_renews_itself_moves_no_end(ann: User, clock: time_machine.Traveller) -> None:
    client = log_in()
    clock.shift(timedelta(minutes=1))
    assert is_in(client)
    for _time in range(5):
        clock.shift(timedelta(minutes=5))
        assert is_in(client, **{"X-Unattended": "1"})
    clock.shift(timedelta(minutes=6))
    assert not is_in(client)


def test_a_session_of_before_is_over(ann: User) -> None:
    client = log_in()
    session = client.session
    del session["began"]
    session.save()
    assert not is_in(client)


def test_the_end_holds_for_the_api_and_tokens_have_their_own(
    ann: User, clock: time_machine.Traveller
) -> None:
    client, program = log_in(), APIClient()
    program.credentials(HTTP_AUTHORIZATION=f"Token {tokens.create(user=ann, actor='test')}")
    clock.shift(timedelta(days=1))
    assert client.get("/api/v1/projects/").status_code == 401
    assert program.get("/api/v1/projects/").status_code == 200


def by_own_page(user: User) -> None:
    form = {"old_password": OLD, "new_password1": NEW, "new_password2": NEW}
    assert log_in().post("/admin/password_change/", form).status_code == 302


def by_superuser(user: User) -> None:
    root = User.objects.create_superuser("root")
    client = Client()
    client.force_login(root, backend="django.contrib.auth.backends.ModelBackend")
    form = {"usable_password": "true", "password1": NEW, "password2": NEW}
    assert client.post(f"/admin/auth/user/{user.pk}/password/", form).status_code == 302


def by_disabling(user: User) -> None:
    """The console's switch "no log-in by password"."""
    user.set_unusable_password()
    user.save()


def by_command(user: User) -> None:
    user.set_password(NEW)
    user.save()


@pytest.mark.parametrize("change", [by_own_page, by_superuser, by_disabling, by_command])
def test_a_new_password_ends_sessions_and_tokens(ann: User, change: Callable[..., None]) -> None:
    client, program = log_in(), APIClient()
    program.credentials(HTTP_AUTHORIZATION=f"Token {tokens.create(user=ann, actor='test')}")
    assert is_in(client)
    assert program.get("/api/v1/projects/").status_code == 200
    change(User.objects.get(username="ann"))
    assert not is_in(client)
    assert program.get("/api/v1/projects/").status_code == 401
    assert AuditEntry.objects.filter(action="token.revoke").count() == 1


@pytest.mark.full
def test_what_is_no_new_password_ends_nothing(ann: User, settings: Settings) -> None:
    """A change of the login; a hash that is made anew at a log-in, because hashing became slower."""
    tokens.create(user=ann, actor="test")
    ann.refresh_from_db()
    ann.email = "ann@example.org"
    ann.save()
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.ScryptPasswordHasher",
        "django.contrib.auth.hashers.MD5PasswordHasher",
    ]
    assert is_in(log_in())
    ann.refresh_from_db()
    assert ann.password.startswith("scrypt")
    assert ApiToken.objects.exists()


def test_the_commands_own_door_ends_tokens(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens.create(user=ann, actor="test")
    monkeypatch.setattr("getpass.getpass", lambda prompt: NEW)
    call_command("changepassword", "ann")
    assert not ApiToken.objects.exists()


@pytest.mark.full
def test_a_login_that_was_switched_off_begins_anew(ann: User) -> None:
    """Variants: switched off in the console and by a command; a token and a copied session."""
    root = User.objects.create_superuser("root", password=NEW)
    chief = Client()
    chief.force_login(root, "django.contrib.auth.backends.ModelBackend")
    for _way in ("console", "command"):
        client, key = log_in(), tokens.create(user=ann, actor=ann)
        other = log_in()
        assert is_in(client)
        for active in (False, True):
            if _way == "command":
                ann.is_active = active
                ann.save()
            else:
                fields = {"username": "ann", "is_staff": "on", "is_superuser": "on"}
                chief.post(
                    f"/admin/auth/user/{ann.pk}/change/",
                    fields | ({"is_active": "on"} if active else {}),
                )
            assert User.objects.get(username="ann").is_active == active
        assert not is_in(client)
        assert not is_in(other)
        program = APIClient()
        program.credentials(HTTP_AUTHORIZATION=f"Token {key}")
        assert program.get("/api/v1/projects/").status_code == 401
        assert is_in(log_in())
    assert is_in(chief)

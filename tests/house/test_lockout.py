"""Too many failures lock a login out from where they came, through every door, and nobody elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.test import Client
from django.utils.timezone import now
from pytest_django import Settings
from rest_framework.test import APIClient

from projects import tokens

pytestmark = pytest.mark.django_db
PROXY = "10.1.2.3"
HOME, AWAY = "203.0.113.7", "198.51.100.9"
RIGHT, WRONG = "gentle-Harbour-71", "quiet-Lantern-38"
LIMIT = 3
API = "/api/v1/projects/"


@pytest.fixture(autouse=True)
def _counted(settings: Settings) -> None:
    settings.AXES_ENABLED = True
    settings.AXES_FAILURE_LIMIT = LIMIT
    settings.TRUSTED_PROXIES = [PROXY]


@pytest.fixture
def ann(db: None) -> User:
    return User.objects.create_superuser("ann", password=RIGHT)


@pytest.fixture
def key(ann: User) -> str:
    return tokens.create(user=ann, actor="test")


def log_in(password: str, *, address: str = HOME, username: str = "ann", said: str = "") -> bool:
    """By the form, through the proxy; whether it opened the console. `said` comes from the client."""
    forwarded = ", ".join(filter(None, (said, address)))
    client = Client(REMOTE_ADDR=PROXY, headers={"X-Forwarded-For": forwarded})
    client.post("/admin/login/", {"username": username, "password": password})
    return "_auth_user_id" in client.session


def by_token(key: str, address: str = HOME) -> int:
    client = APIClient(REMOTE_ADDR=PROXY, HTTP_X_FORWARDED_FOR=address)
    client.credentials(HTTP_AUTHORIZATION=f"Token {key}")
    status: int = client.get(API).status_code
    return status


def fail(times: int = LIMIT, address: str = HOME) -> None:
    for _time in range(times):
        assert not log_in(WRONG, address=address)


def test_it_locks_where_it_was_tried_and_nowhere_else(ann: User) -> None:
    fail()
    assert not log_in(RIGHT)
    assert log_in(RIGHT, address=AWAY)


def test_others_at_the_same_address_are_not_locked(ann: User) -> None:
    User.objects.create_superuser("bob", password=RIGHT)
    fail()
    assert log_in(RIGHT, username="bob")


def test_fewer_lock_nobody(ann: User) -> None:
    fail(LIMIT - 1)
    assert log_in(RIGHT)


def test_it_ends(ann: User) -> None:
    fail()
    with time_machine.travel(now() + timedelta(minutes=16)):
        assert log_in(RIGHT)


def test_a_made_up_address_helps_nobody(ann: User) -> None:
    """What a client writes into the header stands before what the proxy adds."""
    for number in range(LIMIT):
        assert not log_in(WRONG, said=f"192.0.2.{number}")
    assert not log_in(RIGHT, said="192.0.2.99")
    assert log_in(RIGHT, address="192.0.2.1")


def test_past_the_proxy_no_header_counts(ann: User) -> None:
    """Who reaches the house directly cannot lock out others by writing their address."""
    for _time in range(LIMIT):
        Client(REMOTE_ADDR=AWAY, headers={"X-Forwarded-For": HOME}).post(
            "/admin/login/", {"username": "ann", "password": WRONG}
        )
    assert log_in(RIGHT)
    assert {one.ip_address for one in AccessAttempt.objects.all()} == {AWAY}


def guesses(key: str) -> Iterator[str]:
    """Tokens that begin as the right one does, which its owner's page shows."""
    for number in range(LIMIT):
        yield f"{key[:8]}{number:032x}"


def test_guessed_tokens_count_for_the_same_lock_out(key: str) -> None:
    assert [by_token(one) for one in guesses(key)] == [401] * LIMIT
    assert not log_in(RIGHT)
    assert log_in(RIGHT, address=AWAY)


def test_both_kinds_of_guesses_add_up(key: str) -> None:
    fail(LIMIT - 1)
    assert by_token(next(guesses(key))) == 401
    assert not log_in(RIGHT)


def test_programs_go_on_while_somebody_guesses_passwords(key: str) -> None:
    fail()
    assert by_token(key) == 200


def test_a_token_that_nobody_has_locks_nobody_out(key: str) -> None:
    """A program with a revoked token asks on and on, from where everybody else works."""
    assert {by_token("f" * 40) for _time in range(LIMIT + 1)} == {401}
    assert by_token(key) == 200
    assert log_in(RIGHT)
    assert "ffffffff" not in str(list(AccessAttempt.objects.values()))


def test_a_token_whose_time_is_over_locks_nobody_out(ann: User) -> None:
    key = tokens.create(user=ann, actor="test", expires_at=now())
    assert {by_token(key) for _time in range(LIMIT + 1)} == {401}
    assert log_in(RIGHT)

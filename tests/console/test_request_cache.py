"""What a request asks again is read once, and anew after anything was written or locked."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from core.house.request_cache import RequestCache, once, once_each, together
from projects.models import Member
from projects.scoping import held

SHOWN_AGAIN = 42  # among them the switcher of studies and the tests of set-up


@pytest.fixture
def user(as_user: Callable[..., Client]) -> User:
    """The administrator of the one study."""
    as_user("admin")
    return User.objects.get(username="admin")


def played(view: Callable[[HttpRequest], None], method: str) -> None:
    def answered(request: HttpRequest) -> HttpResponse:
        view(request)
        return HttpResponse()

    RequestCache(answered)(getattr(RequestFactory(), method)("/"))


@pytest.mark.parametrize("method", ["get", "post"])
def test_what_is_asked_again_is_read_once(method: str, user: User) -> None:
    [mine] = held(user)

    def view(_request: HttpRequest) -> None:
        with CaptureQueriesContext(connection) as told:
            assert [held(user), held(user)] == [[mine]] * 2
        assert len(told) == 1

    played(view, method)


@pytest.mark.parametrize("method", ["get", "post"])
def test_what_was_written_is_read_anew(method: str, user: User) -> None:
    [mine] = held(user)

    def view(_request: HttpRequest) -> None:
        assert held(user) == [mine]
        Member.objects.filter(pk=mine.pk).update(is_active=False)
        assert held(user) == []

    played(view, method)


def test_what_a_lock_was_waited_for_is_read_anew(user: User) -> None:
    [mine] = held(user)
    asked: list[int] = []

    def view(_request: HttpRequest) -> None:
        with transaction.atomic():
            once("asked", lambda: asked.append(1))
            rows = [*Member.objects.select_for_update().filter(pk=mine.pk)]
            assert rows == [mine]
            once("asked", lambda: asked.append(2))

    played(view, "post")
    assert asked == ([1, 2] if connection.features.has_select_for_update else [1])


def test_what_several_share_is_read_for_all_at_once_until_something_is_written(user: User) -> None:
    [mine] = held(user)
    asked: list[list[int]] = []

    def read(keys: Collection[int]) -> dict[int, int]:
        asked.append(sorted(keys))
        return {key: key * 10 for key in keys}

    def view(_request: HttpRequest) -> None:
        together([1, 2])
        assert [once_each("tens", key, read) for key in (1, 2, 3, 1)] == [10, 20, 30, 10]
        Member.objects.filter(pk=mine.pk).update(is_active=False)
        assert once_each("tens", 1, read) == 10

    played(view, "get")
    together([1, 2])
    assert once_each("tens", 2, read) == 20
    assert asked == [[1, 2], [3], [1], [2]]


def test_nothing_is_kept_beyond_a_request() -> None:
    asked: list[str] = []
    for method in ("get", "post"):
        played(lambda _request: once("asked", lambda: asked.append("read")), method)
    assert asked == ["read"] * 2
    once("asked", lambda: asked.append("outside"))
    once("asked", lambda: asked.append("outside"))
    assert asked[2:] == ["outside"] * 2


@pytest.mark.full
def test_a_form_that_is_shown_again_takes_few_statements(
    as_user: Callable[..., Client], study: Any
) -> None:
    client = as_user("admin")
    path = f"/admin/projects/project/{study.project.pk}/change/"
    with CaptureQueriesContext(connection) as told:
        shown = client.post(path, {"name": ""})
    assert shown.status_code == 200
    assert len(told) <= SHOWN_AGAIN

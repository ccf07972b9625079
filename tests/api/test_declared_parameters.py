"""Every address of the API takes its declared parameters and no other one, whatever it is called."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.urls import URLPattern, reverse

from iit_manager.api import router
from tests.api.conftest import House, Login
from tests.api.test_editing import problem
from tests.api.test_lists import ALL
from tests.console.test_declared_parameters import spellings

NAMES = {prefix: name for prefix, _view, name in router.registry}
VIEWS = {prefix: view for prefix, view, _name in router.registry}
ODD = ["x", "id[regex]", "id.regex", "ID", "ordering", "search", "limit", "offset", "page_size", "fields",
       "expand", "format", "_method", "q", "o", "status__in", "project__redcap_det_secret__startswith",
       "project[code]", "page[]", "page__gt", "a\0b"]  # fmt: skip


def filters(resource: str) -> set[str]:
    view: Any = VIEWS[resource]
    made = getattr(view, "filterset_class", None)
    named = (
        made.base_filters if made else getattr(view, "filterset_fields", ("record_id", "record"))
    )
    return {*named, "project", "page"}


@pytest.mark.full
@pytest.mark.parametrize("resource", ALL)
def test_no_parameter_passes_that_is_not_declared(
    resource: str, house: House, login: Login
) -> None:
    model: Any = VIEWS[resource].queryset.model  # type: ignore[attr-defined]
    names = ({*spellings(model), *ODD}) - filters(resource)
    client, listed = login("pi"), f"/api/v1/{resource}/"
    said: set[str] = set()
    for part in chunks(sorted(names), 500):
        said |= problem(client.get(listed, dict.fromkeys(part, "[")), 400)["errors"].keys()
    assert said == names
    for name in [*names][:20]:
        assert problem(client.get(listed, {name: "1"}), 400)["errors"].keys() == {name}


def chunks(names: list[str], size: int) -> list[list[str]]:
    return [names[start : start + size] for start in range(0, len(names), size)]


@pytest.mark.full
@pytest.mark.parametrize("resource", ALL)
def test_every_declared_one_passes_once(resource: str, house: House, login: Login) -> None:
    client = login("pi")
    for name in filters(resource):
        answer = client.get(f"/api/v1/{resource}/", {name: "1"})
        refused = answer.json().get("errors", {}).get(name, [])
        assert answer.status_code in (200, 400, 404), name
        assert "There is no such parameter." not in refused
        twice = client.get(f"/api/v1/{resource}/", {name: ["1", "1"]})
        assert problem(twice, 400)["errors"].keys() == {name}


def taken() -> dict[str, dict[str, str]]:
    """Every route with the methods that it takes, and what each does."""
    found = {}
    for route in router.urls:
        assert isinstance(route, URLPattern)
        actions: dict[str, str] = getattr(route.callback, "actions", {})
        allowed: Any = route.callback.cls.http_method_names  # type: ignore[attr-defined]
        found[route.name or ""] = {m: what for m, what in actions.items() if m in allowed}
    return {name: methods for name, methods in found.items() if name != "api-root"}


def routes() -> list[tuple[str, str]]:
    """Every route that is no list, with each of its methods."""
    return [
        (name, method)
        for name, methods in taken().items()
        for method, what in methods.items()
        if what != "list"
    ]


def path_of(name: str) -> str:
    pk = str(uuid.uuid4())
    for given in ({}, {"pk": pk}, {"batch": pk}):
        try:
            return reverse(name, kwargs=given)
        except Exception:
            continue
    raise AssertionError(name)


@pytest.mark.parametrize(("name", "method"), [*routes(), ("chat", "post")])
def test_no_other_address_takes_one(name: str, method: str, house: House, login: Login) -> None:
    for given in ("status", "page", "project", "id__regex"):
        answer = getattr(login("pi"), method)(f"{path_of(name)}?{given}=[", {}, format="json")
        assert problem(answer, 400)["errors"].keys() == {given}


@pytest.mark.full
def test_a_method_that_is_none_is_said_first(house: House, login: Login) -> None:
    every = {"get", "post", "put", "patch", "delete", "trace", "nonsense"}
    for name, methods in taken().items():
        for method in every - {*methods}:
            answer = login("pi").generic(method.upper(), f"{path_of(name)}?x=1")
            assert answer.status_code == 405, (name, method)


def test_who_is_not_logged_in_learns_no_names(house: House) -> None:
    from rest_framework.test import APIClient

    for resource in ALL:
        assert APIClient().get(f"/api/v1/{resource}/?x=1").status_code == 401

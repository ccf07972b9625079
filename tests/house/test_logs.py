"""What the log says of a request that went wrong: a refusal is a line, a fault carries its traceback."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from iit_manager.logs import Lines
from projects.api import ProjectViewSet
from tests.api.conftest import login
from tests.house.kit import make_project


@pytest.fixture
def told(db: None) -> Iterator[io.StringIO]:
    """What the house's own handler writes."""
    handler: Any = next(h for h in logging.getLogger().handlers if isinstance(h.formatter, Lines))
    stream = io.StringIO()
    before = handler.setStream(stream)
    yield stream
    handler.setStream(before)


@pytest.fixture
def client() -> Client:
    User.objects.create_user("nobody", password="a-good-long-word", is_staff=True)
    client = Client(raise_request_exception=False)
    client.login(username="nobody", password="a-good-long-word")
    return client


def refusals(client: Client) -> list[Any]:
    careful = Client(enforce_csrf_checks=True, raise_request_exception=False)
    many = {f"f{number}": "1" for number in range(2000)}
    return [
        client.get("/admin/engines/review/"),
        client.get("/admin/engines/review/export/"),
        client.post("/admin/login/", many),
        careful.post("/admin/login/", {"username": "x"}),
        client.get("/admin/", HTTP_HOST="else.where"),
        client.get("/nowhere/"),
        client.get("/api/v1/nowhere/"),
        client.post("/api/v1/chat/", b"{", content_type="application/json"),
        client.get("/admin/autocomplete/"),
    ]


def test_a_refusal_is_a_line(told: io.StringIO, client: Client) -> None:
    statuses = [answer.status_code for answer in refusals(client)]
    assert all(400 <= status < 500 for status in statuses), statuses
    assert "Forbidden (Permission denied): /admin/engines/review/" in told.getvalue()
    assert "Traceback" not in told.getvalue()


def test_a_fault_is_told_whole(
    told: io.StringIO, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: Any) -> None:
        raise KeyError("here")

    make_project()
    monkeypatch.setattr(ProjectViewSet, "get_queryset", broken)
    program = login("nobody")
    program.raise_request_exception = False
    assert program.get("/api/v1/projects/").status_code == 500
    assert "Traceback" in told.getvalue()
    assert "KeyError: 'here'" in told.getvalue()


def test_the_address_of_the_trigger_is_in_no_line(told: io.StringIO, client: Client) -> None:
    """It is the only secret of REDCap's hints; variants: another method, another ending, a crooked path."""
    secret = make_project("TRIGGER").redcap_det_secret
    client.get(f"/redcap/det/{secret}/")
    client.get(f"/redcap/det/{secret}/more")
    client.get(f"/redcap//DET//{secret}")
    client.post(f"/redcap/det/{secret}/", {"record": "x" * 2_000_000})
    logging.getLogger("django.request").error("Bad path: /redcap/det/%s?x", secret)
    assert "redcap/det/•••" in told.getvalue()
    assert secret not in told.getvalue()

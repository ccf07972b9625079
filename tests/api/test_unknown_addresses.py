"""Below the API every error is a problem document, also where no resource is (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from iit_manager.problems import bad_request_problem, server_error_problem
from projects.api import ProjectViewSet
from tests.api.conftest import House, Login
from tests.api.test_editing import problem

ABSENT = [
    "nope/",
    "nope",
    "visits/P001/",
    "skills/a/b/c/",
    "task-runs/batches/x/",
    "chat/x/",
    "schema/x",
    "a%0Ab/",
    "%00/",
]
MAPPING = '{"project": "ALPHA", "alias_name": "ecog", "actual_name": "ecog_score"}'


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("path", ABSENT)
def test_an_address_that_does_not_exist_is_a_problem(
    path: str, debug: bool, house: House, login: Login, settings: Settings
) -> None:
    settings.DEBUG = debug
    for client in (login("pi"), APIClient()):
        for method in ("get", "post", "put", "patch", "delete", "options"):
            content = problem(getattr(client, method)(f"/api/v1/{path}"), 404)
            assert content["code"] == "not_found"
        assert client.head(f"/api/v1/{path}").status_code == 404


@pytest.mark.parametrize("debug", [False, True])
def test_a_missing_slash_loses_nothing(
    debug: bool, house: House, login: Login, settings: Settings
) -> None:
    settings.DEBUG = debug
    client = login("chief")
    answer = client.get("/api/v1/field-mappings?alias_name=age")
    assert (answer.status_code, answer["Location"]) == (
        308,
        "/api/v1/field-mappings/?alias_name=age",
    )
    answer = client.post(
        "/api/v1/field-mappings", MAPPING, content_type="application/json", follow=True
    )
    assert (answer.status_code, answer.json()["alias_name"]) == (201, "ecog")


def test_a_bug_is_said_without_its_cause(
    house: House, login: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: Any) -> None:
        raise KeyError("secret")

    client = login("pi")
    client.raise_request_exception = False
    monkeypatch.setattr(ProjectViewSet, "get_queryset", broken)
    answer = client.get("/api/v1/projects/")
    assert problem(answer, 500)["code"] == "error"
    assert b"secret" not in answer.content


def test_a_wrong_host_is_a_problem(house: House, login: Login) -> None:
    problem(login("pi").get("/api/v1/projects/", HTTP_HOST="else.where"), 400)


def test_outside_of_the_api_it_stays_a_page(rf: Any) -> None:
    request = rf.get("/admin/")
    for answer in (server_error_problem(request), bad_request_problem(request, Exception())):
        assert answer["Content-Type"].startswith("text/html")


# --- bodies nobody can read

FORM, JSON = "application/x-www-form-urlencoded", "application/json"
TOO_LARGE = "x" * 3_000_000
UNREADABLE = [
    (f'{{"text": "{TOO_LARGE}"}}', JSON, 413),
    (f"text={TOO_LARGE}", FORM, 413),
    ("&".join(f"f{number}=1" for number in range(2000)), FORM, 400),
    ("garbage", "multipart/form-data; boundary=x", 415),
    ("garbage", "multipart/form-data", 415),
    ("{", JSON, 400),
    ('{"text": "?"}'.encode("utf-16"), JSON, 400),
    (b'{"text": "\xff"}', JSON, 400),
    ("[]", JSON, 400),
    ("<x/>", "text/xml", 415),
]


@pytest.mark.parametrize(("body", "kind", "status"), UNREADABLE, ids=range(len(UNREADABLE)))
@pytest.mark.parametrize("path", ["chat/", "skills/", "task-runs/start/"])
def test_a_body_nobody_can_read_is_a_problem(
    path: str,
    body: str | bytes,
    kind: str,
    status: int,
    house: House,
    login: Login,
    caplog: pytest.LogCaptureFixture,
) -> None:
    problem(login("chief").generic("POST", f"/api/v1/{path}", body, content_type=kind), status)
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize(
    ("body", "kind", "status"), [UNREADABLE[1], UNREADABLE[2], UNREADABLE[4]], ids=range(3)
)
def test_of_a_session_too(body: str, kind: str, status: int, house: House) -> None:
    """There the check of the token reads the body first."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(house.people["chief"].user, "django.contrib.auth.backends.ModelBackend")
    client.cookies["csrftoken"] = token = "a" * 32
    problem(
        client.generic("POST", "/api/v1/chat/", body, content_type=kind, HTTP_X_CSRFTOKEN=token),
        status,
    )

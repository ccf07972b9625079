"""/metrics, schema and docs are for a named network, a token, or whoever is logged in; no page is stored."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from projects import checks, tokens

pytestmark = pytest.mark.django_db
OUTSIDE = {"REMOTE_ADDR": "203.0.113.9"}
API = ("/api/v1/schema/", "/api/v1/docs/")
ALL = ("/metrics", *API)


@pytest.fixture(autouse=True)
def _named(settings: Settings) -> None:
    settings.INSPECTION_NETWORKS, settings.INSPECTION_TOKEN = ["10.1.2.0/24"], "long-and-secret"


@pytest.mark.parametrize("path", ALL)
def test_a_stranger_is_refused(client: Client, path: str) -> None:
    """Variants: an address that somebody only claims, and another token."""
    for headers in (
        {},
        {"HTTP_X_FORWARDED_FOR": "10.1.2.3"},
        {"HTTP_AUTHORIZATION": "Bearer wrong"},
        {"HTTP_AUTHORIZATION": "Bearer "},
    ):
        answer = client.get(path, **OUTSIDE, **headers)
        assert answer.status_code in (401, 403), headers
        assert b"python_info" not in answer.content
        assert b"openapi" not in answer.content


@pytest.mark.full
@pytest.mark.parametrize("path", ALL)
def test_the_named_network_and_the_token_read(client: Client, path: str) -> None:
    assert client.get(path, REMOTE_ADDR="10.1.2.3").status_code == 200
    token = {"HTTP_AUTHORIZATION": "Bearer long-and-secret"}
    assert client.get(path, **OUTSIDE, **token).status_code == 200


def test_without_a_token_of_the_house_none_fits(client: Client, settings: Settings) -> None:
    settings.INSPECTION_TOKEN = ""
    for given in ("Bearer ", "Bearer", "Bearer  "):
        assert client.get("/metrics", **OUTSIDE, HTTP_AUTHORIZATION=given).status_code == 403


@pytest.mark.full
def test_a_login_reads_the_description_and_a_superuser_the_counters() -> None:
    user = User.objects.create_user("ann", is_staff=True)
    root = User.objects.create_superuser("root")
    program = APIClient()
    program.credentials(HTTP_AUTHORIZATION=f"Token {tokens.create(user=user, actor=user)}")
    for path in API:
        assert program.get(path, **OUTSIDE).status_code == 200
    assert program.get("/metrics", **OUTSIDE).status_code == 403
    for who, status in ((user, 403), (root, 200)):
        client = Client()
        client.force_login(who, "django.contrib.auth.backends.ModelBackend")
        assert client.get("/metrics", **OUTSIDE).status_code == status


def test_a_network_that_is_none_is_said(settings: Settings) -> None:
    settings.INSPECTION_NETWORKS = ["monitoring"]
    assert [one.id for one in checks.inspection_networks()] == ["iit.E007"]


@pytest.mark.full
def test_no_answer_is_kept() -> None:
    User.objects.create_superuser("root")
    client = Client()
    for path in ("/admin/login/", "/api/v1/projects/", "/nowhere/", "/api/v1/nowhere/"):
        assert "no-store" in client.get(path)["Cache-Control"], path
    client.force_login(User.objects.get(), "django.contrib.auth.backends.ModelBackend")
    for path in ("/admin/", "/admin/study/subject/", "/api/v1/task-runs/", "/admin/jsi18n/"):
        assert "no-store" in client.get(path)["Cache-Control"], path


def test_a_house_whose_studies_name_their_models_starts(settings: Settings) -> None:
    real = {
        "SECRET_KEY": "x9" * 30, "ALLOWED_HOSTS": ["h"], "PUBLIC_URL": "https://h",
        "WECOM_CORP_ID": "ww1", "WECOM_AGENT_ID": 9, "WECOM_SECRET": "s", "WECOM_TOKEN": "t",
        "WECOM_AES_KEY": "k", "LLM_BASE_URL": "", "LLM_API_KEY": "",
        "DEMO_VALUES": {},
    }  # fmt: skip
    for name, value in real.items():
        setattr(settings, name, value)
    assert checks.production_values() == []
    settings.LLM_BASE_URL = "https://llm.example.org/v1"
    assert [one.id for one in checks.production_values()] == ["iit.E002"]

"""Without the collected files: the web process says so and does not start; the 500 page needs nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.test import Client

from iit_manager.serving import require_static_files


@pytest.fixture
def production(settings: Any, tmp_path: Path) -> None:
    """The static files of production, not collected."""
    settings.DEBUG = False
    settings.STATIC_ROOT = tmp_path / "static"
    settings.STATIC_ROOT.mkdir()
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"}
    }


@pytest.mark.usefixtures("production")
@pytest.mark.parametrize("page", ["/admin/login/", "/admin/", "/api/v1/projects/"])
@pytest.mark.parametrize("language", ["zh-hans", "en"])
def test_a_page_that_fails_is_still_a_page(page: str, language: str) -> None:
    """The test has neither a manifest nor leave to ask a database."""
    client = Client(raise_request_exception=False)
    client.cookies["django_language"], client.cookies["sessionid"] = language, "x" * 32
    answer = client.get(page)
    assert answer.status_code == 500
    if page.startswith("/api/"):
        assert answer["Content-Type"] == "application/problem+json"
        return
    said = {"zh-hans": "系统出错了", "en": "Something went wrong on our side"}[language]
    assert said in answer.content.decode()
    assert "/static/iit/error.css" in answer.content.decode()


@pytest.mark.usefixtures("production")
def test_every_error_page_needs_no_manifest() -> None:
    client = Client(raise_request_exception=False)
    assert client.get("/nowhere/").status_code == 404
    assert "error.css" in client.get("/nowhere/").content.decode()


@pytest.mark.slow
@pytest.mark.usefixtures("production")
def test_the_web_process_asks_for_the_collected_files() -> None:
    with pytest.raises(ImproperlyConfigured, match="collectstatic"):
        require_static_files()
    call_command("collectstatic", interactive=False, verbosity=0)
    require_static_files()
    assert staticfiles_storage.exists("staticfiles.json")


def test_on_a_developers_machine_nothing_is_collected(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    require_static_files()

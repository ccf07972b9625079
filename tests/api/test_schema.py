"""The API describes itself, without a warning (contracts.md, `/api/v1/schema/`)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.admindocs.views import simplify_regex
from django.core.management import call_command

from iit_manager.api import router
from tests.api.conftest import House, Login

ACTIONS = {
    "/api/v1/task-runs/start/": "post",
    "/api/v1/task-runs/{id}/approve/": "post",
    "/api/v1/task-runs/{id}/reject/": "post",
    "/api/v1/task-runs/{id}/cancel/": "post",
    "/api/v1/pending-actions/{id}/resolve/": "post",
    "/api/v1/chat/": "post",
}
RESOURCES = (
    "projects skills field-mappings form-templates task-runs pending-actions conversations"
    " project-memory weekly-reports agent-traces user-memory visits"
)


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("schema") / "schema.yml"
    call_command("spectacular", "--file", str(path), "--validate", "--fail-on-warn")
    content: dict[str, Any] = yaml.safe_load(Path(path).read_text("utf-8"))
    return content


@pytest.mark.full
def test_every_resource_and_action_is_described(schema: dict[str, Any]) -> None:
    for resource in RESOURCES.split():
        assert "get" in schema["paths"][f"/api/v1/{resource}/"]
    for path, method in ACTIONS.items():
        assert method in schema["paths"][path]


@pytest.mark.full
def test_lists_are_described_as_they_come(schema: dict[str, Any]) -> None:
    content = schema["paths"]["/api/v1/task-runs/"]["get"]["responses"]["200"]["content"]
    name = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
    assert schema["components"]["schemas"][name]["properties"].keys() == {
        "count",
        "next",
        "previous",
        "results",
    }


def test_every_address_of_the_api_is_described(schema: dict[str, Any]) -> None:
    undescribed = {"", "chat/"} | {"schema/", "docs/"}
    listed = {path.removeprefix("/api/v1/") for path in schema["paths"]}
    routes = {simplify_regex(str(route.pattern)).lstrip("/") for route in router.urls}
    routes = {
        re.sub(r"<(?:pk)>", "{id}", route).replace("<", "{").replace(">", "}") for route in routes
    }
    assert routes - undescribed <= listed


@pytest.mark.full
def test_chat_answers_with_a_reply(schema: dict[str, Any]) -> None:
    content = schema["paths"]["/api/v1/chat/"]["post"]["responses"]["200"]["content"]
    name = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
    assert schema["components"]["schemas"][name]["properties"].keys() == {
        "reply",
        "intents",
        "record_ids",
        "conversation_id",
    }


@pytest.mark.full
def test_visits_say_what_narrows_them(schema: dict[str, Any]) -> None:
    named = {one["name"] for one in schema["paths"]["/api/v1/visits/"]["get"]["parameters"]}
    assert {"project", "record_id", "page"} <= named


@pytest.mark.full
def test_starting_answers_with_id_and_status(schema: dict[str, Any]) -> None:
    content = schema["paths"]["/api/v1/task-runs/start/"]["post"]["responses"]["201"]["content"]
    name = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
    assert schema["components"]["schemas"][name]["properties"].keys() == {"id", "status"}


@pytest.mark.full
def test_the_schema_is_served(house: House, login: Login) -> None:
    answer = login("crc_a").get("/api/v1/schema/?format=json")
    assert answer.status_code == 200
    assert answer.json()["info"]["title"] == "IIT Manager"


def test_the_documentation_loads_nothing_from_outside(house: House, login: Login) -> None:
    page = login("crc_a").get("/api/v1/docs/")
    assert page.status_code == 200
    text = page.content.decode()
    assert "/static/drf_spectacular_sidecar/" in text
    assert "https://" not in text

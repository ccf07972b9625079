"""What a token was made for: each scope lets pass what it should and refuses the rest (contracts.md, HTTP)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.urls import URLPattern, reverse
from django.utils.timezone import now
from rest_framework.test import APIClient

from engines.models import TaskRun
from iit_manager.api import urlpatterns
from projects import tokens
from projects.models import ApiToken, TokenScope
from tests.api.conftest import House
from tests.api.test_editing import problem
from tests.support.chat import URL as CHAT
from tests.support.chat import work
from tests.support.study import Study

pytestmark = pytest.mark.django_db
UNSAFE = ("post", "put", "patch", "delete")
READ, ASK, RUN, DECIDE, FINDINGS, SKILLS, MEMORY, DOCUMENTS, COUNTS = TokenScope
NEEDED = {
    "chat": ASK,
    "chat-answer": ASK,
    "task-run-start": RUN,
    "task-run-dry-run": RUN,
    "task-run-rerun": RUN,
    "task-run-start-batch": RUN,
    "task-run-cancel-batch": RUN,
    "task-run-cancel": RUN,
    "task-run-approve": DECIDE,
    "task-run-reject": DECIDE,
    "pending-action-move": FINDINGS,
    "pending-action-assign": FINDINGS,
    "pending-action-comment": FINDINGS,
    "pending-action-resolve": FINDINGS,
    "skill-list": SKILLS,
    "skill-detail": SKILLS,
    "skill-take": SKILLS,
    "field-mapping-list": SKILLS,
    "field-mapping-detail": SKILLS,
    "form-template-list": SKILLS,
    "form-template-detail": SKILLS,
    "project-memory-detail": MEMORY,
    "protocol-document-list": DOCUMENTS,
}
"""By the name of a route; reading needs READ everywhere but where the answer to a question is fetched."""


def doors() -> Iterator[tuple[str, str, str]]:
    """(name of the route, method, address) of everything the API answers."""
    for route in urlpatterns:
        assert isinstance(route, URLPattern)
        if route.name == "api-root":
            continue
        view: Any = route.callback
        methods = getattr(view, "actions", None) or {
            name: name for name in ("get", *UNSAFE) if hasattr(view.cls, name)
        }
        pattern: Any = route.pattern
        names = pattern.regex.groupindex
        path = reverse(str(route.name), kwargs=dict.fromkeys(names, str(UUID(int=7))))
        for method in methods:
            if method in view.cls.http_method_names and method != "head":
                yield str(route.name), method, path


ALL = sorted(doors())


def needed(name: str, method: str) -> TokenScope:
    if method in UNSAFE or name == "chat-answer":
        return NEEDED[name]
    return READ


def client(*scopes: TokenScope, owner: str = "root", **made: Any) -> APIClient:
    user = User.objects.get(username=owner)
    key = tokens.create(user=user, actor=user, scopes=scopes, **made)
    caller = APIClient()
    caller.credentials(HTTP_AUTHORIZATION=f"Token {key}")
    return caller


def call(caller: APIClient, method: str, path: str) -> Any:
    ask: Any = getattr(caller, method)
    return ask(path) if method == "get" else ask(path, {}, format="json")


def test_there_are_doors_of_every_scope() -> None:
    """But for counting: that is for MCP, which tells no rows."""
    assert {needed(name, method) for name, method, _path in ALL} == {*TokenScope} - {COUNTS}
    assert {name for name, method, _path in ALL if method in UNSAFE} <= {*NEEDED}


@pytest.mark.parametrize(("name", "method", "path"), ALL)
def test_the_one_scope_opens_it_and_all_others_do_not(
    house: House, name: str, method: str, path: str
) -> None:
    scope = needed(name, method)
    passed = call(client(scope), method, path)
    assert passed.status_code in (200, 201, 400, 403, 404), passed.content
    assert "scope_missing" not in passed.content.decode()
    rest = [one for one in TokenScope if one is not scope]
    refused = problem(call(client(*rest), method, path), 403)
    assert refused["code"] == "scope_missing"


def test_a_scope_opens_nothing_that_the_owner_may_not(house: House) -> None:
    mapping = house.rows["ALPHA"]["field-mappings"][0]
    path = f"/api/v1/field-mappings/{mapping.pk}/"
    said = {"actual_name": "other"}
    refused = problem(client(SKILLS, owner="crc_a").patch(path, said, format="json"), 403)
    assert refused["code"] == "permission_denied"
    assert client(SKILLS, owner="other").patch(path, said, format="json").status_code == 404
    found = client(READ, owner="crc_a").get("/api/v1/pending-actions/").json()
    assert [row["record_id"] for row in found["results"]] == ["A1"]


def test_expired_and_revoked_are_refused_whatever_they_were_for(house: House) -> None:
    over = client(READ, expires_at=now() - timedelta(seconds=1))
    assert over.get("/api/v1/projects/").status_code == 401
    gone = client(READ)
    assert gone.get("/api/v1/projects/").status_code == 200
    tokens.revoke(tokens=ApiToken.objects.all(), actor="command")
    assert gone.get("/api/v1/projects/").status_code == 401


def test_a_question_starts_no_run_unless_the_token_may(study: Study) -> None:
    for scopes, runs in ([ASK], 0), ([ASK, RUN], 1):
        caller = client(*scopes, owner="wanghushi")
        asked = caller.post(CHAT, {"text": "质控 P001"}, format="json")
        assert asked.status_code == 202
        work()
        reply = caller.get(f"{CHAT}{asked.json()['conversation_id']}/").json()["reply"]
        assert TaskRun.objects.count() == runs, reply
        assert ("API" in reply) is (runs == 0)

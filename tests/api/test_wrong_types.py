"""A value of a wrong type is refused, never read as another one; and nothing is done (contracts.md, HTTP)."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from core.house.api_fields import Json
from engines.models import PendingAction, TaskRun
from iit_manager.api import router
from memory.models import ConversationHistory
from projects.api import EditViewSet
from projects.models import AuditEntry
from skills.models import FormTemplate, Skill
from tests.api.conftest import House, Login
from tests.api.test_editing import memory, new_skill, problem, put, raw
from tests.api.test_runs import CLEAN, VIOLATION, decide, finding, order, shown, suspended
from tests.support.chat import chat
from tests.support.study import Study

pytestmark = pytest.mark.django_db(transaction=True)
NO_TEXT = [5, 1.5, True, [], ["P001"], {}, {"x": 1}]


@pytest.mark.full
@pytest.mark.parametrize("value", NO_TEXT, ids=repr)
def test_no_decision_without_a_text(value: Any, study: Study, login: Login) -> None:
    pk, review = suspended(login)
    said = {"reason": "x", "seen": review["seen"]}
    for what, name in [("reject", "reason"), ("approve", "reason"), ("approve", "seen")]:
        answer = decide(login, "wanghushi", pk, what, **said | {name: value})
        assert problem(answer, 400)["errors"].keys() == {name}
    problem(decide(login, "wanghushi", pk, "cancel", reason=value), 400)
    assert shown(login, "wanghushi", pk)["status"] == "SUSPENDED"


@pytest.mark.full
@pytest.mark.parametrize("value", NO_TEXT, ids=repr)
@pytest.mark.parametrize("name", ["project", "skill_type", "record_id"])
def test_no_order_without_a_text(name: str, value: Any, study: Study, login: Login) -> None:
    answer = order(login, "zhangyi", **{name: value})
    assert problem(answer, 400)["errors"].keys() == {name}
    body = {"project": "LUNG-IIT", "skill_type": "qc_process", "record_id": CLEAN} | {name: value}
    answer = login("zhangyi").post("/api/v1/task-runs/dry-run/", body, format="json")
    assert problem(answer, 400)["errors"].keys() == {name}
    assert not TaskRun.objects.exists()


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"record_ids": [7]}, {"record_ids"}),
        ({"record_ids": [CLEAN, True]}, {"record_ids"}),
        ({"record_ids": [CLEAN], "cap": "4"}, {"cap"}),
        ({"record_ids": [CLEAN], "cap": 4.0}, {"cap"}),
        ({"record_ids": [CLEAN], "cap": True}, {"cap"}),
        ({"all": 1}, {"all"}),
        ({"all": "yes"}, {"all"}),
    ],
)
def test_no_batch_either(
    fields: dict[str, Any], names: set[str], study: Study, login: Login
) -> None:
    body = {"project": "LUNG-IIT", "skill_type": "qc_process"} | fields
    answer = login("zhangyi").post("/api/v1/task-runs/start-batch/", body, format="json")
    assert problem(answer, 400)["errors"].keys() == names
    assert not TaskRun.objects.exists()


@pytest.mark.full
@pytest.mark.parametrize("value", NO_TEXT, ids=repr)
def test_no_question_without_a_text(value: Any, study: Study, login: Login) -> None:
    for body in ({"text": value}, {"text": "P001 入组了吗?", "project": value}):
        answer = login("zhangyi").post("/api/v1/chat/", body, format="json")
        assert problem(answer, 400)["errors"].keys() == {[*body][-1]}
    assert not ConversationHistory.objects.exists()


@pytest.mark.full
def test_no_project_and_null_are_the_same(study: Study, login: Login) -> None:
    answer = chat(login("zhangyi"), text="P001 入组了吗?", project=None)
    assert (answer.status_code, answer.json()["record_ids"]) == (200, [CLEAN])


@pytest.mark.full
def test_no_finding_is_closed_with_a_number(study: Study, login: Login) -> None:
    row = finding(login)
    path = f"/api/v1/pending-actions/{row.pk}/resolve/"
    assert row.record_id == VIOLATION
    for value in NO_TEXT:
        problem(login("wanghushi").post(path, {"resolution": value}, format="json"), 400)
    assert PendingAction.objects.get(pk=row.pk).resolved_by is None


@pytest.mark.full
def test_a_form_writes_numbers_as_text(study: Study, login: Login) -> None:
    """application/x-www-form-urlencoded has nothing else."""
    body = f"project=LUNG-IIT&record_ids={CLEAN}&cap=1"
    answer = login("zhangyi").generic(
        "POST",
        "/api/v1/task-runs/start-batch/",
        body,
        content_type="application/x-www-form-urlencoded",
    )
    assert answer.status_code == 201, answer.content


NUL, HALF = "a\0b", "\ud800"


@pytest.mark.full
@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"project": 5}, {"project"}),
        ({"project": ["ALPHA"]}, {"project"}),
        ({"project": "ALPHA\0"}, {"project"}),
        ({"project": HALF}, {"project"}),
        ({"name": 5}, {"name"}),
        ({"skill_type": 5}, {"skill_type"}),
        ({"is_active": "yes"}, {"is_active"}),
        ({"is_active": 1}, {"is_active"}),
        ({"trigger_type": 5}, {"trigger_type"}),
        ({"trigger_type": HALF}, {"trigger_type"}),
        ({"trigger_type": []}, {"trigger_type"}),
        ({"cron_schedule": 5}, {"cron_schedule"}),
    ],
)
def test_a_skill_is_what_was_written(
    fields: dict[str, Any], names: set[str], house: House, login: Login
) -> None:
    answer = raw(login("chief"), "/api/v1/skills/", json.dumps(new_skill(**fields)))
    assert problem(answer, 400)["errors"].keys() == names
    assert Skill.objects.count() == 2


@pytest.mark.full
@pytest.mark.parametrize("value", [NUL, HALF, {NUL: 1}, [[{"x": HALF}]]], ids=range(4))
def test_text_that_no_database_stores_is_refused_anywhere(
    value: Any, house: House, login: Login
) -> None:
    client = login("chief")
    config = new_skill()["config"]
    config["nodes"]["a"]["rules"][0]["message"] = value
    answer = raw(client, "/api/v1/skills/", json.dumps(new_skill(config=config)))
    assert problem(answer, 400)["errors"].keys() == {"config"}
    for name in ("field_schema", "keywords"):
        body = {"project": "ALPHA", "form_name": "ae", "field_schema": {}} | {name: value}
        answer = raw(client, "/api/v1/form-templates/", json.dumps(body))
        assert problem(answer, 400)["errors"].keys() == {name}
    assert not AuditEntry.objects.exclude(project=None).exists()


@pytest.mark.full
def test_a_backslash_is_no_nul(house: House, login: Login) -> None:
    body = {"project": "ALPHA", "form_name": "ae", "field_schema": {"x": r"\u0000 C:\\u0000"}}
    answer = login("chief").post("/api/v1/form-templates/", body, format="json")
    assert answer.status_code == 201, answer.content
    assert FormTemplate.objects.get(pk=answer.json()["id"]).field_schema == body["field_schema"]


@pytest.mark.full
@pytest.mark.parametrize(
    "fields", [{"content": 5}, {"content": ["x"]}, {"version": "1"}, {"version": True}], ids=repr
)
def test_hot_memory_is_what_was_written(fields: dict[str, Any], house: House, login: Login) -> None:
    before = memory(house).content
    answer = put(login("pi"), house, **{"content": "x", "version": 1} | fields)
    assert problem(answer, 400)["errors"].keys() == fields.keys()
    assert (memory(house).content, memory(house).version) == (before, 1)


def json_fields() -> list[tuple[str, str]]:
    """Every column of JSON that a resource lets a client write."""
    found = []
    for prefix, view, _name in router.registry:
        made = getattr(view, "serializer_class", None)
        if issubclass(view, EditViewSet) and made is not None:
            fields = made().fields.items()
            found += [
                (prefix, name) for name, f in fields if isinstance(f, Json) and not f.read_only
            ]
    return found


NO_SHAPE: dict[str, list[Any]] = {
    "config": [None, 5, 1.5, True, "text", "", [], ["x"], {}],
    "field_schema": [None, 5, 1.5, True, "text", "", [], ["x"], [{}]],
    "keywords": [None, 5, 1.5, True, "text", "", {}, {"x": 1}, [5], [None], [[]], ["x", {}]],
}
FORM = "application/x-www-form-urlencoded"


@pytest.mark.full
@pytest.mark.parametrize(("resource", "name"), json_fields())
def test_json_of_another_kind_is_refused(
    resource: str, name: str, house: House, login: Login
) -> None:
    """Written as JSON and as a form, which tells `null` only when it is read."""
    client, row = login("chief"), house.rows["ALPHA"][resource][0]
    before = getattr(row, name)
    for value in NO_SHAPE[name]:
        body = json.dumps(value)
        for path, how in ((f"{resource}/{row.pk}/", "PATCH"), (f"{resource}/", "POST")):
            whole = json_body(resource) | {name: value}
            sent = json.dumps(whole if how == "POST" else {name: value})
            answer = client.generic(how, f"/api/v1/{path}", sent, content_type="application/json")
            assert name in problem(answer, 400)["errors"], value
            texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in whole.items()}
            given = texts if how == "POST" else {name: body}
            form = urlencode(given | {name: body})
            answer = client.generic(how, f"/api/v1/{path}", form, content_type=FORM)
            assert name in problem(answer, 400)["errors"], value
    row.refresh_from_db()
    assert getattr(row, name) == before


def json_body(resource: str) -> dict[str, Any]:
    if resource == "skills":
        return new_skill()
    return {"project": "ALPHA", "form_name": "ae", "field_schema": {}}


@pytest.mark.full
def test_a_rehearsal_of_nothing_is_refused(house: House, login: Login) -> None:
    form = urlencode({"project": "ALPHA", "record_id": "A1", "config": "null"})
    answer = login("chief").generic("POST", "/api/v1/task-runs/dry-run/", form, content_type=FORM)
    assert problem(answer, 400)["errors"].keys() == {"config"}

"""Every resource: who may ask, what a list looks like, whose rows are in it (contracts.md, HTTP)."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.timezone import now
from rest_framework.test import APIClient

from memory.models import WeeklyReport
from tests.api.conftest import House, Login

RESOURCES = [
    "projects",
    "skills",
    "field-mappings",
    "form-templates",
    "task-runs",
    "pending-actions",
    "conversations",
    "project-memory",
    "weekly-reports",
    "agent-traces",
    "user-memory",
    "protocol-documents",
]
ALL = [*RESOURCES, "visits"]
SHARED = [
    "projects",
    "skills",
    "field-mappings",
    "form-templates",
    "project-memory",
    "weekly-reports",
    "protocol-documents",
]
OF_A_SUBJECT = ["task-runs", "pending-actions"]
OF_A_PERSON = ["conversations", "agent-traces", "user-memory"]
EVERYTHING = 2


def listed(client: APIClient, resource: str, **query: object) -> list[str]:
    answer = client.get(f"/api/v1/{resource}/", query)
    assert answer.status_code == 200, answer.content
    content = answer.json()
    assert content.keys() == {"count", "next", "previous", "results"}
    assert content["count"] == len(content["results"])
    return [row["id"] for row in content["results"]]


def expected(house: House, resource: str, *indexes: int, code: str = "ALPHA") -> set[str]:
    return {str(house.rows[code][resource][index].pk) for index in indexes}


@pytest.mark.parametrize("resource", ALL)
def test_without_a_login_there_is_nothing(resource: str, house: House) -> None:
    answer = APIClient().get(f"/api/v1/{resource}/")
    assert answer.status_code == 401
    assert answer["Content-Type"] == "application/problem+json"
    assert answer["WWW-Authenticate"].startswith("Token")
    assert (answer.json()["status"], answer.json()["code"]) == (401, "not_authenticated")


@pytest.mark.parametrize(
    "header", ["Token nonsense", "Token", "Token a b", "Bearer x", "Basic eDp5"]
)
def test_a_wrong_token_is_told(header: str, house: House) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=header)
    answer = client.get("/api/v1/projects/")
    assert answer.status_code == 401
    assert answer["Content-Type"] == "application/problem+json"


def test_a_console_session_is_a_login_too(house: House) -> None:
    client = Client()
    client.force_login(
        User.objects.get(username="crc_a"), "django.contrib.auth.backends.ModelBackend"
    )
    assert client.get("/api/v1/task-runs/").json()["count"] == 1


def test_a_session_writes_only_with_its_csrf_token(house: House) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.get(username="pi"), "django.contrib.auth.backends.ModelBackend")
    answer = client.post("/api/v1/task-runs/start/", {}, content_type="application/json")
    assert answer.status_code == 403
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("userid", ["crc_a", "root"])
def test_a_deactivated_user_is_out(userid: str, house: House, login: Login) -> None:
    client = login(userid)
    User.objects.filter(username=userid).update(is_active=False)
    assert client.get("/api/v1/projects/").status_code == 401


@pytest.mark.full
@pytest.mark.parametrize("resource", SHARED)
def test_rows_of_the_study_are_for_its_members(resource: str, house: House, login: Login) -> None:
    for userid in ("pi", "crc_a", "crc_b", "chief", "auditor"):
        assert set(listed(login(userid), resource)) == expected(house, resource, 0)
    assert set(listed(login("other"), resource)) == expected(house, resource, 0, code="BETA")
    assert listed(login("stranger"), resource) == []
    assert len(listed(login("root"), resource)) == EVERYTHING


@pytest.mark.parametrize("resource", OF_A_SUBJECT)
def test_rows_about_subjects_follow_the_site(resource: str, house: House, login: Login) -> None:
    assert set(listed(login("crc_a"), resource)) == expected(house, resource, 0)
    assert set(listed(login("crc_b"), resource)) == expected(house, resource, 1)
    for userid in ("pi", "chief", "auditor"):
        assert set(listed(login(userid), resource)) == expected(house, resource, 0, 1)
    assert listed(login("stranger"), resource) == []


@pytest.mark.full
@pytest.mark.parametrize("resource", OF_A_PERSON)
def test_rows_of_a_person_are_theirs_and_the_supervisors(
    resource: str, house: House, login: Login
) -> None:
    assert set(listed(login("crc_a"), resource)) == expected(house, resource, 0)
    assert set(listed(login("crc_b"), resource)) == expected(house, resource, 1)
    assert listed(login("pi"), resource) == []
    for userid in ("chief", "auditor"):
        assert set(listed(login(userid), resource)) == expected(house, resource, 0, 1)
    assert set(listed(login("other"), resource)) == expected(house, resource, 0, 1, code="BETA")


@pytest.mark.parametrize("resource", RESOURCES)
def test_not_yours_and_not_there_read_the_same(resource: str, house: House, login: Login) -> None:
    client = login("crc_b")
    foreign = [house.rows["BETA"][resource][0].pk]
    if resource in OF_A_SUBJECT + OF_A_PERSON:
        foreign.append(house.rows["ALPHA"][resource][0].pk)
    answers = [
        client.get(f"/api/v1/{resource}/{pk}/") for pk in (*foreign, uuid.uuid4(), "nonsense")
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    assert {answer["Content-Type"] for answer in answers} == {"application/problem+json"}


@pytest.mark.parametrize("resource", RESOURCES)
def test_one_row_reads_as_in_the_list(resource: str, house: House, login: Login) -> None:
    """A document's text, which a list leaves out, is all that it adds."""
    client = login("root")
    row = client.get(f"/api/v1/{resource}/").json()["results"][0]
    more = {"text": "t"} if resource == "protocol-documents" else {}
    assert client.get(f"/api/v1/{resource}/{row['id']}/").json() == row | more


@pytest.mark.parametrize("resource", RESOURCES)
def test_names_are_snake_case_and_secrets_absent(resource: str, house: House, login: Login) -> None:
    house.alpha.redcap_token = "SECRET-TOKEN"
    house.alpha.save()
    text = login("root").get(f"/api/v1/{resource}/").content.decode()
    assert "SECRET-TOKEN" not in text
    assert house.alpha.redcap_det_secret not in text
    row = login("root").get(f"/api/v1/{resource}/").json()["results"][0]
    assert all(name == name.lower() and "-" not in name for name in row)


@pytest.mark.parametrize(
    "resource",
    [
        "task-runs",
        "pending-actions",
        "conversations",
        "agent-traces",
        "user-memory",
        "weekly-reports",
        "projects",
    ],
)
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_what_is_read_only_refuses_writing(
    resource: str, method: str, house: House, login: Login
) -> None:
    pk = house.rows["ALPHA"][resource][0].pk
    path = f"/api/v1/{resource}/" if method == "post" else f"/api/v1/{resource}/{pk}/"
    answer = getattr(login("root"), method)(path, {}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert method.upper() in answer.json()["title"]
    assert answer.json()["title"] == answer.json()["detail"]


@pytest.mark.parametrize("resource", RESOURCES)
def test_nothing_is_deleted_through_the_api(resource: str, house: House, login: Login) -> None:
    pk = house.rows["ALPHA"][resource][0].pk
    assert login("root").delete(f"/api/v1/{resource}/{pk}/").status_code == 405


def weeks(house: House, number: int) -> None:
    start = now()
    WeeklyReport.objects.bulk_create(
        WeeklyReport(
            project=house.alpha,
            week_number=n,
            week_start=start,
            week_end=start + timedelta(days=7),
            summary="s",
            created_by="x",
        )
        for n in range(2, number + 1)
    )


@pytest.mark.full
def test_long_lists_come_in_pages(house: House, login: Login) -> None:
    weeks(house, 120)
    client = login("pi")
    path: str | None = "/api/v1/weekly-reports/"
    pages, seen = 0, []
    while path:
        content = client.get(path).json()
        assert content["count"] == 120
        assert (content["previous"] is None) == (pages == 0)
        seen += [row["week_number"] for row in content["results"]]
        path = content["next"]
        pages += 1
    assert pages == 3
    assert seen == [*range(120, 0, -1)]


@pytest.mark.full
def test_pages_of_rows_that_are_equally_old_neither_repeat_nor_miss_one(
    house: House, login: Login
) -> None:
    from memory.models import ConversationHistory

    stamp = now()
    ConversationHistory.objects.bulk_create(
        ConversationHistory(
            project=house.alpha, user_id="crc_a", role="user", content="?", created_at=stamp
        )
        for _ in range(120)
    )
    client = login("crc_a")
    found = [
        row["id"]
        for page in (1, 2, 3)
        for row in client.get(f"/api/v1/conversations/?page={page}").json()["results"]
    ]
    assert len(found) == len(set(found)) == 121


@pytest.mark.parametrize("page", ["0", "99", "-1", "x"])
def test_a_page_that_is_not_there_is_a_problem(page: str, house: House, login: Login) -> None:
    answer = login("pi").get("/api/v1/skills/", {"page": page})
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


def test_lists_can_be_narrowed(house: House, login: Login) -> None:
    client = login("root")
    run = house.rows["ALPHA"]["task-runs"][0]
    assert listed(client, "task-runs", project__code="ALPHA", record_id="A1") == [str(run.pk)]
    assert listed(client, "task-runs", status="SUSPENDED") == []
    assert len(listed(client, "pending-actions", task_run=str(run.pk))) == 1
    assert len(listed(client, "weekly-reports", week_number=1)) == EVERYTHING


def test_a_filter_never_widens_the_scope(house: House, login: Login) -> None:
    client = login("crc_b")
    assert listed(client, "task-runs", record_id="A1") == []
    assert listed(client, "task-runs", project__code="BETA") == []
    assert listed(client, "conversations", user_id="crc_a") == []


@pytest.mark.parametrize("resource", ["project-memory", "weekly-reports"])
def test_shared_text_leaves_out_lines_about_foreign_subjects(
    resource: str, house: House, login: Login
) -> None:
    """decisions.md: "hot memory and reports name subjects of all sites"."""
    column = "content" if resource == "project-memory" else "summary"
    texts = {
        userid: login(userid).get(f"/api/v1/{resource}/").json()["results"][0][column]
        for userid in ("pi", "chief", "crc_a", "crc_b")
    }
    assert "A1" in texts["pi"]
    assert "B1" in texts["pi"]
    assert texts["pi"] == texts["chief"]
    assert "A1" in texts["crc_a"]
    assert "B1" not in texts["crc_a"]
    assert "B1" in texts["crc_b"]
    assert "A1" not in texts["crc_b"]
    pk = house.rows["ALPHA"][resource][0].pk
    assert login("crc_b").get(f"/api/v1/{resource}/{pk}/").json()[column] == texts["crc_b"]
    assert (
        login("crc_b").get(f"/api/v1/{resource}/?page=1").json()["results"][0][column]
        == texts["crc_b"]
    )


@pytest.mark.parametrize("resource", RESOURCES)
def test_every_list_can_be_narrowed_to_a_project(resource: str, house: House, login: Login) -> None:
    client = login("root")
    of_alpha = expected(house, resource, *range(len(house.rows["ALPHA"][resource])))
    assert set(listed(client, resource, project="ALPHA")) == of_alpha
    assert set(listed(client, resource, project=str(house.alpha.pk))) == of_alpha
    assert listed(client, resource, project="GHOST") == []
    assert listed(login("crc_a"), resource, project="BETA") == []


def test_truth_values_are_true_or_false(house: House, login: Login) -> None:
    client = login("root")
    assert len(listed(client, "skills", is_active="true")) == EVERYTHING
    assert listed(client, "skills", is_active="False") == []
    assert listed(client, "agent-traces", success="false") == []


@pytest.mark.parametrize(
    ("resource", "query"),
    [
        ("skills", {"is_active": "maybe"}),
        ("agent-traces", {"success": "1"}),
        ("task-runs", {"status": "completed"}),
        ("task-runs", {"record_id": "A1\0"}),
        ("pending-actions", {"task_run": "x"}),
        ("pending-actions", {"state": "x"}),
        ("weekly-reports", {"week_number": "x"}),
        ("skills", {"project": "\0"}),
    ],
)
def test_a_filter_that_means_nothing_is_a_problem(
    resource: str, query: dict[str, str], house: House, login: Login
) -> None:
    answer = login("root").get(f"/api/v1/{resource}/", query)
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert answer.json()["errors"].keys() == query.keys()


def test_a_filter_does_not_tell_what_exists(house: House, login: Login) -> None:
    foreign = house.rows["ALPHA"]["task-runs"][0].pk
    client = login("crc_b")
    answers = [
        client.get("/api/v1/pending-actions/", {"task_run": str(pk)})
        for pk in (foreign, uuid.uuid4())
    ]
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1

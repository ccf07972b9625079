"""Rights follow the memberships: each persona sees their rows and nothing of the others'."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from engines.models import PendingAction, TaskRun
from memory.models import MemoryTombstone
from tests.console.conftest import SITE_A, SITE_B, review_of
from wechat.models import OutboxMessage

RUNS = "/admin/engines/taskrun/"


def page_of(run: TaskRun) -> str:
    return f"{RUNS}{run.pk}/change/"


@pytest.mark.full
def test_the_administrator_opens_every_list_and_first_row(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    client = as_user("admin")
    request = client.get("/admin/").wsgi_request
    for model, page in admin.site._registry.items():
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        url = reverse(f"admin:{name}_changelist")
        assert client.get(url).status_code == 200, name
        row = model._default_manager.first()
        if row is not None:
            change = reverse(f"admin:{name}_change", args=[row.pk])
            assert client.get(change, follow=True).status_code == 200, name
        if page.get_search_fields(request):
            assert client.get(url, {"q": "P002"}).status_code == 200, name
        if page.has_add_permission(request):
            form = client.get(reverse(f"admin:{name}_add"))
            assert form.status_code == 200, name
            assert " object at 0x" not in form.content.decode(), name


@pytest.mark.full
def test_no_link_of_a_row_leads_to_a_page_that_is_closed(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    client = as_user("wanghushi")
    request = client.get("/admin/").wsgi_request
    links = set()
    for model, page in admin.site._registry.items():
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        row = page.has_view_permission(request) and page.get_queryset(request).first()
        if row:
            found = client.get(reverse(f"admin:{name}_change", args=[row.pk]), follow=True)
            links |= {*re.findall(r'href="(/admin/[^"#?]+/change/)"', found.content.decode())}
    assert links
    assert [link for link in links if client.get(link).status_code != 200] == []


@pytest.mark.full
def test_who_is_in_no_study_opens_no_list(as_user: Callable[..., Client]) -> None:
    client = as_user("charlie")
    for model in admin.site._registry:
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        assert client.get(reverse(f"admin:{name}_changelist")).status_code == 403, name


def test_who_is_in_no_study_is_welcomed(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    page = as_user("charlie").get("/admin/").content.decode()
    assert 'data-test="no-study"' in page
    assert "LUNG-IIT" not in page
    assert SITE_A not in page


def test_who_is_in_no_study_finds_no_run(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    client = as_user("charlie")
    seen = client.get(page_of(run_a)).status_code
    missing = client.get(f"{RUNS}00000000-0000-0000-0000-000000000000/change/").status_code
    assert seen == missing
    assert client.post(f"{RUNS}{run_a.pk}/decide/", {"approve": "1"}).status_code == 404


@pytest.mark.full
def test_a_site_sees_its_own_rows_only(
    as_user: Callable[..., Client], suspended: Callable[[str], TaskRun]
) -> None:
    suspended(SITE_A), suspended(SITE_B)
    for name in ("taskrun", "pendingaction", "review"):
        page = as_user("crc_b").get(f"/admin/engines/{name}/").content.decode()
        assert SITE_B in page, name
        assert SITE_A not in page, name
    home = as_user("crc_b").get("/admin/").content.decode()
    assert SITE_B in home
    assert SITE_A not in home
    subjects = as_user("crc_b").get("/admin/study/subject/").content.decode()
    assert SITE_B in subjects
    assert SITE_A not in subjects


@pytest.mark.full
def test_a_row_of_the_other_site_reads_like_a_missing_one(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    client = as_user("crc_b")
    finding = PendingAction.objects.get(task_run=run_a)
    missing = "00000000-0000-0000-0000-000000000000"
    for name, pk in (
        ("taskrun", run_a.pk),
        ("pendingaction", finding.pk),
        ("review", review_of(run_a).pk),
    ):
        other = missing if name != "review" else 999_999
        theirs = client.get(f"/admin/engines/{name}/{pk}/change/")
        none = client.get(f"/admin/engines/{name}/{other}/change/")
        assert (theirs.status_code, theirs.headers["Location"]) == (302, none.headers["Location"])
    assert client.post(f"{RUNS}{run_a.pk}/decide/", {"approve": "1"}).status_code == 404
    assert client.post(f"{RUNS}{run_a.pk}/cancel/").status_code == 404
    url = f"/admin/engines/pendingaction/{finding.pk}/resolve/"
    assert client.post(url, {"reason": "done"}).status_code == 404
    finding.refresh_from_db()
    assert finding.open_key


@pytest.mark.parametrize("address", ["/admin/auth/user/{}/history/", "/admin/r/4/{}/"])
def test_no_address_tells_which_rows_of_the_house_there_are(
    as_user: Callable[..., Client], study: Any, address: str
) -> None:
    known = User.objects.get(username="admin").pk
    client = as_user("zhangyi")
    answers = [client.get(address.format(pk)) for pk in (known, 999_999, "none")]
    assert len({(one.status_code, one.content) for one in answers}) == 1
    assert answers[0].status_code in (403, 404)


@pytest.mark.parametrize(("name", "sees"), [("zhangyi", False), ("crc_b", False), ("admin", True)])
def test_what_somebody_asked_to_forget_is_theirs(
    as_user: Callable[..., Client], study: Any, name: str, sees: bool
) -> None:
    made = {"project": study.project, "created_by": "x", "sketch": {}, "evidence": []}
    own = MemoryTombstone.objects.create(user_id="wanghushi", digest="a", **made)
    line = MemoryTombstone.objects.create(user_id="", digest="b", **made)
    client = as_user(name)
    for row, opens in ((own, sees), (line, name != "crc_b")):
        page = client.get(f"/admin/memory/memorytombstone/{row.pk}/change/")
        assert (page.status_code == 200) == opens, (name, row.user_id)


@pytest.mark.full
def test_a_role_opens_its_pages_only(as_user: Callable[..., Client]) -> None:
    pages = {
        "/admin/projects/auditentry/": {
            "admin": 200,
            "auditor": 200,
            "zhangyi": 403,
            "wanghushi": 403,
        },
        "/admin/wechat/outboxmessage/": {
            "admin": 200,
            "auditor": 403,
            "zhangyi": 403,
            "wanghushi": 403,
        },
        "/admin/skills/skill/add/": {
            "admin": 200,
            "auditor": 403,
            "zhangyi": 403,
            "wanghushi": 403,
        },
        "/admin/auth/user/": {"admin": 200, "auditor": 403, "zhangyi": 403, "wanghushi": 403},
        "/admin/skills/skill/": {"admin": 200, "auditor": 200, "zhangyi": 200, "wanghushi": 200},
    }
    for url, people in pages.items():
        for name, status in people.items():
            assert as_user(name).get(url).status_code == status, (url, name)


def test_the_menu_names_only_what_opens(as_user: Callable[..., Client]) -> None:
    page = as_user("wanghushi").get("/admin/").content.decode()
    assert "/admin/engines/review/" in page
    assert "/admin/projects/auditentry/" not in page
    assert "/admin/auth/user/" not in page


@pytest.mark.full
def test_secrets_of_a_study_never_reach_a_page(as_user: Callable[..., Client], study: Any) -> None:
    project = study.project
    project.llm_api_key = "the-key-of-the-llm"
    project.save()
    url = f"/admin/projects/project/{project.pk}/change/"
    for name in ("admin", "zhangyi", "wanghushi", "auditor"):
        page = as_user(name).get(url).content.decode()
        for secret in (project.redcap_token, project.dify_key, project.llm_api_key):
            assert secret not in page, name
        assert (project.redcap_det_secret in page) == (name == "admin")


@pytest.mark.full
def test_a_blank_secret_keeps_the_stored_one(as_user: Callable[..., Client], study: Any) -> None:
    client = as_user("admin")
    url = f"/admin/projects/project/{study.project.pk}/change/"
    form = client.get(url).context["adminform"].form
    given = {name: form[name].value() or "" for name in form.fields}
    given = {name: value for name, value in given.items() if value not in (False, None)}
    count = study.project.visit_plan.count()
    plan = {"visit_plan-TOTAL_FORMS": "0", "visit_plan-INITIAL_FORMS": "0"}
    answer = client.post(url, given | plan | {"name": "Another name"})
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    before = study.project.redcap_token
    study.project.refresh_from_db()
    assert study.project.name == "Another name"
    assert study.project.redcap_token == before
    assert study.project.visit_plan.count() == count


@pytest.mark.full
def test_filters_name_no_other_study(
    as_user: Callable[..., Client], study: Any, run_a: TaskRun
) -> None:
    from projects.models import Project

    Project.objects.create(code="OTHER-1", name="Another study", start_date="2026-01-01")
    for url in (RUNS, "/admin/engines/pendingaction/", "/admin/memory/weeklyreport/"):
        assert "OTHER-1" not in as_user("zhangyi").get(url).content.decode()


def test_dead_letters_are_sent_again(as_user: Callable[..., Client], study: Any) -> None:
    dead = OutboxMessage.objects.create(
        key="k", to_user="zhangyi", project=study.project, kind="text", payload="{}", status="dead"
    )
    client = as_user("admin")
    client.post(
        "/admin/wechat/outboxmessage/", {"action": "resend", "_selected_action": [str(dead.pk)]}
    )
    dead.refresh_from_db()
    assert dead.status == OutboxMessage.Status.PENDING

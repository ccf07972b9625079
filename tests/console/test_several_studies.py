"""Who takes part in several studies sees of each row which one it is of, and can turn to one of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from projects.admin_base import ScopedAdmin
from projects.models import Member, Project
from skills.models import FieldMapping
from study.models import Subject
from tests.support.study import Study

pytestmark = pytest.mark.django_db
MAPPINGS = "/admin/skills/fieldmapping/"


@pytest.fixture
def other(study: Study) -> Project:
    """A second study of the administrator's, with rows."""
    project = Project.objects.create(
        code="GASTRIC-02", name="胃癌研究", start_date=date(2026, 1, 1)
    )
    Member.objects.create(project=project, person=study["admin"].person, role="ADMIN")
    FieldMapping.objects.create(project=project, alias_name="胃镜", actual_name="egd")
    Subject.objects.create(project=project, record_id="G01", synced_at=project.created_at)
    return project


def lists() -> list[str]:
    """The lists of the console whose rows are of studies."""
    pages = admin.site._registry.items()
    return sorted(
        reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for model, page in pages
        if isinstance(page, ScopedAdmin) and page.project_path != "pk"
    )


def turn_to(client: Client, code: str, **more: str) -> Any:
    return client.post("/admin/study/", {"study": code, "next": MAPPINGS, **more})


def columns(client: Client, url: str) -> list[str]:
    page = client.get(url)
    return list(page.context["cl"].list_display) if page.status_code == 200 else []


@pytest.mark.full
def test_every_list_has_the_study_where_the_reader_has_several(
    as_user: Callable[..., Client], study: Study, other: Project
) -> None:
    client = as_user("admin")
    shown = {url: columns(client, url) for url in lists()}
    opened = {url for url, names in shown.items() if names}
    assert len(opened) > 20
    assert [url for url in opened if not {"show_project", "project"} & {*shown[url]}] == []


@pytest.mark.full
def test_with_one_study_no_list_repeats_it(as_user: Callable[..., Client], study: Study) -> None:
    client = as_user("zhangyi")
    for url in lists():
        assert "show_project" not in columns(client, url)[1:], url
    assert 'data-test="switcher"' not in client.get(MAPPINGS).content.decode()


@pytest.mark.full
def test_the_reader_turns_to_a_study_and_back(
    as_user: Callable[..., Client], study: Study, other: Project
) -> None:
    client = as_user("admin")

    def rows(url: str) -> set[str]:
        return {one.project.code for one in client.get(url).context["cl"].queryset}

    both = {"GASTRIC-02", study.project.code}
    assert rows(MAPPINGS) == both
    page = client.get(MAPPINGS).content.decode()
    assert 'data-test="switcher"' in page
    assert turn_to(client, "GASTRIC-02")["Location"] == MAPPINGS
    assert rows(MAPPINGS) == {"GASTRIC-02"}
    assert rows("/admin/study/subject/") == {"GASTRIC-02"}
    assert rows(f"{MAPPINGS}?project__id__exact={study.project.pk}") == {study.project.code}
    assert client.get("/admin/visits/").context["project"] == other
    assert [one["project"] for one in client.get("/admin/").context["studies"]] == [other]
    new = client.get("/admin/study/synonym/add/").context["adminform"].form
    assert new.initial["project"] == str(other.pk)
    assert (
        "GASTRIC-02"
        in client.get("/admin/study/synonym/").content.decode().partition('data-test="empty"')[2]
    )
    turn_to(client, "")
    assert rows(MAPPINGS) == both


def test_nobody_turns_to_a_study_of_others_or_leaves_the_console(
    as_user: Callable[..., Client], study: Study, other: Project
) -> None:
    assert turn_to(as_user("zhangyi"), "GASTRIC-02").status_code == 404
    assert turn_to(as_user("zhangyi"), "NOWHERE").status_code == 404
    client = as_user("admin")
    away = turn_to(client, "GASTRIC-02", next="https://elsewhere.example.org/")
    assert away["Location"] == reverse("admin:index")
    Member.objects.filter(project=other).update(is_active=False)
    study["admin"].person.user.is_superuser or pytest.fail("the demo's administrator is one")
    type(study["admin"].person.user).objects.filter(username="admin").update(is_superuser=False)
    mine = client.get(MAPPINGS).context["cl"].queryset
    assert {one.project.code for one in mine} == {study.project.code}

"""EncryptedTextField: nothing readable in the table, nothing searchable by accident."""

from __future__ import annotations

import base64
import os

import pytest
from django.core.exceptions import FieldError
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from core.house.crypto import DecryptionError
from projects.models import Project
from study.models import Subject
from tests.house.kit import make_project, make_subject

pytestmark = pytest.mark.django_db


def stored(project: Project) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT redcap_token FROM iit_projects WHERE code = %s", [project.code])
        return str(cursor.fetchone()[0])


def test_the_table_holds_ciphertext_and_the_object_the_text() -> None:
    project = make_project(redcap_token="SECRET-TOKEN")
    assert "SECRET" not in stored(project)
    assert Project.objects.get(pk=project.pk).redcap_token == "SECRET-TOKEN"


@pytest.mark.parametrize(
    "way", ["save", "update", "bulk_update", "bulk_create", "update_or_create"]
)
def test_every_way_of_writing_encrypts(way: str) -> None:
    project = make_project("BEFORE" if way == "bulk_create" else "ALPHA")
    project.redcap_token = "SECRET-TOKEN"
    if way == "save":
        project.save(update_fields=["redcap_token"])
    elif way == "update":
        Project.objects.filter(pk=project.pk).update(redcap_token="SECRET-TOKEN")
    elif way == "bulk_update":
        Project.objects.bulk_update([project], ["redcap_token"])
    elif way == "update_or_create":
        Project.objects.update_or_create(
            code=project.code, defaults={"redcap_token": "SECRET-TOKEN"}
        )
    else:
        project = Project(code="ALPHA", start_date=project.start_date, redcap_token="SECRET-TOKEN")
        Project.objects.bulk_create([project])
    assert stored(project) not in {"", "SECRET-TOKEN"}
    assert Project.objects.get(pk=project.pk).redcap_token == "SECRET-TOKEN"
    assert (
        Project.objects.values_list("redcap_token", flat=True).get(pk=project.pk) == "SECRET-TOKEN"
    )


def test_blank_stays_blank_so_that_not_set_can_be_told_without_a_key() -> None:
    assert stored(make_project()) == ""


def test_a_wrong_key_is_loud_when_the_row_is_read(settings: Settings) -> None:
    make_project(redcap_token="SECRET-TOKEN")
    settings.FIELD_ENCRYPTION_KEYS = [base64.b64encode(os.urandom(32)).decode()]
    with pytest.raises(DecryptionError):
        Project.objects.get(code="ALPHA")


def test_plain_text_in_the_table_is_loud() -> None:
    project = make_project()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE iit_projects SET redcap_token = 'plain'")
    with pytest.raises(DecryptionError):
        Project.objects.get(pk=project.pk)


@pytest.mark.parametrize(
    "lookup",
    [
        "",
        "__exact",
        "__in",
        "__contains",
        "__icontains",
        "__startswith",
        "__gt",
        "__regex",
        "__length",
        "__range",
    ],
)
def test_look_ups_are_refused_instead_of_finding_nothing(lookup: str) -> None:
    make_project(redcap_token="SECRET-TOKEN")
    value: object = ["SECRET-TOKEN", "x"] if lookup in {"__in", "__range"} else "SECRET-TOKEN"
    with pytest.raises(FieldError, match="encrypted"):
        list(Project.objects.filter(**{f"redcap_token{lookup}": value}))
    with pytest.raises(FieldError, match="encrypted"):
        list(Project.objects.exclude(**{f"redcap_token{lookup}": value}))
    with pytest.raises(FieldError, match="encrypted"):
        list(Subject.objects.filter(**{f"project__redcap_token{lookup}": value}))


def test_whether_there_is_a_value_may_be_asked() -> None:
    make_project(redcap_token="SECRET-TOKEN")
    assert Project.objects.filter(redcap_token__isnull=False).count() == 1
    assert not Project.objects.filter(redcap_token__isnull=True).exists()


@pytest.mark.full
@settings(max_examples=30)
@given(st.text())
def test_any_text_comes_back(text: str) -> None:
    subject = make_subject(Project.objects.first() or make_project(), os.urandom(8).hex(), "site_a")
    Subject.objects.filter(pk=subject.pk).update(identifiers=text)
    assert Subject.objects.get(pk=subject.pk).identifiers == text

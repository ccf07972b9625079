"""Answers are plain until a study's model is accepted: passed, signed, of today's models and prompts."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from core.llm import acceptance, prompts, standing
from core.llm.asking import Llm
from core.llm.models import ModelAcceptance
from projects.models import AuditEntry, Member, Person
from tests.engines.accepted import accepted
from tests.support.study import Study

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "a-good-long-word"
LIST = reverse("admin:llm_modelacceptance_changelist")


@pytest.fixture(autouse=True)
def _required(settings: Settings) -> None:
    settings.REQUIRE_MODEL_ACCEPTANCE = True


def may(study: Study, ability: str = standing.SAY) -> bool:
    study.project.refresh_from_db()
    return Llm(study.project).of(standing.MODEL_OF[ability]).may(ability)


def person(study: Study, name: str, role: str, site: str = "") -> Client:
    """Somebody who logs in with PASSWORD."""
    user = User.objects.create_user(name, password=PASSWORD, is_staff=True)
    Member.objects.create(
        project=study.project,
        person=Person.objects.create(wecom_userid=name, user=user),
        role=role,
        site=site,
    )
    client = Client()
    client.cookies["django_language"] = "en"
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def sign(client: Client, row: ModelAcceptance, password: str = PASSWORD) -> str:
    """What the page says after the attempt."""
    url = reverse("admin:engines_modelacceptance_sign", args=[row.pk])
    return client.post(url, {"password": password}, follow=True).content.decode()


def home(client: Client) -> str:
    return client.get(reverse("admin:index")).content.decode()


def test_without_one_answers_are_plain_and_reading_is_not(study: Study) -> None:
    assert not may(study)
    assert may(study, standing.ASK)


@pytest.mark.full
def test_with_one_that_is_signed_the_model_chooses(study: Study) -> None:
    row = accepted(study.project)
    pi = person(study, "principal", "PI")
    assert "has to sign it" in home(pi)
    assert not may(study)
    assert "Signed." in sign(pi, row)
    assert may(study)
    assert 'data-test="plain-answers"' not in home(pi)
    entry = AuditEntry.objects.get(action="model.sign")
    assert entry.new == {"sha256": row.digest}
    assert AuditEntry.objects.get(action="model.accept").new["sha256"] == row.digest


@pytest.mark.full
@pytest.mark.parametrize("change", ["llm_model", "llm_base_url", "llm_small_model"])
def test_another_model_or_address_voids_it(study: Study, change: str, settings: Settings) -> None:
    sign(person(study, "principal", "PI"), accepted(study.project))
    assert may(study)
    url = "http://127.0.0.1:1/v1" if change == "llm_base_url" else "another"
    setattr(study.project, change, url)
    study.project.save()
    assert not may(study)
    assert "changed since the acceptance" in home(person(study, "chief", "ADMIN"))


@pytest.mark.full
@pytest.mark.parametrize("changed", ["say", "react", "react_text", "session"])
def test_another_version_of_a_prompt_voids_it(study: Study, monkeypatch: Any, changed: str) -> None:
    sign(person(study, "principal", "PI"), accepted(study.project))
    before = prompts.version
    monkeypatch.setattr(
        prompts, "version", lambda name: f"{name}.v99" if name == changed else before(name)
    )
    assert not may(study)
    assert acceptance.state_of(study.project) is acceptance.State.CHANGED


def test_it_is_of_every_prompt_that_the_assistant_asks_with() -> None:
    used = set[str]()
    for path in (ROOT / "engines/assistant").rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("load_prompt"):
                module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
                found = [_values(one, vars(module)) for one in ast.walk(call.args[0])]
                assert any(found), ast.unparse(call)
                used |= {name for names in found for name in names}
    assert {*acceptance.PROMPTS} == used


def _values(node: ast.AST, known: dict[str, Any]) -> list[str]:
    """The name of a prompt that a node says by itself or by a constant of its module."""
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    value = known.get(node.id) if isinstance(node, ast.Name) else None
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize(
    ("role", "site", "signs"),
    [
        ("ADMIN", "", True),
        ("ADMIN", "site_a", False),
        ("PI", "site_a", False),
        ("CRC", "", False),
        ("AUDITOR", "", False),
    ],
)
def test_who_may_sign(study: Study, role: str, site: str, signs: bool) -> None:
    row = accepted(study.project)
    client = person(study, "somebody", role, site)
    page = client.get(reverse("admin:llm_modelacceptance_change", args=[row.pk]))
    assert ('data-test="sign"' in page.content.decode()) is signs
    sign(client, row)
    row.refresh_from_db()
    assert (row.signed_by == "somebody") is signs
    assert may(study) is signs


@pytest.mark.full
@pytest.mark.parametrize("password", ["", "another-long-word"])
def test_only_the_own_password_signs(study: Study, password: str) -> None:
    row = accepted(study.project)
    told = sign(person(study, "principal", "PI"), row, password)
    assert "password" in told
    assert not may(study)


@pytest.mark.full
def test_what_was_not_passed_or_was_changed_is_not_signed(study: Study) -> None:
    pi = person(study, "principal", "PI")
    failed = accepted(study.project, wrong=1)
    assert "It was not passed" in sign(pi, failed)
    assert "did not pass" in home(pi)
    changed = accepted(study.project)
    ModelAcceptance.objects.filter(pk=changed.pk).update(cases=[])
    assert "is not as it was made" in sign(pi, changed)
    assert not may(study)


@pytest.mark.full
def test_a_later_run_that_fails_takes_it_back(study: Study) -> None:
    sign(person(study, "principal", "PI"), accepted(study.project))
    accepted(study.project, passed=0)
    assert not may(study)


@pytest.mark.full
def test_a_later_run_that_passes_waits_for_its_signature(study: Study) -> None:
    accepted(study.project, passed=0)
    accepted(study.project)
    assert "has to sign it" in home(person(study, "principal", "PI"))
    assert not may(study)


@pytest.mark.full
def test_it_is_of_one_study(study: Study, as_user: Callable[..., Client]) -> None:
    row = accepted(study.project)
    stranger = as_user("charlie")
    pages = ("engines_modelacceptance_pdf", "llm_modelacceptance_change")
    for name in pages:
        answer = stranger.get(reverse(f"admin:{name}", args=[row.pk]))
        assert answer.status_code in (302, 403, 404), name
    sign(stranger, row)
    row.refresh_from_db()
    assert row.signed_at is None


@pytest.mark.full
def test_the_report_is_read_and_leaves_as_a_file(
    study: Study, as_user: Callable[..., Client]
) -> None:
    row = accepted(study.project)
    auditor = as_user("auditor")
    listed = auditor.get(LIST).content.decode()
    assert "1/1" in listed
    assert "the acceptance was passed" in listed
    page = auditor.get(reverse("admin:llm_modelacceptance_change", args=[row.pk])).content.decode()
    assert row.digest in page
    assert "P003 ECOG评分:1" in page
    file = auditor.get(reverse("admin:engines_modelacceptance_pdf", args=[row.pk]))
    assert file.content.startswith(b"%PDF")
    assert AuditEntry.objects.filter(action="rows.export").exists()


@pytest.mark.full
def test_where_none_is_asked_for_nothing_changes(study: Study, settings: Settings) -> None:
    settings.REQUIRE_MODEL_ACCEPTANCE = False
    assert may(study)
    assert not re.search("plain-answers", home(person(study, "principal", "PI")))

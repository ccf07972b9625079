"""A workflow that is being written is tried on a subject from its editor, and leaves no trace."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from engines.models import PendingAction, TaskRun
from projects.models import AuditEntry, Member, Project
from tests.console.conftest import CONFIG, SITE_A, SITE_B, as_user
from tests.support.study import Study

__all__ = ["as_user"]
pytestmark = [pytest.mark.django_db, pytest.mark.full]
TRY = "/admin/engines/taskrun/try/"


def tried(client: Client, study: Study, config: Any = CONFIG, **more: str) -> str:
    body = {"config": json.dumps(config), "project": str(study.project.pk), "subject": SITE_A}
    answer = client.post(TRY, body | more)
    return answer.content.decode() if answer.status_code == 200 else str(answer.status_code)


def test_the_way_is_told_and_nothing_is_kept(as_user: Callable[..., Client], study: Study) -> None:
    client = as_user("admin")
    before = [model.objects.count() for model in (TaskRun, PendingAction, AuditEntry)]
    told = tried(client, study)
    assert 'data-node="check" data-edge="on_fail" data-target="ask"' in told
    assert 'data-node="ask" data-edge="" data-target=""' in told
    assert "Not passed" in told
    assert "A person would be asked" in told
    assert [model.objects.count() for model in (TaskRun, PendingAction, AuditEntry)] == before


def test_what_is_wrong_is_said_in_words(as_user: Callable[..., Client], study: Study) -> None:
    client, wrong = as_user("admin"), copy.deepcopy(CONFIG)
    wrong["nodes"]["check"]["on_fail"] = "nowhere"
    assert "has mistakes" in tried(client, study, wrong)
    assert "Name a subject." in tried(client, study, subject=" ")
    assert "no such subject" in tried(client, study, subject="P999")
    assert "Choose the study first." in tried(client, study, project="")
    assert "line 1, column" in client.post(TRY, {"config": "{"}).content.decode()
    assert client.get(TRY).status_code == 405


@pytest.mark.parametrize("who", ["zhangyi", "wanghushi", "auditor"])
def test_only_administrators_try_what_they_write(
    who: str, as_user: Callable[..., Client], study: Study
) -> None:
    assert tried(as_user(who), study) == "403"


def test_a_site_and_a_study_bound_whom_it_is_tried_on(
    as_user: Callable[..., Client], study: Study
) -> None:
    Member.objects.filter(pk=study["wanghushi"].pk).update(role="ADMIN")
    client = as_user("wanghushi")
    assert "data-node" in tried(client, study)
    assert "no such subject" in tried(client, study, subject=SITE_B)
    other = Project.objects.create(code="OTHER-1", name="Another study", start_date="2026-01-01")
    assert "data-node" not in tried(client, study, project=str(other.pk))

"""Clients of the API, and a small house to ask about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils.timezone import now
from rest_framework.test import APIClient

from engines.models import AgentTrace, PendingAction, TaskRun
from memory.models import ConversationHistory, ProjectMemory, UserMemory, WeeklyReport
from projects import tokens
from projects.models import ApiToken, Member, Project
from skills.models import FieldMapping, FormTemplate, Skill
from study.models import ProtocolDocument
from tests.house.kit import make_member, make_project, make_subject
from tests.skills.graphs import graph, hard

Login = Callable[[str], APIClient]


def login(userid: str) -> APIClient:
    """A client that authenticates as programs do: with a token, which leaves nothing in the trail."""
    user = User.objects.get(username=userid)
    key = f"token-of-{userid}"
    ApiToken.objects.get_or_create(digest=tokens.digest(key), defaults={"user": user})
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {key}")
    return client


@pytest.fixture(name="login")
def _login(db: None) -> Login:
    return login


@dataclass
class House:
    """ALPHA with two sites and everything in it; BETA, which is none of their business."""

    alpha: Project
    beta: Project
    people: dict[str, Member]
    rows: dict[str, dict[str, Any]]


def fill(project: Project, records: tuple[str, str], users: tuple[str, str]) -> dict[str, Any]:
    """One row of the study per resource, and of those about a subject or a person one for each."""
    skill = Skill.objects.create(
        project=project, skill_type="qc_process", name="QC", config=graph(a=hard())
    )
    made: dict[str, Any] = {
        "projects": [project],
        "skills": [skill],
        "field-mappings": [
            FieldMapping.objects.create(project=project, alias_name="age", actual_name="age_y")
        ],
        "form-templates": [
            FormTemplate.objects.create(project=project, form_name="f", field_schema={})
        ],
        "protocol-documents": [
            ProtocolDocument.objects.create(project=project, name="方案", text="t", digest="d")
        ],
        "project-memory": [
            ProjectMemory.objects.create(
                project=project,
                content="# 当前状态\n- A1 待随访\n- B1 已脱落\n- 本周例会",
                last_updated_by="x",
            )
        ],
        "weekly-reports": [
            WeeklyReport.objects.create(
                project=project,
                week_number=1,
                week_start=now(),
                week_end=now(),
                summary="入组 A1\n入组 B1\n共 2 例",
                created_by="x",
            )
        ],
        "task-runs": [],
        "pending-actions": [],
        "conversations": [],
        "agent-traces": [],
        "user-memory": [],
    }
    for record in records:
        run = TaskRun.objects.create(
            project=project,
            skill=skill,
            skill_version=1,
            record_id=record,
            triggered_by="pi",
            config=skill.config,
            current_node="a",
        )
        made["task-runs"].append(run)
        made["pending-actions"].append(
            PendingAction.objects.create(
                project=project,
                task_run=run,
                record_id=record,
                action_type="violation",
                severity="error",
                message="年龄",
                node="a",
                rule_key="r1",
                skill_type="qc_process",
                open_key=f"{project.code}{record}",
            )
        )
    for userid in users:
        made["conversations"].append(
            ConversationHistory.objects.create(
                project=project, user_id=userid, role="user", content="?"
            )
        )
        made["agent-traces"].append(
            AgentTrace.objects.create(
                project=project, user_id=userid, query="?", trace=[], success=True
            )
        )
        made["user-memory"].append(
            UserMemory.objects.create(
                project=project,
                user_id=userid,
                memory_type="FACT",
                importance=1,
                field="f",
                content="c",
            )
        )
    return made


@pytest.fixture
def house(db: None) -> House:
    alpha, beta = make_project("ALPHA"), make_project("BETA")
    for project in (alpha, beta):
        make_subject(project, "A1", "site_a")
        make_subject(project, "B1", "site_b")
    people = {
        "pi": make_member(alpha, "pi", "PI"),
        "crc_a": make_member(alpha, "crc_a", site="site_a"),
        "crc_b": make_member(alpha, "crc_b", site="site_b"),
        "chief": make_member(alpha, "chief", "ADMIN"),
        "auditor": make_member(alpha, "auditor", "AUDITOR"),
        "other": make_member(beta, "other", "ADMIN"),
    }
    User.objects.create(username="root", is_superuser=True)
    User.objects.create(username="stranger")
    rows = {
        "ALPHA": fill(alpha, ("A1", "B1"), ("crc_a", "crc_b")),
        "BETA": fill(beta, ("A1", "B1"), ("crc_a", "other")),
    }
    return House(alpha, beta, people, rows)

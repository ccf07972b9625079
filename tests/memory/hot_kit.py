"""What the tests of hot memory share."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils.timezone import now

from core.house import clock
from memory.hot import distiller, injection
from memory.hot.save import save_memory
from memory.models import ProjectMemory, UserMemory
from tests.support.study import Study

LINES = [
    "# 用户画像 (User Profiles)",
    "## 张医生 (user_id: zhangyi)",
    "- **角色**: PI",
    "- **偏好**: 只要看结果",
    "## 王护士 (user_id: wanghushi)",
    "- **偏好**: 详细步骤,需要解释",
    "",
    "# 当前状态 (Active Context)",
    "- 当前阶段:入组冲刺期",
    "- 本周目标:完成 3 例入组",
    "# 常见问题 (FAQ)",
    "- 访视窗口:V1 Day 1±3",
    "# 系统禁令 (Rules)",
    "- 写操作必须经过人工确认",
]


def distil_by(how: Any) -> None:
    """Take `how` for the model that proposes changes of hot memory; the fixture puts the model back."""
    vars(distiller)["propose"] = how


def current(study: Study) -> ProjectMemory:
    return ProjectMemory.objects.get(project=study.project)


def base(study: Study, *lines: str) -> ProjectMemory:
    """Start from a known text, without versions or tombstones."""
    text = "\n".join(lines or LINES)
    ProjectMemory.objects.filter(project=study.project).update(content=text)
    return current(study)


def write(study: Study, *lines: str, actor: object = None) -> ProjectMemory:
    """Save a text as the PI."""
    return save_memory(
        project=study.project,
        content="\n".join(lines),
        actor=actor or study["zhangyi"],
        base_version=current(study).version,
    )


def without(*gone: str) -> list[str]:
    return [line for line in LINES if line not in gone]


def kill(study: Study, line: str) -> None:
    """A person removes one line of what stands there."""
    lines = injection.hot_text(study.project).split("\n")
    assert line in lines
    write(study, *(text for text in lines if text != line))


def said(
    study: Study, text: str, user_id: str = "zhangyi", *, own: bool = False, **more: Any
) -> UserMemory:
    """A statement that the Memory Manager stored yesterday at noon, or `at`."""
    at = more.pop("at", None) or now() - timedelta(days=1)
    row = UserMemory.objects.create(
        project=study.project,
        user_id=user_id,
        memory_type=more.pop("memory_type", UserMemory.Kind.PREFERENCE),
        importance=60,
        field=more.pop("field", "statement"),
        content=text,
        evidence=text,
        category="" if own else UserMemory.PROPOSAL,
        **more,
    )
    UserMemory.objects.filter(pk=row.pk).update(created_at=at)
    row.refresh_from_db()
    return row


def yesterday(study: Study) -> Any:
    return clock.today(study.project.timezone) - timedelta(days=1)


def midday(study: Study, back: int = 1) -> datetime:
    return now() - timedelta(days=back)


def lines_of(study: Study) -> list[str]:
    return injection.hot_text(study.project).split("\n")


def answer(*changes: dict[str, Any]) -> dict[str, str]:
    """What a model that distils says."""
    return {"content": json.dumps({"changes": list(changes)}, ensure_ascii=False)}


def change(new: str = "", evidence: tuple[int, ...] = (1,), **more: Any) -> dict[str, Any]:
    row = {"action": "add", "section": "profiles", "user_id": "zhangyi", "line": 0}
    return {**row, "new": new, "evidence": list(evidence), **more}


def browser(name: str, language: str = "en") -> Client:
    client = Client()
    client.cookies["django_language"] = language
    user = User.objects.get(username=name)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client

"""What the tests of the Memory Manager share."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from django.core.management import call_command

from memory.models import UserMemory
from tests.engines.chat.kit import prompts
from tests.support.study import Study

SCENARIO = "我今年32岁,浙大计算机硕士毕业的,现在在杭州做前端开发,工作8年了,年薪大概80万"


def item(
    field: str, value: Any, quote: str, *, of_speaker: bool = True, stated: bool = True
) -> dict[str, Any]:
    told = {"of_speaker": of_speaker, "stated": stated}
    return {"field": field, "value": value, "quote": quote, **told}


def extracted(*items: dict[str, Any]) -> dict[str, str]:
    """What a model that extracts says."""
    return {"content": json.dumps({"items": list(items)}, ensure_ascii=False)}


SCENARIO_ITEMS = (
    item("age", "32", "我今年32岁"),
    item("education", "硕士", "浙大计算机硕士毕业"),
    item("university", "浙大", "浙大计算机硕士毕业"),
    item("major", "计算机", "浙大计算机硕士毕业"),
    item("currentJobTitle", "前端开发", "现在在杭州做前端开发"),
    item("totalYearsOfExperience", "8", "工作8年了"),
    item("annualIncome", "800000", "年薪大概80万"),
    item("currentLocation", "杭州", "现在在杭州做前端开发"),
)


def invoke(user: str, *inputs: Any) -> list[dict[str, Any]]:
    """The actions through the command, a JSON line each."""
    out = io.StringIO()
    lines = [given if isinstance(given, str) else json.dumps(given) for given in inputs]
    with patch("sys.stdin", io.StringIO("\n".join(lines))):
        call_command("memory_manager", user=user, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def save(user: str, message: str, assistant: str = "", **existing: Any) -> dict[str, Any]:
    given = {
        "action": "save_info",
        "userMessage": message,
        "assistantMessage": assistant,
        "existingInfo": existing,
    }
    return invoke(user, given)[0]


def kept(user: str) -> list[str]:
    """The contents that hold, in the order they were kept."""
    rows = UserMemory.objects.filter(user_id=user, superseded_by=None)
    return list(rows.order_by("created_at", "field").values_list("content", flat=True))


def row_of(content: str) -> UserMemory:
    """The memory that reads so."""
    (found,) = (row for row in UserMemory.objects.all() if row.content == content)
    return found


def reading(study: Study) -> Iterator[dict[str, Any]]:
    """The LLM requests that asked for an extraction."""
    for body in prompts(study):
        if "记忆管理专员" in body["messages"][0]["content"]:
            yield body

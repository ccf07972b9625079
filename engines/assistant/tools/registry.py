"""The one table of tools: name, description, JSON Schema, read-only flag, roles."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from jsonschema import Draft202012Validator

from core.integrations.redcap import RedcapError
from core.privacy.outbound_policy import PrivacyError
from engines.assistant.tools import study_query
from engines.assistant.tools.protocol import search_protocol
from engines.assistant.tools.results import Status, ToolContext, ToolResult, redcap_down
from study.client import NotConfiguredError
from study.query.errors import QueryError

logger = logging.getLogger(__name__)

REFUSAL = (
    "错误:工具 {name} 不在允许列表中。你只能使用只读工具查询数据。"
    '如果需要修改数据,请引导用户使用"质控"命令。'
)


def send_message(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """Have members of some roles told a text, as the workflow lets it; the one tool with an effect."""
    if context.send is None:
        return ToolResult("send_message", Status.REFUSED, "send_message 只能在工作流中使用。")
    sent = context.send(list(arguments["roles"]), str(arguments["text"]))
    return ToolResult("send_message", Status.OK, {"sent": sent})


ToolFunction = Callable[[ToolContext, Mapping[str, Any]], ToolResult]
FUNCTIONS: Mapping[str, ToolFunction] = {
    "read_clinical_data": study_query.read_clinical_data,
    "search_protocol": search_protocol,
    "get_project_stats": study_query.get_project_stats,
    "check_visit_window": study_query.check_visit_window,
    "query_study": study_query.query_study,
    "list_due_visits": study_query.list_due_visits,
    "send_message": send_message,
}
"""What is behind the tools of `tools.v1.json`; all but `send_message` only read."""
OF_WORKFLOWS = ("list_due_visits",)
"""Read where a workflow's node lists it; who asks freely has `query_study` for the same."""
READONLY_TOOLS = tuple(name for name in FUNCTIONS if name not in (*OF_WORKFLOWS, "send_message"))


@dataclass(frozen=True)
class Tool:
    """One tool. `roles` empty: everybody."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: ToolFunction
    read_only: bool = True
    roles: frozenset[str] = frozenset()

    def definition(self) -> dict[str, Any]:
        """As the OpenAI protocol has it."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }
        return {"type": "function", "function": function}


@cache
def tools() -> dict[str, Tool]:
    """All tools by name, as `tools.v1.json` describes them."""
    rows = json.loads(Path(__file__).with_name("tools.v1.json").read_text(encoding="utf-8"))
    return {row["name"]: Tool(function=FUNCTIONS[row["name"]], **row) for row in rows}


def definitions(allowed: Collection[str], role: str = "") -> list[dict[str, Any]]:
    """Definitions of the allowed tools that this role may use."""
    found = (tools().get(name) for name in allowed)
    return [tool.definition() for tool in found if tool and _may(tool, role)]


def _may(tool: Tool, role: str) -> bool:
    return not tool.roles or not role or role in tool.roles


def misfit(parameters: Mapping[str, Any], arguments: Mapping[str, Any]) -> tuple[str, str] | None:
    """Where arguments do not fit a schema (blank: as a whole), and which of its words; None: they fit."""
    errors = Draft202012Validator(dict(parameters)).iter_errors(dict(arguments))
    if error := min(errors, key=str, default=None):
        return "/".join(map(str, error.absolute_path)), str(error.validator)
    return None


def execute(
    context: ToolContext,
    name: str,
    arguments: Mapping[str, Any],
    *,
    allowed: Collection[str] = READONLY_TOOLS,
) -> ToolResult:
    """Run a tool; what goes wrong comes back as a result, never as an exception.

    An unknown or forbidden name is refused without listing the catalogue; wrong arguments come back
    as an instruction to repair them.
    """
    tool = tools().get(name)
    if tool is None or name not in allowed or not _may(tool, context.role):
        text = REFUSAL.format(name=context.gate.text(name)[:64])
        return ToolResult(name, Status.REFUSED, text)
    if fault := misfit(tool.parameters, arguments):
        where, what = fault
        schema = json.dumps(tool.parameters, ensure_ascii=False)
        told = f"参数错误({where or tool.name}: {what})。请按此说明修正后重试:{schema}"
        return ToolResult(name, Status.BAD_ARGUMENTS, told)
    try:
        return tool.function(context, arguments)
    except QueryError as error:
        near = "、".join(error.nearest)
        told = f"{error.at}: {error.message}" + (f" ({near})" if near else "")
        return ToolResult(name, Status.BAD_ARGUMENTS, told)
    except (RedcapError, NotConfiguredError) as error:
        logger.warning("Tool %s: %s", name, error)
        return ToolResult(name, Status.DOWN, redcap_down(error), outside_down=True)
    except PrivacyError as error:
        logger.error("Tool %s: %s", name, error)
        return ToolResult(name, Status.DOWN, _("The privacy check failed; nothing was read."))

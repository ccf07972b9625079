"""What a program may call and is told: through the door, the gate and the note of reads (docs/mcp.md)."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import override

from core.house import current_login
from core.house.request_cache import remembered
from core.integrations.redcap import RedcapError
from core.privacy.outbound_policy import PrivacyError
from engines.assistant.tools import ToolContext, execute
from engines.assistant.tools import tools as assistant_tools
from engines.assistant.tools.registry import misfit
from engines.assistant.tools.results import redcap_down
from engines.mcp_server import small_cells
from projects import reads
from projects.models import ApiToken, Member, Project, TokenScope
from projects.scoping import memberships
from study import door
from study.client import NotConfiguredError
from study.design import genes
from study.facts import Answer
from study.identities import gate_for
from study.query.errors import QueryError
from study.request_cache import Reader

logger = logging.getLogger(__name__)

NOTED_AS = "mcp"
_FINDINGS = [f"@findings.{name}" for name in ("status", "rule", "opened", "age", "text")]
_OF_FINDINGS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "record_id": {
            **{"type": "string", "minLength": 1, "maxLength": 100},
            "description": "受试者编号;省略为全部",
        },
        "all": {"type": "boolean", "description": "是否包括已关闭的,默认否"},
    },
    "additionalProperties": False,
}
_OPEN = {"field": "@findings.status", "op": "in", "value": ["open", "data_changed"]}


@dataclass(frozen=True)
class Reply:
    """JSON that may leave the house, and whether it is a refusal."""

    text: str
    is_error: bool = False


@dataclass(frozen=True)
class Result:
    """What a tool found: JSON values that have not passed the gate, and whose data they hold."""

    data: Any
    subjects: Iterable[str] = ()
    is_error: bool = False


Function = Callable[[ToolContext, Mapping[str, Any]], Result]


@dataclass(frozen=True)
class Tool:
    """`scopes`: any of these opens it; `guarded`: what is behind it where only counts are told."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    scopes: frozenset[TokenScope]
    function: Function
    guarded: Function


class Refused(Exception):
    """A call that is answered with its reason; the message is for the reader."""


def tools_of(token: ApiToken) -> list[Tool]:
    """What a token may call in any study of its owner."""
    studies = [member.project for member in memberships(token.user)]
    return [tool for tool in TOOLS.values() if any(_may(token, tool, one) for one in studies)]


def call(token: ApiToken, name: str, said: Mapping[str, Any]) -> Reply:
    """Answer one call as the member who owns the token; nothing is raised that the caller could mend."""
    try:
        _check_text(said)
        member = _member(token, said.get("project"))
        arguments = {key: value for key, value in said.items() if key != "project"}
        login = token.user.get_username()
        with override(member.language), current_login.through(login, may_order=False), remembered():
            return _answered(token, _tool(token, name), member, arguments)
    except Refused as error:
        return Reply(json.dumps({"error": {"message": str(error)}}, ensure_ascii=False), True)


def _answered(token: ApiToken, tool: Tool, member: Member, arguments: Mapping[str, Any]) -> Reply:
    project = member.project
    reader = Reader(project, member)
    try:
        context = ToolContext(project, member, gate_for(reader), reader=reader)
        function = tool.function if _tells_rows(token, project) else tool.guarded
        found = function(context, arguments)
        # The client's model stands outside: the same gate as for the house's own model. A refusal holds the
        # client's words and names of the dictionary alone: masked, they would tell who is in the study.
        if found.is_error:
            shown = json.dumps(found.data, ensure_ascii=False)
        else:
            shown = str(context.gate.data(found.data))
    except (RedcapError, NotConfiguredError) as error:
        logger.warning("MCP %s: %s", tool.name, error)
        raise Refused(redcap_down(error)) from error
    except PrivacyError as error:
        logger.error("MCP %s: %s", tool.name, error)
        raise Refused(_("The privacy check failed; nothing was read.")) from error
    # A call that told of nobody in particular is noted as one about the study.
    about = [*found.subjects] or [""]
    reads.note(actor=member, project=project, record_ids=about, door=NOTED_AS)
    return Reply(shown, found.is_error)


def _check_text(said: Mapping[str, Any]) -> None:
    """Raises Refused for what no database can look for."""
    try:
        written = json.dumps(said, ensure_ascii=False)
        written.encode()
    except (UnicodeEncodeError, RecursionError, ValueError):
        raise Refused(_("This is no text that can be read.")) from None
    if "\\u0000" in written:
        raise Refused(_("This is no text that can be read."))


def _member(token: ApiToken, code: object) -> Member:
    """The owner's membership in the study that is named; one in none reads as no such study."""
    mine: list[Member] = [*memberships(token.user).order_by("project__code")]
    if code is not None:
        mine = [one for one in mine if one.project.code == code]
        if not mine:
            raise Refused(_("There is no such study, or you are not a member of it."))
    if not mine:
        raise Refused(_("You are not a member of any study."))
    if len(mine) > 1:
        told = _("Name the study as “project”, one of: %(codes)s.")
        raise Refused(told % {"codes": ", ".join(one.project.code for one in mine)})
    return mine[0]


def _tool(token: ApiToken, name: str) -> Tool:
    tool = TOOLS.get(name)
    if tool is None or not any(token.may(scope) for scope in tool.scopes):
        raise Refused(_("There is no such tool, or this token was not made for it."))
    return tool


def _tells_rows(token: ApiToken, project: Project) -> bool:
    return token.may(TokenScope.READ) and not project.small_cell


def _may(token: ApiToken, tool: Tool, project: Project) -> bool:
    in_scope = any(token.may(scope) for scope in tool.scopes)
    return in_scope and (tool.guarded is not _nothing or _tells_rows(token, project))


# --- the tools --------------------------------------------------------------------------------------


def _query_study(context: ToolContext, arguments: Mapping[str, Any]) -> Result:
    """A StudyQuery, and its Answer as it is."""
    try:
        found = door.ask_one(
            context.project, context.member, arguments, blinded=genes(context.metadata)
        )
    except QueryError as error:
        return Result(error.as_json(), is_error=True)
    return Result(found.as_json(), _subjects(found))


def _counted(context: ToolContext, arguments: Mapping[str, Any]) -> Result:
    """The same where only counts are told."""
    assert context.member is not None  # noqa: S101 - a token has an owner
    hidden = genes(context.metadata)
    try:
        found = small_cells.answer(context.project, context.member, arguments, hidden)
    except QueryError as error:
        return Result(error.as_json(), is_error=True)
    return Result(found)


def _nothing(_context: ToolContext, _arguments: Mapping[str, Any]) -> Result:
    """A tool of single subjects has nothing to tell where only counts are told."""
    raise Refused(_("This study tells programs no single subjects, only counts (query_study)."))


def _subjects(found: Answer) -> list[str]:
    named = [fact.subject for fact in found.facts if fact.subject]
    grouped = [one for group in found.groups for one in group.subjects]
    return list(dict.fromkeys([*named, *grouped, *(one.subject for one in found.undecided)]))


def _list_findings(context: ToolContext, arguments: Mapping[str, Any]) -> Result:
    """Findings as a StudyQuery: the open ones, with `all` the closed ones, too. Raises Refused."""
    if fault := misfit(_OF_FINDINGS, arguments):
        where, what = fault
        told = _("The arguments do not fit: %(where)s (%(what)s).")
        raise Refused(told % {"where": where or "list_findings", "what": what})
    query: dict[str, Any] = {"select": _FINDINGS, "limit": 200}
    if not arguments.get("all"):
        query["where"] = [_OPEN]
    if record_id := arguments.get("record_id"):
        query["subjects"] = [record_id]
    return _query_study(context, query)


def _of_assistant(name: str) -> Function:
    """A tool that the assistant has, too."""

    def function(context: ToolContext, arguments: Mapping[str, Any]) -> Result:
        found = execute(context, name, arguments)
        told = {"status": found.status, "data": found.data}
        return Result(told, found.record_ids, is_error=found.failed)

    return function


_QUERY = assistant_tools()["query_study"]
_WINDOW, _PROTOCOL = (assistant_tools()[n] for n in ("check_visit_window", "search_protocol"))
_AS_OF = {
    "type": ["string", "null"],
    "maxLength": 40,
    "description": "当时已知的数据:ISO 日期或时间",
}
_ROWS = frozenset({TokenScope.READ})
TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "query_study",
            _QUERY.description,
            {
                **_QUERY.parameters,
                "properties": {**_QUERY.parameters["properties"], "as_of": _AS_OF},
            },
            frozenset({TokenScope.READ, TokenScope.COUNTS}),
            _query_study,
            _counted,
        ),
        Tool(
            "search_protocol",
            _PROTOCOL.description,
            _PROTOCOL.parameters,
            frozenset({TokenScope.READ, TokenScope.ASK}),
            *[_of_assistant("search_protocol")] * 2,
        ),
        Tool(
            "check_visit_window",
            _WINDOW.description,
            _WINDOW.parameters,
            _ROWS,
            _of_assistant("check_visit_window"),
            _nothing,
        ),
        Tool(
            "list_findings",
            "列出质控发现(默认未关闭的):受试者、规则、状态、发现日期、已开放天数和内容。",
            _OF_FINDINGS,
            _ROWS,
            _list_findings,
            _nothing,
        ),
    )
}

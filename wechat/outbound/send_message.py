"""`send_message`: the one tool with an effect, for workflows only (decisions.md, Engines).

Not read-only, so ReAct never sees it; a soft instruction has to list it. The message carries no identifier,
goes to members who may see the subject, and is an outbox row keyed by run, step and recipient: a node that
is tried again sends nothing twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.house.db import atomic
from engines.assistant.tools import (
    Status,
    Tool,
    ToolContext,
    ToolResult,
    register,
)
from engines.sop.nodes.notify import deliver_at
from memory.visibility import concerns, told_to
from projects.models import Member
from study.models import Subject
from wechat.outbound import outbox
from wechat.outbound.outbox import Held

NAME = "send_message"
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "roles": {
            "type": "array",
            "items": {"enum": ["PI", "CRC", "ADMIN"]},
            "minItems": 1,
            "description": "收件人的角色:CRC 负责受试者的访视和数据,PI 负责医学判断,ADMIN 负责项目设置",
        },
        "text": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "消息内容"},
    },
    "required": ["roles", "text"],
    "additionalProperties": False,
}


def send_message(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """Queue the text for the members of these roles; returns how many it has something to tell."""
    if not context.effect_key:
        return ToolResult(NAME, Status.REFUSED, "send_message 只能在工作流中使用。")
    text = str(arguments["text"])
    people = recipients(context, list(arguments["roles"]))
    with atomic():
        sent = sum(_send(context, member, text) for member in people)
    return ToolResult(NAME, Status.OK, {"sent": sent})


def _send(context: ToolContext, member: Member, text: str) -> bool:
    if not concerns(member, text):
        return False
    # A masked name no longer tells whose line it is, so the lines are chosen before.
    theirs = context.gate.text(told_to(member, text))
    about = {"record": context.record_id}
    return outbox.tell(
        to=member,
        content=str(theirs),
        key=f"tool:{context.effect_key}:{member.wecom_userid}",
        held=Held(deliver_at(member), about) if context.can_wait else None,
    )


def recipients(context: ToolContext, roles: list[str]) -> list[Member]:
    """Active members of these roles who can be reached and may see the workflow's subject."""
    members = Member.objects.filter(project=context.project, is_active=True, role__in=roles)
    members = members.exclude(wecom_userid="").select_related("project", "person")
    return [member for member in members if may_know(member, context.record_id)]


def may_know(member: Member, record_id: str) -> bool:
    """Whether a message about this subject, or about none, is for them."""
    subjects = Subject.objects.filter(record_id=record_id).for_member(member)
    return subjects.exists() if record_id else member.is_active


def register_tool() -> None:
    """Put the tool into the registry."""
    register(
        Tool(
            name=NAME,
            description="向研究成员发送一条企业微信消息(不含受试者身份信息);每名受试者单独一行,"
            "各中心的成员只收到本中心受试者的行。",
            parameters=PARAMETERS,
            function=send_message,
            read_only=False,
        )
    )

"""Questions about the study itself: what the console stores about it."""

from __future__ import annotations

from django.utils.translation import gettext as _

from engines import render
from engines.assistant.chat import materials, sources
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.turn import Turn
from engines.assistant.chat.wording import Draft, worded
from engines.assistant.intents import Part
from engines.assistant.tools import Status, ToolResult
from language.values import plain
from projects.models import Role
from study.facts import Fact, Kind


def answer(turn: Turn, part: Part, limit: int) -> Outcome:
    """What the question names of it; all of it where it names nothing."""
    result = read(turn, part)
    beside = materials.read(turn, materials.beside(turn, part, None)) if turn.has_model else []
    draft = Draft(part, sources.sheet(turn, part, beside=beside, read=[result]), limit=limit)
    text, note = worded(turn, draft)
    asked = plain(part.text).casefold()
    named = [
        f"{names[0]}:{value or _('not filled in')}"
        for _key, names, value in _stored(turn)
        if any(name.casefold() in asked for name in names)
    ]
    stored = [f"{fact.label}:{fact.text}" for fact in result.facts]
    text = text or render.fit_all(named or stored, limit - len(note)) + note
    return Outcome(text, results=[result])


def read(turn: Turn, part: Part) -> ToolResult:
    """All that is stored, a line each, and what is not recorded."""
    stored = _stored(turn)
    facts = [
        Fact("", Kind.PROJECT, field=key, label=names[0], value=value, text=value)
        for key, names, value in stored
        if value
    ]
    lines = [f"{fact.label}:{fact.text}" for fact in facts]
    if blank := "、".join(names[0] for _key, names, value in stored if not value):
        lines.append(f"{_('Not recorded')}:{blank}")
    source = {"kind": "project", "code": turn.project.code}
    return turn.read(
        ToolResult(
            "project_info", Status.OK, facts=tuple(facts), lines=tuple(lines), sources=(source,)
        )
    )


def _stored(turn: Turn) -> list[tuple[str, tuple[str, ...], str]]:
    """Key, the names that people call it by, and the value."""
    project = turn.project
    return [
        ("name", (_("Study"), "名称", "全称", "叫什么", "什么项目"), project.name),
        ("code", (_("Code"), "代码", "编号"), project.code),
        ("status", (_("Status"), "状态", "阶段"), str(project.get_status_display())),
        ("pi", (_("Principal investigator"), "PI", "主要研究者", "负责人"), _pi(turn)),
        ("registration", (_("Registration number"), "注册号"), project.registration_no),
        ("start", (_("Start date"), "启动", "开始"), project.start_date.isoformat()),
        ("target", (_("Target enrolment"), "目标", "计划"), str(project.target_enrolment or "")),
        ("synopsis", (_("Synopsis"), "简介", "目的"), project.synopsis),
    ]


def _pi(turn: Turn) -> str:
    """The PI's name, from the study or from its members."""
    members = turn.project.members.filter(role=Role.PI, is_active=True)
    return turn.project.pi_name or members.values_list("display_name", flat=True).first() or ""

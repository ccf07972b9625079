"""The tool check_visit_window, and the overview of visits that are due."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _

from engines.tools.context import ToolContext
from engines.tools.records import not_found
from engines.tools.results import Fact, Status, ToolResult
from projects.records import RecordData
from projects.visit_window import VisitPlanSpec, VisitState, plan_of, visit_states
from projects.windows import State
from study import door

NAME = "check_visit_window"
SOON = 7
FEW = 2
TO_COME = (State.OVERDUE, State.DUE, State.NOT_DUE)
_NEXT = re.compile(
    r"还[要需][^,。]{0,4}访视|还有[^,。]{0,4}访视|下一?次|下回|接下来|下个访视|什么时候(?:再)?来|\bnext\b",
    re.IGNORECASE,
)
LISTED = 20
OVERVIEW = "visits"
_LATE = re.compile(r"超窗|逾期|超期|过期|错过|漏|overdue|missed|late", re.IGNORECASE)
_COMING = re.compile(
    r"今[天日]|明[天日]|[本这下]周|近期|最近|待|即将|快到|该来|要来|要访视|today|tomorrow|week|\bdue|coming|soon",
    re.IGNORECASE,
)
TARGET = ("目标日期", "计划日期", "target", "应访视", "下次访视")
OPENS = ("窗口开始", "最早", "窗口", "open")
CLOSES = ("窗口结束", "最晚", "截止", "窗口", "close")
ACTUAL = ("实际日期", "访视日期", "完成", "actual")
PLANNED = ("计划", "预约", "预计", "planned")


def check_visit_window(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """The windows of one subject's visits, by the one function that every other door uses."""
    record_id = str(arguments["record_id"]).strip()
    plan = plan_of(context.project)
    found = door.records_for(context.project, context.member, context.metadata, [record_id])
    if not found:
        return ToolResult(NAME, Status.NOT_FOUND, not_found())
    wanted = str(arguments.get("visit") or "").strip().upper()
    known = {visit.visit.upper() for visit in plan.visits}
    if wanted and wanted not in known:
        text = _("There is no visit %(visit)s; planned are: %(known)s.")
        return ToolResult(
            NAME, Status.BAD_ARGUMENTS, text % {"visit": wanted, "known": "、".join(sorted(known))}
        )
    states = visit_states(context.project, found[0], context.today, plan)
    chosen = [s for s in states if not wanted or s.visit.upper() == wanted]
    return _describe(context, found[0], chosen, plan)


def _describe(
    context: ToolContext, record: RecordData, states: Sequence[VisitState], plan: VisitPlanSpec
) -> ToolResult:
    convention, fact = convention_of(plan)
    coming, told = _coming(context, record.record_id, states)
    name = _("next visit")
    facts = (
        *coming,
        *(f for state in states for f in _facts(record.record_id, state)),
        fact,
    )
    read_at = context.clock(record.read_at)
    return ToolResult(
        NAME,
        Status.OK if record.complete else Status.INCOMPLETE,
        {
            "record_id": record.record_id,
            **({"下次访视": told} if told else {}),
            "访视": {state.visit: _row(context, state) for state in states},
            "锚点约定": convention,
            "今天": context.today.isoformat(),
            "读取时间": read_at,
        },
        facts=facts,
        blocks=(told,) if told else (),
        lines=(
            *([f"{record.record_id} {name}:{told}"] if told else []),
            *(_brief(record.record_id, state, len(states)) for state in states),
        ),
        unsaid=(convention,),
        sources=({"kind": "redcap", "record_id": record.record_id, "read_at": read_at},),
        record_ids=(record.record_id,),
    )


def _coming(
    context: ToolContext, record_id: str, states: Sequence[VisitState]
) -> tuple[list[Fact], str]:
    """Facts (`next:open`, …) and words of the first visit that is not done, where the question asks for it.

    None where that can't be told, because a visit's anchor is not known.
    """
    if not _NEXT.search(context.question):
        return [], ""
    state = next((state for state in states if state.state in TO_COME), None)
    if state is None:
        left = (
            "" if any(s.state is State.UNKNOWN for s in states) else _("no planned visit is left")
        )
        return [Fact(record_id, "next:none", ("下次访视",), left)] if left else [], left
    facts = [
        replace(fact, field=f"next:{fact.field.partition(':')[2]}", names=("下次访视", *fact.names))
        for fact in _facts(record_id, state)
    ]
    parts = [f"{state.visit} {describe_state(state)}"]
    if state.target:
        parts.append(_("target %(day)s") % {"day": state.target})
    if state.open:
        parts.append(_("window %(window)s") % {"window": window(state)})
    return facts, ", ".join(parts)


def convention_of(plan: VisitPlanSpec) -> tuple[str, Fact]:
    """Which day the anchor is (redcap_dify.md 5.1), in words and as a fact: every answer tells it."""
    day = plan.anchor_is_day
    fact = Fact("", "convention", ("Day", "anchor day", "锚点约定"), str(day))
    return _("the anchor day is Day %(day)d") % {"day": day}, fact


def _row(context: ToolContext, state: VisitState) -> dict[str, Any]:
    row = {
        _("state"): describe_state(state),
        _("window"): window(state),
        _("target"): _iso(state.target),
        _("actual"): _iso(state.actual),
        _("planned"): _iso(state.planned),
        _("anchor"): f"{context.metadata.label(state.anchor_field)} {state.anchor or ''}".strip(),
    }
    return {key: value for key, value in row.items() if value}


def _facts(record_id: str, state: VisitState) -> list[Fact]:
    dates = (
        ("anchor", (_("anchor"), "锚点", "基准"), _iso(state.anchor)),
        ("target", (_("target"), *TARGET), _iso(state.target)),
        ("open", (_("window"), *OPENS), _iso(state.open)),
        ("close", (_("window"), *CLOSES), _iso(state.close)),
        ("actual", (_("actual"), *ACTUAL), _iso(state.actual)),
        ("planned", (_("planned"), *PLANNED), _iso(state.planned)),
        (
            "days",
            (_("days"), "超窗", "逾期", "还有", "提前", "迟", "天"),
            str(state.days) if state.days else "",
        ),
    )
    facts = [
        Fact(record_id, f"{state.visit}:{key}", (state.visit, *names), value, state.visit)
        for key, names, value in dates
        if value
    ]
    state_name = (state.visit, _("state"))
    told = Fact(record_id, f"{state.visit}:state", state_name, describe_state(state), state.visit)
    return [*facts, told]


def _iso(day: Any) -> str:
    return day.isoformat() if day else ""


def window(state: VisitState) -> str:
    """`2026-03-21 ~ 2026-04-04`, both ends inside."""
    return f"{state.open} ~ {state.close}" if state.open and state.close else ""


def describe_state(state: VisitState) -> str:
    """A state in words."""
    days = {"days": state.days}
    words = {
        State.UNKNOWN: _("unknown"),
        State.NOT_APPLICABLE: _("not applicable"),
        State.NOT_DUE: _("opens in %(days)d days") % days,
        State.DUE: _("due now"),
        State.OVERDUE: _("overdue by %(days)d days") % days,
        State.EARLY: _("done %(days)d days early") % days,
        State.IN_WINDOW: _("done within the window"),
        State.LATE: _("done %(days)d days late") % days,
    }
    return f"{words[state.state]} ({state.reason})" if state.reason else words[state.state]


def _brief(record_id: str, state: VisitState, number: int) -> str:
    """Among many, a visit that was done in time is told without its window."""
    if number > FEW and state.state is State.IN_WINDOW:
        return f"{record_id} {state.visit} {describe_state(state)} {state.actual}"
    return line(record_id, state)


def line(record_id: str, state: VisitState) -> str:
    """One visit in one line: `P001 V2 窗口 2026-03-21 ~ 2026-04-04,已在窗口内完成(2026-03-28)`."""
    parts = [f"{record_id} {state.visit}"]
    if state.open:
        parts.append(_("window %(window)s") % {"window": window(state)})
    parts.append(describe_state(state) + (f" {state.actual}" if state.actual else ""))
    return " ".join(parts)


def plan_result(context: ToolContext, wanted: Collection[str] = ()) -> ToolResult:
    """The visit plan itself: "V2 Day 28 -7/+7", for questions about the protocol's windows.

    `wanted`: only these visits; all where it is empty.
    """
    plan = plan_of(context.project)
    visits = [v for v in plan.visits if not wanted or v.visit.upper() in wanted]
    convention, fact = convention_of(plan)
    lines = tuple(
        _(
            "%(visit)s: Day %(day)d, from %(minus)d days before to %(plus)d days after, counted from %(anchor)s"
        )
        % {
            "visit": visit.visit,
            "day": visit.day,
            "minus": visit.minus,
            "plus": visit.plus,
            "anchor": context.metadata.label(visit.anchor_field),
        }
        for visit in visits
    )
    facts = tuple(
        Fact("", f"plan:{v.visit}", (v.visit, "窗口"), f"{v.day} {v.minus} {v.plus}", v.visit)
        for v in visits
    )
    status = Status.OK if lines else Status.NOT_FOUND
    data = {"访视计划": list(lines), "锚点约定": convention}
    return ToolResult(
        NAME,
        status,
        data,
        facts=(*facts, fact),
        blocks=(*lines, convention),
        lines=lines,
        unsaid=(convention,),
    )


def due_overview(context: ToolContext, wanted: Collection[str] = ()) -> ToolResult:
    """Visits that are due or overdue or open within a week, over all subjects the reader may see.

    `wanted`: only these visits; all where it is empty.
    """
    plan = plan_of(context.project)
    records = door.records_for(context.project, context.member, context.metadata, None)
    soon = context.today + timedelta(days=SOON)
    rows: list[tuple[RecordData, VisitState]] = []
    for record in records:
        for state in visit_states(context.project, record, context.today, plan):
            near = state.state is State.NOT_DUE and state.open is not None and state.open <= soon
            named = not wanted or state.visit.upper() in wanted
            if named and (state.state in (State.DUE, State.OVERDUE) or near):
                rows.append((record, state))
    rows.sort(key=lambda pair: (pair[1].state is not State.OVERDUE, pair[1].close or soon))
    return _overview(context, records, rows, plan)


def _compact(rows: Sequence[tuple[RecordData, VisitState]], question: str) -> list[str]:
    """One line a state that the question asks for: who and which visit."""
    words = ((State.OVERDUE, _("Overdue")), (State.DUE, _("Due")), (State.NOT_DUE, _("Soon")))
    lines = []
    for state, word in words:
        found = [f"{r.record_id} {s.visit}" for r, s in rows if s.state is state]
        if found and state in _asked(question):
            more = f" 等 {len(found)} 个" if len(found) > LISTED // 2 else ""
            lines.append(f"{word}:{'、'.join(found[: LISTED // 2])}{more}")
    return lines


def asks_state(question: str) -> bool:
    """Whether a question is about what is overdue or to come."""
    return bool(_LATE.search(question) or _COMING.search(question))


def _asked(question: str) -> Sequence[State]:
    """What of the overview a question asks for; all of it where it doesn't say."""
    late, coming = _LATE.search(question), _COMING.search(question)
    if bool(late) == bool(coming):
        return TO_COME
    return (State.OVERDUE,) if late else (State.DUE, State.NOT_DUE)


def _overview(
    context: ToolContext,
    records: Sequence[RecordData],
    rows: Sequence[tuple[RecordData, VisitState]],
    plan: VisitPlanSpec,
) -> ToolResult:
    convention, fact = convention_of(plan)
    lines = tuple(line(record.record_id, state) for record, state in rows[:LISTED])
    summary = _("%(overdue)d visits overdue, %(due)d due, %(soon)d open within %(days)d days") % {
        "overdue": sum(state.state is State.OVERDUE for _r, state in rows),
        "due": sum(state.state is State.DUE for _r, state in rows),
        "soon": sum(state.state is State.NOT_DUE for _r, state in rows),
        "days": SOON,
    }
    read_at = context.clock(max(record.read_at for record in records)) if records else ""
    complete = all(record.complete for record in records)
    return ToolResult(
        NAME,
        Status.OK if complete else Status.INCOMPLETE,
        {
            "汇总": summary,
            "今天": context.today.isoformat(),
            "锚点约定": convention,
            OVERVIEW: list(lines),
            "读取时间": read_at,
        },
        facts=(
            *(f for record, state in rows for f in _facts(record.record_id, state)),
            fact,
        ),
        blocks=(summary, context.today.isoformat(), *lines),
        lines=(*_compact(rows, context.question), summary),
        unsaid=(convention,),
        sources=({"kind": "redcap", "what": "visits", "read_at": read_at},),
        record_ids=tuple(dict.fromkeys(record.record_id for record, _state in rows)),
    )

"""Tools over the study's data: a StudyQuery that a model wrote, and seed 001's three as StudyQueries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from django.utils.translation import gettext as _
from pydantic import ValidationError

from engines.assistant.read.naming import fold
from engines.assistant.read.question import one_each
from engines.assistant.read.tokens import Kind
from engines.assistant.read.vocabulary import vocabulary
from engines.assistant.tools.results import Status, ToolContext, ToolResult, not_found
from study import door
from study.blinding import mask
from study.design import StudyDesign, design_of, genes
from study.enrolment_stats import ENROLLED, enrolled
from study.facts import Answer, Fact, Group, json_value
from study.query.errors import nearest
from study.visits.due import schedule

MOST_LINES, MOST_MEANT = 60, 4
_VISITS = ("visit", "state", "target", "open", "close", "actual", "days")
WEEK = timedelta(days=6)
_OPEN = {"field": "@findings.status", "op": "in", "value": ["open", "data_changed"]}


def query_study(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """The facts as lines; what is no query comes back with the place and the nearest names."""
    return answered(context, "query_study", one_each(dict(arguments)))


def read_clinical_data(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """One subject: the fields or forms that are named, also by label, else all forms (seed 001, 5)."""
    hidden = mask.mask_of_member(context.project, context.member).fields
    design = design_of(context.project, genes(context.metadata) | hidden)
    shown = [name for name in design.metadata.fields if name not in design.hidden]
    forms = design.shown_forms
    asked = [str(name) for name in arguments.get("fields") or ()]
    named = {name: _meant(name, design, {*shown, *forms}) for name in asked}
    if strange := [name for name in asked if not named[name]]:
        labels = {design.metadata.label(name): name for name in shown}
        return _unknown("read_clinical_data", strange[0], labels | {name: name for name in shown})
    select = list(dict.fromkeys(one for found in named.values() for one in found)) or [*forms]
    return _of_one(context, "read_clinical_data", arguments, {"select": select})


def check_visit_window(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """One subject's visits with their windows, or one of them (seed 001, 5)."""
    planned = {entry.visit.upper(): entry.visit for entry in context.project.visit_plan.all()}
    wanted = str(arguments.get("visit") or "").strip().upper()
    if wanted and wanted not in planned:
        return _unknown("check_visit_window", wanted, planned)
    query: dict[str, Any] = {"select": [f"@visits.{name}" for name in _VISITS]}
    if wanted:
        query["where"] = [{"field": "@visits.visit", "op": "=", "value": planned[wanted]}]
    return _of_one(context, "check_visit_window", arguments, query)


def list_due_visits(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """What is to be done from a day to another, by default in the next week, with what is overdue."""
    today = context.today
    days = [arguments.get(name) for name in ("from", "to")]
    try:
        first, last = (date.fromisoformat(str(day)) if day else None for day in days)
    except ValueError:
        return ToolResult("list_due_visits", Status.BAD_ARGUMENTS, _("A day is YYYY-MM-DD."))
    first = first or today
    last = last or first + WEEK
    try:
        found = schedule(context.project, context.member)
    except ValidationError:
        told = _("The visit plan of %(study)s cannot be followed.") % {
            "study": context.project.code
        }
        return ToolResult("list_due_visits", Status.NOT_FOUND, told)
    visits = found.due(first, last, overdue=bool(arguments.get("overdue", True)))
    lines = list[str]()
    for one in visits[:MOST_LINES]:
        planned = f" {_('planned for %(day)s') % {'day': one.planned}}" if one.planned else ""
        window = f"{one.subject} {one.visit} {one.open} ~ {one.close}"
        lines.append(f"{window} {one.state.value} {one.days}{planned}")
    body: dict[str, Any] = {
        "今天": today.isoformat(),
        "日期范围": f"{first} ~ {last}",
        "待完成访视": lines or [_("Nothing was found.")],
        "可见受试者": sorted(found.sites)[:MOST_LINES],
        "读取时间": found.read_at or "",
    }
    if len(visits) > MOST_LINES:
        body["未列出"] = len(visits) - MOST_LINES
    return ToolResult(
        "list_due_visits",
        Status.OK,
        body,
        facts=tuple(fact for one in visits for fact in one.facts),
        sources=({"kind": "redcap", "what": "list_due_visits", "read_at": found.read_at},),
        record_ids=tuple(dict.fromkeys(one.subject for one in visits)),
    )


def get_project_stats(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """How the study stands: subjects, enrolled, target, by site and status, open findings (seed 001, 5)."""
    queries: list[dict[str, Any]] = [
        {"aggregate": "count"},
        enrolled(),
        {"select": ["@project.target"]},
        {"where": [ENROLLED], "aggregate": "count", "by": ["@site"]},
    ]
    if design_of(context.project).status_field:
        queries.append({"aggregate": "count", "by": ["@status"]})
    queries.append({"where": [_OPEN], "aggregate": "count"})
    return answered(context, "get_project_stats", queries)


def _of_one(
    context: ToolContext, tool: str, arguments: Mapping[str, Any], query: Mapping[str, Any]
) -> ToolResult:
    """Absent and "not yours" are the same (E43); "7" is not "007" (E10)."""
    record_id = str(arguments["record_id"]).strip()
    found = answered(context, tool, [{"subjects": [record_id], **query}])
    if found.has_data and not any(answer.basis.subjects for _query, answer in found.asked):
        return ToolResult(tool, Status.NOT_FOUND, not_found())
    return found


def answered(context: ToolContext, tool: str, queries: Sequence[dict[str, Any]]) -> ToolResult:
    """What StudyQueries give the reader, genes never: lines, source and subjects, incomplete where it is.

    Raises QueryError, RedcapError and NotConfiguredError: `registry.execute` makes results of them.
    """
    answers = door.ask_all(
        context.project, context.member, queries, blinded=genes(context.metadata)
    )
    facts = [fact for answer in answers for fact in answer.facts]
    unread = any(one.reason == "not_exported" for answer in answers for one in answer.undecided)
    return ToolResult(
        tool,
        Status.INCOMPLETE if unread else Status.OK,
        _body(queries, answers),
        facts=tuple(facts),
        sources=({"kind": "redcap", "what": tool, "read_at": answers[0].read_at},),
        record_ids=tuple(dict.fromkeys(fact.subject for fact in facts if fact.subject)),
        asked=tuple(zip(queries, answers, strict=True)),
    )


def _unknown(tool: str, said: str, known: Mapping[str, str]) -> ToolResult:
    """A name that is none comes back with those nearest to it (contracts.md: nearest)."""
    near = "、".join(nearest(said, known)) or "、".join(sorted({*known})[:MOST_LINES])
    told = _("There is no “%(name)s”. Nearest: %(near)s") % {"name": said, "near": near}
    return ToolResult(tool, Status.BAD_ARGUMENTS, told)


def _meant(said: str, design: StudyDesign, shown: Collection[str]) -> list[str]:
    """The fields or forms that a name, a label or a word of the study's stands for."""
    if said in shown:
        return [said]
    known = vocabulary(design, {}).words.get(fold(said))
    if known is None or known.kind not in (Kind.FIELD, Kind.FORM):
        return []
    return [one.name for one in known.readings if one.name in shown][:MOST_MEANT]


def _body(queries: Sequence[Mapping[str, Any]], answers: Sequence[Answer]) -> dict[str, Any]:
    """What the model reads: the lines, over whom, when, and what is not listed or could not be told."""
    facts = [fact for answer in answers for fact in answer.facts]
    lines = [*map(_line, facts), *(_group(group) for one in answers for group in one.groups)]
    told = {fact.subject for fact in facts}
    asked = dict.fromkeys(i for query in queries for i in query.get("subjects") or ())
    # Of whom it could not be told it is not said that there is nothing.
    undecided = [one for answer in answers for one in answer.undecided]
    told |= {one.subject for one in undecided}
    lines += [f"{name}: {_('Nothing was found.')}" for name in asked if name not in told]
    body: dict[str, Any] = {
        "结果": lines[:MOST_LINES] or ([] if undecided else [_("Nothing was found.")]),
        "读取范围": f"{answers[0].basis.subjects} 例",
        "读取时间": answers[0].read_at or "",
    }
    if left := max(len(lines) - MOST_LINES, 0) + sum(answer.left_out for answer in answers):
        body["未列出"] = left
    if undecided:
        body["无法判断"] = [f"{one.subject} {one.reason}" for one in undecided]
    return body


def _line(fact: Fact) -> str:
    place = f"{fact.event}#{fact.instance}" if fact.instance else fact.event
    where = " · ".join(filter(None, [fact.subject, fact.label, place, fact.date]))
    text = fact.text or ("" if fact.value is None else str(json_value(fact.value)))
    value = [text or _("not filled in"), fact.unit, *sorted(fact.flags)]
    return f"{where} = {' '.join(filter(None, value))}"


def _group(group: Group) -> str:
    by = " · ".join(str(json_value(value)) for value in group.by)
    return f"{by} = {json_value(group.value)} ({', '.join(group.subjects)})"

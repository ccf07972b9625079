"""Questions whose data the intent already names: tools first, then one call (seed 003)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise

from django.utils.translation import gettext as _

from engines import render
from engines.chat import materials, sources
from engines.chat.reply import Outcome
from engines.chat.subjects import subjects
from engines.chat.turn import Turn
from engines.chat.wording import Draft, marked, worded
from engines.intents import Part
from engines.parallel import run_all
from engines.tools import Fact, Status, ToolResult, asking, execute, holding, stats, visits
from engines.tools.records import not_found
from integrations.redcap import RedcapError
from language.values import plain
from projects.client import NotConfiguredError
from projects.models import Role

MOST_SUBJECTS = 5
MOST_FIELDS = 30
_FIGURE = re.compile(
    r"平均|均值|中位|比例|占比|分布|最[大小高低]|\b(?:ratio|average|mean|median)\b", re.IGNORECASE
)
_OF_SUBJECTS = ("query_record", "visit_window")
_ENROLLED = re.compile(r"(?:已经?)?(?:入组|在组)|enrolled", re.IGNORECASE)
_PLAN = re.compile(r"窗口|时间窗|几天|前后|允许|超窗怎么|范围|多少天")


def asked_fields(turn: Turn, part: Part) -> list[str]:
    """Fields the task speaks of, at most 30; [] for "how is he"."""
    return turn.fields.mentioned(turn.resolved(part.text))[:MOST_FIELDS]


def read_records(turn: Turn, part: Part) -> list[ToolResult]:
    """Read the subjects of a task: the fields it speaks of, by name what is never shown or not known."""
    ids = subjects(turn, part)
    if not ids:
        return read_list(turn, part)
    own = _own_questions(ids, turn.resolved(part.text))
    wanted = {rid: _wanted(turn, said) for rid, said in own.items()}
    if not all(wanted.values()):
        wanted = dict.fromkeys(ids, _wanted(turn, turn.resolved(part.text)))
    more = {rid: {"fields": fields} if fields else {} for rid, fields in wanted.items()}
    return _each(turn, "read_clinical_data", {rid: more[rid] for rid in ids[:MOST_SUBJECTS]})


def _wanted(turn: Turn, question: str) -> list[str]:
    known = turn.fields.mentioned(question)[:MOST_FIELDS]
    fields = [
        *known,
        *asking.withheld(turn.fields, question),
        *asking.unknown(turn.fields, question),
    ]
    return list(dict.fromkeys(fields))[:MOST_FIELDS]


def _own_questions(ids: Sequence[str], question: str) -> dict[str, str]:
    """What is asked of each of several subjects ("P006的血红蛋白,P007的AE"); of all the same, else."""
    folded = question.casefold()
    named = [re.search(rf"(?<![a-z0-9]){re.escape(rid.casefold())}(?!\d)", folded) for rid in ids]
    starts = [hit.start() for hit in named if hit]
    if len(starts) < max(len(ids), 2) or starts != sorted(starts):
        return dict.fromkeys(ids, question)
    # What stands before the first of them is asked of all.
    pieces = [question[a:b] for a, b in pairwise([*starts, len(question)])]
    return {rid: question[: starts[0]] + piece for rid, piece in zip(ids, pieces, strict=True)}


def _each(turn: Turn, tool: str, asked: Mapping[str, Mapping[str, object]]) -> list[ToolResult]:
    """One call a subject, side by side; the results in the order of the subjects."""
    calls = [
        partial(execute, turn.context, tool, {"record_id": rid, **more})
        for rid, more in asked.items()
    ]
    return [turn.read(result) for result in run_all(calls)]


def read_stats(turn: Turn, part: Part) -> list[ToolResult]:
    """Count; or list those who have what the task names."""
    found = read_holders(turn, part)
    return found or [turn.read(execute(turn.context, "get_project_stats", {}))]


def read_list(turn: Turn, part: Part) -> list[ToolResult]:
    """Those who have what the task names, or the list of subjects that it asks for."""
    found = read_holders(turn, part)
    if found or part.record_ids or not holding.asks_list(part.text):
        return found
    counted = turn.read(execute(turn.context, "get_project_stats", {}))
    return [counted] if not counted.has_data or _roster(part, counted, turn.limit) else []


def read_holders(turn: Turn, part: Part) -> list[ToolResult]:
    """The subjects who have what the task names, over the whole study; [] where it asks for something else."""
    if part.record_ids:
        return []
    try:
        found = holding.subjects_with(turn.context, turn.fields, turn.resolved(part.text))
    except (RedcapError, NotConfiguredError):
        found = down(holding.NAME)
    return [turn.read(found)] if found else []


def read_protocol(turn: Turn, part: Part) -> list[ToolResult]:
    """Search the documents."""
    query = str(turn.question(part))[:500]
    return [turn.read(execute(turn.context, "search_protocol", {"query": query}))]


def read_visits(turn: Turn, part: Part) -> list[ToolResult]:
    """A subject's windows, the plan itself, or everything that is due."""
    ids = subjects(turn, part)[:MOST_SUBJECTS]
    planned = {entry.visit.upper() for entry in turn.project.visit_plan.all()}
    named = [visit for visit in _visits(turn, part) if visit in planned]
    if ids:
        more = {"visit": named[0]} if len(named) == 1 else {}
        return _each(turn, "check_visit_window", dict.fromkeys(ids, more))
    if named and holding.asks_whom(part.text):
        return _holders_of_visit(turn, part) or [turn.read(_due(turn, named))]
    if named or _PLAN.search(part.text):
        return [turn.read(visits.plan_result(turn.context, named))]
    return [turn.read(_due(turn))]


def _holders_of_visit(turn: Turn, part: Part) -> list[ToolResult]:
    """Who has (not) had a visit; [] for a question about windows."""
    return [] if visits.asks_state(part.text) else read_holders(turn, part)


def _visits(turn: Turn, part: Part) -> list[str]:
    """V2D28 is V2; only those that stand in this task."""
    named = [v for v in turn.detection.visits if v.casefold() in part.text.casefold()]
    return [found[0].upper() for v in named if (found := re.match(r"[Vv]\d+", v))]


def _due(turn: Turn, wanted: Sequence[str] = ()) -> ToolResult:
    try:
        return visits.due_overview(turn.context, wanted)
    except (RedcapError, NotConfiguredError):
        return down("check_visit_window")


def down(tool: str) -> ToolResult:
    """What a tool gives back that could not read REDCap."""
    text = _("REDCap cannot be read at the moment. Please try again later.")
    return ToolResult(tool, Status.DOWN, text, outside_down=True)


def read_project(turn: Turn, part: Part) -> list[ToolResult]:
    """What the console stores about the study."""
    project = turn.project
    rows = (
        ("name", (_("Study"), "名称", "全称", "叫什么", "什么项目"), project.name),
        ("code", (_("Code"), "代码", "编号"), project.code),
        ("status", (_("Status"), "状态", "阶段"), project.get_status_display()),
        ("pi", (_("Principal investigator"), "PI", "主要研究者", "负责人"), _pi(turn)),
        ("registration", (_("Registration number"), "注册号"), project.registration_no),
        ("start", (_("Start date"), "启动", "开始"), project.start_date.isoformat()),
        ("target", (_("Target enrolment"), "目标", "计划"), str(project.target_enrolment or "")),
        ("synopsis", (_("Synopsis"), "简介", "目的"), project.synopsis),
    )
    facts = tuple(Fact("", key, names, value) for key, names, value in rows if value)
    blank = [names[0] for _key, names, value in rows if not value]
    data = {names[0]: value for _key, names, value in rows if value}
    if blank:
        data[_("Not recorded")] = "、".join(blank)
    result = ToolResult(
        "project_info",
        Status.OK,
        data,
        facts=facts,
        blocks=(project.synopsis,) if project.synopsis else (),
        lines=tuple(f"{fact.names[0]}:{fact.value}" for fact in facts),
        sources=({"kind": "project", "code": project.code},),
    )
    return [turn.read(result)]


def _pi(turn: Turn) -> str:
    """The PI's name, from the study or from its members."""
    members = turn.project.members.filter(role=Role.PI, is_active=True)
    return turn.project.pi_name or members.values_list("display_name", flat=True).first() or ""


def answer_records(turn: Turn, part: Part, results: Sequence[ToolResult], limit: int) -> Outcome:
    """Answer about subjects; nothing is said of those that are not there or not the reader's."""
    if not results:
        text = _(
            "Which subject do you mean? Please give the number. Names and other identifiers are not shown."
        )
        return Outcome(text, guided=True)
    rest = _unread(turn, part)
    if all(result.status is Status.NOT_FOUND for result in results):
        return Outcome("\n".join([not_found(), *rest]))
    before, after = _absent(turn, part, results)
    notes = [*before, *after, *rest]
    room = max(limit - sum(len(note) + 1 for note in notes), 40)
    outcome = answer_data(turn, part, results, room)
    outcome.text = "\n".join([*before, outcome.text, *after, *rest])
    return outcome


def _absent(turn: Turn, part: Part, results: Sequence[ToolResult]) -> tuple[list[str], list[str]]:
    """Who of several subjects is not there or not the reader's, named as they were asked for: before and
    after the first who is."""
    ids = subjects(turn, part)[:MOST_SUBJECTS]
    if len(ids) != len(results):
        return [], []
    missing = [result.status is Status.NOT_FOUND for result in results]
    lines = [f"{name}:{not_found()}" for name in ids]
    first = missing.index(False)
    after = [line for line, gone in list(zip(lines, missing, strict=True))[first:] if gone]
    return lines[:first], after


def _unread(turn: Turn, part: Part) -> list[str]:
    """What was asked for and not read is said (design.md 9.8)."""
    rest = len(subjects(turn, part)) - MOST_SUBJECTS
    if rest <= 0:
        return []
    text = _("%(rest)d more subjects were not read; please ask about them separately.")
    return [text % {"rest": rest}]


def _listed(part: Part, result: ToolResult, limit: int) -> str:
    """The subjects who have something, the visits that are due, or the list of subjects that is asked for;
    "" for all else."""
    if result.tool == visits.NAME and visits.OVERVIEW in result.data:
        return marked(render.fit_all(result.lines, limit), [result], limit)
    if result.tool == holding.NAME:
        (head, tail), ids = result.lines, result.data[holding.IDS]
        room = limit - len(head) - len(tail) - 2
        told = f"{head}: {stats.shortened(ids, result.facts[0].value, room)}" if ids else head
        return marked(told + tail if len(told + tail) <= limit else told, [result], limit)
    return _roster(part, result, limit)


def _roster(part: Part, result: ToolResult, limit: int) -> str:
    """The ids that a question for a list asks for: of a status, enrolled, or all; "" for all else."""
    if stats.STATUS_LISTS not in result.data:
        return ""
    figures = {fact.field: fact.value for fact in result.facts}
    stated = [f for f in render.asked(result.facts, part.text) if f.field.startswith("status:")]
    if stated:
        total, head = stated[0].value, f"{stated[0].names[0]} ({stated[0].value}): "
        ids = result.data[stats.STATUS_LISTS][stated[0].field.removeprefix("status:")]
    elif _ENROLLED.fullmatch(theme := holding.theme(part.text)):
        total, ids = figures["enrolled"], result.data[stats.ENROLLED_LIST]
        head = _("Enrolled subjects (%(number)s): ") % {"number": total}
    elif theme:
        return ""
    else:
        total, ids = figures["total"], result.data[stats.WHOLE_LIST]
        head = _("All subjects (%(number)s): ") % {"number": total}
    return marked(head + stats.shortened(ids, total, limit - len(head)), [result], limit)


def answer_data(turn: Turn, part: Part, results: Sequence[ToolResult], limit: int) -> Outcome:
    """One call over what was read; the plain lines when it gives nothing grounded."""
    good = [result for result in results if result.has_data]
    if not good:
        return Outcome(str(results[0].data))
    if is_not_counted(turn, part, good):
        return Outcome(not_counted(), guided=True)
    failed = [str(result.data) for result in results if result.status is Status.DOWN]
    text = with_all(good, limit, partial(_worded, turn, part, good))
    return Outcome("\n".join([text, *failed]), results=good)


def is_not_counted(turn: Turn, part: Part, results: Sequence[ToolResult]) -> bool:
    """Whether the study's figures were read for a question about something that they do not tell."""
    if not results or any(result.tool != stats.NAME for result in results):
        return False
    facts = [fact for result in results for fact in result.facts]
    about = _FIGURE.search(part.text) or asked_fields(turn, part)
    # 受试者 and 患者 stand in nearly every question.
    return bool(about) and {f.field for f in render.asked(facts, part.text)} <= {"total"}


def not_counted() -> str:
    """What is said then: the figures would be beside the point."""
    return _(
        "I can't work this out over all subjects. I count enrolment, statuses and the records of a form, "
        "and list who has something; for all else please use a report in REDCap."
    )


def with_all(results: Sequence[ToolResult], limit: int, words: Callable[[int], str]) -> str:
    """`words` in the room that is left by what every answer has to say, and that behind them."""
    must = render.unsaid(results)
    room = max(limit - sum(len(line) + 1 for line in must), limit // 2)
    text = words(room)
    folded = plain(text).casefold()
    left = [line for line, note in must.items() if plain(note).casefold() not in folded]
    return "\n".join(filter(None, [text, *left]))


def _worded(turn: Turn, part: Part, good: Sequence[ToolResult], limit: int) -> str:
    """The list that is asked for, the model's words over the data, or the data themselves."""
    if told := _listed(part, good[0], limit):
        return told
    fallback = render.results_text(good, part.text, limit, notes=False)
    if part.intent == "query_record" and not any(result.facts for result in good):
        return marked(fallback, good, limit)
    for result in good:
        if result.passages:
            scores = (f"{one.document} {100 * (one.score or 0):.1f}%" for one in result.passages)
            turn.note(result.tool, observation="; ".join(scores))
    beside = materials.read(turn, materials.beside(turn, part, None)) if turn.has_model else []
    draft = Draft(
        part,
        sources.sheet(turn, part, beside=beside, read=good),
        fallback=fallback,
        limit=limit,
        subjects=_told(good) if part.intent in _OF_SUBJECTS else (),
    )
    text, note = worded(turn, draft)
    if not text:
        text = render.results_text(good, part.text, limit - len(note), notes=False) + note
    return marked(text, good, limit)


def _told(good: Sequence[ToolResult]) -> list[str]:
    """The subjects of whom something was read."""
    return [rid for result in good if result.facts for rid in result.record_ids]

"""Questions about the visit plan itself, of nobody's visits (V2的窗口是几天)."""

from __future__ import annotations

import re

from django.utils.translation import gettext as _

from engines import render
from engines.assistant.chat import materials, sources
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.subjects import PRONOUN
from engines.assistant.chat.turn import Turn
from engines.assistant.chat.wording import Draft, worded
from engines.assistant.intents import Part
from engines.assistant.tools import Status, ToolResult
from engines.assistant.understand import Topic, Understood
from study.visits.plan import VisitSpec

_PLAN = re.compile(r"窗口|时间窗|几天|前后|允许|超窗怎么|范围|多少天")
_OF_SUBJECTS = (
    "pending",
    "missing",
    "actual",
    "closing",
    "overdue",
    "due",
    "late",
    "early",
    "last",
    "next",
)
"""What is asked of visits that somebody has or had."""


def asks_plan(part: Part, found: Understood) -> bool:
    """Whether some question is about when a visit is planned, whoever it is of."""
    if part.intent != "visit_window" or part.record_ids:
        return False
    of_visits = [one.slots for one in found.asked if one.slots.topic is Topic.VISITS]
    if any(one.subjects for one in of_visits):
        return bool(_PLAN.search(part.text)) and not PRONOUN.search(part.text)
    return any(
        not one.aggregate
        and one.aspect not in _OF_SUBJECTS
        and (one.where or one.place or _PLAN.search(part.text))
        for one in of_visits
    )


def is_of_plan(turn: Turn, part: Part) -> bool:
    """Whether a question that nobody is named in is about visits of the plan or their windows."""
    return bool(_named(turn, part) or _PLAN.search(part.text))


def answer(turn: Turn, part: Part, limit: int) -> Outcome:
    """V2:Day 28，窗口期前 7 天至后 7 天: the visits that are named, else all."""
    result = read(turn, part)
    if not result.has_data:
        return Outcome(_("No visit plan is set up for this study."))
    beside = materials.read(turn, materials.beside(turn, part, None)) if turn.has_model else []
    behind = "\n" + convention(turn)
    room = limit - len(behind)
    draft = Draft(part, sources.sheet(turn, part, beside=beside, read=[result]), limit=room)
    text, note = worded(turn, draft)
    text = text or render.fit_all(result.lines[:-1], room - len(note)) + note
    return Outcome(text + behind, results=[result])


def read(turn: Turn, part: Part) -> ToolResult:
    """A line for each visit that is named, else for all; the convention of days behind them."""
    named = _named(turn, part)
    visits = [v for v in turn.design.plan.visits if v.visit.upper() in named or not named]
    if not visits:
        return ToolResult("visit_plan", Status.NOT_FOUND)
    lines = [_line(turn, visit) for visit in visits]
    return turn.read(ToolResult("visit_plan", Status.OK, lines=(*lines, convention(turn))))


def convention(turn: Turn) -> str:
    """Which day counts as the first: every answer about visits tells it (decisions.md, anchor_is_day)."""
    return _("the anchor day is Day %(day)d") % {"day": turn.design.plan.anchor_is_day}


def _named(turn: Turn, part: Part) -> set[str]:
    """Visits of the plan that stand in this task; V2D28 is V2."""
    said = [name for name in turn.detection.visits if name.casefold() in part.text.casefold()]
    heads = {found[0].upper() for name in said if (found := re.match(r"[Vv]\d+", name))}
    return heads & {visit.visit.upper() for visit in turn.design.plan.visits}


def _line(turn: Turn, visit: VisitSpec) -> str:
    text = _(
        "%(visit)s: Day %(day)d, from %(minus)d days before to %(plus)d days after, counted from %(anchor)s"
    )
    return text % {
        "visit": visit.visit,
        "day": visit.day,
        "minus": visit.minus,
        "plus": visit.plus,
        "anchor": turn.design.metadata.label(visit.anchor_field),
    }

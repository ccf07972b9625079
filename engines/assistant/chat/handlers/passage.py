"""What people wrote answers: rules of the study's documents, lines of its weekly reports, its own record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from django.utils.translation import gettext as _

from core.language.periods import NEWEST
from engines import render
from engines.assistant.chat.handlers import data, talk
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.sheets import Sources, reader_of
from engines.assistant.chat.turn import Turn
from engines.assistant.read.talk import CALLED, WHOM
from engines.assistant.read.task import Task, Unclear
from engines.assistant.say.quotes import documents, newest, reports
from engines.assistant.tools import Status, ToolResult, execute
from memory.reports import weeks
from memory.reports.history import WEEKS, Page, book
from projects.models import Role
from study.protocol import index
from study.protocol.rules import RuleIndex

LONGEST = 500
MOST = 8
"""Rules that a model may choose among."""
MOST_LINES, MOST_NEAR = 4, 12
"""Lines of reports that are quoted, and that a model may choose among."""
DECIDED = 1.3
"""What a line counts more that has a day of its own: a decision, not what was reported of the week."""
SAME, NEAR = 0.92, 0.65
"""Shares of the best line's score: from which on another says as much, and from which on it answers, too."""
_REPORT = re.compile(r"周报|报告|小结|report", re.IGNORECASE)
_READ_OUT = re.compile(
    r"周报|报告|小结|weekly|reports?|[说写讲念发看]+[了过]?|内容|[我们的里上下那一份期次]|\W",
    re.IGNORECASE,
)
"""Words that only ask for a report itself."""
_TRIED = {("入组", "慢"): ("补贴", "增派", "招募")}
"""What is complained of -> what studies do against it."""
_DATED = re.compile(r"\d{4}-\d\d-\d\d: ")


def answer_passage(turn: Turn, task: Task, limit: int) -> Outcome:
    """The rule that answers, word for word, or what a model chose to quote.

    Asked back with the nearest readings and sections where the documents are not sure to speak of it.
    """
    if task.topic == "project":
        return _of_project(turn, task, limit)
    if unknown := talk.ask_number(turn, task.said, WHOM):
        return unknown
    result = _search(turn, task)
    found = index.find_rules(
        turn.project, task.said[:LONGEST], task.search[:LONGEST], result.passages
    )
    if found.is_sure:
        partly = result.status is Status.INCOMPLETE
        note = _("(the data could not be read completely)") if partly else ""
        sources = Sources(turn, reader_of(turn, limit - len(note)))
        quoted = sources.quoted(sources.add(documents(found.quoted)))
        return Outcome(quoted.text + note, results=[result], table=quoted.cut_from)
    if unknown := talk.refuse_other_site(turn, task.said) or talk.ask_number(
        turn, task.said, CALLED
    ):
        return unknown
    sources = Sources(turn, reader_of(turn, limit))
    sources.add(documents(found.rules[:MOST]))
    if found.rules and (said := sources.chosen(task.said)):
        return Outcome(said.text, results=[result], table=said.cut_from)
    # What the data would say stands first where somebody is named, else what the documents say.
    sections = Unclear("", data.sections(turn, task, found))
    named = turn.reading.record_ids
    unclear = (*task.unclear, sections) if named else (sections, *task.unclear)
    if any(one.readings for one in unclear):
        return data.ask_back(turn, unclear)
    text = str(result.data) if not result.has_data else _("The documents say nothing about it.")
    turn.not_understood(())
    return Outcome(text, guided=True, asks=True)


def _search(turn: Turn, task: Task) -> ToolResult:
    """The passages nearest to a question, from the knowledge base where the study has one."""
    query = str(turn.question(f"{task.said} {task.search}".strip()))[:LONGEST]
    result = turn.read(execute(turn.context, "search_protocol", {"query": query}))
    scores = (f"{one.document} {100 * (one.score or 0):.1f}%" for one in result.passages)
    turn.note(result.tool, observation="; ".join(scores))
    return result


def _of_project(turn: Turn, task: Task, limit: int) -> Outcome:
    """What the console stores of the study, `label:value`; what the question names stands first."""
    project = turn.project
    leaders = project.members.filter(role=Role.PI, is_active=True)
    leader = project.pi_name or leaders.values_list("display_name", flat=True).first()
    stored = {
        _("Study"): project.name,
        _("Code"): project.code,
        _("Status"): project.get_status_display(),
        _("Principal investigator"): leader,
        _("Registration number"): project.registration_no,
        _("Start date"): project.start_date,
    }
    source = {"kind": "project", "code": project.code}
    turn.read(ToolResult("project_info", Status.OK, sources=(source,)))
    lines = [f"{label}:{value or _('not filled in')}" for label, value in stored.items()]
    return Outcome(render.fit_all(render.ranked(lines, task.said), limit))


# --- weekly reports -------------------------------------------------------------------------------


def answer_history(turn: Turn, task: Task, limit: int) -> Outcome:
    """The lines of the weekly reports that speak of the matter; the whole of a named week where none does."""
    pages = book(turn.project, turn.member, scope=turn.scope)
    of_weeks = [page for page in pages if not page.year]
    # What asks for a reason names nothing of the matter: other lines speak of a reason, too.
    matter = (task.search or task.said).replace("原因", " ").replace("理由", " ")
    is_bare = not _READ_OUT.sub("", NEWEST.sub("", matter)) and bool(_REPORT.search(task.said))
    if task.weeks:
        # A digest holds nothing apart of its weeks: it answers for all of them only.
        pages = [page for page in pages if {*page.weeks} <= {*task.weeks}]
    elif of_weeks and is_bare:
        pages = [max(of_weeks, key=lambda page: page.week)]
    if not pages:
        return Outcome(_missing(turn, task.weeks, of_weeks))
    tried = [done for words, done in _TRIED.items() if all(word in matter for word in words)]
    ranked = {} if is_bare else _ranked(pages, matter)
    first = [key for means in tried for key in _first_decisions(pages, means)]
    if first:
        ranked = dict.fromkeys(first, 1.0) | {k: NEAR / 2 for k in ranked if k not in first}
    lines = newest([*reports({page.name: page.text for page in pages})])
    told = {
        (week, text): replace(line, is_measure=(week, text) in first)
        for week, text in ranked
        if (line := next((x for x in lines if x.section == week and text in x.text), None))
    }
    if is_bare:
        own = [(page, line.strip("- ")) for page in pages for line in page.text.split("\n")]
        whole = [f"{page.name} {line}" for page, line in own if line and line[0] != "#"]
        return Outcome(render.fit(whole, limit))
    if not told and task.weeks:
        # The digest of a year has no parts; of a week the decisions come first.
        sources = Sources(turn, reader_of(turn, limit))
        marks = sources.add(sorted(lines, key=lambda x: x.day is None))
        return Outcome((sources.chosen(task.said) or sources.quoted(marks)).text)
    if not told:
        return Outcome(_("The weekly reports say nothing about it."))
    best = max(ranked.values())
    answers = [key for key in told if ranked[key] >= NEAR * best][:MOST_LINES]
    sources = Sources(turn, reader_of(turn, limit))
    marks = sources.add(told[key] for key in answers)
    sources.add(list(told.values())[:MOST_NEAR])
    said = sources.chosen(task.said) or sources.quoted(marks)
    return Outcome(said.text)


def _ranked(pages: Sequence[Page], matter: str) -> dict[tuple[str, str], float]:
    """Week and text of the lines that speak of a matter with how much, best first.

    Among equals what was decided first: what came later refers to it, and is known as later where it is quoted.
    """
    shelf = _shelf(tuple(pages))
    scored = [
        (score * (DECIDED if _DATED.match(unit.text) else 1.0), unit.section, unit)
        for score, unit in shelf.ranked(matter, {})
    ]
    best = max((score for score, _section, _unit in scored), default=0.0)
    scored.sort(key=lambda one: (-min(one[0], SAME * best), one[1]))
    return {(unit.document, unit.text): score for score, _section, unit in scored}


def _first_decisions(pages: Sequence[Page], means: Sequence[str]) -> list[tuple[str, str]]:
    """Week and text of the first decision for each of some means, the oldest first."""
    units = [unit for unit in _shelf(tuple(pages)).units if _DATED.match(unit.text)]
    found = (next((unit for unit in units if word in unit.text), None) for word in means)
    first = sorted({unit for unit in found if unit}, key=lambda unit: unit.section)
    return [(unit.document, unit.text) for unit in first]


@lru_cache(maxsize=16)
def _shelf(pages: tuple[Page, ...]) -> RuleIndex:
    return RuleIndex([(page.name, page.text) for page in pages])


def _missing(turn: Turn, asked: Iterable[int], read: Sequence[Page]) -> str:
    """There is no report: of the weeks that were asked for, or none at all; older ones are not read here."""
    named = [weeks.week(turn.project, number) for number in asked if number > 0]
    if not named:
        return _("There are no weekly reports yet.")
    told = "、".join(f"W{one.number} ({one.first} ~ {one.last})" for one in named)
    if len(read) >= WEEKS and all(one.number < read[0].week for one in named):
        older = _(
            "%(weeks)s is older than the newest %(count)s weekly reports. Open it in the console."
        )
        return older % {"weeks": told, "count": WEEKS}
    return _("There is no weekly report of week %(weeks)s yet.") % {"weeks": told}

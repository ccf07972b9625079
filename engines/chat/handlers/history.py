"""Questions about the past: the history book, for these intents only (seed 000, 2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from django.utils.translation import gettext as _

from engines import render
from engines.chat import materials, past, sources
from engines.chat.handlers.data import down, read_stats
from engines.chat.past import asks_decision
from engines.chat.reply import Outcome
from engines.chat.turn import Turn
from engines.chat.wording import Draft, answer
from engines.intents import Part
from engines.tools import Fact, Status, ToolResult, periods
from engines.tools.periods import Period
from engines.tools.stats import count, describe
from integrations.redcap import RedcapError
from language.values import plain
from memory import reports
from memory.history import Page, book
from projects.client import NotConfiguredError

LONGEST = 500
_WHY = re.compile(r"为什么|为啥|为何|原因")
_REPORT = re.compile(r"周报|报告|小结|weekly report|report", re.IGNORECASE)
_SHOWING = re.compile(
    r"请|麻烦|帮我|给我|我[要想]|看看|看一?下|看|查一?下|查|找出来?|调出来?|发[我下]?|打开|念|再|一下|那份|的|内容|呢|吧"
    r"|(?:里|都|上)*[说写讲]了?(?:些|点)?(?:什么|啥)|show|me|the|of"
)
_MARKS = " ,.?!。、;:"
_SHORT = re.compile(
    r"^(\[W\d+\] (?:\d{4}-\d\d-\d\d: )?[^,:;\uff0c\uff1a\uff1b]{4,}+)[,\uff0c\uff1a\uff1b].*$"
)


def read_period(turn: Turn, part: Part) -> list[ToolResult]:
    """What was enrolled in the time that a question about the past names: counted, not remembered."""
    counted = "入组" in part.text and not asks_decision(part.text)
    found = read_stats(turn, part) if counted and _named(turn, part) else []
    return [one for one in found if _periods([one]) or not one.has_data]


def _named(turn: Turn, part: Part) -> list[Period]:
    return periods.named(part.text, turn.project, turn.context.today)


def _periods(results: Sequence[ToolResult]) -> list[Fact]:
    return [f for result in results for f in result.facts if f.field.startswith("period:")]


def read_trend(turn: Turn, part: Part) -> list[ToolResult]:
    """Counts with the enrolments of every month."""
    try:
        counts, read_at = count(turn.project, turn.member, turn.context.metadata)
    except (RedcapError, NotConfiguredError):
        return [turn.read(down("get_project_stats"))]
    result = describe(turn.context, counts, read_at)
    months = counts.by_month()
    facts = tuple(
        Fact("", f"month:{month}", (month, _month(month), f"{int(month[5:])}月"), str(number))
        for month, number in months.items()
    )
    listed = "、".join(f"{month}:{number}" for month, number in list(months.items())[-12:])
    lines = (_("Enrolled by month: %(months)s") % {"months": listed},)
    data = {**result.data, "各月入组": months}
    return [
        turn.read(
            replace(result, data=data, facts=result.facts + facts, lines=lines + result.lines)
        )
    ]


def _month(month: str) -> str:
    return f"{month[:4]}年{int(month[5:])}月"


def answer_history(turn: Turn, part: Part, results: Sequence[ToolResult], limit: int) -> Outcome:
    """One call over the reports (and counts); the fitting report lines when it gives nothing.

    A question that names weeks is answered from their reports alone.
    """
    known = book(turn.project, turn.member, scope=turn.scope)
    good = [result for result in results if result.has_data]
    asked = [one for one in _named(turn, part) if one.week]
    if part.intent == "query_history" and asked:
        known = [page for page in known if not page.year and page.week in {o.week for o in asked}]
    if not known and not good:
        return Outcome(_missing(asked))
    if asked and not good and _is_report_itself(part.text, asked):
        lines = [line for page in known for line in _lines(page.name, page.text)]
        return Outcome(render.fit(lines, limit))
    beside = materials.read(turn, materials.beside(turn, part, None)) if turn.has_model else []
    draft = Draft(
        part,
        sources.sheet(
            turn, part, beside=beside, read=good, pages={page.name: page.text for page in known}
        ),
        fallback=_plain(turn, part, known, good, limit),
        limit=limit,
    )
    failed = [str(result.data) for result in results if result.status is Status.DOWN]
    return Outcome("\n".join([answer(turn, draft), *failed]), results=good)


def _is_report_itself(text: str, weeks: Sequence[Period]) -> bool:
    """Whether a question names weeks and their reports and nothing else: it is read out, not summed up."""
    if not _REPORT.search(text):
        return False
    theme = reduce(lambda left, one: left.replace(one.said, ""), weeks, _REPORT.sub("", text))
    return not plain(_SHOWING.sub("", theme)).strip(_MARKS)


def _missing(asked: Sequence[Period]) -> str:
    """There is no report: of the weeks that were asked for, or none at all."""
    if not asked:
        return _("There are no weekly reports yet.")
    weeks = "、".join(f"{one.week} ({one.first} ~ {one.last})" for one in asked)
    return _("There is no weekly report of week %(weeks)s yet.") % {"weeks": weeks}


def _is_of(turn: Turn, part: Part, page: Page) -> bool:
    """Whether a report is of the time that a question names."""
    week = None if page.year else reports.week(turn.project, page.week)
    named = _named(turn, part)
    return bool(week and any(one.first <= week.last and week.first <= one.last for one in named))


def _plain(
    turn: Turn, part: Part, known: Sequence[Page], results: Sequence[ToolResult], limit: int
) -> str:
    if results and part.intent == "analyze_trend":
        return render.fit([line for result in results for line in result.lines], limit)
    figures = _periods(results)
    if figures:
        return render.fit([f"{fact.names[0]}:{fact.value}" for fact in figures], limit)
    own = [page for page in known if _is_of(turn, part, page)]
    question = _matter(turn, part)
    best = past.section(own, question) or past.told(own, question) or past.whole(own)
    best = best or past.told(known, question)
    # A reason stands in the whole sentence; a list of measures is better short than cut off.
    if sum(map(len, best)) > limit and not _WHY.search(part.text):
        best = [_SHORT.sub(r"\1", line) for line in best]
    return render.fit(best, limit) if best else _("The weekly reports say nothing about it.")


def _matter(turn: Turn, part: Part) -> str:
    """The question without the words for its time; where it has no matter of its own, that of the message."""
    question = reduce(lambda left, one: left.replace(one.said, " "), _named(turn, part), part.text)
    whole = turn.resolved(turn.text)
    return (whole if past.names_nothing(question) and not _named(turn, part) else question)[
        :LONGEST
    ]


def _lines(name: str, text: str) -> list[str]:
    """The lines of a report with their week."""
    said = (line.strip("- ") for line in text.split("\n") if not line.startswith("#"))
    return [f"[{name}] {line}" for line in said if line]

"""Questions about the past: the history book, for these intents only (seed 000, 2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce

from django.utils.translation import gettext as _

from engines import render
from engines.assistant.chat import materials, past, sources
from engines.assistant.chat.handlers import study_data
from engines.assistant.chat.past import asks_decision
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.turn import Turn
from engines.assistant.chat.wording import Draft, answer
from engines.assistant.intents import Part
from engines.assistant.lines import background
from engines.assistant.tools import Status, ToolResult, periods
from engines.assistant.tools.periods import Period
from engines.assistant.tools.texts import redcap_down
from engines.assistant.understand.types import Query
from integrations.redcap import RedcapError
from language.periods import NEWEST
from language.values import plain
from memory.reports import weeks
from memory.reports.history import Page, book
from study import door
from study.client import NotConfiguredError
from study.standing import ENROLLED

LONGEST = 500
_WHY = re.compile(r"为什么|为啥|为何|原因")
_REPORT = re.compile(r"周报|报告|小结|weekly report|report", re.IGNORECASE)
_SHOWING = re.compile(
    r"请|麻烦|帮我|给我|我[要想]|看看|看一?下|看|查一?下|查|找出来?|调出来?|发[我下]?|打开|念|再|一下|那份|的|内容|呢|吧"
    r"|(?:里|都|上)*[说写讲]了?(?:些|点)?(?:什么|啥)|show|me|the|of"
)
_MARKS = " ,.?!。、;:"
_SHORT = re.compile(
    r"^(W\d+ (?:\d{4}-\d\d-\d\d: )?[^,:;\uff0c\uff1a\uff1b]{4,}+)[,\uff0c\uff1a\uff1b].*$"
)


def answer_history(turn: Turn, part: Part, limit: int) -> Outcome:
    """One call over the reports (and counts); the fitting report lines when it gives nothing.

    A question that names weeks is answered from their reports alone.
    """
    known = book(turn.project, turn.member, scope=turn.scope)
    asked = [one for one in _named(turn, part) if one.week]
    if part.intent == "query_history" and asked:
        known = [page for page in known if not page.year and page.week in {o.week for o in asked}]
    if not asked and known and _is_last_report(part.text):
        newest = max(
            (page for page in known if not page.year), key=lambda page: page.week, default=known[0]
        )
        return Outcome(render.fit(_lines(newest.name, newest.text), limit))
    try:
        figures, down = counted(turn, part), ""
    except (RedcapError, NotConfiguredError):
        turn.outside_down = True
        figures, down = [], redcap_down()
    if not known and not (figures or down):
        return Outcome(_missing(asked))
    if asked and not (figures or down) and _is_report_itself(part.text, asked):
        lines = [line for page in known for line in _lines(page.name, page.text)]
        return Outcome(render.fit(lines, limit))
    more = materials.beside(turn, part, None) if turn.has_model else []
    own = [query for query, _answer in figures]
    beside = materials.read(turn, [query for query in more if query not in own])
    pages = {page.name: page.text for page in known}
    draft = Draft(
        part,
        sources.sheet(turn, part, asked=figures, beside=beside, pages=pages),
        fallback=_plain(turn, part, known, figures, limit),
        limit=limit,
    )
    return Outcome("\n".join(filter(None, [answer(turn, draft), down])))


def counted(turn: Turn, part: Part) -> sources.Asked:
    """Enrolments are counted, not remembered: of each month, or of the time that a question names.

    Raises RedcapError, NotConfiguredError.
    """
    is_trend = part.intent == "analyze_trend"
    if not is_trend and ("入组" not in part.text or asks_decision(part.text)):
        return []
    queries = list(background.by_months()) if is_trend else []
    queries += [_enrolled_in(turn, one) for one in _named(turn, part)]
    if not queries:
        return []
    answers = door.ask_all(turn.project, turn.member, queries, blinded=turn.withheld)
    asked = list(zip(queries, answers, strict=True))
    source = {"kind": "redcap", "what": "enrolment", "read_at": answers[0].read_at}
    turn.read(ToolResult("study_data", Status.OK, sources=(source,), asked=tuple(asked)))
    return asked


def _enrolled_in(turn: Turn, period: Period) -> Query:
    days = {"from": period.first.isoformat(), "to": period.last.isoformat()}
    of = {"field": turn.design.enrolment_field} if turn.design.enrolment_field else {}
    return {"where": [ENROLLED], "aggregate": "count", "period": {**of, **days}}


def _named(turn: Turn, part: Part) -> list[Period]:
    return periods.named(part.text, turn.project, turn.context.today)


def _is_report_itself(text: str, weeks: Sequence[Period]) -> bool:
    """Whether a question names weeks and their reports and nothing else: it is read out, not summed up."""
    theme = reduce(lambda left, one: left.replace(one.said, ""), weeks, text)
    return _says_only_report(theme)


def _is_last_report(text: str) -> bool:
    """上次周报说了什么, 最近一期周报发我看看."""
    return bool(NEWEST.search(text)) and _says_only_report(NEWEST.sub("", text))


def _says_only_report(text: str) -> bool:
    if not _REPORT.search(text):
        return False
    return not plain(_SHOWING.sub("", _REPORT.sub("", text))).strip(_MARKS)


def _missing(asked: Sequence[Period]) -> str:
    """There is no report: of the weeks that were asked for, or none at all."""
    if not asked:
        return _("There are no weekly reports yet.")
    weeks = "、".join(f"{one.week} ({one.first} ~ {one.last})" for one in asked)
    return _("There is no weekly report of week %(weeks)s yet.") % {"weeks": weeks}


def _is_of(turn: Turn, part: Part, page: Page) -> bool:
    """Whether a report is of the time that a question names."""
    week = None if page.year else weeks.week(turn.project, page.week)
    named = _named(turn, part)
    return bool(week and any(one.first <= week.last and week.first <= one.last for one in named))


def _plain(
    turn: Turn, part: Part, known: Sequence[Page], figures: sources.Asked, limit: int
) -> str:
    if figures:
        return study_data.plainly(turn, figures, part.text, limit)
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
    """The lines of a report with their week; in brackets it would be a mark, which is for the model alone."""
    said = (line.strip("- ") for line in text.split("\n") if not line.startswith("#"))
    return [f"{name} {line}" for line in said if line]

"""Questions about the past: the history book, for these intents only (seed 000, 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.utils.translation import gettext as _

from engines import render
from engines.chat.reply import Outcome
from engines.chat.turn import Turn
from engines.chat.wording import Draft, answer
from engines.intents import Part
from engines.tools import Fact, Status, ToolResult
from engines.tools.stats import count, describe
from integrations.redcap import RedcapError
from memory.history import pages
from projects.client import NotConfiguredError


def read_trend(turn: Turn, part: Part) -> list[ToolResult]:
    """Counts with the enrolments of every month."""
    try:
        counts, read_at = count(turn.project, turn.member, turn.context.metadata)
    except (RedcapError, NotConfiguredError):
        text = _("REDCap cannot be read at the moment. Please try again later.")
        return [turn.read(ToolResult("get_project_stats", Status.DOWN, text, outside_down=True))]
    result = describe(turn.context, counts, read_at)
    months = counts.by_month()
    facts = tuple(
        Fact("", f"month:{month}", (month, _month(month), f"{int(month[5:])}月"), str(number))
        for month, number in months.items()
    )
    lines = tuple(_("%(month)s: %(n)d enrolled") % {"month": m, "n": n} for m, n in months.items())
    data = {**result.data, "enrolled_by_month": months}
    return [
        turn.read(
            replace(result, data=data, facts=result.facts + facts, lines=lines + result.lines)
        )
    ]


def _month(month: str) -> str:
    return f"{month[:4]}年{int(month[5:])}月"


def answer_history(turn: Turn, part: Part, results: Sequence[ToolResult], limit: int) -> Outcome:
    """One call over the reports (and counts); the fitting report lines when it gives nothing."""
    book = pages(turn.project, turn.member)
    good = [result for result in results if result.has_data]
    if not book and not good:
        return Outcome(_("There are no weekly reports yet."))
    draft = Draft(
        part,
        results=good,
        history=[page.block for page in book],
        fallback=_plain(part, [(page.week, page.text) for page in book], good, limit),
        limit=limit,
    )
    failed = [str(result.data) for result in results if result.status is Status.DOWN]
    return Outcome("\n".join([answer(turn, draft), *failed]), results=good)


def _plain(
    part: Part, book: Sequence[tuple[int, str]], results: Sequence[ToolResult], limit: int
) -> str:
    if results:
        return render.results_text(results, part.text, limit)
    lines = [f"[W{week}] {line.strip('-# ')}" for week, text in book for line in text.split("\n")]
    best = render.best_sentences([line for line in lines if len(line) > 10], part.text)
    return render.fit(best, limit) if best else _("The weekly reports say nothing about it.")

"""Answers without the LLM: the data themselves, the fitting lines first (design.md 9.4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from django.utils.translation import gettext as _

from engines.tools import repeating
from engines.tools.results import MORE, Fact, Group, Status, ToolResult
from language.values import bigrams, plain
from projects.excerpts import Excerpt

_SITES = re.compile(r"(?:各|每|哪|分)个?中心|中心分别|\b(?:by|each|per|which) (?:site|cent)")
_SENTENCE = re.compile(r"[^。!?;\uff01\uff1f\uff1b\n]+[。!?;\uff01\uff1f\uff1b]?")


def results_text(
    results: Sequence[ToolResult], question: str, limit: int, *, notes: bool = True
) -> str:
    """What was read, in lines, marked where it is incomplete or capped; "" when nothing was read.

    `notes`: with what every answer has to say.
    """
    incomplete = any(result.status is Status.INCOMPLETE for result in results)
    note = _("(incomplete)") if incomplete else ""
    must = list(unsaid(results)) if notes else []
    room = limit - len(note) - sum(len(line) + 1 for line in must)
    lines: list[str] = []
    for result in results:
        if result.tool == "search_protocol":
            lines += [excerpt_text(result.excerpt, room)] if result.has_data else []
        elif result.facts and result.tool in ("get_project_stats", "project_info"):
            lines += _asked_first(result, question)
        elif result.has_data:
            lines += ranked(result.lines, question)
    groups = [group for result in results for group in result.groups]
    if not (lines or groups or must):
        return ""
    lines = list(dict.fromkeys(lines))
    fitted = fit_all if any(_is_asked(result) for result in results) else fit
    text = _with_groups(lines, groups, max(room, limit // 2), fitted) if lines or groups else ""
    return "\n".join(filter(None, [text, *must])) + note


def unsaid(results: Sequence[ToolResult]) -> dict[str, str]:
    """What every answer has to say, as it is shown (of whom, in what was read of subjects) -> the note."""
    about: dict[str, list[str]] = {}
    for result in results:
        own = result.record_ids if result.tool == "read_clinical_data" else ()
        for note in result.unsaid:
            about.setdefault(note, []).extend(own)
    return {f"{'、'.join(ids)} {note}".strip(): note for note, ids in about.items()}


def _is_asked(result: ToolResult) -> bool:
    """Whether every line was asked for, so that none may go without a word."""
    data = result.data if isinstance(result.data, dict) else {}
    asked = result.tool != "search_protocol"
    return asked and result.has_data and MORE not in data


def _with_groups(
    lines: Sequence[str],
    groups: Sequence[Group],
    limit: int,
    fitted: Callable[[Sequence[str], int], str],
) -> str:
    """Repeating forms first: half of the room is kept for what else was read."""
    if not groups:
        return fitted(lines, limit)
    kept = min(len("\n".join(lines)) + 1, limit // 2) if lines else 0
    text = repeating.told(groups, limit - kept)
    return f"{text}\n{fitted(lines, limit - len(text) - 1)}" if lines else text


def asked(facts: Iterable[Fact], question: str) -> list[Fact]:
    """Facts whose field the question names; the whole counts only where nothing narrower is.

    What was enrolled in the time or at the site that the question names is narrower than what is enrolled.
    """
    folded = plain(question).casefold()
    each = _SITES.search(folded)
    found = [
        fact
        for fact in facts
        if (each and fact.field.startswith("site:"))
        or any(plain(name).casefold() in folded for name in fact.names)
    ]
    whole = {"total"}
    if any(fact.field.startswith(("period:", "site:")) for fact in found):
        whole.add("enrolled")
    return [fact for fact in found if fact.field not in whole] or found


def _asked_first(result: ToolResult, question: str) -> list[str]:
    """Only the figures the question names; all of them where it names none."""
    wanted = {f"{fact.names[0]}:{fact.value}" for fact in asked(result.facts, question)}
    return [line for line in result.lines if line in wanted] or list(result.lines)


def excerpt_text(found: Excerpt | None, limit: int) -> str:
    """The rule with its document and section, and what else of the section has room, whole lines only.

    What of the answer had no room is told of; "" stands for no rule.
    """
    if found is None:
        return _("The documents say nothing about it.")
    lines = list(found.lines)
    while len(lines) > 1 and lines[-1].endswith((":", "\uff1a")):
        lines.pop()
    head, *rest = lines
    more = _(" (more in %(place)s)") % {"place": found.place}
    text = f"{found.mark} {found.title}: {head}" if found.title else f"{found.mark}: {head}"
    if len(text) + len(more) > limit:
        text = f"{found.mark}: {head}"
    whole = "\n".join([text, *rest])
    if len(whole) <= limit:
        return whole
    for taken in range(len(rest) - 1, -1, -1):
        shown = "\n".join([text, *rest[:taken]])
        if len(shown) + len(more) <= limit and not shown.endswith((":", "\uff1a")):
            return shown + more
    return cut(text, limit - len(more)) + more


def ranked(lines: Sequence[str], question: str) -> list[str]:
    """Lines that share words with the question first, otherwise in their order."""
    asked = bigrams(plain(question).casefold())
    order = sorted(
        range(len(lines)), key=lambda i: (-len(asked & bigrams(plain(lines[i]).casefold())), i)
    )
    return [lines[i] for i in order]


def fit(lines: Sequence[str], limit: int) -> str:
    """As many whole lines as fit; the first one is cut at a sentence end if it must be."""
    taken = _taken(lines, limit)
    return "\n".join(lines[:taken]) if taken else cut(lines[0], limit)


def _taken(lines: Sequence[str], limit: int) -> int:
    """How many whole lines have room; one may be a note of several lines itself."""
    ends = accumulate(len(line) + 1 for line in lines)
    return sum(end - 1 <= limit for end in ends)


def fit_all(lines: Sequence[str], limit: int) -> str:
    """The same, with the number of the lines that had no room."""
    taken = _taken(lines, limit)
    if taken == len(lines) or len(lines) < 2:
        return fit(lines, limit)
    for shown in range(max(taken, 1), 0, -1):
        note = _("(%(number)d more not shown)") % {"number": len(lines) - shown}
        text = "\n".join(lines[:shown])
        if len(text) + len(note) <= limit:
            return text + note
    return cut(lines[0], limit - len(note)) + note


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, cut after a sentence, else after a clause, never inside a number."""
    if len(text) <= limit:
        return text
    piece = text[: max(limit - 1, 1)]
    for marks in ("。!?\uff01\uff1f\n;\uff1b", ",\uff0c、"):
        end = max(piece.rfind(mark) for mark in marks)
        if end >= len(piece) // 3:
            return piece[:end] + ("。" if marks[0] == "。" and piece[end] in "。" else "…")
    return re.sub(r"[\d.A-Za-z-]+$", "", piece) + "…"

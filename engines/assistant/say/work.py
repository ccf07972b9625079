"""Findings, reviews, checks, and what was changed in the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.utils.translation import gettext as _

from engines.assistant.say import words
from engines.assistant.say.parts import Part
from engines.assistant.say.reader import Reader
from engines.assistant.say.rows import Row
from engines.assistant.say.values import Marks
from engines.labels import ENDS
from engines.models import TaskRun
from study.facts import Kind

_PASSED = "end_success"


def word_work(
    kind: Kind, rows: Sequence[Row], reader: Reader, marks: Marks, left_out: int = 0
) -> list[Part]:
    """P013 疑点共 1 条:V2 超窗(2026-11-20 起); of several subjects each entry begins with its own."""
    who = [*dict.fromkeys(row.subject for row in rows)]
    one = who[0] if len(who) == 1 else ""
    items = []
    for row in rows:
        texts = (_SAID[kind](row, reader, dated) for dated in (True, False))
        item = [f"{'' if one else row.subject} {text}".strip() for text in texts]
        # Where each has one entry, whose it is says the least that can be said.
        item += [row.subject] if len(who) == len(rows) > 1 else []
        if kind is Kind.REVIEW and one and (waiting := row.text("@reviews.waiting_for")):
            item.append(_("waits for %(who)s") % {"who": waiting})
        items.append(tuple(item))
    heads = {
        Kind.FINDING: _("findings"),
        Kind.REVIEW: _("waiting reviews"),
        Kind.RUN: _("checks"),
        Kind.CHANGE: _("changes of data"),
    }
    return [
        Part(
            f"{one} {heads[kind]}".strip(),
            tuple(items),
            noun="entry",
            counted=kind is not Kind.RUN,
            left_out=left_out,
            marks=marks(fact for row in rows for fact in row.facts),
        )
    ]


def unended(rows: Sequence[Row]) -> list[Row]:
    """The checks of which nothing follows yet: they go on, wait, failed or were cancelled."""
    return [row for row in rows if row.text("@runs.status") != TaskRun.Status.COMPLETED]


def unpassed(rows: Sequence[Row]) -> list[Row]:
    """The checks that did not come to a pass."""
    return [row for row in rows if row.text("@runs.final_state") != _PASSED]


def _finding(row: Row, reader: Reader, dated: bool) -> str:
    fact = row.of("@findings.text") or row.of("@findings.rule")
    text = words.value(fact, reader) if fact else ""
    opened, why = row.text("@findings.opened")[:10], row.text("@findings.reason")
    return text + words.bracketed(
        _("not evaluated: %(reason)s") % {"reason": why} if why else "",
        _("since %(day)s") % {"day": opened} if opened and dated else "",
    )


def _review(row: Row, reader: Reader, dated: bool) -> str:
    question = row.of("@reviews.question")
    text = words.value(question, reader) if question else ""
    waiting, since = row.text("@reviews.waiting_for"), row.text("@reviews.since")[:10]
    return text + words.bracketed(
        _("waits for %(who)s") % {"who": waiting} if waiting else "",
        _("since %(day)s") % {"day": since} if since and dated else "",
    )


def _run(row: Row, reader: Reader, dated: bool) -> str:
    status = row.text("@runs.status")
    reason, ended = row.text("@runs.reason"), row.text("@runs.ended")[:10]
    came = str(dict(TaskRun.Status.choices).get(status, status))
    if status == TaskRun.Status.COMPLETED:
        # That it came to its end says nothing of what it found.
        came = str(ENDS.get(row.text("@runs.final_state"), came))
    return came + words.bracketed(ended if dated else "", reader.masked(reason))


def _change(row: Row, reader: Reader, dated: bool) -> str:
    """体重 61.5 → 81.5(基线,2026-11-20 10:30)."""
    texts = (row.text("@changes.from"), row.text("@changes.to"))
    before, after = (reader.masked(one) if one else _("not filled in") for one in texts)
    at = row.text("@changes.at")[:16].replace("T", " ")
    where = words.event_name(row.first.event, reader) if row.first.event else ""
    label = _column(row.text("@changes.field"), reader)
    return f"{label} {before} → {after}" + words.bracketed(where, at if dated else "")


def _column(column: str, reader: Reader) -> str:
    """What people call an export column, a box of a checkbox with its choice."""
    metadata = reader.design.metadata
    name, code = metadata.columns.get(column, (column, ""))
    choice = metadata.choices(name).get(code, code) if code else ""
    return words.field_label(name, reader) + words.bracketed(choice)


_SAID: dict[Kind, Callable[[Row, Reader, bool], str]] = {
    Kind.FINDING: _finding,
    Kind.REVIEW: _review,
    Kind.RUN: _run,
    Kind.CHANGE: _change,
}

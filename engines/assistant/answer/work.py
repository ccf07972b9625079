"""Findings, reviews, checks, and what is to be done today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from engines.assistant.answer import forms, visits, words
from engines.assistant.answer.fitting import Told, colon, joint
from engines.assistant.answer.reader import Reader
from engines.assistant.answer.rows import Row, rows_of
from engines.assistant.answer.values import looked_at
from engines.assistant.understand.types import Asked
from engines.labels import ENDS
from engines.models import TaskRun
from study.facts import Answer

_NONE = {
    "undecided": (
        gettext_noop("Of %(subject)s every rule could be evaluated"),
        gettext_noop("Every rule could be evaluated"),
    ),
    "mine": (
        gettext_noop("Of %(subject)s no finding is yours"),
        gettext_noop("No finding is yours"),
    ),
}


def findings(asked: Asked, answers: Sequence[Answer], reader: Reader) -> list[Told]:
    """P013 未关疑点 1 条:V2 超窗(2026-11-20 起); with a second answer the last check, too."""
    rows = rows_of(answers[0].facts)
    if not rows and asked.slots.aspect in _NONE:
        of_one, of_all = _NONE[asked.slots.aspect]
        return [_none(asked, answers[0], reader, _(of_one), _(of_all))]
    if not rows and len(answers) > 1:
        return runs(asked, answers[1], reader)
    if not rows:
        return [
            _none(
                asked,
                answers[0],
                reader,
                _("%(subject)s has no findings"),
                _("There are no findings"),
            )
        ]
    who = {row.subject for row in rows}
    head = f"{who.pop()} " if len(who) == 1 else ""
    head += _("findings, %(count)s: ") % {"count": len(rows) + answers[0].left_out}
    several = bool(who)
    full = tuple(_finding(row, reader, several, dated=True) for row in rows)
    brief = tuple(_finding(row, reader, several, dated=False) for row in rows)
    subjects = tuple(dict.fromkeys(row.subject for row in rows))
    least = Told(head, subjects, left_out=answers[0].left_out) if several else None
    told = [
        Told(
            head,
            full,
            left_out=answers[0].left_out,
            shorter=Told(head, brief, left_out=answers[0].left_out, shorter=least),
        )
    ]
    return told + _unfinished(answers[1:], reader)


def _unfinished(answers: Sequence[Answer], reader: Reader) -> list[Told]:
    """P002现在卡在哪一步: beside the findings the check that has not come to its end."""
    over = {TaskRun.Status.COMPLETED, TaskRun.Status.FAILED, TaskRun.Status.CANCELLED}
    rows = [row for answer in answers for row in rows_of(answer.facts) if row.text("@runs.status")]
    waits = tuple(_run(row, reader) for row in rows if row.text("@runs.status") not in over)
    return [Told(_("checks") + colon(), waits)] if waits else []


def _finding(row: Row, reader: Reader, several: bool, *, dated: bool) -> str:
    told = row.of("@findings.text") or row.of("@findings.rule")
    text = words.value(told, reader) if told else ""
    since = _("since %(day)s") % {"day": row.text("@findings.opened")[:10]}
    who = f"{row.subject} " if several else ""
    if why := row.text("@findings.reason"):
        text += words.bracketed(_("not evaluated: %(reason)s") % {"reason": why})
    return who + text + (words.bracketed(since) if dated and row.text("@findings.opened") else "")


def reviews(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """待审核 2 条:P002 …(等待 王护士,2026-11-20 起)."""
    rows = [row for row in rows_of(answer.facts) if row.text("@reviews.question")]
    if not rows:
        waits = _("%(subject)s has no review that waits")
        return [_none(asked, answer, reader, waits, _("No review is waiting"))]
    head = _("reviews waiting, %(count)s: ") % {"count": len(rows) + answer.left_out}
    entries = tuple(_review(row, reader) for row in rows)
    brief = tuple(row.subject for row in rows)
    return [Told(head, entries, left_out=answer.left_out, shorter=Told(head, brief))]


def _review(row: Row, reader: Reader) -> str:
    question = row.of("@reviews.question")
    text = words.value(question, reader) if question else ""
    waiting, since = row.text("@reviews.waiting_for"), row.text("@reviews.since")[:10]
    return f"{row.subject} {text}" + words.bracketed(
        _("waits for %(who)s") % {"who": waiting} if waiting else "",
        _("since %(day)s") % {"day": since} if since else "",
    )


def runs(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """P002 质控:等待审核(…)."""
    rows = [row for row in rows_of(answer.facts) if row.text("@runs.status")]
    if not rows:
        return [
            _none(
                asked,
                answer,
                reader,
                _("%(subject)s was not checked yet"),
                _("There are no checks"),
            )
        ]
    head = _("checks") + colon()
    return [Told(head, tuple(_run(row, reader) for row in rows), left_out=answer.left_out)]


def _run(row: Row, reader: Reader) -> str:
    labels = dict(TaskRun.Status.choices)
    status = row.text("@runs.status")
    reason, ended = row.text("@runs.reason"), row.text("@runs.ended")[:10]
    came = str(labels.get(status, status))
    if status == TaskRun.Status.COMPLETED:
        # That it came to its end says nothing of what it found.
        came = str(ENDS.get(row.text("@runs.final_state"), came))
    return f"{row.subject} {came}" + words.bracketed(ended, reader.masked(reason))


def todo(asked: Asked, answers: Sequence[Answer], reader: Reader) -> list[Told]:
    """A line for the visits, the findings and the reviews that wait; one sentence where nothing does."""
    of_visits, of_findings, of_reviews = answers
    lines: list[Told] = []
    if rows := rows_of(of_visits.facts):
        rows.sort(key=lambda row: row.text("@visits.close"))
        full = tuple(f"{row.subject} {visits.short(row)}" for row in rows)
        brief = tuple(f"{row.subject} {visits.pressing(row, reader)}" for row in rows)
        lines.append(Told(_("visits") + colon(), full, shorter=Told(_("visits") + colon(), brief)))
    if any(row.text("@reviews.question") for row in rows_of(of_reviews.facts)):
        lines += reviews(asked, of_reviews, reader)
    if of_findings.facts:
        lines += findings(asked, [of_findings], reader)
    return lines or [Told(_("Nothing is to be done today") + looked_at(asked, of_visits, reader))]


def watch(asked: Asked, answers: Sequence[Answer], reader: Reader) -> list[Told]:
    """Who is to be watched, a line each for overdue visits, open findings and severe events that go on."""
    overdue, found, *severe = answers
    lines: list[Told] = []
    if rows := rows_of(overdue.facts):
        late = tuple(f"{row.subject} {visits.short(row)}" for row in rows)
        lines.append(Told(_("overdue visits") + colon(), late))
    if found.facts:
        lines += findings(asked, [found], reader)
    for answer in severe:
        of_rows = rows_of(answer.facts)
        named = tuple(f"{row.subject} {forms.entry(row, asked, reader, 2)}" for row in of_rows)
        lines += [Told(_("severe events that go on") + colon(), named)] if named else []
    basis = _(
        "Looked for overdue visits, open findings and severe events (grade 3 and above) that go on"
    )
    if not lines:
        return [Told(_("Nobody stands out") + looked_at(asked, overdue, reader), notes=(basis,))]
    return [*lines[:-1], replace(lines[-1], notes=(*lines[-1].notes, basis))]


def _none(asked: Asked, answer: Answer, reader: Reader, of_one: str, of_all: str) -> Told:
    subjects = joint().join(asked.query.get("subjects") or ())
    return Told(
        of_one % {"subject": subjects} if subjects else of_all + looked_at(asked, answer, reader)
    )

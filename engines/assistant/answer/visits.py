"""Visits: where each stands, its window, and how late it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from django.utils.translation import gettext as _

from engines.assistant.answer import fitting, values, words
from engines.assistant.answer.counts import period
from engines.assistant.answer.fitting import Told, colon
from engines.assistant.answer.reader import Reader
from engines.assistant.answer.rows import Row, by_subject, rows_of
from engines.assistant.understand.types import Asked, Shape
from study.facts import Answer, Flag
from study.visits.calendar import State

_VISIT = "@visits.visit"


def told(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """One visit in a sentence, several in a list."""
    rows = rows_of(answer.facts)
    if not rows:
        return [_none(asked, answer, reader)]
    if len(rows) == 1:
        return [Told(f"{rows[0].subject} {_sentence(rows[0], asked, reader)}")]
    of_all = by_subject(rows)
    if len(of_all) == 1:
        head = f"{rows[0].subject} "
        line = _list(head, [(short(row), row.text(_VISIT)) for row in rows])
        days = Told(head, tuple(_on(row, reader) for row in rows), shorter=line.shorter)
        return [replace(line, shorter=days)]
    visits = {row.text(_VISIT) for row in rows}
    when = f"{span} " if (span := period(asked)) else ""
    if len(visits) == 1 and len(of_all) == len(rows):
        head = f"{when}{visits.pop()} " + _("%(count)s subjects in all: ") % {"count": len(rows)}
        return [
            _list(
                head, [(row.subject + words.bracketed(standing(row)), row.subject) for row in rows]
            )
        ]
    head = when + _("%(count)s visits: ") % {"count": len(rows)}
    named = [(f"{r.subject} {short(r)}", f"{r.subject} {r.text(_VISIT)}") for r in rows]
    return [_list(head, named)]


def short(row: Row) -> str:
    """V3(已超窗 13 天) or V2(2026-09-22)."""
    return row.text(_VISIT) + words.bracketed(standing(row))


def _on(row: Row, reader: Reader) -> str:
    """V2 03-05: the day it was done, without this year."""
    day = row.text("@visits.actual").removeprefix(f"{reader.today.year}-")
    return f"{row.text(_VISIT)} {day}" if day else short(row)


def pressing(row: Row, reader: Reader) -> str:
    """The visit, with how it stands where it is overdue or due on this very day."""
    today = reader.today.isoformat()
    if row.text("@visits.state") == State.OVERDUE:
        return short(row)
    days = (row.text("@visits.target"), row.text("@visits.close"))
    return row.text(_VISIT) + (words.bracketed(_("today")) if today in days else "")


def standing(row: Row) -> str:
    """已超窗 13 天, the day it was done, or what its window says."""
    state, days = row.text("@visits.state"), row.text("@visits.days")
    said = {
        State.OVERDUE: _("%(days)s days overdue") % {"days": days},
        State.DUE: _("due until %(close)s") % {"close": row.text("@visits.close")},
        State.NOT_DUE: _("opens %(open)s") % {"open": row.text("@visits.open")},
        State.EARLY: _("%(day)s, %(days)s days early") % _done(row),
        State.LATE: _("%(day)s, %(days)s days late") % _done(row),
        State.IN_WINDOW: row.text("@visits.actual"),
        State.UNKNOWN: _("cannot be told: its anchor day is not known"),
    }
    return said.get(State(state), _("not applicable"))


def _done(row: Row) -> dict[str, str]:
    return {"day": row.text("@visits.actual"), "days": row.text("@visits.days").lstrip("-")}


def _list(head: str, named: Sequence[tuple[str, str]]) -> Told:
    """Each visit in full, or by its name alone."""
    brief = Told(head, tuple(short for _full, short in named))
    return Told(head, tuple(full for full, _short in named), shorter=brief)


def _none(asked: Asked, answer: Answer, reader: Reader) -> Told:
    subjects = asked.query.get("subjects") or ()
    if subjects:
        what = fitting.joint().join(asked.slots.place)
        said = _("%(subject)s has no such visit") % {"subject": fitting.joint().join(subjects)}
        return Told(f"{said}{words.bracketed(what)}")
    over = values.looked_at(asked, answer, reader, period(asked))
    return Told(_("There is no such visit") + over)


def _sentence(row: Row, asked: Asked, reader: Reader) -> str:
    visit, planned = row.text(_VISIT), any(Flag.PLANNED in f.flags for f in row.facts)
    window = _("window %(open)s to %(close)s") % {
        "open": row.text("@visits.open"),
        "close": row.text("@visits.close"),
    }
    target = _("target %(day)s") % {"day": row.text("@visits.target")}
    state = State(row.text("@visits.state"))
    if planned:
        return _planned(visit, row) + words.bracketed(target, window)
    said = {
        State.OVERDUE: _("is %(days)s days overdue and not done"),
        State.DUE: _("is due now, until %(close)s, and not done"),
        State.NOT_DUE: _("is not due yet"),
        State.IN_WINDOW: _("was done on %(day)s, within its window"),
        State.EARLY: _("was done on %(day)s, %(days)s days early"),
        State.LATE: _("was done on %(day)s, %(days)s days late"),
        State.NOT_APPLICABLE: _("does not apply"),
        State.UNKNOWN: _("cannot be told: its anchor day is not known"),
    }[state]
    said = said % (_done(row) | {"close": row.text("@visits.close")})
    if asked.slots.aspect == "last":
        said += words.bracketed(_days_ago(row.text("@visits.actual"), reader))
    head = f"{visit} "
    if asked.shape is Shape.NEXT_VISIT:
        head = _("next visit %(visit)s") % {"visit": visit} + colon()
    known = row.text("@visits.close")
    return head + said + (words.bracketed(target, window) if known else "")


def _days_ago(day: str, reader: Reader) -> str:
    """How long ago a day was, "" for none that is past."""
    days = (reader.today - date.fromisoformat(day)).days if len(day) == 10 else 0
    return _("%(days)s days ago") % {"days": days} if days > 0 else ""


def _planned(visit: str, row: Row) -> str:
    return _("%(visit)s is planned for %(day)s, not done yet") % {
        "visit": visit,
        "day": row.text("@visits.actual") or row.first.date or "",
    }

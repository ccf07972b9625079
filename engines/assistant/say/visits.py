"""Visits: where each stands, its window, and how late it is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from engines.assistant.say import words
from engines.assistant.say.case import Case, looked_at, none_decided, untold
from engines.assistant.say.parts import Part, colon, comma, joint, plain
from engines.assistant.say.reader import Reader
from engines.assistant.say.rows import Row, by_subject
from engines.assistant.say.values import Marks
from study.facts import Flag
from study.visits.calendar import State

_VISIT = "@visits.visit"


def word_visits(
    rows: Sequence[Row], reader: Reader, marks: Marks, aspect: str = "", when: str = ""
) -> list[Part]:
    """One visit in a sentence, several of one subject or of one visit in a list.

    `aspect`: next or last where that was asked for; `when`: the days that were asked about.
    """
    own = marks(fact for row in rows for fact in row.facts)
    if len(rows) == 1:
        said = f"{rows[0].subject} {sentence(rows[0], reader, aspect)}"
        anchored = _anchored(rows, reader)
        return [Part(said, notes=anchored, marks=own, key=("visit", said))]
    of_all = by_subject(rows)
    visits, items = {row.text(_VISIT) for row in rows}, list[tuple[str, ...]]()
    if len(of_all) == 1:
        named = tuple((short(row), _dated(row, reader), row.text(_VISIT)) for row in rows)
        return [Part(rows[0].subject, named, glue=" ", marks=own)]
    if len(visits) == 1 and len(of_all) == len(rows):
        head, noun = f"{when} {visits.pop()}".strip(), "subject"
        for row in rows:
            said = row.subject + words.bracketed(standing(row))
            items.append((said, _pressing(row, row.subject, reader), row.subject))
    else:
        head, noun = f"{when} {_('visits')}".strip(), "entry"
        for row in rows:
            name = f"{row.subject} {row.text(_VISIT)}"
            items.append((f"{row.subject} {short(row)}", _pressing(row, name, reader)))
    return [Part(head, tuple(items), noun=noun, counted=True, marks=own)]


def none(case: Case, when: str, aspect: str) -> Part:
    """That there is no such visit, or that it cannot be told; `when`: the days that were asked about."""
    who, what = joint().join(case.subjects), f"{when} {_('visits')}".strip()
    of_one, of_all = _("%(subject)s has no such visit"), _("There is no such visit")
    if aspect == "overdue":
        of_one, of_all = _("%(subject)s has no overdue visit"), _("No visit is overdue")
    elif aspect == "late":
        of_one = _("%(subject)s has no visit out of its window")
        of_all = _("No visit is out of its window")
    if case.subjects:
        if case.answer.undecided:
            of_one = _("%(subject)s: of %(what)s nothing could be told")
        said = of_one % {"subject": who, "what": what}
        return plain(said + words.bracketed(when, joint().join(case.question.place)))
    if none_decided(case.answer):
        return untold(case, what)
    return plain(of_all + looked_at(case, when))


def yes_or_no(row: Row, aspect: str) -> str:
    """What an answer begins with to whether a visit is late or early; "" where its state does not say."""
    state, within = row.text("@visits.state"), (State.IN_WINDOW, State.DUE, State.NOT_DUE)
    yes = {"early": (State.EARLY,)}.get(aspect, (State.LATE, State.OVERDUE))
    if aspect not in ("late", "overdue", "early") or state not in (*yes, *within):
        return ""
    return pgettext("it is so", "Yes, ") if state in yes else _("No, ")


def short(row: Row) -> str:
    """V3(已超窗 13 天) or V2(2026-09-22)."""
    return row.text(_VISIT) + words.bracketed(standing(row))


def _dated(row: Row, reader: Reader) -> str:
    """V2 03-05: the day it was done, without this year."""
    day = row.text("@visits.actual").removeprefix(f"{reader.today.year}-")
    return f"{row.text(_VISIT)} {day}" if day else short(row)


def _pressing(row: Row, name: str, reader: Reader) -> str:
    """The visit, with how it stands where it is overdue or due on this very day."""
    if row.text("@visits.state") == State.OVERDUE:
        return name + words.bracketed(standing(row))
    days = (row.text("@visits.target"), row.text("@visits.close"))
    return name + (words.bracketed(_("today")) if reader.today.isoformat() in days else "")


def standing(row: Row) -> str:
    """已超窗 13 天, the day it was done, or what its window says."""
    state, known = row.text("@visits.state"), _days_of(row)
    texts = {
        State.OVERDUE: _("%(days)s days overdue"),
        State.DUE: _("due until %(close)s"),
        State.NOT_DUE: _("opens %(open)s"),
        State.EARLY: _("%(day)s, %(days)s days early"),
        State.LATE: _("%(day)s, %(days)s days late"),
        State.IN_WINDOW: "%(day)s",
        State.UNKNOWN: unjudged(row),
        State.NOT_APPLICABLE: _("not applicable"),
    }
    # Rows that name no state say the day alone.
    text = texts[State(state)] if state else "%(day)s"
    return text if state == State.UNKNOWN else text % known


def unjudged(row: Row) -> str:
    """Why a visit cannot be judged: its date is unclear, or there is nothing that it is counted from."""
    why = row.text("@visits.reason")
    if why:
        return _("cannot be told: %(reason)s") % {"reason": why}
    return _("cannot be told: its anchor day is not known")


def sentence(row: Row, reader: Reader, aspect: str = "") -> str:
    """V3 已超窗 13 天,尚未完成(目标 2026-11-03,窗口 2026-10-27 至 2026-11-10)."""
    visit, known = row.text(_VISIT), _days_of(row)
    window = _("window %(open)s to %(close)s") % known if known["close"] else ""
    target = _("target %(day)s") % {"day": known["target"]} if known["target"] else ""
    if any(Flag.PLANNED in fact.flags for fact in row.facts):
        planned = known | {"visit": visit, "day": known["day"] or row.first.date or ""}
        said = _("%(visit)s is planned for %(day)s, not done yet") % planned
        return said + words.bracketed(target, window)
    texts = {
        State.OVERDUE: _("is %(days)s days overdue and not done"),
        State.DUE: _("is due now, until %(close)s, and not done"),
        State.NOT_DUE: _("is not due yet"),
        State.IN_WINDOW: _("was done on %(day)s, within its window"),
        State.EARLY: _("was done on %(day)s, %(days)s days early"),
        State.LATE: _("was done on %(day)s, %(days)s days late"),
        State.NOT_APPLICABLE: _("does not apply"),
        State.UNKNOWN: unjudged(row),
    }
    state = row.text("@visits.state")
    said = texts[State(state)] if state else "%(day)s"
    said = said if state == State.UNKNOWN else said % known
    if state == State.NOT_DUE and known["open"] > reader.today.isoformat():
        left = (date.fromisoformat(known["open"]) - reader.today).days
        said += comma() + _("opens in %(days)s days") % {"days": left}
    ago = _days_ago(known["day"], reader) if aspect == "last" else ""
    head = f"{visit} "
    if aspect == "next":
        head = _("next visit %(visit)s") % {"visit": visit} + colon()
    return head + said + words.bracketed(ago, target, window)


def _days_of(row: Row) -> dict[str, str]:
    names = ("open", "close", "target")
    days = {name: row.text(f"@visits.{name}") for name in names}
    late = row.text("@visits.days").lstrip("-")
    return days | {"day": row.text("@visits.actual"), "days": late}


def _days_ago(day: str, reader: Reader) -> str:
    """How long ago a day was, "" for none that is past."""
    days = (reader.today - date.fromisoformat(day)).days if len(day) == 10 else 0
    return _("%(days)s days ago") % {"days": days} if days > 0 else ""


def _anchored(rows: Sequence[Row], reader: Reader) -> tuple[str, ...]:
    """What Day 1 is, where a window is told to the reader for the first time."""
    told = reader.says_anchor and any(row.text("@visits.close") for row in rows)
    if not told:
        return ()
    first = reader.design.plan.anchor_is_day == 1
    return (_("The anchor day is Day 1") if first else _("The anchor day is Day 0"),)

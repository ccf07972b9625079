"""What needs no data of the study: talk, questions back, and what waits for the reader today."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _
from pydantic import ValidationError

from core.integrations.redcap import RedcapError
from engines import render
from engines.agenda import Entry, Kind, Row, agenda
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.sheets import reader_of
from engines.assistant.chat.turn import Turn
from engines.assistant.read import talk
from engines.assistant.read.scan import scan
from engines.assistant.read.task import Task
from engines.assistant.read.tokens import Kind as Word
from engines.assistant.say import words
from engines.assistant.say.parts import colon, joint
from engines.assistant.tools.results import Status, ToolResult
from study.client import NotConfiguredError
from study.records import outage
from study.visits import due

SHOWN = 8
"""Subjects of a row of the agenda."""
_LIKE_IDENTIFIER = re.compile(r"\d{5,}[\dXx]*|\S+@\S+")


def answer_talk(turn: Turn, task: Task, limit: int) -> Outcome:
    """A fixed text, or the last question or answer of the running session."""
    if task.topic in (talk.AGAIN, talk.LAST_QUESTION):
        if not turn.session.said:
            return Outcome(_("There is nothing before this in our conversation."))
        # As it was: what the gate took out of it tells who is in the study.
        question, answer = turn.session.said[-1]
        again = question if task.topic == talk.LAST_QUESTION else answer
        return Outcome(render.cut(again, limit))
    if task.topic == talk.REMINDER:
        return refuse_reminder()
    sorry = _(
        "Sorry, I can only help with this study: subjects, enrolment, visits, protocol and quality control."
    )
    if task.topic == talk.HELP:
        return Outcome(_manual(turn, limit))
    fixed = {
        talk.THANKS: _("You are welcome."),
        talk.IDENTIFIER: _(
            "Names, telephone numbers and other identifiers of subjects are not shown."
        ),
        talk.OFF_TOPIC: sorry,
        talk.INSTRUCTIONS: sorry,
    }
    hello = _(
        "Hello! I answer questions about subjects, counts, visits and the protocol, and start quality control."
    )
    return Outcome(fixed.get(task.topic, hello), guided=task.topic == talk.IDENTIFIER)


def _manual(turn: Turn, limit: int) -> str:
    """The one page of `docs/manual/clinician.md` in short, with examples that this study can answer."""
    # The first and the last ids of a study are often odd ones.
    present = sorted(turn.roster.present)
    subject = present[len(present) // 2] if present else ""
    measured = [*turn.design.measured]
    field = next(iter([*filter(turn.design.ranges.get, measured), *measured]), "")
    asked, ordered = _("How many subjects are enrolled?"), list[str]()
    if subject:
        named = words.field_label(field, reader_of(turn, limit)) if field else ""
        said = {"record": subject, "field": named}
        asked = (
            _("%(field)s of %(record)s") if field else _("Has %(record)s been enrolled?")
        ) % said
        ordered = [
            _("Order: “%(ordered)s”") % {"ordered": _("Check the quality of %(record)s") % said}
        ]
    lines = [
        _("Ask: “%(asked)s”, “%(protocol)s”")
        % {"asked": asked, "protocol": _("What are the exclusion criteria?")},
        *ordered,
        _("Decide: on the card, once you read what it rests on"),
        _("Reminders: visits and report deadlines"),
        _("Never: write to REDCap, show names, decide in your place"),
    ]
    page = _("Manual: %(link)s") % {
        "link": settings.PUBLIC_URL + reverse("help", args=["clinician"])
    }
    room = (limit if turn.is_bounded else limit * 2) - len(page) - 1
    fitting = render.fit(lines, max(room, len(lines[0])))
    return fitting if room < len(fitting) else f"{fitting}\n{page}"


def refuse_reminder() -> Outcome:
    """What can't be kept is not promised."""
    told = _("I cannot set reminders yet: nothing was noted, and your settings are unchanged.")
    return Outcome(told, guided=True)


# --- whom a message means ------------------------------------------------------------------------


def refuse_other_site(turn: Turn, said: str) -> Outcome | None:
    """Say which sites the reader sees where another is named, be it there or not."""
    if not _names_other_site(said, turn):
        return None
    reader = reader_of(turn, turn.limit)
    seen = joint().join(words.site_name(code, reader) for code in turn.sites)
    return Outcome(_("You see the data of %(sites)s only.") % {"sites": seen}, guided=True)


def _names_other_site(said: str, turn: Turn) -> bool:
    """Whether a site is named that is none of the reader's: A中心, 火星中心, a name like that of their own."""
    tokens = scan(said, turn.setting)
    if {t.value for t in tokens if t.kind is Word.SITE} - {*turn.sites}:
        return True
    names = [turn.sites[code].removeprefix(code).strip() for code in turn.sites]
    alike = (re.search(rf"{re.escape(name[:-1])}\w", said) for name in names if len(name) > 2)
    if any(hit and hit[0] not in names for hit in alike):
        return True
    parts = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return any((a.kind, b.said, c.said) == (Word.LEFT, "中", "心") for a, b, c in parts)


def ask_number(turn: Turn, said: str, calls: re.Pattern[str]) -> Outcome | None:
    """Ask for the number of somebody who is called by a name, or where it is asked who somebody is.

    No document tells who a person is, so none is searched.
    """
    if turn.reading.record_ids or not calls.search(said):
        return None
    turn.not_understood(())
    told = _(
        "Which subject do you mean? Please give the number. Names and other identifiers are not shown."
    )
    return Outcome(told, guided=True, asks=True)


def echo(said: str) -> str:
    """What the reader typed, repeated to them; no number or address that may be somebody's, whoever's it is."""
    return _LIKE_IDENTIFIER.sub("…", said)


# --- today ----------------------------------------------------------------------------------------


def answer_agenda(turn: Turn, task: Task, limit: int) -> Outcome:
    """What waits for the reader today, a line a row; only reviews where only these are asked for.

    With all that is known of each thing, else with the subjects, else the heads, as there is room.
    """
    schedule, as_of, nothing = None, list[str](), _("Nothing waits for you today.")
    if task.topic == "reviews":
        nothing = _("No review is waiting for you.")
        rows = [row for row in agenda(turn.project, turn.member, None) if row.kind is Kind.REVIEWS]
    else:
        try:
            schedule = due.schedule(turn.project, turn.member)
        except (RedcapError, NotConfiguredError, ValidationError):
            schedule = None
        rows = agenda(turn.project, turn.member, schedule)
    if schedule is not None:
        # Whose data were told is noted as read, with when these were read.
        named = {one.subject for row in rows for one in row.entries}
        own = tuple(f for each in schedule.visits if each.subject in named for f in each.facts)
        source = {"kind": "redcap", "what": "agenda", "read_at": schedule.read_at}
        turn.read(ToolResult("agenda", Status.OK, facts=own, sources=(source,)))
        failed = outage(turn.project) if schedule.read_at else None
        if failed is not None and failed[0] > datetime.fromisoformat(schedule.read_at or ""):
            told = _("data as of %(time)s") % {"time": schedule.read_on}
            as_of = [told + colon() + failed[1]]
    lines = [nothing]
    for entry in (_whole, _brief, None) if rows else ():
        lines = [_row_said(row, entry) for row in rows]
        if len("\n".join([*lines, *as_of])) <= limit:
            break
    return Outcome(render.fit_all([*lines, *as_of], limit))


def _row_said(row: Row, entry: Callable[[Entry], str] | None) -> str:
    """`heading count: subjects`, each in the words of `entry`."""
    if row.count is None:
        return row.kind.label + colon() + _("not known: it could not be read")
    head = str(row.kind.label) if row.is_fault else f"{row.kind.label} {row.count}"
    if entry is None or not row.entries:
        return head
    named = [*dict.fromkeys(entry(one) for one in row.entries[:SHOWN])]
    if (more := len(row.entries) - SHOWN) > 0:
        named.append(_("%(number)d more") % {"number": more})
    return head + colon() + joint().join(named)


def _whole(one: Entry) -> str:
    until = words.bracketed(_("until %(day)s") % {"day": one.day}) if one.day else ""
    return f"{one.subject} {one.text}".strip() + until


def _brief(one: Entry) -> str:
    return f"{one.subject} {one.text}" if one.day else one.subject

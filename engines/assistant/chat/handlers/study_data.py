"""Questions about the study's data: understood offline, asked through the one door, told plainly.

What is said is what the facts say: the plain answer, or a model's words over their lines where each of them
is borne out (design.md 5a).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from engines.assistant.answer import Reader, cut, leaves_out, told_of
from engines.assistant.answer.sheet import sheet_of
from engines.assistant.chat import materials, sources
from engines.assistant.chat.handlers.visit_plan import convention
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.sources import Asked as Answered
from engines.assistant.chat.turn import Turn
from engines.assistant.chat.wording import Draft, worded
from engines.assistant.intents import Part
from engines.assistant.tools import Status, ToolResult
from engines.assistant.tools.texts import redcap_down
from engines.assistant.understand import Ambiguous, Asked, Topic, Understood
from engines.assistant.understand.types import Query
from engines.assistant.understand.written import asked_by
from house import clock
from integrations.redcap import RedcapError
from study import door
from study.client import NotConfiguredError
from study.facts import Answer
from study.query.errors import QueryError, nearest
from study.sync_state import outage

logger = logging.getLogger(__name__)

NAME = "study_data"


def answer(turn: Turn, part: Part, found: Understood, limit: int) -> Outcome:
    """All questions of a task answered; what could mean several things is asked back, nothing read for it."""
    if found.ambiguous:
        turn.not_understood(one.word for one in found.ambiguous)
        turn.keep(found.state)
        return Outcome(asked_back(turn, found.ambiguous), guided=True)
    if found.unknown:
        turn.not_understood(found.unknown)
    try:
        answers, beside = _read(turn, part, found)
    except (RedcapError, NotConfiguredError) as error:
        logger.warning("Study data: %s", error)
        down = ToolResult(NAME, Status.DOWN, redcap_down(), outside_down=True)
        return Outcome(str(turn.read(down).data))
    except QueryError as error:
        # The grammar wrote a query that the study refuses: our fault, and for the reader not understood.
        logger.error("Study data: %s: %s", error.at, type(error).__name__)
        turn.success = False
        turn.not_understood(())
        return Outcome(_("I did not understand this. Please ask more precisely."), guided=True)
    result = turn.read(_result(turn, found, answers))
    turn.keep(found.state.found(_listed(found, answers)))
    if unread := _not_exported(turn, found, answers):
        turn.success = False
        return Outcome(unread, results=[result])
    note = _convention(turn, found, result) + _understood_as(turn, found)
    reader = _reader(turn, limit - len(note))
    lines = told_of(found, answers, reader)
    text = cut(lines, reader)
    is_whole = not leaves_out(lines, reader)
    sheet = None if is_whole else sheet_of(_flat(answers), reader)
    if is_worded(turn, found, result):
        asked = list(zip(_queries(found), _flat(answers), strict=True))
        draft = Draft(
            part,
            sources.sheet(turn, part, asked=asked, beside=beside),
            limit=reader.limit,
            subjects=result.record_ids,
            is_enough=True,
        )
        text = (worded(turn, draft)[0] if draft.sheet.asked else "") or text
    return Outcome(text + note, results=[result], sheet=sheet if sheet and sheet.rows else None)


def is_worded(turn: Turn, found: Understood, result: ToolResult) -> bool:
    """Whether a model may word it: all was understood and may be told, of somebody who is there."""
    beside = found.unknown or found.ambiguous or found.unplanned or found.withheld
    return turn.has_model and bool(_queries(found)) and result.has_data and not beside


def _not_exported(turn: Turn, found: Understood, answers: Sequence[Sequence[Answer]]) -> str:
    """What REDCap does not show to the house: nothing may be said to be absent then (design.md 9.8)."""
    named = {i for asked in found.asked for i in asked.slots.subjects}
    if not named or any(fact for own in answers for one in own for fact in one.facts):
        return ""
    metadata = turn.design.metadata
    records = door.records_for(turn.project, turn.member, metadata, sorted(named))
    unread = {column for record in records for column in record.missing_columns}
    about = dict.fromkeys(name for asked in found.asked for name in asked.about)
    fields = [turn.design.enrolment_field if name == "@enrolled" else name for name in about]
    labels = "、".join(label(turn, name) for name in fields if name in unread)
    return _("%(labels)s: not exported by REDCap") % {"labels": labels} if labels else ""


def _convention(turn: Turn, found: Understood, result: ToolResult) -> str:
    """Which day counts as the first, wherever visits are told (decisions.md, anchor_is_day)."""
    of_visits = any(asked.slots.topic is Topic.VISITS for asked in found.asked)
    if not of_visits or not result.has_data:
        return ""
    return "\n" + convention(turn)


def _understood_as(turn: Turn, found: Understood) -> str:
    """(理解为:P016 · 谷丙转氨酶ALT · V2): said where a model read the question."""
    if not found.is_guess:
        return ""
    told = []
    for slots in (asked.slots for asked in found.asked):
        who = "、".join(slots.subjects) or _("all subjects that you may see")
        names = "、".join(label(turn, name) for name in slots.select)
        told.append(" · ".join(filter(None, [who, names, "、".join(slots.place)])))
    return "\n" + _("(understood as: %(what)s)") % {"what": ";".join(told)}


def other_readings(turn: Turn) -> str:
    """What the last question may have meant instead; "" where there was none."""
    last = turn.talk.last
    names = [name for name in last.select if name in turn.design.metadata.fields] if last else []
    if last is None or not names:
        return ""
    turn.not_understood(())
    shown = set(turn.design.metadata.fields) - turn.design.hidden
    labels = {label(turn, name): name for name in shown if name not in names}
    near = nearest(label(turn, names[0]), labels)
    understood = " ".join([*last.subjects, "、".join(label(turn, name) for name in names)])
    told = _("I had understood: %(what)s.") % {"what": understood}
    return told + asked_back(turn, [Ambiguous(label(turn, names[0]), near)]) if near else told


def asked_back(turn: Turn, unsure: Sequence[Ambiguous]) -> str:
    """Which of several readings is meant."""
    lines = []
    for one in unsure:
        readings = pgettext("asked back", " or ").join(label(turn, name) for name in one.readings)
        lines.append(
            _("“%(word)s”: do you mean %(readings)s?") % {"word": one.word, "readings": readings}
        )
    return "\n".join(lines)


def label(turn: Turn, name: str) -> str:
    """What people call a field or a form."""
    metadata = turn.design.metadata
    return metadata.label(name) if name in metadata.fields else metadata.form_label(name)


def _read(turn: Turn, part: Part, found: Understood) -> tuple[list[list[Answer]], Answered]:
    """For each question the answers to its queries; what was read beside them for a model to word."""
    queries = _queries(found)
    for query in queries:
        turn.note("study.query", action=json.dumps(query, ensure_ascii=False))
    more = materials.beside(turn, part, found) if turn.has_model else []
    answers, beside = materials.read_with(turn, queries, more)
    rest = iter(answers)
    return [[next(rest) for _query in asked.queries] for asked in found.asked], beside


def _queries(found: Understood) -> list[Query]:
    return [query for asked in found.asked for query in asked.queries]


def _flat(answers: Sequence[Sequence[Answer]]) -> list[Answer]:
    return [one for own in answers for one in own]


def plainly(turn: Turn, asked: Answered, said: str, limit: int) -> str:
    """The answers to queries that a question calls for, in plain words; "" for none."""
    questions = [asked_by(query, said) for query, _answer in asked]
    reader = _reader(turn, limit)
    answers = [[one] for _query, one in asked]
    return cut(told_of(Understood(tuple(questions)), answers, reader), reader) if asked else ""


def _reader(turn: Turn, limit: int) -> Reader:
    return Reader(
        design=turn.design,
        now=clock.now(),
        subjects=turn.roster.present,
        sites=turn.sites,
        own_site=turn.member.site,
        limit=limit,
        fresh_minutes=turn.project.fresh_minutes,
        language=turn.member.language,
        masked=turn.plain,
        outage=outage(turn.project),
    )


def _result(turn: Turn, found: Understood, answers: Sequence[Sequence[Answer]]) -> ToolResult:
    """What was read, for the sources and the session."""
    ids, sources = list[str](), list[dict[str, Any]]()
    for asked, own in zip(found.asked, answers, strict=True):
        read_at = min((one.read_at for one in own if one.read_at), default=None)
        named = _there(turn, asked, own)
        ids += named
        if named:
            sources += [{"kind": "redcap", "record_id": i, "read_at": read_at} for i in named]
        elif not asked.slots.subjects:
            what = Topic(asked.slots.topic).value
            sources.append({"kind": "redcap", "what": what, "read_at": read_at})
    status = Status.OK if sources else Status.NOT_FOUND
    return ToolResult(
        NAME,
        status,
        facts=tuple(fact for own in answers for one in own for fact in one.facts),
        sources=tuple(sources),
        record_ids=tuple(dict.fromkeys(ids)),
    )


def _there(turn: Turn, asked: Asked, answers: Sequence[Answer]) -> list[str]:
    """Those of the named subjects who are there for this reader."""
    named = list(dict.fromkeys(asked.slots.subjects))
    seen = max((one.basis.subjects for one in answers), default=0)
    # Who was entered since the roster was read is in the answer only.
    return named if seen == len(named) else [i for i in named if i in turn.roster.present]


def _listed(found: Understood, answers: Sequence[Sequence[Answer]]) -> tuple[str, ...]:
    """The subjects that the last question listed, where it named none."""
    if not found.asked or found.asked[-1].slots.subjects:
        return ()
    facts = [fact for one in answers[-1] for fact in one.facts]
    return tuple(dict.fromkeys(fact.subject for fact in facts if fact.subject))

"""Tasks about data that neither the grammar nor the model made a query of: nothing is guessed."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from engines.assistant.chat import materials, sources
from engines.assistant.chat.handlers import protocol, study_data, visit_plan
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.subjects import subjects
from engines.assistant.chat.turn import Turn
from engines.assistant.chat.wording import Draft, worded
from engines.assistant.intents import Part
from engines.assistant.lines import background
from engines.assistant.tools.texts import not_found
from engines.assistant.understand import Asked, Shape, Understood
from engines.assistant.understand.types import Slots
from engines.assistant.understand.written import asked_by

MOST_SUBJECTS = 5


def answer(turn: Turn, part: Part, limit: int) -> Outcome:
    """What a model says over all that is known of the subjects; else the reader is asked again."""
    ids = [] if part.named and not part.record_ids else subjects(turn, part)[:MOST_SUBJECTS]
    if part.intent == "visit_window":
        return _of_visits(turn, part, ids, limit)
    if not ids:
        return Outcome(_whom(part), guided=True)
    if not turn.roster.present & {*ids}:
        return Outcome(not_found())
    if turn.has_model:
        beside = materials.read(turn, materials.beside(turn, part, None))
        draft = Draft(part, sources.sheet(turn, part, beside=beside), limit=limit, subjects=ids)
        if text := worded(turn, draft)[0]:
            return Outcome(text)
    return not_understood(turn)


def overview(turn: Turn, part: Part, ids: Sequence[str], limit: int) -> Outcome:
    """All that is known of some subjects."""
    slots = Slots(
        shape=Shape.OVERVIEW,
        subjects=tuple(ids[:MOST_SUBJECTS]),
        select=turn.design.shown_forms,
    )
    query = {"subjects": [*slots.subjects], "select": [*slots.select]}
    asked = Asked((query,), slots.shape, slots.select, part.text, slots)
    return study_data.answer(turn, part, Understood((asked,), state=turn.talk), limit)


def not_understood(turn: Turn) -> Outcome:
    """Said and kept for those who teach the house the study's words."""
    turn.not_understood(())
    return Outcome(_("I did not understand this. Please ask more precisely."), guided=True)


def _whom(part: Part) -> str:
    if part.intent == "count_records":
        return _(
            "I can't work this out over all subjects. I count enrolment, statuses and the records of a form, "
            "and list who has something; for all else please use a report in REDCap."
        )
    return _(
        "Which subject do you mean? Please give the number. Names and other identifiers are not shown."
    )


def _of_visits(turn: Turn, part: Part, ids: Sequence[str], limit: int) -> Outcome:
    """The visits of those who are named, else the plan, else the rule that speaks of it."""
    if part.named and not part.record_ids:
        return Outcome(_whom(part), guided=True)
    if not ids:
        if visit_plan.is_of_plan(turn, part):
            return visit_plan.answer(turn, part, limit)
        return protocol.answer(turn, part, limit)
    query = {"subjects": [*ids], "select": [f"@visits.{name}" for name in background.VISITS]}
    found = Understood((asked_by(query, part.text),), state=turn.talk)
    return study_data.answer(turn, part, found, limit)

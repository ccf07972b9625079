"""What is read beside the answer to a question, for the model to word it with."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from engines.assistant.chat.sources import Asked
from engines.assistant.chat.subjects import subjects
from engines.assistant.chat.turn import Turn
from engines.assistant.intents import Part
from engines.assistant.lines import background
from engines.assistant.understand import Understood
from engines.assistant.understand.types import Query
from integrations.redcap import RedcapError
from study import door
from study.client import NotConfiguredError
from study.facts import Answer
from study.query.errors import QueryError

logger = logging.getLogger(__name__)

_OF_STUDY = frozenset({"count_records", "project_info", "analyze_trend"})
_OF_SUBJECTS = frozenset({"query_record", "visit_window", "qa_query"})


def beside(turn: Turn, part: Part, found: Understood | None) -> list[Query]:
    """The queries that a task calls for besides its own."""
    if found is not None:
        return _distinct(_of_data(turn, found))
    if part.intent in _OF_STUDY:
        by_month = part.intent == "analyze_trend"
        return list(background.of_enrolment(turn.design, by_month=by_month))
    ids = subjects(turn, part) if part.intent in _OF_SUBJECTS else []
    if part.intent == "query_record":
        whole = [*background.whole(ids, turn.design), *background.of_subjects(ids, turn.design)]
        return _distinct(whole)
    visits = background.of_visits(ids) if part.intent == "visit_window" else []
    return _distinct([*visits, *background.of_subjects(ids, turn.design)])


def _of_data(turn: Turn, found: Understood) -> list[Query]:
    own = [query for asked in found.asked for query in asked.queries]
    wide = [more for query in own for more in background.widened(query, turn.design)]
    named = list(dict.fromkeys(i for query in own for i in query.get("subjects") or ()))
    around = list(background.of_subjects(named, turn.design))
    around += _spoken_of(turn, found)
    if own and all(background.counts_people(query, turn.design) for query in own):
        around += background.of_enrolment(turn.design, by_month=False)
    return [query for query in [*wide, *around] if query not in own]


def _spoken_of(turn: Turn, found: Understood) -> list[Query]:
    """What was asked before this, where the same is asked of somebody else: the two may be compared."""
    last, about = turn.talk.last, {name for asked in found.asked for name in asked.about}
    if last is None or not last.subjects or not about & {*last.select}:
        return []
    return [{"subjects": [*last.subjects], "select": [*last.select]}]


def _distinct(queries: Sequence[Query]) -> list[Query]:
    return [query for at, query in enumerate(queries) if query not in queries[:at]]


def read(turn: Turn, queries: Sequence[Query]) -> Asked:
    """The answers to queries that nothing hangs on: none where REDCap cannot be read."""
    try:
        return list(zip(queries, _asked(turn, queries), strict=True))
    except (RedcapError, NotConfiguredError, QueryError) as error:
        logger.warning("Beside the question: %s", type(error).__name__)
        return []


def read_with(
    turn: Turn, own: Sequence[Query], more: Sequence[Query]
) -> tuple[list[Answer], Asked]:
    """The answers to a question's own queries and, out of the same reading, to those beside it.

    Raises QueryError, RedcapError, NotConfiguredError where its own cannot be answered.
    """
    try:
        found = _asked(turn, [*own, *more])
    except QueryError:
        if not more:
            raise
        return read_with(turn, own, ())
    return found[: len(own)], list(zip(more, found[len(own) :], strict=True))


def _asked(turn: Turn, queries: Sequence[Query]) -> list[Answer]:
    return door.ask_all(turn.project, turn.member, queries, blinded=turn.withheld)

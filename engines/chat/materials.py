"""What is read beside the answer to a question, for the model to word it with."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from engines.assistant.lines import background
from engines.assistant.understand import Understood
from engines.assistant.understand.types import Query
from engines.chat.handlers.data import subjects
from engines.chat.sources import Asked
from engines.chat.turn import Turn
from engines.intents import Part
from integrations.redcap import RedcapError
from projects.client import NotConfiguredError
from study import door

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
    if own and all(background.counts_people(query, turn.design) for query in own):
        around += background.of_enrolment(turn.design, by_month=False)
    return [query for query in [*wide, *around] if query not in own]


def _distinct(queries: Sequence[Query]) -> list[Query]:
    return [query for at, query in enumerate(queries) if query not in queries[:at]]


def read(turn: Turn, queries: Sequence[Query]) -> Asked:
    """The answers to queries that nothing hangs on: none where REDCap cannot be read."""
    try:
        found = door.ask_all(turn.project, turn.member, queries, blinded=turn.withheld)
    except (RedcapError, NotConfiguredError) as error:
        logger.warning("Beside the question: %s", error)
        return []
    return list(zip(queries, found, strict=True))

"""What the grammar left undecided, asked of the model with StudyQuery as its tool (design.md 5a.1).

A model starts, stores and decides nothing: it writes queries, which are checked as if a stranger had typed
them, and the facts are read and told as for every other question. What does not fit stays undecided.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from engines.assistant.chat.handlers import HANDLERS, handler_of
from engines.assistant.chat.questions import Task
from engines.assistant.chat.turn import Turn
from engines.assistant.tools import definitions
from engines.assistant.understand import Asked, State, Understood
from engines.assistant.understand.withheld import withheld
from engines.assistant.understand.written import asked_by
from integrations.llm import LlmError, Message
from llm import prompts
from privacy.outbound_policy import PrivacyError
from projects.endpoints import Purpose
from study.query.errors import QueryError
from study.query.run import answer
from study.query.schema import parse

logger = logging.getLogger(__name__)

_OF_DATA = ("query_record", "count_records", "visit_window")
"""A question that needs several steps gets the same tool in them (engines.assistant.react)."""
MOST_QUERIES = 4
LONGEST = 500
"""Characters: what is longer is no question that four queries could answer."""
MOST_FIELDS = 120
_TOOL = "query_study"
_ASK_BACK: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "ask_back",
        "description": "消息要的不是研究数据,或不清楚要哪一项",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    },
}


def completed(turn: Turn, task: Task) -> Task:
    """A task about data that the grammar did not understand, with what the model made of it."""
    part, uses = task.part, turn.skill.switches
    if task.found or part.intent not in _OF_DATA or not (uses.model and uses.ask_intent):
        return task
    text = turn.resolved(part.text)
    # Answers of their own: the visit plan itself, who is nobody the reader may see, what is kept here, and
    # what is never shown.
    is_of_plan = part.intent == "visit_window" and not part.record_ids
    if is_of_plan or part.named or handler_of(part) is not HANDLERS[part.intent]:
        return task
    if len(text) > LONGEST or withheld(turn.context.metadata, text):
        return task
    asked = tuple(_asked(turn, text))
    if not asked or not all(map(_asks_something, asked)) or not _is_about_the_same(turn, asked):
        return task
    last = asked[-1].slots
    return replace(task, found=Understood(asked, state=State(last, last.subjects), is_guess=True))


def _asked(turn: Turn, text: str) -> Iterator[Asked]:
    prompt = prompts.load("query", **_study(turn, text))
    messages = [
        Message("system", turn.gate.text(prompt.text)),
        Message("user", turn.gate.text(text, own=True)),
    ]
    small = turn.llm.of(Purpose.SMALL)
    try:
        if not small.has_tools:
            return
        done = small.ask(
            messages,
            purpose="query",
            version=prompt.version,
            tools=[*definitions((_TOOL,)), _ASK_BACK],
            must_call=True,
            temperature=0.0,
            top_p=1.0,
            tries=1,
        )
    except (LlmError, PrivacyError) as error:
        logger.warning("Query: %s", error)
        return
    turn.versions.append(prompt.version)
    for call in done.tool_calls[:MOST_QUERIES]:
        if call.name != _TOOL:
            continue
        try:
            asked = asked_by(call.parsed(), text)
            # Over no records: whether the study has what the query names.
            answer(parse(asked.query), turn.design, [], today=turn.context.today)
        except (QueryError, ValueError) as error:
            turn.note("query refused", observation=getattr(error, "at", type(error).__name__))
            continue
        yield asked


def _study(turn: Turn, text: str) -> dict[str, Any]:
    """What the study has, as far as this reader may know of it; of many fields those nearest to the words."""
    design, metadata = turn.design, turn.design.metadata
    shown = [name for name in metadata.fields if name not in design.hidden]
    labels = {name: metadata.label(name) for name in shown}
    if len(shown) > MOST_FIELDS:
        shown = sorted(shown, key=lambda name: -len({*labels[name]} & {*text}))[:MOST_FIELDS]
    forms = dict.fromkeys(design.form_of(name) for name in shown)
    return {
        "today": turn.context.today.isoformat(),
        "fields": " ".join(f"{name}({labels[name]})" for name in shown),
        "forms": " ".join(f"{form}({metadata.form_label(form)})" for form in forms),
        "visits": " ".join(visit.visit for visit in design.plan.visits),
        "sites": " ".join(f"{code}({label})" for code, label in turn.sites.items()),
    }


def _asks_something(asked: Asked) -> bool:
    """Whether it tells more than who there is."""
    return bool(asked.slots.select or asked.slots.aggregate or asked.slots.where)


def _is_about_the_same(turn: Turn, asked: tuple[Asked, ...]) -> bool:
    """Whether the queries are about whom the message names, or whom the talk is about."""
    named = set(turn.detection.record_ids)
    queried = {one for each in asked for one in each.slots.subjects}
    return queried == named if named else queried <= set(turn.talk.subjects)

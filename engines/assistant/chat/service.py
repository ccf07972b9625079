"""The router: from a message to one final reply, in the ten steps of design.md 4."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

from django.utils import translation
from django.utils.timezone import now
from django.utils.translation import gettext as _

from engines.assistant.chat import (
    asked_of_model,
    members,
    past,
    questions,
    store,
    texts,
    unsure,
)
from engines.assistant.chat.handlers import (
    HANDLERS,
    handler_of,
    own_memory,
    study_data,
)
from engines.assistant.chat.prepare import prepare
from engines.assistant.chat.questions import Task
from engines.assistant.chat.reply import ChatReply, Outcome
from engines.assistant.chat.turn import Turn
from engines.assistant.context import HISTORY_TASKS
from engines.assistant.intents import Part
from engines.parallel import run_all
from house.db import atomic
from integrations.redcap import RedcapError
from memory.log.flow_log import set_feedback
from memory.log.rating_result import Rated
from memory.people import facts
from projects import audit
from projects.models import Member, Person, Project
from study.client import NotConfiguredError

logger = logging.getLogger(__name__)

InTransaction = Callable[[ChatReply], None] | None
PLAIN = 0.95
"""Of the classifier, for one part of several: 另外方案里的排除标准是什么 leaves nothing open."""
_RULE_AND_PAST = {"query_protocol", "query_history"}


def answer_message(
    *,
    person: Person,
    text: str,
    project_code: str | None = None,
    in_transaction: InTransaction = None,
    answer_id: UUID | None = None,
) -> ChatReply:
    """Answer a person's message. `in_transaction(reply)` is called last in the only transaction.

    `answer_id`: the answer's in the flow log, where it is known already. Who is in no study is refused
    politely and audited; where the study is unclear, the reply asks for it.
    """
    choice = members.choose(person, text, project_code)
    if choice.member is not None:
        return handle(
            project=choice.member.project,
            member=choice.member,
            text=choice.text,
            in_transaction=in_transaction,
            answer_id=answer_id,
        )
    if not choice.question:
        return refuse(person.identity, project_code, in_transaction)
    reply = ChatReply(choice.question)
    with atomic():
        if in_transaction:
            in_transaction(reply)
    return reply


def refuse(
    identity: str, project_code: str | None = None, in_transaction: InTransaction = None
) -> ChatReply:
    """The reply to somebody whom the house does not know, or who is in no (such) study; audited."""
    text = _("Sorry, you are not a member of a study here. Please contact your administrator.")
    reply = ChatReply(text, refused=True)
    with atomic():
        audit.record("member.refused", actor=identity, new={"project": project_code})
        if in_transaction:
            in_transaction(reply)
    return reply


def handle(
    *,
    project: Project,
    member: Member,
    text: str,
    in_transaction: InTransaction = None,
    answer_id: UUID | None = None,
) -> ChatReply:
    """Answer a member's message; every message ends in exactly one reply, at worst a fixed one."""
    started = now()
    with translation.override(member.language):
        try:
            turn = prepare(project, member, text, started)
            turn.answer_id = answer_id
            outcomes = routed(turn)
        except (RedcapError, NotConfiguredError) as error:
            logger.warning("REDCap before the first answer: %s", error)
            down = _("REDCap cannot be read at the moment. Please try again later.")
            return store.failed(
                project, member, text, down, in_transaction, answer_id, outside_down=True
            )
        except Exception as error:
            # Type only: a message could quote the data it choked on.
            number = uuid.uuid4().hex[:8]
            logger.error("Message failed (%s): %s", number, type(error).__name__)
            logger.debug("Traceback", exc_info=error)
            fixed = texts.FAILED.format(number=number)
            return store.failed(project, member, text, fixed, in_transaction, answer_id)
        return store.finished(turn, outcomes, in_transaction)


def routed(turn: Turn) -> list[tuple[Part, Outcome]]:
    """What a message's tasks come to, before anything is written; the console's preview asks here, too."""
    turn.limit = min(turn.limit, facts.length_limit(turn.facts) or turn.limit)
    turn.detection = own_memory.settle(turn)
    return _work(turn, _tasks(turn))


def _tasks(turn: Turn) -> list[Task]:
    """The tasks of a message; the model is asked what it wants where the house's own rules leave that open."""
    found = questions.tasks(turn, _parts(turn))
    if found and _are_clear(found):
        return found
    before = turn.detection
    turn.detection = unsure.settle(turn)
    if turn.detection is not before:
        found = questions.tasks(turn, _parts(turn))
    return [asked_of_model.completed(turn, task) for task in found]


def _are_clear(found: Sequence[Task]) -> bool:
    """Whether nothing is left open; beside an understood question of data a part may speak for itself."""
    rest = [task.part for task in found if not _is_clear(task)]
    is_plain = (p.confidence >= PLAIN and p.intent not in unsure.ORDERS for p in rest)
    return len(rest) < len(found) and all(is_plain)


def _is_clear(task: Task) -> bool:
    """Whether a task was understood as a question of data, or asks for what is kept here."""
    return task.found is not None or handler_of(task.part) is not HANDLERS[task.part.intent]


def _parts(turn: Turn) -> Sequence[Part]:
    return merged(turn.detection.parts, turn.resolved(turn.text))


def _work(turn: Turn, tasks: Sequence[Task]) -> list[tuple[Part, Outcome]]:
    """All tasks side by side; what they come to in the order of handling."""
    parts = [task.part for task in tasks]
    limits = _limits(turn, parts)
    jobs = [partial(_answer, turn, task, limit) for task, limit in zip(tasks, limits, strict=True)]
    return list(zip(parts, run_all(jobs), strict=True))


def _answer(turn: Turn, task: Task, limit: int) -> Outcome:
    if task.found is not None:
        return study_data.answer(turn, task.part, task.found, limit)
    return handler_of(task.part)(turn, task.part, limit)


def merged(parts: Sequence[Part], text: str) -> Sequence[Part]:
    """A single task is the whole message; opinions are one, and so are history and trend of one question.

    "…,当初怎么定的" asks for the past of what stands before it.
    """
    opinions = [part for part in parts if part.intent == "feedback"]
    if len(opinions) > 1:
        one = replace(opinions[0], text=",".join(part.text for part in opinions))
        parts = [one, *(part for part in parts if part.intent != "feedback")]
    if len(parts) == 1:
        return [replace(parts[0], text=text)]
    asked = {part.intent: part for part in parts}
    of_past = asked.get("query_history")
    if of_past and set(asked) == _RULE_AND_PAST and past.names_nothing(of_past.text):
        return [replace(of_past, text=text)]
    if len(parts) != 2 or {part.intent for part in parts} != HISTORY_TASKS:
        return parts
    intent = "query_history" if past.asks_decision(text) else "analyze_trend"
    return [replace(parts[0], text=text, intent=intent)]


def _limits(turn: Turn, parts: Sequence[Part]) -> list[int]:
    """Several tasks share the length of one reply."""
    if len(parts) < 2:
        return [turn.limit]
    room = turn.limit - sum(
        len(store.heading(n, part, Outcome())) for n, part in enumerate(parts, 1)
    )
    return [max(room // len(parts), 30)] * len(parts)


def record_feedback(
    *,
    member: Member,
    feedback: str | None,
    reason: str | None,
    conversation_id: UUID | str | None = None,
) -> Rated | None:
    """Store 👍/👎 of a card or command; None when there is no such answer of this member."""
    with atomic():
        return set_feedback(
            project=member.project,
            user_id=member.identity,
            feedback=feedback,
            reason=reason if feedback == "thumbs_down" else None,
            conversation_id=conversation_id,
        )

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

from engines.chat import members, store, texts, unsure
from engines.chat.handlers import handler_of, own_memory, reader_of
from engines.chat.prepare import prepare
from engines.chat.relevance import asks_decision
from engines.chat.reply import ChatReply, Outcome
from engines.chat.turn import Turn
from engines.context import HISTORY_TASKS
from engines.intents import Part
from engines.parallel import run_all
from engines.tools import ToolResult
from integrations.redcap import RedcapError
from memory import facts
from memory.flow_log import set_feedback
from memory.rated import Rated
from projects import audit
from projects.client import NotConfiguredError
from projects.db import atomic
from projects.models import Member, Project

logger = logging.getLogger(__name__)

InTransaction = Callable[[ChatReply], None] | None
_OF_SUBJECTS = ("query_record", "visit_window")


def answer_message(
    *,
    userid: str,
    text: str,
    project_code: str | None = None,
    in_transaction: InTransaction = None,
) -> ChatReply:
    """Answer a message of a WeCom user. `in_transaction(reply)` is called last in the only transaction.

    An unknown user is refused politely and audited; where the study is unclear, the reply asks for it.
    """
    choice = members.choose(userid, text, project_code)
    if choice.member is not None:
        return handle(
            project=choice.member.project,
            member=choice.member,
            text=choice.text,
            in_transaction=in_transaction,
        )
    reply = ChatReply(choice.question) if choice.question else _refusal()
    with atomic():
        if reply.refused:
            audit.record("member.refused", actor=userid, new={"project": project_code})
        if in_transaction:
            in_transaction(reply)
    return reply


def _refusal() -> ChatReply:
    text = _("Sorry, you are not a member of a study here. Please contact your administrator.")
    return ChatReply(text, refused=True)


def handle(
    *, project: Project, member: Member, text: str, in_transaction: InTransaction = None
) -> ChatReply:
    """Answer a member's message; every message ends in exactly one reply, at worst a fixed one."""
    started = now()
    with translation.override(member.language):
        try:
            turn = prepare(project, member, text, started)
            turn.limit = min(turn.limit, facts.length_limit(turn.facts) or turn.limit)
            turn.detection = own_memory.settle(turn)
            turn.detection = unsure.settle(turn)
            outcomes = _work(turn)
        except (RedcapError, NotConfiguredError) as error:
            logger.warning("REDCap before the first answer: %s", error)
            down = _("REDCap cannot be read at the moment. Please try again later.")
            return store.failed(project, member, text, down, in_transaction, outside_down=True)
        except Exception as error:
            # Type only: a message could quote the data it choked on.
            number = uuid.uuid4().hex[:8]
            logger.error("Message failed (%s): %s", number, type(error).__name__)
            logger.debug("Traceback", exc_info=error)
            fixed = texts.FAILED.format(number=number)
            return store.failed(project, member, text, fixed, in_transaction)
        return store.finished(turn, outcomes, in_transaction)


def _work(turn: Turn) -> list[tuple[Part, Outcome]]:
    """Read for all tasks side by side, then word them side by side; in the order of handling."""
    parts = merged(turn.detection.parts, turn.resolved(turn.text))
    limits = _limits(turn, parts)
    read = run_all([partial(_prefetch, turn, part) for part in parts])
    jobs = [
        partial(handler_of(part), turn, part, results, limit)
        for part, results, limit in zip(parts, read, limits, strict=True)
    ]
    return list(zip(parts, run_all(jobs), strict=True))


def merged(parts: Sequence[Part], text: str) -> Sequence[Part]:
    """A single task is the whole message; opinions are one, and so are history and trend of one question."""
    opinions = [part for part in parts if part.intent == "feedback"]
    if len(opinions) > 1:
        one = replace(opinions[0], text=",".join(part.text for part in opinions))
        parts = [one, *(part for part in parts if part.intent != "feedback")]
    if len(parts) == 1:
        return [replace(parts[0], text=text)]
    if len(parts) != 2 or {part.intent for part in parts} != HISTORY_TASKS:
        return parts
    intent = "query_history" if asks_decision(text) else "analyze_trend"
    return [replace(parts[0], text=text, intent=intent)]


def _prefetch(turn: Turn, part: Part) -> list[ToolResult]:
    """What the intent calls for; nothing where somebody is named who is nobody the reader may see."""
    if part.intent in _OF_SUBJECTS and part.named and not part.record_ids:
        return []
    reader = reader_of(part)
    return reader(turn, part) if reader else []


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

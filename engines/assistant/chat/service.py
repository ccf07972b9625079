"""The router: from a message to one final reply, in the ten steps of design.md 4."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from itertools import groupby
from uuid import UUID

from django.utils import translation
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house.db import atomic
from core.house.request_cache import remembered
from core.integrations.redcap import RedcapError
from engines.assistant import texts
from engines.assistant.chat import members, store
from engines.assistant.chat.handlers import data, memory, order, passage, talk
from engines.assistant.chat.reply import ChatReply, Outcome
from engines.assistant.chat.sheets import call_of
from engines.assistant.chat.store import InTransaction
from engines.assistant.chat.turn import Turn, prepare
from engines.assistant.read import read
from engines.assistant.read.scan import scan
from engines.assistant.read.task import Reading, Task, TaskKind
from engines.assistant.read.tokens import Kind
from engines.assistant.tools.results import redcap_down
from engines.parallel import run_all
from memory import session
from projects import audit
from projects.models import Member, Person, Project
from study.client import NotConfiguredError
from study.protocol import index
from study.query.errors import NotSetError

logger = logging.getLogger(__name__)

LEAST_ROOM = 60
"""Characters of a task's answer, however many there are in one reply."""
HANDLERS: Mapping[TaskKind, Callable[[Turn, Task, int], Outcome]] = {
    TaskKind.PASSAGE: passage.answer_passage,
    TaskKind.HISTORY: passage.answer_history,
    TaskKind.MEMORY: memory.answer_memory,
    TaskKind.AGENDA: talk.answer_agenda,
    TaskKind.ORDER: order.answer_order,
    TaskKind.ENTRY: order.guide_entry,
    TaskKind.TALK: talk.answer_talk,
    TaskKind.REASON: data.answer_in_steps,
    TaskKind.ASK_BACK: data.answer_unclear,
}
"""Questions of data are answered several at once, by `data.answer_data`."""


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
    if project_code is None and (member := members.find_switch(person, text)):
        return _turn_to(member, in_transaction)
    choice = members.choose_member(person, text, project_code)
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
    return store.hand_on(ChatReply(choice.question, asked_back=True), in_transaction)


def _turn_to(member: Member, in_transaction: InTransaction) -> ChatReply:
    """Take the next messages to be about the member's study, and say so."""
    session.turn_to(member)
    session.leave_choice(member.person)
    with translation.override(member.language):
        told = _(
            "Switched to %(code)s (%(name)s). Your next questions are about this study, until you name another "
            "one or have asked nothing for %(minutes)d minutes."
        ) % {
            "code": member.project.code,
            "name": member.project.name,
            "minutes": session.LIFETIME_S // 60,
        }
    return store.hand_on(ChatReply(told, member.project), in_transaction)


def refuse(
    identity: str, project_code: str | None = None, in_transaction: InTransaction = None
) -> ChatReply:
    """The reply to somebody whom the house does not know, or who is in no (such) study; audited."""
    text = _("Sorry, you are not a member of a study here. Please contact your administrator.")
    with atomic():
        audit.record("member.refused", actor=identity, new={"project": project_code})
        return store.hand_on(ChatReply(text, refused=True), in_transaction)


def handle(
    *,
    project: Project,
    member: Member,
    text: str,
    in_transaction: InTransaction = None,
    answer_id: UUID | None = None,
) -> ChatReply:
    """Answer a member's message; every message ends in exactly one reply, at worst a fixed one."""
    started, down = now(), False
    with translation.override(member.language):
        try:
            with remembered():
                turn = prepare(project, member, text, started)
                turn.answer_id = answer_id
                outcomes = routed(turn)
        except (RedcapError, NotConfiguredError) as error:
            logger.warning("REDCap before the first answer: %s", error)
            fixed, down = redcap_down(error), True
        except NotSetError as error:
            fixed = error.message
        except Exception as error:
            # Type only: a message could quote the data it choked on.
            number = uuid.uuid4().hex[:8]
            logger.error("Message failed (%s): %s", number, type(error).__name__)
            logger.debug("Traceback", exc_info=error)
            fixed = texts.FAILED.format(number=number)
        else:
            return store.finished(turn, outcomes, in_transaction)
        return store.failed(member, text, fixed, in_transaction, answer_id, outside_down=down)


def routed(turn: Turn) -> list[tuple[Task, Outcome]]:
    """What a message's tasks come to, before anything is written; the console's preview asks here, too."""
    turn.reading = order.settle_offer(turn) or memory.settle_command(turn) or _read(turn)
    # Questions of data that follow each other are told in one answer, each other task by itself.
    jobs = list[list[Task]]()
    for kind, group in groupby(turn.reading.tasks, key=lambda task: task.kind):
        of_kind = list(group)
        jobs += [of_kind] if kind is TaskKind.DATA else [[task] for task in of_kind]
    room = turn.limit
    if len(jobs) > 1:
        frame = sum(len(store.heading(n, job[0], Outcome())) for n, job in enumerate(jobs, 1))
        room = max((turn.limit - frame) // len(jobs), LEAST_ROOM)
    answers = [
        partial(data.answer_data, turn, tasks, room)
        if tasks[0].kind is TaskKind.DATA
        else partial(HANDLERS[tasks[0].kind], turn, tasks[0], room)
        for tasks in jobs
    ]
    outcomes = run_all(answers)
    return [(tasks[0], outcome) for tasks, outcome in zip(jobs, outcomes, strict=True)]


def _read(turn: Turn) -> Reading:
    """What the message wants; what the next one may refer to is kept."""
    # What is asked of a site that is not the reader's no model may take for theirs.
    call = None if talk.refuse_other_site(turn, turn.asked) else call_of(turn, "ask")
    found = read.read(
        turn.asked,
        turn.setting,
        turn.state,
        call,
        lambda text: index.find_rules(turn.project, text).is_sure,
    )
    turn.keep(found.state)
    unclear = [task.said for task in found.tasks if task.unclear]
    for words in (*found.unread, *unclear):
        # What the study has no word for is what its people may teach the house.
        left = [one.said for one in scan(words, turn.setting) if one.kind is Kind.LEFT]
        turn.not_understood([word for word in left if len(word) > 1] or [words])
    return found

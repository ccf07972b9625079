"""The last steps: one reply, and everything it leaves behind in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house.db import atomic
from engines.assistant import texts
from engines.assistant.chat.handlers.talk import echo
from engines.assistant.chat.reply import ChatReply, Outcome
from engines.assistant.chat.turn import Turn
from engines.assistant.read.intents import intents_of
from engines.assistant.read.task import Task
from engines.assistant.tools.results import sources_of
from engines.models import AgentTrace
from memory import session, tasks
from memory.labels import INTENTS
from memory.log import flow_log
from memory.people import questions, turns
from projects import reads
from projects.members import headed
from projects.models import Member

_OF_SUBJECTS = ("read_clinical_data", "study_data")
InTransaction = Callable[[ChatReply], None] | None


def hand_on(reply: ChatReply, in_transaction: InTransaction) -> ChatReply:
    """The reply, with the channel's rows written in a transaction."""
    with atomic():
        if in_transaction:
            in_transaction(reply)
    return reply


def heading(number: int, task: Task, outcome: Outcome) -> str:
    """`1. [任务1] 已完成 / 结果:` (seed 001, 5.3, step 3)."""
    state = texts.TO_CONFIRM if outcome.guided else texts.DONE
    [intent] = intents_of([task])
    return f"{number}. [{INTENTS.get(intent, intent)}] {state}"


def finished(
    turn: Turn, outcomes: Sequence[tuple[Task, Outcome]], in_transaction: InTransaction
) -> ChatReply:
    """Write what the tasks left, the flow log, trace and usage; the channel's rows come last."""
    with atomic():
        told = [
            (task, outcome, outcome.finish() if outcome.finish else outcome.text)
            for task, outcome in outcomes
        ]
        text = _composed(turn, told)
        # Two values that the reader gave for one thing are asked once, where the reply leaves room.
        asked = questions.to_ask(turn.member, turn.limit - len(text))
        text = f"{text}\n{asked}" if asked else text
        intents = intents_of(turn.reading.tasks)
        answer_id = _append(turn, text, intents)
        _trace(turn, answer_id, intents)
        looked_at = [i for r in turn.results if r.tool in _OF_SUBJECTS for i in r.record_ids]
        # Subjects of whom the answer has values, or knows that there are none.
        read = [fact.subject for result in turn.results for fact in result.facts] + looked_at
        ids = [one for one in read if one]
        reads.note(actor=turn.member, project=turn.project, record_ids=ids, door="chat")
        turn.llm.save()
        reply = ChatReply(
            text=_labelled(turn, headed(text, turn.member)),
            project=turn.project,
            intents=intents,
            record_ids=list(turn.reading.record_ids),
            task_run_ids=list(turn.task_runs),
            tokens=turn.llm.tokens,
            calls=len(turn.llm.rows),
            sources=sources_of(turn.results),
            conversation_id=answer_id,
            outside_down=turn.outside_down,
            table=next((outcome.table for _task, outcome in outcomes if outcome.table), None),
            order=turn.order,
            choices=_choices(turn, [outcome for _task, outcome in outcomes]),
            asked_back=bool(outcomes) and all(outcome.asks for _task, outcome in outcomes),
        )
        if in_transaction:
            in_transaction(reply)
    spoken_of = looked_at + [i for i in turn.reading.record_ids if turn.scope.allows(i)]
    answer = text if len(told) == 1 else "\n".join(one for *_job, one in told)
    session.remember(
        turn.member,
        question=turn.plain(turn.resolved(turn.text)),
        answer=turn.plain(answer),
        said=(turn.text, answer),
        record_ids=list(dict.fromkeys(spoken_of))[:5],
        talk=turn.state.as_json(),
        order=turn.order,
        undo=turn.undo,
    )
    turns.after_reply(turn.member, turn.text, at=turn.at, wake=tasks.save_info.delay)
    return reply


def _choices(turn: Turn, outcomes: Sequence[Outcome]) -> tuple[tuple[str, str], ...]:
    """The readings that a number would choose from: those that were offered last."""
    offered = turn.state.offered
    told = (one.choices for one in outcomes if one.choices)
    return next((one for one in told if tuple(text for _label, text in one) == offered), ())


def _labelled(turn: Turn, text: str) -> str:
    """The reply with the label of generated content, where the study wants it and a model took part."""
    is_wanted = turn.project.labels_replies and turn.llm.rows
    return f"{text}\n{_('(AI-generated content)')}" if is_wanted else text


def _composed(turn: Turn, told: Sequence[tuple[Task, Outcome, str]]) -> str:
    """One task: its text. Several: a numbered reply in the order of handling. What was not read is said."""
    rows = [
        f"{heading(n, task, outcome)}{text}" if len(told) > 1 else text
        for n, (task, outcome, text) in enumerate(told, 1)
    ]
    unread = _("“%(words)s” was not understood.")
    rows += [unread % {"words": echo(turn.typed(words))} for words in turn.reading.unread]
    return "\n".join(rows)


def _append(turn: Turn, text: str, intents: Sequence[str]) -> str:
    ids = list(turn.reading.record_ids) or [rid for ids in turn.names.values() for rid in ids]
    asked = [task.question for task in turn.reading.tasks if task.question]
    entry = flow_log.Turn(
        question=turn.text,
        answer=text,
        intent=intents[0] if intents else "",
        entities={
            "intents": list(intents),
            "record_ids": ids,
            "visits": list(dict.fromkeys(name for one in asked for name in one.place)),
            "fields": list(dict.fromkeys(name for one in asked for name in one.select)),
        },
        record_id=ids[0] if ids else None,
    )
    row = flow_log.append(
        project=turn.project,
        user_id=turn.member.identity,
        turn=entry,
        at=turn.at,
        answer_id=turn.answer_id,
    )
    return str(row)


def _trace(turn: Turn, answer_id: str, intents: Sequence[str]) -> None:
    AgentTrace.objects.create(
        project=turn.project,
        user_id=turn.member.identity,
        query=str(turn.question(turn.text)),
        intent_type=intents[0] if intents else None,
        trace=turn.trace,
        token_usage=turn.llm.tokens,
        duration=int((now() - turn.at).total_seconds() * 1000),
        success=turn.success,
        prompt_version="+".join(dict.fromkeys("+".join(turn.versions).split("+")))[:255],
        model=turn.llm.model,
        models_asked=turn.llm.asked,
        left_out=list(turn.hot.left_out),
        replaced=turn.gate.replaced,
        is_open=turn.is_open,
        answer_id=answer_id,
    )


def failed(
    member: Member,
    text: str,
    answer: str,
    in_transaction: InTransaction,
    answer_id: UUID | None = None,
    *,
    outside_down: bool = False,
) -> ChatReply:
    """A fixed final reply when no answer could be made; logged like every other one."""
    project = member.project
    with atomic():
        entry = flow_log.Turn(question=text, answer=answer, intent="", entities={"intents": []})
        answer_id = flow_log.append(
            project=project, user_id=member.identity, turn=entry, at=now(), answer_id=answer_id
        )
        # The question is not repeated here: without a gate it could not be de-identified.
        AgentTrace.objects.create(
            project=project,
            user_id=member.identity,
            query="",
            trace=[{"iteration": 0, "thought": "failed", "observation": answer}],
            success=False,
        )
        reply = ChatReply(
            text=headed(answer, member),
            project=project,
            conversation_id=str(answer_id),
            outside_down=outside_down,
        )
        return hand_on(reply, in_transaction)

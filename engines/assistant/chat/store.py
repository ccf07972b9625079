"""The last steps: one reply, and everything it leaves behind in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from django.utils.timezone import now

from engines.assistant.chat import texts
from engines.assistant.chat.reply import ChatReply, Outcome
from engines.assistant.chat.turn import Turn
from engines.assistant.intents import Part
from engines.assistant.tools.results import sources_of
from engines.models import AgentTrace
from house.db import atomic
from memory import session
from memory.labels import INTENTS
from memory.log import flow_log
from memory.people import questions
from memory.people.after_reply import after_reply
from projects import reads
from projects.models import Member, Project

_OF_SUBJECTS = ("read_clinical_data", "study_data")
InTransaction = Callable[[ChatReply], None] | None


def heading(number: int, part: Part, outcome: Outcome) -> str:
    """`1. [任务1] 已完成 / 结果:` (seed 001, 5.3, step 3)."""
    state = texts.TO_CONFIRM if outcome.guided else texts.DONE
    return f"{number}. [{label(part.intent)}] {state}"


def label(intent: str) -> str:
    """What people call a task."""
    return str(INTENTS.get(intent, intent))


def finished(
    turn: Turn, outcomes: Sequence[tuple[Part, Outcome]], in_transaction: InTransaction
) -> ChatReply:
    """Write what the tasks left, the flow log, trace and usage; the channel's rows come last."""
    with atomic():
        told = [
            (part, outcome, outcome.finish() if outcome.finish else outcome.text)
            for part, outcome in outcomes
        ]
        text = _with_question(turn, compose(told, turn.limit))
        answer_id = _append(turn, text)
        _trace(turn, text)
        reads.note(actor=turn.member, project=turn.project, record_ids=_read(turn), door="chat")
        turn.llm.save()
        reply = ChatReply(
            text=text,
            project=turn.project,
            intents=list(turn.detection.intents),
            record_ids=list(turn.detection.record_ids),
            task_run_ids=list(turn.task_runs),
            tokens=turn.llm.tokens,
            sources=sources_of(turn.results),
            conversation_id=answer_id,
            outside_down=turn.outside_down,
            sheet=next((outcome.sheet for _part, outcome in outcomes if outcome.sheet), None),
        )
        if in_transaction:
            in_transaction(reply)
    session.remember(
        turn.member,
        question=turn.plain(turn.resolved(turn.text)),
        answer=turn.plain(said(told, text)),
        record_ids=_spoken_of(turn),
        talk=turn.talk.as_json(),
    )
    after_reply(turn.member, turn.text, at=turn.at)
    return reply


def _with_question(turn: Turn, text: str) -> str:
    """Two values that the reader gave for one thing are asked once, where the reply leaves room."""
    asked = questions.to_ask(turn.member, turn.limit - len(text))
    return f"{text}\n{asked}" if asked else text


def compose(told: Sequence[tuple[Part, Outcome, str]], limit: int) -> str:
    """One task: its text. Several: a numbered reply in the order of handling."""
    if len(told) == 1:
        return told[0][2]
    rows = [f"{heading(n, part, outcome)}{text}" for n, (part, outcome, text) in enumerate(told, 1)]
    return "\n".join(rows)


def said(told: Sequence[tuple[Part, Outcome, str]], text: str) -> str:
    """A reply as the session keeps it: without the frame of a numbered one, which a model would copy."""
    return text if len(told) == 1 else "\n".join(answer for _part, _outcome, answer in told)


def _append(turn: Turn, text: str) -> str:
    found = turn.detection
    ids = found.record_ids or [rid for ids in turn.names.values() for rid in ids]
    entry = flow_log.Turn(
        question=turn.text,
        answer=text,
        intent=found.intents[0] if found.intents else "",
        entities={
            "intents": list(found.intents),
            "record_ids": list(ids),
            "visits": list(found.visits),
            "fields": [],
        },
        record_id=ids[0] if ids else None,
    )
    return str(
        flow_log.append(
            project=turn.project,
            user_id=turn.member.identity,
            turn=entry,
            at=turn.at,
            answer_id=turn.answer_id,
        )
    )


def _trace(turn: Turn, text: str) -> None:
    AgentTrace.objects.create(
        project=turn.project,
        user_id=turn.member.identity,
        query=str(turn.gate.text(turn.resolved(turn.text), own=True)),
        intent_type=turn.detection.intents[0] if turn.detection.intents else None,
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
    )


def _read(turn: Turn) -> list[str]:
    """Subjects of whom the answer has values, or knows that there are none."""
    facts = [fact.subject for result in turn.results for fact in result.facts]
    return [rid for rid in [*facts, *_looked_at(turn)] if rid]


def _looked_at(turn: Turn) -> list[str]:
    return [
        rid for result in turn.results if result.tool in _OF_SUBJECTS for rid in result.record_ids
    ]


def _spoken_of(turn: Turn) -> list[str]:
    ids = _looked_at(turn)
    ids += [rid for rid in turn.detection.record_ids if turn.scope.allows(rid)]
    return list(dict.fromkeys(ids))[:5]


def failed(
    project: Project,
    member: Member,
    text: str,
    answer: str,
    in_transaction: InTransaction,
    answer_id: UUID | None = None,
    *,
    outside_down: bool = False,
) -> ChatReply:
    """A fixed final reply when no answer could be made; logged like every other one."""
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
            text=answer,
            project=project,
            conversation_id=str(answer_id),
            outside_down=outside_down,
        )
        if in_transaction:
            in_transaction(reply)
    return reply

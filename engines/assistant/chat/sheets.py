"""From sources to what the reader is told: a sheet of lines behind the gate, a plan, and the trace of both."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.house import clock
from core.integrations.llm import LlmError
from core.llm import prompts, standing
from core.llm.asking import TokenCapReached
from core.llm.prompts import Prompt
from core.privacy.outbound_policy import PrivacyError
from engines.assistant.chat.turn import Turn
from engines.assistant.context import Material, assemble
from engines.assistant.say.answer import Said, say_answer
from engines.assistant.say.choose import Call, choose
from engines.assistant.say.lines import Builder, sheet_of
from engines.assistant.say.plan import Plan, Step
from engines.assistant.say.reader import Reader
from engines.assistant.say.sheet import Answered, Line, Sheet
from study.records import outage

logger = logging.getLogger(__name__)

MOST_TOKENS = 900
_STRETCH = 2.5
"""Times its characters that an answer may take before a list of subjects in it is cut."""
_ANCHOR = "Day "
"""Stands in an answer that told which day is the first: once a session is enough."""


@dataclass
class Sources:
    """The lines of one answer as they are collected; nothing gets in that the privacy gate has not passed."""

    turn: Turn
    reader: Reader
    answered: list[Answered] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.builder = Builder(lambda text: str(self.turn.gate.blocks([text])))

    def add(self, lines: Iterable[Line]) -> tuple[str, ...]:
        """The marks of further lines."""
        return self.builder.add(lines)

    def add_data(self, asked: Iterable[Answered]) -> None:
        """Questions of data with their answers."""
        for one in asked:
            self.answered.append(self.builder.answered(one.question, one.results, self.reader))

    def sheet(self) -> Sheet:
        """All lines so far."""
        return sheet_of(self.builder, self.reader, self.answered)

    def told(self, question: str) -> Said:
        """The answer: by a model's plan where there is one, else the plain one."""
        return self.planned(self._plan(question))

    def chosen(self, question: str) -> Said | None:
        """What a model chose to tell; None where none may be asked, or no line answers."""
        plan = self._plan(question)
        return self.planned(plan) if plan is not None and plan.say else None

    def quoted(self, marks: Sequence[str]) -> Said:
        """Some lines as they stand."""
        return self.planned(Plan(say=(Step(op="quote", of=tuple(marks)),)))

    def planned(self, plan: Plan | None) -> Said:
        """The answer by a plan, None: the plain one; kept in the trace with the lines behind each sentence."""
        sheet = self.sheet()
        said = say_answer(sheet, self.reader, plan)
        spans = [
            {
                "text": one.text,
                "lines": [f"[{x.mark}] {x.text}" for x in map(sheet.line, one.marks) if x],
            }
            for one in said.told
        ]
        self.turn.note("say", spans=spans)
        return said

    def _plan(self, question: str) -> Plan | None:
        call = call_of(self.turn, "say")
        if call is None:
            return None
        notes = self.turn.skill.switches.notes
        return choose(self.sheet(), str(self.turn.question(question)), call, with_note=notes)


def reader_of(turn: Turn, limit: int) -> Reader:
    """For whom an answer is written."""
    return Reader(
        design=turn.design,
        now=clock.now(),
        subjects=turn.roster.present,
        sites=turn.sites,
        own_site=turn.member.site,
        limit=limit,
        whole=limit if turn.is_bounded else int(limit * _STRETCH),
        fresh_minutes=turn.project.fresh_minutes,
        language=turn.member.language,
        masked=turn.plain,
        outage=outage(turn.project),
        says_anchor=not any(_ANCHOR in said["content"] for said in turn.session.messages),
    )


def call_of(turn: Turn, purpose: str) -> Call | None:
    """The study's model for one purpose, "ask" or "say"; None where none may be asked for it.

    De-identified texts and a strict schema in, an object out. The call gives None where the model is away, its
    budget is used up or it says no object: what was read offline stands then.
    """
    uses = turn.skill.switches
    if not uses.model or (purpose == "ask" and not uses.ask_intent):
        return None
    model = turn.llm.of(standing.MODEL_OF[purpose])
    try:
        if not model.may(purpose):
            return None
    except (LlmError, PrivacyError):
        return None

    def call(system: str, user: str, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
        prompt = assemble(
            gate=turn.gate,
            system=Prompt(system, prompts.version(purpose)),
            question=turn.gate.text(user, own=True),
            material=material_of(turn),
        )
        try:
            done = model.ask(
                prompt.messages,
                purpose=purpose,
                version=prompt.version,
                schema=schema,
                temperature=0.0,
                top_p=1.0,
                max_tokens=MOST_TOKENS,
                tries=1,
                is_choice=purpose == standing.SAY,
            )
            said = done.json()
        except TokenCapReached:
            turn.note("token cap")
            return None
        except (LlmError, PrivacyError) as error:
            logger.warning("%s: %s", purpose, error)
            turn.note("llm" if isinstance(error, LlmError) else "privacy", observation=str(error))
            return None
        turn.versions.append(prompt.version)
        turn.note(purpose, observation=str(said))
        return {str(key): _restored(value, turn.gate.restore) for key, value in said.items()}

    return call


def material_of(turn: Turn, *, session: bool = False) -> Material:
    """What every prompt carries, as far as the study has it on; `session`: what was said before, too."""
    uses = turn.skill.switches
    return Material(
        skill=turn.skill,
        hot=turn.hot.text if uses.hot_memory else "",
        facts=turn.facts if uses.own_memory else "",
        session=turn.session.text if session and uses.session else "",
    )


def _restored(said: Any, back: Callable[[str], str]) -> Any:
    """The object with what was masked in quoted words put back, so that they are words of the message."""
    if isinstance(said, str):
        return back(said)
    if isinstance(said, Mapping):
        return {str(key): _restored(value, back) for key, value in said.items()}
    return [_restored(one, back) for one in said] if isinstance(said, list) else said

"""Turning what was read into words: one call over numbered lines, verified, at most one more, else the plain
answer (design.md 5a.5)."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from engines import render
from engines.assistant.chat import sources, texts
from engines.assistant.chat.turn import Turn
from engines.assistant.context import Assembled, assemble
from engines.assistant.intents import Part
from engines.assistant.lines.types import Line, Sheet
from engines.assistant.tools import Status, ToolResult
from engines.assistant.verify import Verdict, verify
from integrations.llm import LlmError, Message
from language.values import PLACEHOLDER
from llm import prompts
from llm.asking import TokenCapReached
from privacy.outbound_policy import PrivacyError
from study.facts import Flag, Kind

logger = logging.getLogger(__name__)

_CODE = re.compile(
    r'^\s*(?:```|[{\[]\s*[{"])|"(?:tool|arguments|tool_calls)"\s*:|<data [0-9a-f]{6}>'
)
"""A tool call that the model wrote as its answer."""
_FRAME = re.compile(
    r"(?:\d+\.\s*)?\[[^\]\n]{1,20}\]\s*"
    rf"(?:{'|'.join(re.escape(state.rstrip(':')) for state in (texts.DONE, texts.TO_CONFIRM))})[:\uff1a]?"
)
"""The heading of a task in a numbered reply: ours to write, never the model's."""


_OUT = frozenset({Flag.HIGH, Flag.LOW})


@dataclass(frozen=True)
class Draft:
    """What an answer may use. `fallback`: the plain answer, said where the model gives none that holds.

    `subjects`: each must be told of; `is_enough`: the plain answer lacks nothing, so that nothing has to be
    said of a model that is away; `tries`: how often the model may be asked.
    """

    part: Part
    sheet: Sheet
    fallback: str = ""
    limit: int = 150
    subjects: Sequence[str] = ()
    is_enough: bool = False
    tries: int = 2


@dataclass(frozen=True)
class Told:
    """A model's words as the verifier sees them, and what else keeps them from the reader."""

    verdict: Verdict
    faults: tuple[str, ...] = ()

    @property
    def problems(self) -> list[str]:
        """Why they may not go out, in words for the model."""
        refused = (
            f"「{span.text.strip()}」{span.reason}"
            for span in self.verdict.spans
            if span.refused_by
        )
        return [*refused, *self.faults]


def answer(turn: Turn, draft: Draft) -> str:
    """The reader's text: the model's words, or what stands in for them and why."""
    text, note = worded(turn, draft)
    return text or render.cut(draft.fallback, draft.limit - len(note)) + note


def worded(turn: Turn, draft: Draft) -> tuple[str, str]:
    """The model's words, verified and with identifiers as this reader may see them; "" and a note for none.

    The note says why there is no model today; "" where it only said nothing useful.
    """
    if not turn.skill.switches.model:
        turn.note("model off")
        turn.success = turn.success and bool(draft.sheet.own)
        return "", ""
    text, note = _said(turn, draft)
    turn.success = turn.success and bool(text or draft.sheet.own)
    return text, note


def _said(turn: Turn, draft: Draft) -> tuple[str, str]:
    """What the model says, if it can be trusted; else "" and the note."""
    try:
        return _checked(turn, draft), ""
    except TokenCapReached:
        turn.note("token cap")
        used = _("(today's LLM budget is used up; the data as read)")
        note = used if draft.sheet.own else f"\n{cap_reached()}"
    except LlmError as error:
        logger.warning("LLM: %s", error)
        turn.note("llm", observation=str(error))
        turn.outside_down |= not draft.is_enough
        note = _("(the LLM is not available; the data as read)") if draft.sheet.own else ""
    except PrivacyError as error:
        logger.error("Privacy: %s", error)
        turn.note("privacy", observation=str(error))
        note = ""
    return "", "" if draft.is_enough else note


def cap_reached() -> str:
    """What a reader is told when the study's tokens of today are used up."""
    return _(
        "Today's LLM budget of this study is used up. Questions about data are still answered."
    )


def _checked(turn: Turn, draft: Draft) -> str:
    """The first of at most two answers that may go out and has room."""
    prompt = assemble(
        gate=turn.gate,
        task=draft.part.intent,
        question=turn.question(draft.part),
        limit=draft.limit,
        material=sources.material(turn, draft.sheet.lines),
    )
    turn.versions.append(prompt.version)
    messages, purpose, version = prompt.messages, "chat", prompt.version
    long = ""
    for _attempt in range(draft.tries):
        said = _ask(turn, messages, purpose, version)
        told = judged(turn, said, draft.sheet)
        note(turn, draft.part, said, told, draft.sheet, action=str(prompt.parts))
        if not said:
            return ""
        if told.problems:
            again = prompts.load("retry", problems=";".join(told.problems))
            purpose = "ground"
        elif not answers(told.verdict, draft):
            return ""
        elif len(told.verdict.text) > draft.limit:
            again, purpose = prompts.load("shorter", limit=draft.limit), "shorten"
            long = told.verdict.text
        else:
            return turn.gate.restore(told.verdict.text)
        messages, version = _continued(turn, prompt, said, again), again.version
    # Where there are data the plain answer says more than what is left of one that was cut.
    return "" if draft.sheet.own else render.cut(turn.gate.restore(long), draft.limit)


def note(turn: Turn, part: Part, said: str, told: Told, sheet: Sheet, **more: str) -> None:
    """Keep in the trace what a model said, span by span with the lines that it cites."""
    spans = [
        {
            "text": span.text,
            "refused_by": span.refused_by,
            "reason": span.reason,
            "lines": [f"[{line.mark}] {line.text}" for line in map(sheet.line, span.marks) if line],
        }
        for span in told.verdict.spans
    ]
    turn.note(part.intent, observation=said or "-", spans=spans, **more)


def _continued(turn: Turn, prompt: Assembled, said: str, again: prompts.Prompt) -> list[Message]:
    answered = Message("assistant", turn.gate.text(said))
    return [*prompt.messages, answered, Message("user", turn.gate.text(again.text))]


def _ask(turn: Turn, messages: Sequence[Message], purpose: str, version: str) -> str:
    turn.versions.append(version)
    said = turn.llm.ask(messages, purpose=purpose, version=version).content
    return _FRAME.sub("", said).strip()


def judged(turn: Turn, said: str, sheet: Sheet) -> Told:
    """What the verifier says of a model's words, and whether they hold an identifier or code.

    What went out was masked, so an identifier in the answer was made up, or got there by a leak.
    """
    verdict = verify(said, sheet)
    faults = [f"「{token}」是编造的" for token in turn.gate.invented(said)]
    if PLACEHOLDER.findall(turn.gate.text(said)) != PLACEHOLDER.findall(said):
        faults.append("不得出现个人标识")
    if _CODE.search(said):
        faults.append("不得返回 JSON")
    return Told(verdict, tuple(faults))


def answers(verdict: Verdict, draft: Draft) -> bool:
    """Whether an answer rests on what was read for the question, of each subject that it is about."""
    # Of the study as a whole only the figure that was asked for is an answer.
    wanted = draft.sheet.own if draft.subjects else draft.sheet.asked or draft.sheet.own
    if not wanted:
        return True
    marks = {mark for span in verdict.spans for mark in span.marks}
    figures = {
        (f.kind, f.value) for line in draft.sheet.lines if line.mark in wanted for f in line.facts
    }
    cited = [
        line
        for line in draft.sheet.lines
        if line.mark in marks
        and (line.mark in wanted or (not draft.subjects and _tells(line, figures)))
    ]
    told = {who for line in cited for who in _about(line)}
    return bool(cited) and set(draft.subjects) <= told and not _leaves_out(cited, draft.sheet)


def _tells(line: Line, figures: Collection[tuple[Kind, object]]) -> bool:
    """Whether a line read beside the question has the figure that answers it."""
    return any(f.kind is Kind.AGGREGATE and (f.kind, f.value) in figures for f in line.facts)


def _leaves_out(cited: Sequence[Line], sheet: Sheet) -> bool:
    """Whether an answer goes through the readings that were asked for and leaves some out.

    One reading that it chose is an answer, so are the first and the last of a course, and the newest where none
    before them is out of its limits; the first four of six read like all of them, and so does one of two rows
    of a form. A blank needs no word.
    """
    series: dict[tuple[str, str, str, bool], list[tuple[bool, bool]]] = {}
    for line in sheet.lines:
        for fact in line.facts if line.mark in sheet.asked else ():
            key = (fact.subject, fact.instrument, fact.label, fact.instance is not None)
            if fact.kind is not Kind.BLANK:
                series.setdefault(key, []).append((line in cited, bool(fact.flags & _OUT)))
    return any(
        _is_part([one for one, _out in told], [out for _one, out in told], of_rows)
        for (*_key, of_rows), told in series.items()
    )


def _is_part(told: Sequence[bool], out: Sequence[bool], of_rows: bool) -> bool:
    if not (0 if of_rows else 1) < sum(told) < len(told) or (told[0] and told[-1]):
        return False
    first = told.index(True)
    is_newest = all(told[first:]) and not any(out[:first])
    return of_rows or not is_newest


def _about(line: Line) -> Iterable[str]:
    of_facts = {fact.subject for fact in line.facts}
    return of_facts or (line.scope.subjects if line.scope else ())


def marked(text: str, results: Sequence[ToolResult], limit: int) -> str:
    """A partial read is never shown as clean (design.md 9.8)."""
    note = _("(the data could not be read completely)")
    partial = any(result.status is Status.INCOMPLETE for result in results)
    if not partial or _("(incomplete)") in text or note in text:
        return render.cut(text, limit)
    return render.cut(text, limit - len(note)) + note

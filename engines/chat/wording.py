"""Turning what was read into words: one call, checked, at most one retry, else the data themselves."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from engines import prompts, render
from engines.chat import texts
from engines.chat.relevance import answers, leads, of_subjects, recalls, says_nothing, tells_rule
from engines.chat.turn import Turn
from engines.context import Assembled, assemble
from engines.grounding import Sources, check
from engines.grounding.values import plain
from engines.intents import Part
from engines.llm import TokenCapReached
from engines.tools import Fact, Status, ToolResult
from integrations.llm import LlmError, Message
from integrations.privacy import PLACEHOLDER, PrivacyError

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


@dataclass
class Draft:
    """What an answer may use. `fallback` is said when the model gives nothing that is grounded.

    `needed`: facts of which at least one must stand in the answer, with `first` in its first sentence,
    with `every` all of them; `subjects`: nobody else may be spoken of; `trusted`: "there is none" is an
    answer; `last`: the words are a regeneration already.
    """

    part: Part
    results: Sequence[ToolResult] = ()
    history: Sequence[str] = ()
    fallback: str = ""
    asked: Sequence[str] = ()
    limit: int = 150
    needed: Sequence[Fact] = ()
    first: bool = False
    every: bool = False
    subjects: Sequence[str] = ()
    trusted: bool = False
    last: bool = False


def answer(turn: Turn, draft: Draft) -> str:
    """The reader's text: the model's words, or what stands in for them and why."""
    text, note = worded(turn, draft)
    text = text or render.cut(draft.fallback, draft.limit - len(note)) + note
    return marked(text, draft.results, draft.limit)


def worded(turn: Turn, draft: Draft) -> tuple[str, str]:
    """The model's words, grounded and with identifiers as this reader may see them; "" and a note for none.

    The note says why there is no model today; "" where it only said nothing useful.
    """
    if not turn.skill.switches.model:
        turn.note("model off")
        turn.success = turn.success and _is_data(draft)
        return "", ""
    question = turn.question(draft.part)
    prompt = assemble(
        gate=turn.gate,
        task=draft.part.intent,
        question=question,
        limit=draft.limit,
        material=turn.material(history=draft.history, results=draft.results),
    )
    turn.versions.append(prompt.version)
    text, note = _said(turn, draft, prompt)
    turn.note(draft.part.intent, observation=text or "-", action=str(prompt.parts))
    if text and not _useful(text, draft, *_recalled(turn, draft, text)):
        turn.note("relevance", observation=text)
        text = ""
    if not text:
        turn.success = turn.success and _is_data(draft)
    return text, note


def _recalled(turn: Turn, draft: Draft, text: str) -> tuple[bool, bool]:
    """Whether it stands in hot memory, to the point (of the subjects that were asked about, a figure where
    one was) or beside it."""
    question = str(turn.question(draft.part))
    if not recalls(text, question, turn.hot.text):
        return False, False
    if draft.subjects:
        lines = turn.hot.text.splitlines()
        own = [line for line in lines if any(rid in line for rid in draft.subjects)]
        near = recalls(text, question, "\n".join(own))
    else:
        near = draft.part.intent != "count_records" or any(map(str.isdigit, text))
    return near, not near


def _useful(text: str, draft: Draft, recalled: bool, beside: bool) -> bool:
    """An answer beside the point is no answer, while the data that were asked for lie there.

    What hot memory says of the question is to the point (`recalled`), of something else `beside` it.
    """
    if beside or (draft.subjects and not of_subjects(text, draft.subjects)):
        return False
    if recalled:
        return True
    rules = [result.excerpt.then for result in draft.results if result.excerpt]
    if not all(tells_rule(text, then) for then in rules):
        return False
    if draft.needed:
        # What the reader will see of it: a figure that is cut off answers nothing.
        seen = render.cut(text, draft.limit)
        if draft.every and not all(_told(seen, fact, draft.needed) for fact in draft.needed):
            return False
        return (leads if draft.first else answers)(seen, draft.needed)
    return draft.trusted or not draft.fallback or not says_nothing(text)


def _told(seen: str, fact: Fact, needed: Sequence[Fact]) -> bool:
    """Whether a value stands there, with its own name where another one is the same (上周 0, 本周 0)."""
    twins = sum(other.value == fact.value for other in needed) > 1 and fact.names
    named = not twins or any(plain(n).casefold() in plain(seen).casefold() for n in fact.names)
    return named and answers(seen, [fact])


def _is_data(draft: Draft) -> bool:
    return any(result.has_data for result in draft.results) or bool(draft.history)


def marked(text: str, results: Sequence[ToolResult], limit: int) -> str:
    """A partial read is never shown as clean (design.md 9.8)."""
    note = _("(the data could not be read completely)")
    partial = any(result.status is Status.INCOMPLETE for result in results)
    if not partial or _("(incomplete)") in text or note in text:
        return render.cut(text, limit)
    return render.cut(text, limit - len(note)) + note


def _said(turn: Turn, draft: Draft, prompt: Assembled) -> tuple[str, str]:
    """What the model says, if it can be trusted; else "" and the note."""
    try:
        return _checked(turn, draft, prompt), ""
    except TokenCapReached:
        turn.note("token cap")
        used = _("(today's LLM budget is used up; the data as read)")
        return "", used if _is_data(draft) else f"\n{cap_reached()}"
    except LlmError as error:
        logger.warning("LLM: %s", error)
        turn.note("llm", observation=str(error))
        turn.outside_down = True
        down = _("(the LLM is not available; the data as read)")
        return "", down if _is_data(draft) else ""
    except PrivacyError as error:
        logger.error("Privacy: %s", error)
        turn.note("privacy", observation=str(error))
    return "", ""


def cap_reached() -> str:
    """What a reader is told when the study's tokens of today are used up."""
    return _(
        "Today's LLM budget of this study is used up. Questions about data are still answered."
    )


def _checked(turn: Turn, draft: Draft, prompt: Assembled) -> str:
    sources = sources_of(turn, draft.results, draft.history, draft.asked)
    text = _ask(turn, prompt.messages, "chat", prompt.version)
    problems = faults(turn, text, sources)
    if text and problems:
        turn.note("grounding", observation="、".join(problems))
        if draft.last:
            return ""
        retry = prompts.load("retry", problems="、".join(problems))
        text = _ask(turn, _continued(turn, prompt, text, retry), "ground", retry.version)
        if faults(turn, text, sources):
            return ""
    if len(text) > draft.limit:
        shorter = prompts.load("shorter", limit=draft.limit)
        brief = _ask(turn, _continued(turn, prompt, text, shorter), "shorten", shorter.version)
        if brief and len(brief) < len(text) and not faults(turn, brief, sources):
            text = brief
    return turn.gate.restore(text)


def _continued(turn: Turn, prompt: Assembled, said: str, again: prompts.Prompt) -> list[Message]:
    answered = Message("assistant", turn.gate.text(said))
    return [*prompt.messages, answered, Message("user", turn.gate.text(again.text))]


def _ask(turn: Turn, messages: Sequence[Message], purpose: str, version: str) -> str:
    turn.versions.append(version)
    said = turn.llm.ask(messages, purpose=purpose, version=version).content
    return _FRAME.sub("", said).strip()


def faults(turn: Turn, text: str, sources: Sources) -> list[str]:
    """What keeps a model's words from the reader: no source, an identifier, a made-up placeholder, code.

    What went out was masked, so an identifier in the answer was made up, or got there by a leak.
    """
    invented = turn.gate.invented(text)
    named = PLACEHOLDER.findall(turn.gate.text(text)) != PLACEHOLDER.findall(text)
    words = [*(["个人标识"] if named else []), *(["JSON"] if _CODE.search(text) else [])]
    return [*check(text, sources), *invented, *words]


def sources_of(
    turn: Turn,
    results: Sequence[ToolResult],
    history: Sequence[str] = (),
    asked: Sequence[str] = (),
) -> Sources:
    """What an answer may rest on (decisions.md, "有据"); the question is not among it."""
    lines = [line for line in turn.hot.text.split("\n") if line.strip()]
    talk = [
        message["content"] for message in turn.session.messages if message["role"] == "assistant"
    ]
    return Sources(
        results=results,
        blocks=[*lines, *history, *turn.facts.split("\n")],
        talk=talk,
        record_ids=[rid for rid in turn.detection.record_ids if turn.scope.allows(rid)],
        asked=asked,
        names=turn.detection.visits,
        labels={name: turn.context.metadata.label(name) for name in turn.context.metadata.fields},
    )

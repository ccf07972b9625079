"""Talk, vague questions for the ReAct engine, and what is not our business."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from engines import render
from engines.chat import texts
from engines.chat.reply import Outcome
from engines.chat.turn import Turn
from engines.chat.wording import Draft, answer, faults, sources_of
from engines.context import Material, assemble
from engines.intents import Part
from engines.tools import READONLY_TOOLS, ToolResult, get
from integrations.llm import LlmError
from integrations.privacy import PrivacyError


def chat(turn: Turn, part: Part, results: Sequence[ToolResult], limit: int) -> Outcome:
    """One call without tools."""
    fallback = _(
        "Hello! I answer questions about subjects, counts, visits and the protocol, and start quality control."
    )
    return Outcome(answer(turn, Draft(part, fallback=fallback, limit=limit)))


def off_topic(turn: Turn, part: Part, results: Sequence[ToolResult], limit: int) -> Outcome:
    """A fixed polite text; no call."""
    return Outcome(
        _(
            "Sorry, I can only help with this study: subjects, enrolment, visits, protocol and quality control."
        )
    )


def reason(turn: Turn, part: Part, results: Sequence[ToolResult], limit: int) -> Outcome:
    """Several steps with read-only tools; only the final answer leaves."""
    from engines.react import ReActEngine

    extra = {"tools": _tool_list()}
    try:
        native = turn.llm.has_tools
    except (LlmError, PrivacyError):
        turn.outside_down = True
        return Outcome(texts.FUSE)
    system = "react" if native else "react_text"
    prompt = assemble(
        gate=turn.gate,
        task=part.intent,
        question=turn.question(part),
        limit=limit,
        material=Material(hot=turn.hot.text, facts=turn.facts, session=turn.session.text),
        system=system,
        **extra,
    )
    turn.versions.append(prompt.version)
    engine = ReActEngine(turn.llm, turn.context)
    found = engine.run(prompt)
    turn.trace += found.trace
    turn.results += found.results
    turn.outside_down |= found.outside_down
    turn.success = turn.success and found.success
    good = [result for result in found.results if result.has_data]
    return Outcome(_final(turn, part, found.success, found.content, good, limit), results=good)


def _tool_list() -> str:
    tools = [get(name) for name in READONLY_TOOLS]
    return "\n".join(f"- {tool.name}: {tool.description}" for tool in tools if tool)


def _final(
    turn: Turn,
    part: Part,
    success: bool,
    content: str,
    results: Sequence[ToolResult],
    limit: int,
) -> str:
    """The grounded answer, or the fixed text followed by what was read, marked incomplete."""
    if not success:
        return _with_data(content, results, part, limit)
    text = content.strip()
    problems = faults(turn, text, sources_of(turn, results)) if text else ["-"]
    if problems:
        turn.note("grounding", observation="、".join(problems))
        text = _again(turn, part, text, problems, results, limit) if text else ""
    if not text:
        turn.success = False
        nothing = _("I have no reliable answer to this. Please ask more precisely.")
        return _with_data("", results, part, limit) or nothing
    return render.cut(turn.gate.restore(text), limit)


def _again(
    turn: Turn,
    part: Part,
    text: str,
    problems: Sequence[str],
    results: Sequence[ToolResult],
    limit: int,
) -> str:
    """One regeneration over the data that was read; "" when it is not grounded either."""
    draft = Draft(part, results=results, limit=limit)
    return answer(turn, draft)


def _with_data(fixed: str, results: Sequence[ToolResult], part: Part, limit: int) -> str:
    note = _("(incomplete)")
    shown = render.results_text(results, part.text, max(limit - len(fixed) - len(note) - 1, 40))
    if not shown:
        return fixed
    return "\n".join(filter(None, [fixed, shown if note in shown else shown + note]))

"""Talk, vague questions for the ReAct engine, and what is not our business."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.utils.translation import gettext as _

from engines import render
from engines.assistant.chat import sources, texts
from engines.assistant.chat.handlers import study_data, undecided
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.subjects import subjects
from engines.assistant.chat.turn import Turn
from engines.assistant.chat.wording import (
    Draft,
    answer,
    cap_reached,
    judged,
    marked,
    note,
    worded,
)
from engines.assistant.context import Assembled, assemble
from engines.assistant.intents import Part
from engines.assistant.lines.builder import Builder, text_of
from engines.assistant.lines.types import Line, Sheet
from engines.assistant.react import ReActEngine, ReActResult
from engines.assistant.tools import READONLY_TOOLS, ToolResult, definitions
from integrations.llm import LlmAbilityMissing, LlmError
from privacy.outbound_policy import PrivacyError
from study.protocol.index import excerpt

LONGEST = 500
_AGAIN = re.compile(
    r"(?:请|麻烦)?你?(?:再|重新?)(?:说|讲|发|回答|重复)?一?[遍次下]|(?:请|麻烦)?重复一?[遍下]"
    r"|(?:say|repeat) (?:that|it)(?: again)?|again",
    re.IGNORECASE,
)
_LAST_QUESTION = re.compile(
    r"(?:那)?我(?:上[次一回]个?|刚刚?才?|之前|前面)(?:都)?(?:问|说)(?:的|了|过|到)*(?:问题)?(?:是|都是)?(?:什么|啥|哪个)(?:来着|问题)?"
    r"|我的?上[一]?个问题是什么|what did i (?:just )?ask",
    re.IGNORECASE,
)


def asks_again(part: Part) -> bool:
    """Whether a message asks for the last answer or the last question."""
    text = part.text.strip(" ?？。!！")
    return bool(_AGAIN.fullmatch(text) or _LAST_QUESTION.fullmatch(text))


def again(turn: Turn, part: Part, limit: int) -> Outcome:
    """The reader's last question, or the last answer, out of the running session."""
    said = [message["content"] for message in turn.session.messages]
    if not said:
        return Outcome(_("There is nothing before this in our conversation."))
    wanted = said[-2] if _LAST_QUESTION.fullmatch(part.text.strip(" ?？。!！")) else said[-1]
    return Outcome(render.cut(turn.gate.restore(wanted), limit))


def chat(turn: Turn, part: Part, limit: int) -> Outcome:
    """One call without tools."""
    fallback = _(
        "Hello! I answer questions about subjects, counts, visits and the protocol, and start quality control."
    )
    return Outcome(
        answer(turn, Draft(part, sources.sheet(turn, part), fallback=fallback, limit=limit))
    )


def off_topic(turn: Turn, part: Part, limit: int) -> Outcome:
    """A fixed polite text; no call."""
    return Outcome(
        _(
            "Sorry, I can only help with this study: subjects, enrolment, visits, protocol and quality control."
        )
    )


def reason(turn: Turn, part: Part, limit: int) -> Outcome:
    """Several steps with read-only tools; only the final answer leaves."""
    if not turn.skill.switches.model:
        turn.success = False
        return Outcome(unreliable())
    builder = sources.builder_of(turn)
    sources.add_background(turn, builder)
    try:
        found = _run(turn, part, builder, limit)
    except (LlmError, PrivacyError):
        turn.outside_down = True
        found = ReActResult(False, texts.FUSE, [], [], outside_down=True)
    turn.trace += found.trace
    turn.results += found.results
    turn.outside_down |= found.outside_down
    turn.success = turn.success and found.success
    good = [result for result in found.results if result.has_data]
    if found.outside_down and not good and subjects(turn, part):
        return undecided.overview(turn, part, subjects(turn, part), limit)
    sheet = _sheet(turn, part, builder, good)
    said = cap_reached() if found.capped else found.content
    return Outcome(_final(turn, part, found.success, said, good, sheet, limit), results=good)


def _sheet(turn: Turn, part: Part, builder: Builder, read: Sequence[ToolResult]) -> Sheet:
    own = [line for result in read for line in _lines(turn, builder, result)]
    return sources.closed(turn, part, builder, own)


def _lines(turn: Turn, builder: Builder, result: ToolResult) -> list[Line]:
    """The lines of a result, numbered on from those before."""
    return builder.listed(sources.of_tool(result, sources.reader_of(turn)))


def _run(turn: Turn, part: Part, builder: Builder, limit: int) -> ReActResult:
    """With native tool calls; in the text protocol where the endpoint has none."""

    def shown(result: ToolResult) -> str:
        return text_of(_lines(turn, builder, result))

    lines = builder.done
    try:
        engine = ReActEngine(turn.engines, turn.context, shown)
        return engine.run(_prompt(turn, part, lines, limit))
    except LlmAbilityMissing:
        engine = ReActEngine(turn.engines, turn.context, shown)
        return engine.run(_prompt(turn, part, lines, limit))


def _prompt(turn: Turn, part: Part, lines: Sequence[Line], limit: int) -> Assembled:
    prompt = assemble(
        gate=turn.gate,
        task=part.intent,
        question=turn.question(part),
        limit=limit,
        material=sources.material(turn, lines),
        system="react" if turn.engines.has_tools else "react_text",
        tools=_tool_list(turn.member.role),
    )
    turn.versions.append(prompt.version)
    return prompt


def _tool_list(role: str) -> str:
    """Tools with the names of their arguments, which a model in the text protocol sees nowhere else."""
    offered = [row["function"] for row in definitions(READONLY_TOOLS, role)]
    return "\n".join(
        f"- {row['name']}({', '.join(row['parameters']['properties'])}): {row['description']}"
        for row in offered
    )


def _final(
    turn: Turn,
    part: Part,
    success: bool,
    content: str,
    results: Sequence[ToolResult],
    sheet: Sheet,
    limit: int,
) -> str:
    """The verified answer, or the fixed text followed by what was read, marked incomplete."""
    if not success:
        return _with_data(turn, content, results, part, limit)
    text = content.strip()
    told = judged(turn, text, sheet)
    note(turn, part, text, told, sheet)
    if text and not told.problems:
        return render.cut(turn.gate.restore(told.verdict.text), limit)
    # The one regeneration, over the data that was read.
    draft = Draft(part, sheet, limit=limit, tries=1)
    if text and (again := worded(turn, draft)[0]):
        return marked(again, results, limit)
    turn.success = False
    return _with_data(turn, "", results, part, limit) or _of_documents(turn, part, limit)


def _of_documents(turn: Turn, part: Part, limit: int) -> str:
    """The rule of the study's documents that answers; that there is no answer, where there is none."""
    rule = None if part.record_ids else excerpt(turn.project, turn.resolved(part.text)[:LONGEST])
    return unreliable() if rule is None else render.excerpt_text(rule, limit)


def unreliable() -> str:
    """What is said where nothing that holds could be found."""
    return _("I have no reliable answer to this. Please ask more precisely.")


def _with_data(
    turn: Turn, fixed: str, results: Sequence[ToolResult], part: Part, limit: int
) -> str:
    note = _("(incomplete)")
    room = max(limit - len(fixed) - len(note) - 1, 40)
    asked = [pair for result in results for pair in result.asked]
    rules = [result.excerpt for result in results if result.excerpt]
    shown = study_data.plainly(turn, asked, part.text, room)
    shown = shown or (render.excerpt_text(rules[0], room) if rules else "")
    if not shown:
        return fixed
    return "\n".join(filter(None, [fixed, shown + note]))

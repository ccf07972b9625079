"""Questions that the study's documents answer: the rule under its section (design.md 5a.4)."""

from __future__ import annotations

from engines import render
from engines.assistant.chat import materials, sources
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.turn import Turn
from engines.assistant.chat.wording import Draft, marked, worded
from engines.assistant.intents import Part
from engines.assistant.tools import ToolResult, execute

LONGEST = 500


def answer(turn: Turn, part: Part, limit: int) -> Outcome:
    """A model's words over the passages, or the rule that answers, word for word."""
    result = read(turn, part)
    if not result.has_data:
        return Outcome(str(result.data))
    scores = (f"{one.document} {100 * (one.score or 0):.1f}%" for one in result.passages)
    turn.note(result.tool, observation="; ".join(scores))
    beside = materials.read(turn, materials.beside(turn, part, None)) if turn.has_model else []
    draft = Draft(part, sources.sheet(turn, part, beside=beside, read=[result]), limit=limit)
    text, note = worded(turn, draft)
    text = text or render.excerpt_text(result.excerpt, limit - len(note)) + note
    return Outcome(marked(text, [result], limit), results=[result])


def read(turn: Turn, part: Part) -> ToolResult:
    """The passages nearest to a question."""
    query = str(turn.question(part))[:LONGEST]
    return turn.read(execute(turn.context, "search_protocol", {"query": query}))

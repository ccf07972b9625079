"""One handler an intent (decisions.md, the router table).

A handler reads what its task needs and words it; the tasks of a message are done side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engines.assistant.chat.handlers import (
    actions,
    history,
    memories,
    open_work,
    project,
    protocol,
    recall,
    report,
    talk,
    undecided,
)
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.turn import Turn
from engines.assistant.intents import Part

Handler = Callable[[Turn, Part, int], Outcome]

HANDLERS: Mapping[str, Handler] = {
    "query_record": undecided.answer,
    "count_records": undecided.answer,
    "project_info": project.answer,
    "visit_window": undecided.answer,
    "query_protocol": protocol.answer,
    "query_history": history.answer_history,
    "analyze_trend": history.answer_history,
    "qc_task": actions.start_qc,
    "generate_report": report.make_report,
    "data_entry": actions.guide_entry,
    "qa_query": talk.reason,
    "remember": memories.remember,
    "feedback": memories.feedback,
    "general_chat": talk.chat,
    "off_topic": talk.off_topic,
}
"""Questions of data come here only where no query was made of them (engines.assistant.chat.questions)."""


def handler_of(part: Part) -> Handler:
    """What answers a task: that of its intent, unless it is only proposed or asks for what is kept here."""
    if part.proposed:
        return actions.propose
    if talk.asks_again(part):
        return talk.again
    if recall.asks_of_us(part):
        return memories.told_of_us
    if recall.asks_attention(part):
        return memories.attention
    if open_work.asks_reviews(part):
        return open_work.reviews
    return open_work.findings if open_work.asks_findings(part) else HANDLERS[part.intent]

"""One handler an intent (decisions.md, the router table).

`PREFETCH`: the reads that the intent already calls for, done side by side for all tasks of a message.
`HANDLERS`: what is made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engines.chat.handlers import actions, data, history, memories, open_work, recall, report, talk
from engines.chat.reply import Outcome
from engines.chat.turn import Turn
from engines.intents import Part
from engines.tools import ToolResult

Prefetch = Callable[[Turn, Part], list[ToolResult]]
Handler = Callable[[Turn, Part, Sequence[ToolResult], int], Outcome]

PREFETCH: Mapping[str, Prefetch] = {
    "query_record": data.read_records,
    "count_records": data.read_stats,
    "project_info": data.read_project,
    "visit_window": data.read_visits,
    "query_protocol": data.read_protocol,
    "qa_query": data.read_list,
    "query_history": history.read_period,
    "analyze_trend": history.read_trend,
}
HANDLERS: Mapping[str, Handler] = {
    "query_record": data.answer_records,
    "count_records": data.answer_data,
    "project_info": data.answer_data,
    "visit_window": data.answer_records,
    "query_protocol": data.answer_data,
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


def reader_of(part: Part) -> Prefetch | None:
    """The reads a task calls for."""
    return PREFETCH.get(part.intent) if handler_of(part) is HANDLERS[part.intent] else None


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

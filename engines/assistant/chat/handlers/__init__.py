"""One handler a kind of task: it reads what the task needs and says it (design.md 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engines.assistant.chat.handlers import data, memory, order, passage, talk
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.turn import Turn
from engines.assistant.read.task import Task, TaskKind

HANDLERS: Mapping[TaskKind, Callable[[Turn, Task, int], Outcome]] = {
    TaskKind.PASSAGE: passage.answer_passage,
    TaskKind.HISTORY: passage.answer_history,
    TaskKind.MEMORY: memory.answer_memory,
    TaskKind.AGENDA: talk.answer_agenda,
    TaskKind.ORDER: order.answer_order,
    TaskKind.ENTRY: order.guide_entry,
    TaskKind.TALK: talk.answer_talk,
    TaskKind.REASON: data.answer_in_steps,
    TaskKind.ASK_BACK: data.answer_unclear,
}
"""Questions of data are answered several at once, by `data.answer_data`."""

"""What the tasks of a message are counted as (design.md 6); nothing is steered by it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from engines.assistant.read.question import Question, Shape, Topic
from engines.assistant.read.task import OrderKind, Task, TaskKind


class Intent(StrEnum):
    """The fifteen intents, in the order of design.md section 6."""

    QUERY_RECORD = "query_record"
    COUNT_RECORDS = "count_records"
    QUERY_PROTOCOL = "query_protocol"
    PROJECT_INFO = "project_info"
    VISIT_WINDOW = "visit_window"
    QC_TASK = "qc_task"
    QUERY_HISTORY = "query_history"
    ANALYZE_TREND = "analyze_trend"
    GENERATE_REPORT = "generate_report"
    QA_QUERY = "qa_query"
    DATA_ENTRY = "data_entry"
    REMEMBER = "remember"
    FEEDBACK = "feedback"
    GENERAL_CHAT = "general_chat"
    OFF_TOPIC = "off_topic"


_ORDERS = {
    OrderKind.QC: Intent.QC_TASK,
    OrderKind.REPORT: Intent.GENERATE_REPORT,
    OrderKind.REMEMBER: Intent.REMEMBER,
    OrderKind.FORGET: Intent.REMEMBER,
    OrderKind.UNDO: Intent.REMEMBER,
    OrderKind.FEEDBACK: Intent.FEEDBACK,
    OrderKind.DECIDE: Intent.DATA_ENTRY,
}
_KINDS = {
    TaskKind.PASSAGE: Intent.QUERY_PROTOCOL,
    TaskKind.HISTORY: Intent.QUERY_HISTORY,
    TaskKind.MEMORY: Intent.REMEMBER,
    TaskKind.AGENDA: Intent.QA_QUERY,
    TaskKind.ENTRY: Intent.DATA_ENTRY,
    TaskKind.REASON: Intent.QA_QUERY,
    TaskKind.ASK_BACK: Intent.QA_QUERY,
}
_TALK = {
    "off_topic": Intent.OFF_TOPIC,
    "identifier": Intent.QUERY_RECORD,
    "instructions": Intent.OFF_TOPIC,
    "reminder": Intent.REMEMBER,
}
_COUNTS = {Shape.COUNT, Shape.COUNT_ROWS, Shape.SHARE, Shape.TARGET_LEFT, Shape.TARGET_RATE}
_PERIODS = ("month:", "week:", "quarter:")
_SMALL = {Intent.GENERAL_CHAT}


def intents_of(tasks: Iterable[Task]) -> list[str]:
    """The intents of a message's tasks in order, each once; small talk counts only by itself."""
    found = list(dict.fromkeys(_of(task) for task in tasks))
    rest = [intent for intent in found if intent not in _SMALL]
    return [str(intent) for intent in rest or found]


def _of(task: Task) -> Intent:
    if task.order is not None:
        return _ORDERS[task.order.kind]
    if task.kind is TaskKind.TALK:
        return _TALK.get(task.topic, Intent.GENERAL_CHAT)
    if task.topic == "project":
        return Intent.PROJECT_INFO
    return _of_question(task.question) if task.question is not None else _KINDS[task.kind]


def _of_question(asked: Question) -> Intent:
    """Of one subject, a count, the plan of visits, the course of months, the study, else of them all."""
    if asked.topic is Topic.VISITS:
        return Intent.VISIT_WINDOW
    if asked.topic is Topic.DICTIONARY:
        return Intent.QUERY_PROTOCOL
    if asked.topic is Topic.TARGET:
        rate = asked.shape in _COUNTS or asked.shape is Shape.TARGET_PACE
        return Intent.COUNT_RECORDS if rate else Intent.PROJECT_INFO
    if asked.subjects:
        return Intent.QUERY_RECORD
    if any(one.startswith(_PERIODS) for one in asked.by):
        return Intent.ANALYZE_TREND
    counted = asked.shape in _COUNTS or (asked.shape is Shape.GROUPS and not asked.select)
    return Intent.COUNT_RECORDS if counted else Intent.QA_QUERY

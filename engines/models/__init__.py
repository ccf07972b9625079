"""Runs of the SOP engine, their findings and reviews; traces and usage of the LLM."""

from engines.models.events import RunEvent
from engines.models.findings import FindingEvent, PendingAction
from engines.models.questions import Question
from engines.models.reminders import VisitReminder
from engines.models.runs import Batch, Review, SopStep, TaskRun
from engines.models.safety import ClockStage, Deviation, SafetyClock
from engines.models.saved import SavedFilter
from engines.models.traces import AgentTrace, OpenQuestion

__all__ = [
    "AgentTrace",
    "Batch",
    "ClockStage",
    "Deviation",
    "FindingEvent",
    "OpenQuestion",
    "PendingAction",
    "Question",
    "Review",
    "RunEvent",
    "SafetyClock",
    "SavedFilter",
    "SopStep",
    "TaskRun",
    "VisitReminder",
]

"""Runs of the SOP engine, their findings and reviews; traces and usage of the LLM."""

from engines.models.findings import FindingEvent, PendingAction
from engines.models.runs import Batch, Review, SopStep, TaskRun
from engines.models.traces import AgentTrace, LlmUsage

__all__ = [
    "AgentTrace",
    "Batch",
    "FindingEvent",
    "LlmUsage",
    "PendingAction",
    "Review",
    "SopStep",
    "TaskRun",
]

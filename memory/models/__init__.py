"""The three memories: flow log, hot memory, history book; and the Memory Manager's tables."""

from memory.models.facts import MemoryTurn, UserMemory
from memory.models.flow_log import ConversationHistory
from memory.models.history import (
    FeedbackTally,
    WeeklyNote,
    WeeklyReport,
    WeeklyReportVersion,
)
from memory.models.hot import (
    MemoryProposal,
    MemoryTombstone,
    ProjectMemory,
    ProjectMemoryVersion,
)
from memory.models.profile import MemoryQuestion, UserProfile

__all__ = [
    "ConversationHistory",
    "FeedbackTally",
    "MemoryProposal",
    "MemoryQuestion",
    "MemoryTombstone",
    "MemoryTurn",
    "ProjectMemory",
    "ProjectMemoryVersion",
    "UserMemory",
    "UserProfile",
    "WeeklyNote",
    "WeeklyReport",
    "WeeklyReportVersion",
]

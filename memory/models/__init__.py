"""The three memories: flow log, hot memory, history book; and the Memory Manager's tables."""

from memory.models.facts import MemoryTurn, UserMemory
from memory.models.flow_log import ConversationHistory
from memory.models.history import WeeklyReport
from memory.models.hot import MemoryTombstone, ProjectMemory, ProjectMemoryVersion

__all__ = [
    "ConversationHistory",
    "MemoryTombstone",
    "MemoryTurn",
    "ProjectMemory",
    "ProjectMemoryVersion",
    "UserMemory",
    "WeeklyReport",
]

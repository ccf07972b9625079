"""The three memories: flow log, hot memory, history book; and the Memory Manager's tables."""

from memory.models.facts import MemoryTurn, UserMemory
from memory.models.flow_log import ConversationHistory
from memory.models.history import WeeklyReport
from memory.models.hot import (
    MemoryProposal,
    MemoryTombstone,
    ProjectMemory,
    ProjectMemoryVersion,
)

__all__ = [
    "ConversationHistory",
    "MemoryProposal",
    "MemoryTombstone",
    "MemoryTurn",
    "ProjectMemory",
    "ProjectMemoryVersion",
    "UserMemory",
    "WeeklyReport",
]

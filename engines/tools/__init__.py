"""Read-only tools of the assistant, from one registry (seed 001, 5; decisions.md)."""

from engines.tools.context import ToolContext
from engines.tools.registry import READONLY_TOOLS, Tool, definitions, execute, get, register
from engines.tools.results import Entry, Fact, Group, Status, ToolResult

__all__ = [
    "READONLY_TOOLS",
    "Entry",
    "Fact",
    "Group",
    "Status",
    "Tool",
    "ToolContext",
    "ToolResult",
    "definitions",
    "execute",
    "get",
    "register",
]

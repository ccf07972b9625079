"""Read-only tools of the assistant, from one table (seed 001, 5; decisions.md)."""

from engines.assistant.tools.registry import (
    OF_WORKFLOWS,
    READONLY_TOOLS,
    Tool,
    definitions,
    execute,
    tools,
)
from engines.assistant.tools.results import Status, ToolContext, ToolResult

__all__ = [
    "OF_WORKFLOWS",
    "READONLY_TOOLS",
    "Status",
    "Tool",
    "ToolContext",
    "ToolResult",
    "definitions",
    "execute",
    "tools",
]

"""Any OpenAI-compatible chat endpoint behind one class (agents_memory.md 5)."""

from integrations.llm.client import LlmClient
from integrations.llm.errors import (
    LlmAbilityMissing,
    LlmError,
    LlmProtocolError,
    LlmTimeout,
    LlmUnavailable,
)
from integrations.llm.messages import Completion, Message, ToolCall, Usage
from integrations.llm.presets import PRESETS, Preset

__all__ = [
    "PRESETS",
    "Completion",
    "LlmAbilityMissing",
    "LlmClient",
    "LlmError",
    "LlmProtocolError",
    "LlmTimeout",
    "LlmUnavailable",
    "Message",
    "Preset",
    "ToolCall",
    "Usage",
]

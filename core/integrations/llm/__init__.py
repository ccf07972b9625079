"""Any OpenAI-compatible chat endpoint behind one class (agents_memory.md 5)."""

from core.integrations.llm.client import LlmClient
from core.integrations.llm.errors import (
    LlmAbilityMissing,
    LlmError,
    LlmIncomplete,
    LlmProtocolError,
    LlmTimeout,
    LlmUnavailable,
)
from core.integrations.llm.messages import Completion, Message, ToolCall
from core.integrations.llm.presets import PRESETS, Preset
from core.integrations.llm.structured import Mode
from core.integrations.llm.usage import Usage

__all__ = [
    "PRESETS",
    "Completion",
    "LlmAbilityMissing",
    "LlmClient",
    "LlmError",
    "LlmIncomplete",
    "LlmProtocolError",
    "LlmTimeout",
    "LlmUnavailable",
    "Message",
    "Mode",
    "Preset",
    "ToolCall",
    "Usage",
]

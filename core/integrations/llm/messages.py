"""What goes to the endpoint and what comes back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from core.integrations.llm.errors import LlmProtocolError
from core.integrations.llm.usage import Usage
from core.privacy.gate import Deidentified, Gate

_FENCE = re.compile(r"```(?:json)?\s*(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asked for; `arguments` is the raw text, JSON or not."""

    id: str
    name: str
    arguments: str

    def parsed(self) -> dict[str, Any]:
        """The arguments as an object. Raises ValueError with an instruction to repair."""
        try:
            value = json.loads(self.arguments or "{}")
        except (ValueError, RecursionError):
            raise ValueError("参数不是合法的 JSON,请按工具的参数说明重新给出。") from None
        if not isinstance(value, dict):
            raise ValueError("参数必须是 JSON 对象,请按工具的参数说明重新给出。")
        return value

    def masked(self, gate: Gate) -> ToolCall:
        """The call as it may be sent back: the model can have put an identifier into any part of it."""
        try:
            arguments = gate.data(self.parsed())
        except ValueError:
            arguments = gate.data({})
        return ToolCall(gate.text(self.id), gate.text(self.name), arguments)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request. Raises TypeError for text that did not pass the gate."""

    role: Literal["system", "user", "assistant", "tool"]
    content: Deidentified | None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    reasoning: str = ""

    def __post_init__(self) -> None:
        if self.content is None and self.tool_calls:
            return
        if type(self.content) is not Deidentified:
            raise TypeError("the LLM accepts de-identified text only")

    def wire(self) -> dict[str, Any]:
        """As the OpenAI protocol has it."""
        body: dict[str, Any] = {
            "role": self.role,
            "content": None if self.content is None else str(self.content),
        }
        if self.tool_calls:
            body["tool_calls"] = [
                {
                    "id": c.id,
                    "type": "function",
                    "function": {"name": c.name, "arguments": c.arguments},
                }
                for c in self.tool_calls
            ]
        if self.tool_call_id:
            body["tool_call_id"] = self.tool_call_id
        if self.reasoning:
            # DeepSeek answers 400 when a tool turn comes back without it.
            body["reasoning_content"] = self.reasoning
        return body


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer. Empty content is a normal event; `reasoning` is never shown."""

    content: str
    tool_calls: tuple[ToolCall, ...]
    usage: Usage
    model: str
    finish_reason: str
    duration_ms: int
    reasoning: str = ""

    def json(self) -> dict[str, Any]:
        """The object in the content, also from a ``` fence. Raises LlmProtocolError."""
        return json_object(self.content)


def json_object(text: str) -> dict[str, Any]:
    """The JSON object in an answer. Raises LlmProtocolError when there is none (cut, prose, list)."""
    fenced = _FENCE.search(text)
    body = (fenced[1] if fenced else text).strip()
    start, end = body.find("{"), body.rfind("}")
    try:
        value = json.loads(body[start : end + 1]) if start >= 0 else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, Mapping):
        raise LlmProtocolError(200, "no JSON object in the content")
    return dict(value)

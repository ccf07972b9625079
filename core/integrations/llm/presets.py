"""What the known endpoints can do, by their documentation as read in November 2026.

DeepSeek (api-docs.deepseek.com, guides Tool Calls, JSON Output, Thinking Mode): `json_object` without a schema;
strict functions only at the beta address; thinking is on unless it is switched off. Models: deepseek-flash,
deepseek-v4-pro; deepseek-chat was retired in July 2026.
Qwen (help.aliyun.com, Model Studio, Structured output): `json_schema` with `strict` inside it for the series
max, plus and flash, else `json_object`; both without thinking only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.integrations.llm.structured import Mode


@dataclass(frozen=True)
class Preset:
    """An endpoint's address, default model and abilities.

    `modes`: how it is held to a schema, the best one first; the next is tried where it refuses one.
    `strict_url`: where strict tools are, if not at its address. `extra_body` switches thinking off.
    """

    base_url: str
    model: str
    modes: tuple[Mode, ...]
    tools: bool = True
    strict_url: str = ""
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def json_schema(self) -> bool:
        """Whether a schema can stand beside tools."""
        return Mode.JSON_SCHEMA in self.modes


PRESETS: Mapping[str, Preset] = {
    "deepseek-v3": Preset(
        base_url="https://api.deepseek.com/v1",
        model="",
        modes=(Mode.TOOLS, Mode.JSON_OBJECT),
        strict_url="https://api.deepseek.com/beta",
        extra_body={"thinking": {"type": "disabled"}},
    ),
    "qwen": Preset(
        base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
        model="",
        modes=(Mode.JSON_SCHEMA, Mode.JSON_OBJECT, Mode.TOOLS),
        extra_body={"enable_thinking": False},
    ),
    "local": Preset(
        base_url="",
        model="local",
        modes=(Mode.JSON_SCHEMA, Mode.JSON_OBJECT, Mode.TOOLS),
    ),
}

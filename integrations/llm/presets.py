"""What the known endpoints can do (agents_memory.md 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Preset:
    """An endpoint's address, default model and abilities; `extra_body` switches thinking off."""

    base_url: str
    model: str
    json_schema: bool
    tools: bool = True
    extra_body: Mapping[str, Any] = field(default_factory=dict)


PRESETS: Mapping[str, Preset] = {
    "deepseek-v3": Preset(
        base_url="https://api.deepseek.com/v1",
        model="",
        json_schema=False,
        extra_body={"thinking": {"type": "disabled"}},
    ),
    "qwen": Preset(
        base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
        model="",
        json_schema=False,
        extra_body={"enable_thinking": False},
    ),
    "local": Preset(base_url="", model="local", json_schema=True),
}

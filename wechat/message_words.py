"""A message to WeCom as its reader sees it, out of the JSON that is sent (wecom.md 3)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_WORDS = ("title", "desc", "content", "text", "sub_title_text", "quote_text", "value")
_KEYNAME = "keyname"


def said_in(payload: str) -> str:
    """The words of a message, line by line; "" where it is no JSON."""
    try:
        message = json.loads(payload)
    except json.JSONDecodeError:
        return ""
    return "\n".join(dict.fromkeys(_lines(message)))


def _lines(part: Any) -> Iterator[str]:
    if isinstance(part, list):
        for one in part:
            yield from _lines(one)
    if not isinstance(part, Mapping):
        return
    if _KEYNAME in part:
        yield f"{part[_KEYNAME]}: {part.get('value', '')}"
        return
    for name, value in part.items():
        if isinstance(value, str) and name in _WORDS and value.strip():
            yield value
        elif isinstance(value, list | Mapping):
            yield from _lines(value)

"""Small checks that every kind of template card shares (reference/wecom.md 3.3, 3.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from demo.simulators.wecom.errors import WecomError

KEY_BYTES = 1024
OPTION_ID_BYTES = 128

Card = dict[str, Any]


def mapping(value: Any, code: int) -> Mapping[str, Any]:
    """`value` as an object, absent as an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise WecomError(code, "object expected")
    return value


def rows(value: Any, code: int, least: int, most: int) -> list[Card]:
    """`value` as a list of `least` to `most` objects, absent as an empty one."""
    if value is None:
        value = []
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise WecomError(code, f"{least} to {most} elements expected")
    if not all(isinstance(row, dict) for row in value):
        raise WecomError(code, "objects expected")
    return value


def text(row: Mapping[str, Any], name: str, code: int, limit: int | None = None) -> str:
    """A required text of at most `limit` bytes."""
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise WecomError(code, f"{name} missing")
    if limit is not None and len(value.encode()) > limit:
        raise WecomError(code, f"{name} over {limit} bytes")
    return value


def number(row: Mapping[str, Any], name: str, allowed: range, code: int = 40058) -> int:
    """An optional small integer, 0 when absent."""
    value = row.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value not in allowed:
        raise WecomError(code, f"{name} can't be {value!r}")
    return value


def url(row: Mapping[str, Any], name: str = "url") -> str:
    """A required link with a scheme."""
    value = text(row, name, 42028, 2048)
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise WecomError(42028, f"{name} needs a scheme")
    return value


def unique(values: list[str], code: int, name: str) -> None:
    """Refuse the same value twice."""
    if len(set(values)) != len(values):
        raise WecomError(code, f"{name} not unique")


def options(value: Any, most: int) -> list[Card]:
    """An option_list: 1 to `most` options with unique ids and a text."""
    found = rows(value, 42037, 1, most)
    unique([text(row, "id", 42040, OPTION_ID_BYTES) for row in found], 42040, "option id")
    for row in found:
        text(row, "text", 42041)
    return found


def question(row: Mapping[str, Any], most: int) -> str:
    """A question with its options; returns the question_key."""
    key = text(row, "question_key", 42043, KEY_BYTES)
    options(row.get("option_list"), most)
    return key


def target(row: Mapping[str, Any], kind: int) -> None:
    """What a jump of type 1 (url) or 2 (mini program) needs."""
    if kind == 1:
        url(row)
    elif kind == 2:
        text(row, "appid", 42030)

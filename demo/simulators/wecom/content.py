"""What may stand in a message, by msgtype (reference/wecom.md 3.2 and section 4)."""

from __future__ import annotations

from typing import Any

from demo.simulators.wecom import cards, fields
from demo.simulators.wecom.config import Switches
from demo.simulators.wecom.errors import WecomError

LIMIT = 2048
MSGTYPES = ("text", "markdown", "textcard", "template_card", "image")


def cut(text: str, limit: int = LIMIT) -> str:
    """At most `limit` bytes of UTF-8, cut between characters."""
    return text.encode()[:limit].decode(errors="ignore")


def check(body: dict[str, Any], switches: Switches) -> tuple[Any, bool]:
    """The content as it will be shown, and whether it was truncated. Raises WecomError."""
    kind = body["msgtype"]
    if kind == "template_card":
        return cards.validate(body.get(kind)), False
    part = fields.mapping(body.get(kind), 40058)
    if kind == "image":
        return {"media_id": fields.text(part, "media_id", 41006)}, False
    if kind == "textcard":
        return _textcard(part)
    overflow = switches.text_overflow if kind == "text" else switches.md_overflow
    return _text(part, overflow)


def _text(part: Any, overflow: str | int) -> tuple[str, bool]:
    content = part.get("content")
    if not isinstance(content, str) or not content:
        raise WecomError(44004)
    if len(content.encode()) <= LIMIT:
        return content, False
    if overflow != "truncate":
        raise WecomError(int(overflow))
    return cut(content), True


def _textcard(part: Any) -> tuple[dict[str, Any], bool]:
    title = fields.text(part, "title", 41016)
    description = fields.text(part, "description", 40063)
    fields.url(part)
    shown = {**part, "title": title[:128], "description": description[:512]}
    return shown, shown != part

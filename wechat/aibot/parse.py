"""The decrypted JSON of the smart bot as our small value (wecom.md 5). Pure: no Django, no network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from wechat.inbound.parse import (
    MAX_QUESTIONS,
    BadCallback,
    Incoming,
    Vote,
    addressee,
    checked,
)

# Of the bot, in front of a question in a group or behind it.
_MENTION = re.compile(r"^\s*@\S+\s+|\s+@\S+\s*$")
_PARTS = 50


def envelope(raw: bytes) -> str:
    """The `encrypt` of a POST body. Raises BadCallback."""
    encrypted = read_object(raw).get("encrypt")
    if not isinstance(encrypted, str) or not encrypted:
        raise BadCallback("encrypt is expected")
    return encrypted


def read_object(raw: bytes | str) -> dict[str, Any]:
    """A JSON object. Raises BadCallback for anything else."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadCallback(type(error).__name__) from error
    if not isinstance(found, dict):
        raise BadCallback("no object")
    return found


def parse_json(raw: str) -> Incoming:
    """The callback's plaintext as a value. Raises BadCallback where sender, kind or id is missing."""
    found = read_object(raw)
    kind = _text(found, "msgtype").lower()
    event = _part(found, "event")
    click = _part(event, "template_card_event")
    is_group = _text(found, "chattype").lower() not in ("", "single") or "chatid" in found
    content = _content(found, kind)
    incoming = Incoming(
        to_user=_text(found, "aibotid"),
        from_user=_text(_part(found, "from"), "userid"),
        created=_seconds(found.get("create_time")),
        msg_type=kind,
        msg_id=_text(found, "msgid"),
        content=_MENTION.sub("", content) if is_group else content,
        event=_text(event, "eventtype").lower(),
        event_key=_text(click, "event_key"),
        task_id=_text(click, "task_id"),
        card_type=_text(click, "card_type"),
        selected=_selected(click),
        response_url=_text(found, "response_url"),
        stream_id=_text(_part(found, "stream"), "id"),
        is_group=is_group,
        chat_id=_text(found, "chatid"),
        beside=tuple(_beside(found)),
        vote=_vote(_part(event, "feedback_event")),
        addressees=frozenset(_addressees(found)),
    )
    if not incoming.msg_id and kind != "stream":
        raise BadCallback("msgid is missing")
    return checked(incoming)


def _addressees(found: Any) -> Iterator[tuple[str, str]]:
    """Of every object, however deep; what is deeper than Python reads never gets here."""
    inner = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    if isinstance(found, dict):
        yield from filter(None, (addressee(name, value) for name, value in found.items()))
    for one in inner:
        yield from _addressees(one)


def _part(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = found.get(name)
    return value if isinstance(value, dict) else {}


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    return clean(value).strip() if isinstance(value, str) else ""


def clean(text: str) -> str:
    """`text` without what JSON can say and no database keeps: NUL and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _seconds(value: object) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return int(value) if whole and 0 <= value < 10**12 else 0  # type: ignore[operator, call-overload]


def _content(found: Mapping[str, Any], kind: str) -> str:
    """What was typed or said."""
    if kind == "mixed":
        texts = [_text(_part(item, "text"), "content") for item in _items(found)]
        return "\n".join(text for text in texts if text)
    value = _part(found, kind).get("content") if kind in ("text", "voice") else ""
    return clean(value) if isinstance(value, str) else ""


def _items(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    items = _part(found, "mixed").get("msg_item")
    parts = items if isinstance(items, list) else []
    return [item for item in parts if isinstance(item, dict)][:_PARTS]


def _beside(found: Mapping[str, Any]) -> Iterator[str]:
    """The kinds, other than words, of the parts of a mixed message and of what a message quotes."""
    quote = _part(found, "quote")
    parts = [quote, *_items(found), *_items(quote)]
    kinds = (_text(one, "msgtype").lower() for one in parts)
    yield from (one for one in kinds if one not in ("", "text", "voice", "mixed"))


def _selected(click: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    items = _part(click, "selected_items").get("selected_item")
    found: dict[str, tuple[str, ...]] = {}
    for item in (items if isinstance(items, list) else [])[:MAX_QUESTIONS]:
        if isinstance(item, dict):
            options = _part(item, "option_ids").get("option_id")
            chosen = (
                [one for one in options if isinstance(one, str)]
                if isinstance(options, list)
                else []
            )
            shown = tuple(clean(one).strip() for one in chosen[:MAX_QUESTIONS] if one.strip())
            found.setdefault(_text(item, "question_key"), shown)
    return found


def _vote(found: Mapping[str, Any]) -> Vote | None:
    if not found:
        return None
    listed = found.get("inaccurate_reason_list")
    reasons = [one for one in listed if type(one) is int] if isinstance(listed, list) else []
    kind = found.get("type")
    number = kind if type(kind) is int else 0
    return Vote(_text(found, "id"), number, tuple(reasons[:MAX_QUESTIONS]))

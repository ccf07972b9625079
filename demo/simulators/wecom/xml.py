"""The XML of callbacks and passive replies (reference/wecom.md 1.5, 1.8, 1.9)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException, ElementTree

# Elements of a passive TemplateCard that JSON writes as lists (1.8).
LISTS = ("horizontal_content_list", "jump_list", "button_list", "option_list", "select_list")


def cdata(value: str) -> str:
    """`value` as CDATA; `]]>` inside is split (1.8)."""
    return f"<![CDATA[{value.replace(']]>', ']]]]><![CDATA[>')}]]>"


def parse(text: str) -> Element:
    """The root element. Raises ValueError for anything that is not plain, DTD-free XML."""
    try:
        root: Element = ElementTree.fromstring(text, forbid_dtd=True)
    except (ParseError, DefusedXmlException) as error:
        raise ValueError(f"not acceptable XML: {error}") from error
    return root


def child(root: Element, name: str) -> str:
    """The text of a child element, "" when absent."""
    return root.findtext(name) or ""


def message(
    corp_id: str, userid: str, created: int, kind: str, parts: str, agent_id: int, msgid: int | None
) -> str:
    """An inbound plaintext on one line, as captured in 2025 (1.9); events have no MsgId."""
    number = "" if msgid is None else f"<MsgId>{msgid}</MsgId>"
    return (
        f"<xml><ToUserName>{cdata(corp_id)}</ToUserName>"
        f"<FromUserName>{cdata(userid)}</FromUserName><CreateTime>{created}</CreateTime>"
        f"<MsgType>{cdata(kind)}</MsgType>{parts}{number}<AgentID>{agent_id}</AgentID></xml>"
    )


def card_event(
    event: str, key: str, task_id: str, card_type: str, code: str, selected: Mapping[str, Any]
) -> str:
    """The middle of a template_card_event or template_card_menu_event (1.9)."""
    items = "".join(_selected(name, value) for name, value in selected.items())
    return (
        f"<Event>{cdata(event)}</Event><EventKey>{cdata(key)}</EventKey>"
        f"<TaskId>{cdata(task_id)}</TaskId><CardType>{cdata(card_type)}</CardType>"
        f"<ResponseCode>{cdata(code)}</ResponseCode>"
        + (f"<SelectedItems>{items}</SelectedItems>" if items else "")
    )


def _selected(question: str, value: Any) -> str:
    ids = value if isinstance(value, list) else [value]
    options = "".join(f"<OptionId>{cdata(str(option))}</OptionId>" for option in ids)
    return (
        f"<SelectedItem><QuestionKey>{cdata(question)}</QuestionKey>"
        f"<OptionIds>{options}</OptionIds></SelectedItem>"
    )


def envelope(corp_id: str, agent_id: int, encrypted: str) -> str:
    """The POST body around a ciphertext (1.5)."""
    return (
        f"<xml><ToUserName>{cdata(corp_id)}</ToUserName>"
        f"<AgentID>{cdata(str(agent_id))}</AgentID><Encrypt>{cdata(encrypted)}</Encrypt></xml>"
    )


def card_from(element: Element) -> dict[str, Any]:
    """A passive `<TemplateCard>` as the JSON card it stands for (1.8)."""
    card: dict[str, Any] = {}
    for part in element:
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", part.tag).lower()
        value: Any = card_from(part) if len(part) else (part.text or "")
        if name in LISTS:
            card.setdefault(name, []).append(value)
        else:
            card[name] = value
    return card

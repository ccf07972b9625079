"""Template cards: what WeCom accepts and what a member's copy looks like (reference/wecom.md 3.3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from demo.simulators.wecom import fields
from demo.simulators.wecom.errors import WecomError
from demo.simulators.wecom.fields import Card

TASK_ID = re.compile(r"[0-9A-Za-z_\-@]{1,128}")
INTERACTIVE = ("button_interaction", "vote_interaction", "multiple_interaction")


def has_response_code(card: Card) -> bool:
    """Whether a sent card can be updated: interactive, or with an action_menu (3.2)."""
    return card.get("card_type") in INTERACTIVE or bool(card.get("action_menu"))


def validate(card: Any, *, update: bool = False) -> Card:
    """Refuse what WeCom refuses. Raises WecomError with the codes of 3.6.

    A card that replaces another one (`update`) carries no task_id.
    """
    if not isinstance(card, dict):
        # The code that users saw when template_card was nested wrongly (xen0n/go-workwx#76).
        raise WecomError(41016)
    check = _KINDS.get(card.get("card_type") or "")
    if check is None:
        raise WecomError(42031, f"card_type {card.get('card_type')!r}")
    _common(card)
    check(card)
    if has_response_code(card) and not update:
        _task_id(card)
    return card


def _task_id(card: Card) -> None:
    value = card.get("task_id")
    if not isinstance(value, str) or not TASK_ID.fullmatch(value):
        raise WecomError(42014)


def _common(card: Card) -> None:
    source = fields.mapping(card.get("source"), 40058)
    fields.number(source, "desc_color", range(4))
    for row in fields.rows(card.get("horizontal_content_list"), 42035, 0, 6):
        _horizontal(row)
    for row in fields.rows(card.get("jump_list"), 42042, 0, 3):
        fields.text(row, "title", 42033)
        fields.target(row, fields.number(row, "type", range(4)))
    quote = fields.mapping(card.get("quote_area"), 40058)
    fields.target(quote, fields.number(quote, "type", range(3)))
    if "action_menu" in card:
        _action_menu(fields.mapping(card["action_menu"], 40058))
    if "card_action" in card:
        _card_action(card)


def _horizontal(row: Card) -> None:
    fields.text(row, "keyname", 42027)
    kind = fields.number(row, "type", range(4))
    if kind == 1:
        fields.url(row)
    elif kind == 2:
        fields.text(row, "media_id", 42029)
    elif kind == 3:
        fields.text(row, "userid", 42050)


def _action_menu(menu: Any) -> None:
    entries = fields.rows(menu.get("action_list"), 40058, 1, 3)
    keys = [fields.text(row, "key", 42051, fields.KEY_BYTES) for row in entries]
    for row in entries:
        fields.text(row, "text", 40058)
    fields.unique(keys, 42051, "action_menu key")


def _card_action(card: Card, *, required: bool = False) -> None:
    action = fields.mapping(card.get("card_action"), 42045)
    kind = fields.number(action, "type", range(1 if required else 0, 3), 42045)
    fields.target(action, kind)


def _title(card: Card) -> None:
    fields.text(fields.mapping(card.get("main_title"), 42033), "title", 42033)


def _text_notice(card: Card) -> None:
    if not card.get("sub_title_text"):
        _title(card)
    _card_action(card, required=True)


def _news_notice(card: Card) -> None:
    _title(card)
    _card_action(card, required=True)
    fields.rows(card.get("vertical_content_list"), 42036, 0, 4)
    image = fields.mapping(card.get("card_image"), 42044)
    if not card.get("image_text_area"):
        fields.text(image, "url", 42044)


def _button_interaction(card: Card) -> None:
    _title(card)
    buttons = fields.rows(card.get("button_list"), 40058, 1, 6)
    keys = []
    for button in buttons:
        fields.text(button, "text", 42038)
        fields.number(button, "style", range(5))
        if fields.number(button, "type", range(2)):
            fields.url(button)
        else:
            keys.append(fields.text(button, "key", 42039, fields.KEY_BYTES))
    fields.unique(keys, 42039, "button key")
    if "button_selection" in card:
        fields.question(fields.mapping(card["button_selection"], 42043), 10)


def _submit(card: Card) -> None:
    button = fields.mapping(card.get("submit_button"), 42049)
    fields.text(button, "text", 42049)
    fields.text(button, "key", 42046, fields.KEY_BYTES)


def _vote_interaction(card: Card) -> None:
    _title(card)
    box = fields.mapping(card.get("checkbox"), 42043)
    fields.question(box, 20)
    fields.number(box, "mode", range(2))
    _submit(card)


def _multiple_interaction(card: Card) -> None:
    _title(card)
    lists = fields.rows(card.get("select_list"), 42047, 1, 3)
    fields.unique([fields.question(row, 10) for row in lists], 42043, "question_key")
    _submit(card)


_KINDS: dict[str, Callable[[Card], None]] = {
    "text_notice": _text_notice,
    "news_notice": _news_notice,
    "button_interaction": _button_interaction,
    "vote_interaction": _vote_interaction,
    "multiple_interaction": _multiple_interaction,
}

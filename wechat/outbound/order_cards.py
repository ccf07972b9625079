"""The card under an order for many subjects that waits for a yes: start it, or leave it."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from engines.assistant.chat import ChatReply
from wechat.outbound import cards
from wechat.outbound.cards import fit_card

KIND = "order"
WORDS = {"start": "确认", "leave": "取消"}
"""What a button says in the reader's place, with the order behind it (`wechat.inbound.events`)."""


def offer(reply: ChatReply, to_user: str) -> None:
    """Put the card under a reply that offers to start something; inside its transaction."""
    if not reply.order or not reply.project:
        return
    cards.send(
        kind=KIND,
        ref=reply.order["id"],
        version=1,
        project=reply.project,
        to=[to_user],
        content=order_card(reply.order["title"], len(reply.order["subjects"])),
    )


def order_card(title: str, count: int) -> dict[str, Any]:
    """The card without its task_id; whom it starts stands in the message above it."""
    told = _("Start for %(count)d subjects?") % {"count": count}
    return {
        "card_type": "button_interaction",
        "main_title": {"title": fit_card(told, "title"), "desc": fit_card(title, "desc")},
        "button_list": [
            {"text": fit_card(_("Start them"), "button"), "style": 1, "key": "start"},
            {"text": fit_card(_("Leave it"), "button"), "style": 2, "key": "leave"},
        ],
    }

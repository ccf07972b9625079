"""The card under an order for many subjects that waits for a yes: start it, or leave it."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from engines.assistant.chat import ChatReply
from wechat.outbound import cards

KIND = "order"
WORDS = {"start": "确认", "leave": "取消"}
"""What a button says in the reader's place, with the order behind it (`wechat.inbound.events`)."""


def offer_order_card(reply: ChatReply, to_user: str) -> None:
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
    buttons = [
        cards.button(_("Start them"), 1, key="start"),
        cards.button(_("Leave it"), 2, key="leave"),
    ]
    return cards.layout(told, buttons, desc=title)

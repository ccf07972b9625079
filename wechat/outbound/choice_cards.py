"""The card under a question back: one button a reading, each for what a typed number stands for.

It lives as long as the number does: until its reader's next message, half an hour at most.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import timedelta

from django.utils.timezone import now
from django.utils.translation import gettext as _

from engines.assistant.chat import ChatReply
from memory.session import LIFETIME_S
from wechat.models import Card
from wechat.outbound import cards, formats
from wechat.outbound.cards import CARD_CHARS, Click

KIND = "choice"
PREFIX = "ask:"
KEY_BYTES = 1024
"""Of a button's key (wecom.md 3.3)."""


def close_earlier(to_user: str, number: int) -> None:
    """Close the reader's card of a message before `number`, wherever the next one came."""
    for card in cards.close(kind=KIND, ref=_ref(to_user), up_to=number - 1):
        note = _("No longer open: another message came after it.")
        button = _("No longer open")
        cards.show_closed(card, note=note, button=button, key=f"closed:{card.task_id}")


def offer_choice_card(reply: ChatReply, to_user: str, number: int) -> None:
    """Put the card under a reply that asks back, in its transaction.

    `number`: of the message that is answered. The text above numbers the same readings, so there is no card
    where one does not show whole what is chosen, or is not seen at all.
    """
    text = _listed([label for label, _message in reply.choices])
    keys = [f"{PREFIX}{message}" for _label, message in reply.choices]
    is_whole = len(cards.as_line(text)) <= CARD_CHARS["sub_title"]
    fits = all(len(key.encode()) <= KEY_BYTES for key in keys)
    if not (keys and reply.project and is_whole and fits):
        return
    if formats.reads_plain(to_user, reply.project):
        return
    buttons = [cards.button(str(at), 1, key=key) for at, key in enumerate(keys, 1)]
    about = _("A tap counts once; your next message closes it")
    cards.send(
        kind=KIND,
        ref=_ref(to_user),
        version=number,
        project=reply.project,
        to=[to_user],
        content=cards.layout(_("Which one do you mean?"), buttons, desc=about, text=text),
    )


def chosen(click: Click) -> str:
    """The message that the tapped button stands for; "" where the question is no longer open."""
    card = click.card
    is_fresh = card.created_at > now() - timedelta(seconds=LIFETIME_S)
    is_open = card.state == Card.State.OPEN and is_fresh
    return click.incoming.event_key.removeprefix(PREFIX) if is_open else ""


def _ref(userid: str) -> str:
    """A reader's, short enough for a task_id."""
    return hashlib.sha256(userid.lower().encode()).hexdigest()[:16]


def _listed(labels: Sequence[str]) -> str:
    return "; ".join(f"{at}. {label}" for at, label in enumerate(labels, 1))

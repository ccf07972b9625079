"""What is sent that is no text: never opened, fetched or kept; the sender is told what to do instead."""

from __future__ import annotations

from django.utils.translation import gettext as _

from wechat.inbound.parse import Incoming

STICKERS = ("emotion", "emoji", "sticker")
RECORDS = ("chatrecord", "chat_record", "merged_msg")


def refusal(incoming: Incoming) -> str:
    """The words for a message that brought none, by its kind (WeCom's `MsgType`), in the reader's language."""
    kind = incoming.beside[0] if incoming.beside else incoming.msg_type
    match kind:
        case "image":
            return _(
                "I do not look at pictures; it was not opened or saved. The results on a lab sheet or a "
                'report belong in REDCap: enter them there, then ask me by subject number, e.g. "P001 ALT".'
            )
        case "file":
            return _(
                "I do not open files; it was not saved. Data of a subject belong in REDCap, and a protocol is "
                "uploaded in the console under Protocol documents. Then ask me about it in words."
            )
        case "video":
            return _("I do not watch videos; it was not saved. Please type your question.")
        case "voice":
            return _(
                "No words of your voice message reached me. Please type your question, or hold the message and "
                "convert it to text."
            )
        case "location":
            return _("I do not use locations. Please name the site or the subject number in words.")
        case "link":
            return _("I do not open links. Please type what you want to know.")
    if kind in RECORDS:
        return _(
            "I do not read forwarded chats: they may name a subject. Please type the question itself, with the "
            "subject number instead of a name."
        )
    if kind in STICKERS:
        return _(
            "I do not read stickers. A text of 👍 or 👎 rates my last answer; for all else please type."
        )
    return _("I understand text messages. Please type your question.")


def left_out(incoming: Incoming) -> str:
    """One line for what came beside a text and was not looked at; "" where nothing did."""
    if not incoming.beside:
        return ""
    if set(incoming.beside) == {"image"}:
        return _("(The picture was not looked at; I answered your text only.)")
    return _("(What came with it was not opened; I answered your text only.)")

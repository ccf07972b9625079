"""The chat router: what every channel calls (design.md 4)."""

from engines.assistant.chat.rating import record_feedback
from engines.assistant.chat.reply import ChatReply
from engines.assistant.chat.service import answer_message, handle, refuse

__all__ = ["ChatReply", "answer_message", "handle", "record_feedback", "refuse"]

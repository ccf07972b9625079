"""Facts in plain words, by kind: the Chinese of a ward, or English (design.md 5a.4, 5a.6)."""

from engines.assistant.answer.plain import cut, leaves_out, reply, told, told_of
from engines.assistant.answer.reader import Reader

__all__ = ["Reader", "cut", "leaves_out", "reply", "told", "told_of"]

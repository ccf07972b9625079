"""Understanding a message offline: a small grammar over typed tokens drawn from the study (design.md 5a.1)."""

from engines.assistant.understand.types import (
    Ambiguous,
    Asked,
    Query,
    Shape,
    Slots,
    State,
    Topic,
    Understood,
)
from engines.assistant.understand.understand import understand

__all__ = [
    "Ambiguous",
    "Asked",
    "Query",
    "Shape",
    "Slots",
    "State",
    "Topic",
    "Understood",
    "understand",
]

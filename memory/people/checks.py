"""System checks of the Memory Manager."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from memory.people.schemas import NAMES


@register()
def memory_schema(**_: Any) -> list[CheckMessage]:
    """An unknown profile schema would be an error with every message."""
    if settings.MEMORY_SCHEMA in NAMES:
        return []
    return [
        Error(
            f"MEMORY_SCHEMA is {settings.MEMORY_SCHEMA}",
            hint=f"One of: {', '.join(NAMES)}",
            id="iit.E010",
        )
    ]

"""What a briefing says, as parts, and as text for one reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

DETAILS = 15


@dataclass(frozen=True)
class Part:
    """A statement, and the lines below it that a reader who wants it short is spared."""

    head: str
    details: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Head and details; of a long list the first lines and how many there are."""
        shown = [f"- {line}" for line in self.details[:DETAILS]]
        if len(self.details) > DETAILS:
            shown.append(_("… %(number)d in all") % {"number": len(self.details)})
        return "\n".join([self.head, *shown])


@dataclass(frozen=True)
class Digest:
    """`is_empty`: there is nothing to do; `parts` then say so. Nothing unreadable is ever empty."""

    title: str
    parts: Sequence[Part]
    is_empty: bool = False

    def render(self, limit: int | None = None) -> str:
        """As text; without details where it would have more than `limit` characters."""
        full = "\n".join([self.title, *(part.text for part in self.parts)])
        if limit is None or len(full) <= limit:
            return full
        return "\n".join([self.title, *(part.head for part in self.parts)])

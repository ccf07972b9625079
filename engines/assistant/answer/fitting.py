"""Lines of an answer, and how they fit into the characters that a reader wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import ngettext, pgettext


def joint() -> str:
    """What stands between listed things."""
    return pgettext("between listed things", ", ")


def colon() -> str:
    """What stands between a label and what it labels."""
    return pgettext("after a label", ": ")


@dataclass(frozen=True)
class Told:
    """One line: what it begins with, the things it lists, and what is said behind them whatever is cut.

    `left_out`: things that were left out before. `shorter`: the same with less detail. `weights`: of the
    things, where those that tell most are not the first ones.
    """

    head: str = ""
    entries: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: int = 0
    shorter: Told | None = None
    weights: tuple[int, ...] = ()

    def text(self, shown: int | None = None) -> str:
        """The line with the `shown` entries that tell most (None: all), in their order."""
        kept = self.entries if shown is None else self._most_telling(shown)
        missing = self.left_out + len(self.entries) - len(kept)
        body = self.head + joint().join(kept)
        return pgettext("between clauses", "; ").join(
            filter(None, [body, *([left_out(missing)] if missing else []), *self.notes])
        )

    def _most_telling(self, count: int) -> tuple[str, ...]:
        weights = self.weights or range(len(self.entries), 0, -1)
        best = sorted(range(len(self.entries)), key=lambda i: -weights[i])[:count]
        return tuple(self.entries[i] for i in sorted(best))

    def cut(self, limit: int) -> str:
        """Cut at whole entries; one always stands."""
        shown = len(self.entries)
        while shown > 1 and len(self.text(shown)) > limit:
            shown -= 1
        return self.text(shown)


def left_out(count: int) -> str:
    """How many were not listed."""
    return ngettext("%(count)s more is not listed", "%(count)s more are not listed", count) % {
        "count": count
    }


_FEW = 4


def fitted(lines: Sequence[Told], limit: int) -> str:
    """All lines in the most detail that fits; else cut, each thing whole, with the count of the rest."""
    while True:
        whole = "\n".join(filter(None, (line.text() for line in lines)))
        if len(whole) <= limit:
            return whole
        if not any(line.shorter for line in lines):
            return _cut(lines, limit)
        lines = [line.shorter or line for line in lines]


def leaves_out(lines: Sequence[Told], limit: int) -> bool:
    """Whether things are missing in that room, not only details of them."""
    if any(line.left_out for line in lines):
        return True
    while len("\n".join(filter(None, (line.text() for line in lines)))) > limit:
        if not any(line.shorter for line in lines):
            return sum(len(line.entries) or bool(line.head) for line in lines) > 1
        lines = [line.shorter or line for line in lines]
    return False


def _cut(lines: Sequence[Told], limit: int) -> str:
    """Few lines share the room; of many as many stand whole as fit."""
    shown: list[str] = []
    lines = [line for line in lines if line.text()]
    left = limit
    for place, line in enumerate(lines):
        rest = len(lines) - place
        text = line.cut(left // rest) if len(lines) <= _FEW else line.text()
        if shown and len(text) > left - (len(left_out(rest)) if rest > 1 else 0):
            shown.append(left_out(rest))
            break
        shown.append(text)
        left -= len(text) + 1
    return "\n".join(shown)


def noted(lines: Sequence[Told], notes: Sequence[str]) -> list[Told]:
    """The lines with notes behind the last one, in each of its lengths."""
    if not notes or not lines:
        return [*lines, *(Told(note) for note in notes)]
    return [*lines[:-1], _noted(lines[-1], tuple(notes))]


def _noted(line: Told, notes: tuple[str, ...]) -> Told:
    shorter = _noted(line.shorter, notes) if line.shorter else None
    return replace(line, notes=(*line.notes, *notes), shorter=shorter)

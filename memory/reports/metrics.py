"""The figures of a week, from data (issue 4, "History book"): every app adds what it can count.

A source that could not be read leaves its figures unknown (None), never 0 (design.md 9.8).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory.reports.weeks import Period
from projects.models import Project


class SourceDown(Exception):
    """The source could not be read, or not completely."""


Read = Callable[[Project, Period], Mapping[str, Any]]


@dataclass(frozen=True)
class _Source:
    keys: tuple[str, ...]
    read: Read


@dataclass(frozen=True)
class Figures:
    """Figures by name, JSON values; `unread`: those that nobody could tell."""

    values: Mapping[str, Any]
    unread: tuple[str, ...] = ()

    @property
    def stored(self) -> dict[str, Any]:
        """As `iit_weekly_reports.metrics` keeps them."""
        return {**self.values, "complete": not self.unread, "unread": list(self.unread)}

    def filled_from(self, older: Mapping[str, Any]) -> Figures:
        """The same with what an earlier count of the whole week knew."""
        known = {key: older[key] for key in self.unread if older.get(key) is not None}
        unread = tuple(key for key in self.unread if key not in known)
        return Figures({**self.values, **known}, unread)


_sources: dict[str, _Source] = {}


def register(name: str, keys: Sequence[str], read: Read) -> None:
    """Add a source of the figures `keys`; `read` raises SourceDown when it cannot tell them."""
    _sources[name] = _Source(tuple(keys), read)


def gather(project: Project, period: Period) -> Figures:
    """Ask every source, outside of any transaction: some read REDCap."""
    values: dict[str, Any] = {}
    for source in _sources.values():
        try:
            found = source.read(project, period)
        except SourceDown:
            found = {}
        values |= {key: found.get(key) for key in source.keys}
    return Figures(values, tuple(key for key, value in values.items() if value is None))

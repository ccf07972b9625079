"""The registry of whoever words changes of hot memory; a higher layer fills it (CONTRIBUTING.md, Layers)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.hot.proposals import Change
from projects.models import Project


class DistillerDown(Exception):
    """No model answers; the deterministic part has to do. `save` writes what was used nevertheless."""

    def __init__(self, why: str, save: Callable[[], None] = lambda: None) -> None:
        super().__init__(why)
        self.save = save


@dataclass(frozen=True)
class Item:
    """One stored statement of the day, or a user's feedback counts (id `feedback:…`).

    `is_own`: about the user; otherwise for others to decide.
    """

    id: str
    user_id: str
    text: str
    field: str
    is_own: bool
    at: datetime


@dataclass(frozen=True)
class Brief:
    """All that a distiller gets: the memory as it is, the day's statements and counts; never the raw log."""

    project: Project
    content: str
    items: Sequence[Item]


@dataclass(frozen=True)
class Said:
    """What a distiller proposes, and what it wants written in the job's transaction (its usage)."""

    changes: Sequence[Change]
    save: Callable[[], None]


@dataclass(frozen=True)
class Summary:
    """Lines that say shorter what `of` (numbers from 1 of the lines handed over) say together."""

    text: str
    of: Sequence[int]


@dataclass(frozen=True)
class Shortened:
    """The summaries that a model wrote, and what it wants written in the job's transaction (its usage)."""

    summaries: Sequence[Summary]
    save: Callable[[], None]


Distiller = Callable[[Brief], Said]
Shortener = Callable[[Project, Sequence[str]], Shortened]
_distillers: list[Distiller] = []
_shorteners: list[Shortener] = []


def register(distiller: Distiller) -> None:
    """Set the one distiller of the house."""
    _distillers[:] = [distiller]


def register_shortener(shortener: Shortener) -> None:
    """Set the one that summarises lines which do not fit any more."""
    _shorteners[:] = [shortener]


def shorten(project: Project, texts: Sequence[str]) -> Shortened:
    """Summaries of these lines. Raises DistillerDown, also where nobody is registered."""
    if not _shorteners:
        raise DistillerDown("none is registered")
    return _shorteners[0](project, texts)


def ask(brief: Brief) -> Said:
    """What the registered distiller proposes. Raises DistillerDown, also where there is none."""
    if not _distillers:
        raise DistillerDown("none is registered")
    return _distillers[0](brief)

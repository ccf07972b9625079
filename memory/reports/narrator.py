"""The registry of whoever words a week's conversations; a higher layer fills it (CONTRIBUTING.md, Layers)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.reports.weeks import Week
from projects.models import Project


class NarratorDown(Exception):
    """No model answers; the report stands without its narrative. `save` writes what was used nevertheless."""

    def __init__(self, why: str, save: Callable[[], None] = lambda: None) -> None:
        super().__init__(why)
        self.save = save


@dataclass(frozen=True)
class Line:
    """One message of the flow log, or a piece of a very long one; raw text."""

    id: str
    user_id: str
    is_user: bool
    text: str
    at: datetime
    record_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Brief:
    """A part of a week's conversations, in order; the model cites its lines by number, from 1."""

    project: Project
    week: Week
    lines: Sequence[Line]


@dataclass(frozen=True)
class Claim:
    """What a model says about one line: nothing of it is believed before it was checked."""

    section: str
    text: str
    line: int
    quote: str


@dataclass(frozen=True)
class Said:
    """A model's claims; `shown` is every line as the model saw it; `save` writes the usage."""

    claims: Sequence[Claim]
    shown: Mapping[int, str]
    save: Callable[[], None]


Narrator = Callable[[Brief], Said]
_narrators: list[Narrator] = []


def register(narrator: Narrator) -> None:
    """Set the one narrator of the house."""
    _narrators[:] = [narrator]


def ask(brief: Brief) -> Said:
    """What the registered narrator says. Raises NarratorDown, also where there is none."""
    if not _narrators:
        raise NarratorDown("none is registered")
    return _narrators[0](brief)

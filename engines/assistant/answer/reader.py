"""For whom an answer is written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from study.design import StudyDesign


@dataclass(frozen=True)
class Reader:
    """Who reads, and what the words need besides the facts.

    `now`: the study's clock (house.clock), aware. `subjects`, `sites` (code → label): what the reader may see.
    `own_site`: the code of a member who sees one site only. `limit`: characters. `fresh_minutes`: how old a
    reading may be before its time is told. `masked`: hides identifiers in what people typed. `outage`: when and
    why the source failed last, where it was not read since.
    """

    design: StudyDesign
    now: datetime
    subjects: Collection[str] = ()
    sites: Mapping[str, str] = field(default_factory=dict)
    own_site: str = ""
    limit: int = 150
    fresh_minutes: int = 60
    language: str = "zh-hans"
    masked: Callable[[str], str] = str
    outage: tuple[datetime, str] | None = None

    @property
    def today(self) -> date:
        """The study's day."""
        return self.now.astimezone(self.design.context.timezone).date()

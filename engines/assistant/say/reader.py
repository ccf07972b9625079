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
    `own_site`: the code of a member who sees one site only. `limit`: characters. `whole`: those up to
    which a list of subjects is not cut. `fresh_minutes`: how old a
    reading may be before its time is told. `masked`: hides identifiers in what people typed. `outage`: when and
    why the source failed last, where it was not read since. `says_anchor`: a window is computed for the reader
    for the first time, so the answer says what Day 1 is. `criteria`: of who is asked about as eligible, the
    fields whose value a criterion of the protocol does not hold, with the mark of its line.
    """

    design: StudyDesign
    now: datetime
    subjects: Collection[str] = ()
    sites: Mapping[str, str] = field(default_factory=dict)
    own_site: str = ""
    limit: int = 150
    whole: int = 0
    fresh_minutes: int = 60
    language: str = "zh-hans"
    masked: Callable[[str], str] = str
    outage: tuple[datetime, str] | None = None
    says_anchor: bool = False
    criteria: Mapping[str, str] = field(default_factory=dict)

    @property
    def today(self) -> date:
        """The study's day."""
        return self.now.astimezone(self.design.context.timezone).date()

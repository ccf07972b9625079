"""What a model says about a week, held against the message it cites (issue 4, "each decision dated …").

Date and speaker come from the cited row alone. A claim whose quote does not stand there, or that says more
than the row does, is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import asdict, dataclass
from functools import cache, partial
from zoneinfo import ZoneInfo

from language import spoken_numbers
from language.values import PLACEHOLDER
from memory import quotes
from memory.hot import similarity
from memory.hot.proposals import name_of
from memory.hot.tombstones import Guard
from memory.people import clauses
from memory.quotes import Place
from memory.reports.narrator import (
    Brief,
    Claim,
    Line,
    Said,
)
from projects.models import Member, Project

SECTIONS = ("progress", "decision", "pitfall", "todo")
LONGEST = 200
_QUOTED = 4
_RESTS_ON = 0.5
_DATE = re.compile(r"^\s*\d{4}-\d{1,2}-\d{1,2}\s*[:：,，]?\s*")
_HEADING = re.compile(r"#+\s*")
_ROLES = re.compile(
    r"PI|CRC|CRA|主任|教授|医生|护士|研究者|监查员|统计师|伦理|申办方|机构办", re.IGNORECASE
)


@dataclass(frozen=True)
class Entry:
    """One line of a narrative: `date` (ISO) and `speaker` from the row `row`; `records` it concerns."""

    section: str
    text: str
    date: str
    speaker: str
    row: str
    records: tuple[str, ...] = ()

    @property
    def stored(self) -> dict[str, object]:
        """As a note keeps it."""
        return {**asdict(self), "records": list(self.records)}

    @classmethod
    def of(cls, stored: dict[str, object]) -> Entry:
        """From a note."""
        records = stored.get("records")
        texts = {key: str(stored.get(key) or "") for key in ("section", "text", "date", "speaker")}
        given = tuple(map(str, records)) if isinstance(records, list) else ()
        return cls(**texts, row=str(stored.get("row") or ""), records=given)


def sound(brief: Brief, said: Said) -> list[Entry]:
    """The claims that hold, as entries; in the order of the conversation."""
    names = _names(brief.project)
    guard_of = cache(partial(Guard, brief.project))
    entries = []
    for claim in sorted(said.claims, key=lambda claim: claim.line):
        if not _holds(claim, brief, said, names):
            continue
        line = brief.lines[claim.line - 1]
        if not _is_forgotten(claim, line, guard_of(line.user_id)):
            entries.append(_entry(brief, claim))
    return list(dict.fromkeys(entries))


def _names(project: Project) -> frozenset[str]:
    rows = Member.objects.filter(project=project).values_list("display_name", "wecom_userid")
    return frozenset(name for pair in rows for name in pair if len(name) > 1)


def _holds(claim: Claim, brief: Brief, said: Said, names: Collection[str]) -> bool:
    if claim.section not in SECTIONS or not 0 < claim.line <= len(brief.lines):
        return False
    line, shown = brief.lines[claim.line - 1], said.shown.get(claim.line, "")
    text = plain(claim.text)
    if not line.is_user or not text or len(text) > LONGEST:
        return False
    quote = clauses.folded(claim.quote)
    if len(quotes.letters(quote)[0]) < _QUOTED:
        return False
    return (
        any(_states(claim, place) for place in quotes.places(clauses.folded(shown), quote))
        and _numbers(text) <= _numbers(shown)
        and _people(text, names) <= _people(shown, names)
        and _rests(text, shown)
    )


def plain(text: str) -> str:
    """One line without list marks and without a date in front: the row's own date stands there."""
    unmarked = _HEADING.sub("", " ".join(text.split())).lstrip("-*•> ")
    return _DATE.sub("", unmarked).strip()


def _states(claim: Claim, place: Place) -> bool:
    """Whether the quoted clauses state something (no question), and deny what the claim denies."""
    stated = "\n".join(clause.text for clause in place.clauses if clause.states)
    return bool(stated) and clauses.denies(stated) == clauses.denies(claim.text)


def _is_forgotten(claim: Claim, line: Line, guard: Guard) -> bool:
    """Whether the speaker had it forgotten after that message: no job retells it (design.md 9.6)."""
    stones = [*guard.of_user(plain(claim.text)), *guard.of_user(claim.quote)]
    return any(stone.at >= line.at for stone in stones)


def _numbers(text: str) -> set[object]:
    return {end for number in spoken_numbers.find(clauses.folded(text)) for end in number.ends}


def _people(text: str, names: Collection[str]) -> set[str]:
    """People and roles that a text names: a claim may not put a decision into somebody's mouth."""
    folded = clauses.folded(text).casefold()
    roles = {found.casefold() for found in _ROLES.findall(folded)}
    return roles | {name.casefold() for name in names if name.casefold() in folded}


def _rests(text: str, shown: str) -> bool:
    """Whether enough of the wording stands in the row."""
    claimed, given = similarity.pieces(text), similarity.pieces(shown)
    if not claimed or not given:
        return False
    return len(claimed[0].grams & given[0].grams) >= _RESTS_ON * len(claimed[0].grams)


def _entry(brief: Brief, claim: Claim) -> Entry:
    line: Line = brief.lines[claim.line - 1]
    day = line.at.astimezone(ZoneInfo(brief.project.timezone)).date()
    # A masked identifier means nothing in a text that stays; its kind does.
    text = PLACEHOLDER.sub(lambda found: f"[{found[1]}]", plain(claim.text))
    named = [found for found in line.record_ids if found.casefold() not in text.casefold()]
    return Entry(
        section=claim.section,
        text=text,
        date=day.isoformat(),
        speaker=name_of(brief.project, line.user_id),
        row=line.id,
        records=tuple(named),
    )

"""What a model says about a week, held against the message it cites (issue 4, "each decision dated …").

Date and speaker come from the cited row alone. A claim whose quote does not stand there, or that says more
than the row does, is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from zoneinfo import ZoneInfo

from integrations.privacy import PLACEHOLDER
from memory import wording
from memory.agent import clauses, numbers
from memory.hot_proposals import name_of
from memory.weekly.narrator import Brief, Claim, Line, Said
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
    kept = [claim for claim in said.claims if _holds(claim, brief, said, names)]
    entries = (_entry(brief, claim) for claim in sorted(kept, key=lambda claim: claim.line))
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
    places = list(_places(claim.quote, shown))
    return (
        any(_states(claim, place) for place in places)
        and _numbers(text) <= _numbers(shown)
        and _people(text, names) <= _people(shown, names)
        and _rests(text, shown)
    )


def plain(text: str) -> str:
    """One line without list marks and without a date in front: the row's own date stands there."""
    unmarked = _HEADING.sub("", " ".join(text.split())).lstrip("-*•> ")
    return _DATE.sub("", unmarked).strip()


def _places(quote: str, shown: str) -> Iterator[str]:
    """The whole clauses in which a quote stands, letter for letter but for punctuation and blanks."""
    wanted = wording.normal(quote)
    if len(wanted) < _QUOTED:
        return
    folded = clauses.folded(shown)
    kept = [
        (char, at) for at, one in enumerate(folded) for char in one.casefold() if char.isalnum()
    ]
    letters = "".join(char for char, _at in kept)
    split, at = clauses.split(folded), letters.find(wanted)
    while at >= 0:
        start, end = kept[at][1], kept[at + len(wanted) - 1][1] + 1
        touched = clauses.at(split, start, end)
        yield "\n".join(clause.text for clause in touched if clause.states)
        at = letters.find(wanted, at + 1)


def _states(claim: Claim, place: str) -> bool:
    """Whether the quoted clauses state something (no question), and deny what the claim denies."""
    return bool(place) and clauses.denies(place) == clauses.denies(claim.text)


def _numbers(text: str) -> set[object]:
    return {end for number in numbers.find(clauses.folded(text)) for end in number.ends}


def _people(text: str, names: Collection[str]) -> set[str]:
    """People and roles that a text names: a claim may not put a decision into somebody's mouth."""
    folded = clauses.folded(text).casefold()
    roles = {found.casefold() for found in _ROLES.findall(folded)}
    return roles | {name.casefold() for name in names if name.casefold() in folded}


def _rests(text: str, shown: str) -> bool:
    """Whether enough of the wording stands in the row."""
    claimed, given = wording.pieces(text), wording.pieces(shown)
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

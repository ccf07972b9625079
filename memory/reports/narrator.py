"""What a model says about a part of a week's conversations, held against the messages it cites (issue 4).

The one request that may carry text of the flow log (design.md 9.2), de-identified like every other. Date and
speaker come from the cited row alone. A claim whose quote does not stand there, or that says more than the
row does, is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict

from core.integrations.llm import LlmProtocolError, Message
from core.language import spoken_numbers
from core.language.values import PLACEHOLDER
from core.llm import prompts
from core.llm.job_llm import form_of, llm_session, valid_rows
from core.llm.prompts import marked
from memory.hot import similarity
from memory.hot.proposals import name_of
from memory.hot.tombstones import Guard
from memory.people.quotes import Place, denies, folded, letters_of, places
from projects.endpoints import Purpose
from projects.models import Member, Project
from study import identities
from study.request_cache import Reader

SECTIONS = ("progress", "decision", "pitfall", "todo")
LONGEST = 200
MAX_TOKENS = 2000
# An answer of the assistant is context only, nobody may cite it.
_ANSWER = 200
_QUOTED = 4
_RESTS_ON = 0.5
_DATE = re.compile(r"^\s*\d{4}-\d{1,2}-\d{1,2}\s*[:：,，]?\s*")
_HEADING = re.compile(r"#+\s*")
_ROLES = re.compile(
    r"PI|CRC|CRA|主任|教授|医生|护士|研究者|监查员|统计师|伦理|申办方|机构办", re.IGNORECASE
)
_FORM = form_of(
    "entries",
    section={"type": "string", "enum": [*SECTIONS]},
    text={"type": "string"},
    row={"type": "integer"},
    quote={"type": "string"},
)


@dataclass(frozen=True)
class Line:
    """One message of the flow log, or a piece of a very long one; raw text."""

    id: str
    user_id: str
    is_user: bool
    text: str
    at: datetime
    record_ids: tuple[str, ...] = ()


class Claim(BaseModel):
    """What a model says about line `row` (from 1): nothing of it is believed before it was checked."""

    section: str
    text: str
    row: int
    quote: str


@dataclass(frozen=True)
class Said:
    """A model's claims; `shown` is every line as the model saw it; `save` writes the usage."""

    claims: Sequence[Claim]
    shown: Mapping[int, str]
    save: Callable[[], None]


class Entry(BaseModel):
    """One line of a narrative, as a note keeps it; `date` (ISO) and `speaker` are those of the row `row`.

    `records`: the subjects it concerns.
    """

    model_config = ConfigDict(frozen=True)

    section: str
    text: str
    date: str
    speaker: str
    row: str
    records: tuple[str, ...] = ()


def narrate(project: Project, lines: Sequence[Line]) -> Said:
    """The model's claims about a part of a week's conversations. Raises ModelDown without a usable answer."""
    reader = Reader(project)
    with llm_session(reader, purpose=Purpose.ENGINES) as (llm, gate):
        names = identities.names_in(reader, "\n".join(line.text for line in lines))
        texts = (identities.names_to_ids(line.text, names) for line in lines)
        shown = {n: str(gate.text(text)) for n, text in enumerate(texts, 1)}
        prompt = prompts.load_prompt("weekly", lines=marked(_numbered(lines, shown)))
        done = llm.ask(
            [Message("user", gate.text(prompt.text))],
            purpose="weekly",
            version=prompt.version,
            schema=_FORM,
            temperature=0,
            max_tokens=MAX_TOKENS,
        )
        entries = done.json().get("entries")
        if not isinstance(entries, list):
            raise LlmProtocolError(200, "no entries")
    return Said([*valid_rows(Claim, entries)], shown, llm.save)


def _numbered(lines: Sequence[Line], shown: Mapping[int, str]) -> str:
    """`[3] 用户2: …`: who is who stays here, the model gets numbers."""
    people = {user: n for n, user in enumerate(dict.fromkeys(line.user_id for line in lines), 1)}
    rows = (
        f"[{n}] 用户{people[line.user_id]}: {shown[n]}"
        if line.is_user
        else f"[{n}] 助手: {shown[n][:_ANSWER]}"
        for n, line in enumerate(lines, 1)
    )
    return "\n".join(rows)


def sound(project: Project, lines: Sequence[Line], said: Said) -> list[Entry]:
    """The claims that hold, as entries; in the order of the conversation."""
    rows = Member.objects.filter(project=project).values_list("display_name", "wecom_userid")
    names = frozenset(name for pair in rows for name in pair if len(name) > 1)
    guard_of = cache(partial(Guard, project))
    entries = []
    for claim in sorted(said.claims, key=lambda claim: claim.row):
        if claim.section not in SECTIONS or not 0 < claim.row <= len(lines):
            continue
        line = lines[claim.row - 1]
        if line.is_user and _holds(claim, said.shown.get(claim.row, ""), names):
            guard = guard_of(line.user_id)
            # What the speaker had forgotten after that message no job retells (design.md 9.6).
            stones = [*guard.of_user(one_line(claim.text)), *guard.of_user(claim.quote)]
            if not any(stone.at >= line.at for stone in stones):
                entries.append(_entry(project, claim, line))
    return list(dict.fromkeys(entries))


def _holds(claim: Claim, shown: str, names: Collection[str]) -> bool:
    """Whether a message, as the model saw it, says what a claim makes of it."""
    text, quote = one_line(claim.text), folded(claim.quote)
    if not 0 < len(text) <= LONGEST or len(letters_of(quote)) < _QUOTED:
        return False
    claimed, given = similarity.pieces(text)[:1], similarity.pieces(shown)[:1]
    if not claimed or not given:
        return False
    shared = len(claimed[0].grams & given[0].grams)
    return (
        any(_states(claim, place) for place in places(folded(shown), quote))
        and _numbers(text) <= _numbers(shown)
        and _people(text, names) <= _people(shown, names)
        and shared >= _RESTS_ON * len(claimed[0].grams)
    )


def one_line(text: str) -> str:
    """One line without list marks and without a date in front: the row's own date stands there."""
    unmarked = _HEADING.sub("", " ".join(text.split())).lstrip("-*•> ")
    return _DATE.sub("", unmarked).strip()


def _states(claim: Claim, place: Place) -> bool:
    """Whether the quoted clauses state something (no question), and deny what the claim denies."""
    stated = "\n".join(clause.text for clause in place.clauses if clause.states)
    return bool(stated) and denies(stated) == denies(claim.text)


def _numbers(text: str) -> set[object]:
    return {end for number in spoken_numbers.find(folded(text)) for end in number.ends}


def _people(text: str, names: Collection[str]) -> set[str]:
    """People and roles that a text names: a claim may not put a decision into somebody's mouth."""
    said = folded(text).casefold()
    roles = {found.casefold() for found in _ROLES.findall(said)}
    return roles | {name.casefold() for name in names if name.casefold() in said}


def _entry(project: Project, claim: Claim, line: Line) -> Entry:
    # A masked identifier means nothing in a text that stays; its kind does.
    text = PLACEHOLDER.sub(lambda found: f"[{found[1]}]", one_line(claim.text))
    return Entry(
        section=claim.section,
        text=text,
        date=line.at.astimezone(ZoneInfo(project.timezone)).date().isoformat(),
        speaker=name_of(project, line.user_id),
        row=line.id,
        records=tuple(one for one in line.record_ids if one.casefold() not in text.casefold()),
    )

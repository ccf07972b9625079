"""Which proposed changes hold, and which of them a job may write itself (issue 4, "Hot memory").

A model only proposes: what it cites, where it writes and what was removed before is checked here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from memory.hot import removal, similarity
from memory.hot.distiller import Item
from memory.hot.proposals import FEEDBACK, Action, Change
from memory.hot.text import Kind, Line, lines
from memory.hot.tombstones import Guard
from projects.models import Project

LONGEST = 300
_RESTS_ON = 0.3


@dataclass(frozen=True)
class Sorted:
    """What a job writes itself, what waits for a person, and how many were dropped."""

    applied: tuple[Change, ...]
    waiting: tuple[Change, ...]
    dropped: int


def sort(
    changes: Sequence[Change], items: Sequence[Item], content: str, project: Project
) -> Sorted:
    """Check every change against the statements it cites and the memory as it is."""
    guard_of = cache(partial(Guard, project))
    known = {item.id: item for item in items}
    applied: list[Change] = []
    waiting: list[Change] = []
    for change in changes:
        line = tidy(change)
        cited = [known[found] for found in line.evidence if found in known]
        if not _sound(line, cited, lines(content)) or line in (*applied, *waiting):
            continue
        # What the user of a profile had forgotten counts there like what an editor removed.
        guard = guard_of(line.profile.casefold())
        if _removed(line, cited, guard):
            # Who says a removed line again asks for it: the console decides (decisions.md, "who may edit").
            if _said_again(cited, guard):
                waiting.append(line)
        elif may_apply(line, cited):
            applied.append(line)
        else:
            waiting.append(line)
    dropped = len(changes) - len(applied) - len(waiting)
    return Sorted(tuple(applied), tuple(waiting), dropped)


def may_apply(change: Change, cited: Sequence[Item]) -> bool:
    """Only what users said about themselves, in their own profile."""
    own = (item.is_own and item.user_id.casefold() == change.profile.casefold() for item in cited)
    return change.kind is Kind.PROFILES and bool(change.profile) and all(own)


def tidy(change: Change) -> Change:
    """One list line without line breaks; the id of the profile as everywhere."""
    text = similarity.one_line(change.new)
    marked = re.match(r"^[^*:：]{1,12}\*\*\s*[:：]", text)
    text = f"**{text}" if marked else text
    return replace(change, new=f"- {text}" if text else "")


def _sound(change: Change, cited: Sequence[Item], there: Sequence[Line]) -> bool:
    if not cited or len(cited) != len(change.evidence) or change.kind is Kind.OTHER:
        return False
    if bool(change.profile) != (change.kind is Kind.PROFILES):
        return False
    stands = [line for line in there if _in_place(line, change)]
    if change.action == Action.ADD:
        return _is_line(change) and not _is_known(change, stands) and _grounded(change, cited)
    if change.action not in (Action.CHANGE, Action.RETIRE):
        return False
    if not any(line.text == change.old for line in stands):
        return False
    return (change.action == Action.RETIRE or _is_line(change)) and _grounded(change, cited)


def _in_place(line: Line, change: Change) -> bool:
    same = line.kind is change.kind and line.profile == change.profile.casefold()
    return same and line.is_content


def _is_line(change: Change) -> bool:
    return bool(similarity.pieces(change.new)) and len(change.new) <= LONGEST


def _is_known(change: Change, stands: Sequence[Line]) -> bool:
    said = similarity.normal(change.new)
    return any(said == similarity.normal(line.text) for line in stands)


def _grounded(change: Change, cited: Sequence[Item]) -> bool:
    """Every number comes from what is cited or stood there; so does some of the wording.

    Counts of feedback have no words to compare; what rests on them waits for a person anyway.
    """
    target = similarity.pieces(change.new or change.old)[0]
    sources = [similarity.pieces(text) for text in [change.old, *(item.text for item in cited)]]
    whole = [found[0] for found in sources if found]
    numbers = {number for piece in whole for number in piece.numbers}
    if change.new and not target.numbers <= numbers:
        return False
    if any(item.id.startswith(FEEDBACK) for item in cited):
        return True
    said = {gram for found in sources[1:] if found for gram in found[0].grams}
    return len(target.grams & said) >= _RESTS_ON * len(target.grams)


def _removed(change: Change, cited: Sequence[Item], guard: Guard) -> bool:
    if not change.new:
        return False
    hashes = {found for item in cited for found in removal.of_memory(item.id, item.text)}
    return guard.blocks(change.new, profile=change.profile, evidence=hashes)


def _said_again(cited: Sequence[Item], guard: Guard) -> bool:
    """Whether a user's own words, newer than the removal, say what was removed."""
    return any(guard.said_again(item.text, at=item.at) for item in cited)

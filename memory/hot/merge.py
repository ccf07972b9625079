"""Three-way merge of two people's edits, line by line (issue 4: nothing is overwritten silently)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise


@dataclass(frozen=True)
class Conflict:
    """A place that both changed differently; the merged text carries the lines of both."""

    theirs: tuple[str, ...]
    mine: tuple[str, ...]


@dataclass(frozen=True)
class Merge:
    """The text with both people's changes, and where they met."""

    text: str
    conflicts: tuple[Conflict, ...]


def merge(base: str, mine: str, theirs: str) -> Merge:
    """Both edits of `base` in one text.

    A line goes only where one of the two removed it; where both changed the same place, theirs stands
    before mine and the place is named as a conflict.
    """
    old, left, right = base.split("\n"), mine.split("\n"), theirs.split("\n")
    merged: list[str] = []
    conflicts = []
    for was, my, their in _regions(old, left, right):
        if my == their or their == was:
            merged += my
        elif my == was:
            merged += their
        else:
            merged += _both(their, my)
            conflicts.append(Conflict(tuple(their), tuple(my)))
    return Merge("\n".join(merged), tuple(conflicts))


def _both(theirs: Sequence[str], mine: Sequence[str]) -> list[str]:
    """Theirs, then what mine has beyond it; a line that both have stands once."""
    rest = list(theirs)
    added = []
    for line in mine:
        if line in rest:
            rest.remove(line)
        else:
            added.append(line)
    return [*theirs, *added]


def _regions(
    base: list[str], mine: list[str], theirs: list[str]
) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """The texts cut at the lines that all three share: pieces (base, mine, theirs) in order."""
    in_mine, in_theirs = _matches(base, mine), _matches(base, theirs)
    shared = [(at, in_mine[at], in_theirs[at]) for at in sorted(in_mine.keys() & in_theirs)]
    marks = [(-1, -1, -1), *shared, (len(base), len(mine), len(theirs))]
    for (b, m, t), (b_next, m_next, t_next) in pairwise(marks):
        if b >= 0:
            yield base[b : b + 1], mine[m : m + 1], theirs[t : t + 1]
        yield base[b + 1 : b_next], mine[m + 1 : m_next], theirs[t + 1 : t_next]


def _matches(base: list[str], other: list[str]) -> dict[int, int]:
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {block.a + n: block.b + n for block in blocks for n in range(block.size)}

"""Whether a statement ties together what a clause ties together, not only has both somewhere in it."""

from __future__ import annotations

import re

from engines.grounding.coverage import says_something, unsaid, vocabulary
from engines.grounding.statements import CELL, Statement
from engines.grounding.values import tokens

_IS = re.compile(r"(?:即|便|就)?(?:是|为|:)")
_TIE = re.compile(
    rf"[是为即指:]|包括|包含|采用|评价|定义|作为|属于|由|用|以|{re.escape(CELL.strip())}"
)
FREE = re.compile(r"(?:没有|不受|不作|不设|无)(?:任何)?限制?|不限(?!于)")
_AFTER = re.compile(r"(?:之|以)?[后前](?!后)")


def is_tied(clause: str, statement: Statement) -> bool:
    """Whether the statement calls one thing the other, frees the same thing, and dates the event itself."""
    pieces = clause.split(",")
    return (
        all(_calls(piece, statement.text) for piece in pieces)
        and all(_frees(piece, statement.text) for piece in pieces)
        and not _only_refers(clause, statement)
    )


def _calls(piece: str, text: str) -> bool:
    """Of `A is B`: where a sentence has both words, one stands right behind the other or is tied to it."""
    hit = _IS.search(piece)
    if not hit or tokens(piece[hit.end() :]):
        return True
    ones = _stretches(piece[: hit.start()], text)
    others = _stretches(piece[hit.end() :], text)
    return not (ones and others) or any(_near(a, b, text) for a in ones for b in others)


def _stretches(part: str, text: str) -> list[tuple[int, int]]:
    """Where the words of a part, or their other names, stand in a text."""
    words = [word for run in unsaid(part, "") for word in [run, *vocabulary(run).split()]]
    return [hit.span() for word in set(words) for hit in re.finditer(re.escape(word), text)]


def _near(one: tuple[int, int], other: tuple[int, int], text: str) -> bool:
    first, second = sorted([one, other])
    gap = text[first[1] : second[0]]
    return "," not in gap and (not says_something(gap) or _TIE.search(gap) is not None)


def _frees(piece: str, text: str) -> bool:
    """What a clause says to be unlimited stands in a part of the statement that says so."""
    hit = FREE.search(piece)
    if not hit:
        return True
    behind = piece[hit.end() :]
    what = behind if says_something(behind) else piece[: hit.start()]
    return any(FREE.search(part) and not unsaid(what, vocabulary(part)) for part in text.split(","))


def _only_refers(clause: str, statement: Statement) -> bool:
    """Whether a report of some week only counts from an event that the clause puts into that week."""
    if all(statement.values.holds(t) or not statement.around.holds(t) for t in tokens(clause)):
        return False
    return any(
        _counted_from(word, statement.text) and not _counted_from(word, clause)
        for word in unsaid(clause, "")
    )


def _counted_from(word: str, text: str) -> bool:
    ends = [hit.end() for hit in re.finditer(re.escape(word), text)]
    return bool(ends) and all(_AFTER.match(text, end) for end in ends)

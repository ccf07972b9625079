"""Which words of a clause a source does not have: what is left speaks of something nobody told."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from engines.grounding.kept import kept
from engines.grounding.values import tokens

_RUN = re.compile(r"[\u4e00-\u9fff]+|[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_OFTEN = re.compile(r"每(?:日|天|晚|周|月|季度?|半?年)|[隔双单][日周月]")
_DONE = "="
_NEWS = re.compile(r"[^\s=]+")
_TURNED = "不非未无"


@cache
def _table() -> tuple[
    re.Pattern[str], tuple[tuple[str, ...], ...], tuple[str, ...], re.Pattern[str]
]:
    path = Path(__file__).with_name("words.v1.json")
    table = json.loads(path.read_text(encoding="utf-8"))
    filler = sorted(set(table["filler"]), key=len, reverse=True)
    same = tuple(tuple(word.casefold() for word in group) for group in table["same"])
    kept = [f for f in filler if any(w in f and w != f for w in table["whole"])]
    words = re.compile("|".join(map(re.escape, filler)))
    return words, same, tuple(table["whole"]), re.compile("|".join(map(re.escape, kept)) or "(?!)")


@kept
def words_of(clause: str) -> tuple[str, ...]:
    """The runs of characters of a clause that say something: no values, no function words."""
    text = clause.casefold()
    for token in tokens(text):
        if token.kind in ("number", "date", "id", "name"):
            end = token.start + len(token.text)
            text = text[: token.start] + " " * len(token.text) + text[end:]
    return tuple(_RUN.findall(text))


@kept
def vocabulary(text: str) -> str:
    """A text with the other names of what it names."""
    folded = text.casefold()
    more = [word for group in _table()[1] if any(w in folded for w in group) for word in group]
    return " ".join([folded, *more])


def unsaid(clause: str, told: str) -> list[str]:
    """Words of the clause that `told` (a vocabulary) does not have."""
    rest = _table()[3].sub(" ", clause)
    whole = [*(hit[0] for hit in _OFTEN.finditer(clause)), *(w for w in _table()[2] if w in rest)]
    missing = [word for word in whole if word not in told]
    return missing + [rest for run in words_of(clause) for rest in _left(run, told)]


def says_something(clause: str) -> bool:
    """Whether a clause has a word that a source must have."""
    return bool(unsaid(clause, ""))


def _left(run: str, told: str) -> list[str]:
    if run[0].isascii():
        stands = re.search(f"(?<![a-z]){re.escape(run)}(?![a-z])", told)
        return [] if stands or _table()[0].fullmatch(run) else [run]
    if _is_turned(run, told):
        return [run]
    covered = [False] * len(run)
    for size in range(min(len(run), 8), 1, -1):
        for at in range(len(run) - size + 1):
            if run[at : at + size] in told:
                covered[at : at + size] = [True] * size
    rest = "".join(_DONE if done else char for char, done in zip(run, covered, strict=True))
    rest = _table()[0].sub(lambda hit: " " * len(hit[0]), rest)
    return [hit[0] for hit in _NEWS.finditer(rest) if not _is_manner(hit, rest, told)]


def _is_manner(hit: re.Match[str], rest: str, told: str) -> bool:
    """A single character that a source has, too, and that makes no other word of what it stands at."""
    touching = _DONE in (rest[hit.start() - 1 : hit.start()], rest[hit.end() : hit.end() + 1])
    return len(hit[0]) == 1 and hit[0] in told and not touching


def _is_turned(run: str, told: str) -> bool:
    """Whether a text has the beginning of a run only behind its contrary: `不稳定型` for `稳定型`."""
    for size in range(min(len(run), 8), 2, -1):
        if run[:size] in told:
            return re.search(f"(?<![{_TURNED}]){re.escape(run[:size])}", told) is None
    return False

"""How a study's record ids look: the console's pattern, else the one that the stored roster shows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import lru_cache
from uuid import UUID

from projects.models import Project
from study.models import Subject

_DIGITS = re.compile(r"\d+")
MOST_SHAPES, LONGEST = 3, 200


def pattern_of(project: Project, ids: Collection[str]) -> str | None:
    """The pattern ids of the study are recognised by; None for the usual forms.

    Where none is stored, numbers as ids (REDCap's default) are recognised by what the roster's look like.
    """
    if project.record_id_pattern:
        return project.record_id_pattern
    known = frozenset(ids)
    return (are_numbers(known) and proposed_pattern(known)) or None


@lru_cache(maxsize=16)
def are_numbers(ids: frozenset[str]) -> bool:
    """Whether every id is a plain number, which needs a pattern to be told from other numbers."""
    return bool(ids) and all(one.isascii() and one.isdigit() for one in ids)


@lru_cache(maxsize=16)
def proposed_pattern(ids: frozenset[str]) -> str:
    """A regular expression that `ids` and their successors match; "" where they have too many shapes.

    A number without leading zeros may get two digits longer.
    """
    shapes: defaultdict[tuple[str, ...], list[list[str]]] = defaultdict(list)
    for one in ids:
        shapes[tuple(_DIGITS.split(one))].append(_DIGITS.findall(one))
    if not shapes or len(shapes) > MOST_SHAPES:
        return ""
    told = "|".join(_regex(texts, numbers) for texts, numbers in sorted(shapes.items()))
    return told if len(told) <= LONGEST else ""


def _regex(texts: tuple[str, ...], numbers: list[list[str]]) -> str:
    parts = [re.escape(texts[0])]
    for text, column in zip(texts[1:], zip(*numbers, strict=True), strict=True):
        parts += [_number(column), re.escape(text)]
    return "".join(parts)


def _number(column: tuple[str, ...]) -> str:
    sizes = {len(one) for one in column}
    if len(sizes) == 1 and (sizes != {1} or any(one.startswith("0") for one in column)):
        return rf"\d{{{max(sizes)}}}"
    if any(one.startswith("0") for one in column):
        return rf"\d{{{min(sizes)},{max(sizes)}}}"
    return rf"[1-9]\d{{0,{max(sizes) + 1}}}"


_WORD = re.compile(r"[^\W_]+(?:[-_][^\W_]+)*")


def record_ids_in(project_id: UUID, texts: Iterable[str]) -> list[str]:
    """The ids of the study's subjects that stand in any of the texts as words of their own, sorted."""
    ids = {*Subject.objects.filter(project=project_id).values_list("record_id", flat=True)}
    found: set[str] = set()
    for text in texts:
        found |= ids & {*_WORD.findall(text)}
        found |= {one for one in ids if not _WORD.fullmatch(one) and one in text}
    return sorted(found)

"""Clauses that statements of the sources say, alone or item by item (`排除标准包括甲、乙和丙`)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engines.grounding.modality import modality
from engines.grounding.sources import Sources
from engines.grounding.statements import Statement
from engines.grounding.support import agrees, is_past, matches
from engines.grounding.values import tokens

_LEAD = re.compile(r"^(.*?(?:包括|包含|例如|为|是|有|:))(.+)$")
_ITEMS = re.compile(r"、|以及|和|及|与|或")


def supported(clause: str, subjects: Sequence[str], named: bool, sources: Sources) -> bool:
    """Whether one statement says the clause; of a list, whether each item has one.

    `named`: the clause names its subjects, so that only a statement about them will do.
    """
    ids = frozenset(subjects) if named else frozenset()
    of_record = _is_of_record(clause, subjects, sources)
    near = [one for one in sources.statements if _may_tell(one, subjects, of_record, sources)]
    near = [one for one in near if not one.noted or not _names_more(clause, one, sources)]
    said = modality(clause)
    if _says(clause, ids, near, said):
        return True
    items = _items(clause)
    return len(items) > 1 and all(_says(item, ids, near, said) for item in items)


def _says(clause: str, ids: frozenset[str], near: Sequence[Statement], said: str) -> bool:
    """A permission is told only where nothing forbids the same, and the other way round."""
    found = [one for one in near if matches(clause, ids, one)]
    found = [one for one in found if not is_past(clause, one, near)]
    if said:
        return {one.modality for one in found} - {""} == {said}
    return any(agrees(clause, one) for one in found)


def _items(clause: str) -> list[str]:
    lead = _LEAD.match(clause)
    head, rest = (lead[1], lead[2]) if lead else ("", clause)
    return [f"{head} {item}" for item in _ITEMS.split(rest) if item.strip()]


def _is_of_record(clause: str, subjects: Sequence[str], sources: Sources) -> bool:
    """Whether the clause gives a value of a field that was read of its subject."""
    if not any(token.kind in ("number", "date") for token in tokens(clause)):
        return False
    own = [fact for subject in filter(None, subjects) for fact in sources.of(subject)]
    return any(len(name) > 1 and name.casefold() in clause for f in own for name in f.names)


def _may_tell(one: Statement, subjects: Sequence[str], of_record: bool, sources: Sources) -> bool:
    if one.ids:
        return not sources.facts or bool(one.ids & set(subjects))
    return one.counted or not of_record


def _names_more(clause: str, one: Statement, sources: Sources) -> bool:
    """Whether a clause names fields beside that of a note: what a note says of those is not data."""
    own = [f for f in sources.facts if f.record_id in one.ids and f.field != one.noted]
    return any(len(name) > 1 and name.casefold() in clause for f in own for name in f.names)


def counted_head(clause: str, sources: Sources) -> int:
    """Where the list behind a sum begins (`超窗访视1个:P005 V3`), if the sum is a tool's; else 0."""
    head, colon, _rest = clause.casefold().partition(":")
    near = [one for one in sources.statements if one.counted and not one.ids]
    return len(head) if colon and _says(head, frozenset(), near, "") else 0

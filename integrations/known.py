"""Identifier values of a study, made ready for being found in any text."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from integrations import identifiers, person_names
from integrations.identifiers import BIRTH, DASHES, DOTS, NAME, SHORT_ID, SUBJECT

NEVER = re.compile(r"(?!)")
_PUT_BETWEEN = rf"[\s{DOTS}.,_/|*()+:;{DASHES}]"
_BETWEEN = re.compile(_PUT_BETWEEN)
_GAP = rf"{_PUT_BETWEEN}{{0,5}}"
_LONG = 7


@dataclass(frozen=True, eq=False)
class Known:
    """Identifier values of a study, indexed by their first character; made once, used by many gates.

    Equal when their content is.
    """

    buckets: Mapping[str, tuple[re.Pattern[str], Mapping[str, str]]] = field(default_factory=dict)
    start: re.Pattern[str] = NEVER
    kept: frozenset[str] = frozenset()
    addressed: re.Pattern[str] = NEVER
    numbers: frozenset[str] = frozenset()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    @cached_property
    def _digest(self) -> str:
        kinds = sorted(pair for _regex, group in self.buckets.values() for pair in group.items())
        told = json.dumps([kinds, sorted(self.kept), self.addressed.pattern, sorted(self.numbers)])
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()

    @classmethod
    def of(cls, values: Mapping[str, Collection[str]], keep: Collection[str] = ()) -> Known:
        """From {field or kind: values}; `keep` (record ids) is never an identifier."""
        kept = {identifiers.normalise(text).casefold() for text in keep}
        kinds: dict[str, str] = {}
        numbers: set[str] = set()
        for name, texts in values.items():
            kind = identifiers.kind_of(name)
            for spelling in (form for text in texts for form in _spellings(str(text), kind)):
                value = " ".join(identifiers.normalise(spelling).split())
                if kind == SUBJECT and SHORT_ID.fullmatch(value):
                    numbers.add(value)
                if _telling(value, kind) and value.casefold() not in kept:
                    kinds.setdefault(value.casefold(), kind)
        grouped: dict[str, dict[str, str]] = {}
        for value, kind in kinds.items():
            if bare := squeeze(value):
                grouped.setdefault(bare[0], {})[bare] = kind
        first = "".join(re.escape(char) for char in grouped)
        start = re.compile(f"[{first}]", re.IGNORECASE) if first else NEVER
        buckets = {char: (_any_of(group), group) for char, group in grouped.items()}
        families = {person_names.surname(value) for value, kind in kinds.items() if kind == NAME}
        spoken = person_names.addressed(families - {""}) if families - {""} else NEVER
        return cls(buckets, start, frozenset(kept), spoken, frozenset(numbers))


def _spellings(value: str, kind: str) -> list[str]:
    if kind == BIRTH:
        return [value, *identifiers.birth_spellings(value)]
    return [value, *(person_names.name_spellings(value) if kind == NAME else ())]


def _telling(value: str, kind: str) -> bool:
    """Whether a known value can be masked wherever it occurs without wiping out ordinary words."""
    if re.fullmatch(r"[\d.,/-]*", value):
        return len(re.sub(r"\D", "", value)) >= (5 if kind != BIRTH else 6)
    return len(value) >= 2


def squeeze(value: str) -> str:
    """A value without what people put between its characters."""
    return _BETWEEN.sub("", value.casefold())


def _any_of(values: Collection[str]) -> re.Pattern[str]:
    longest = sorted(values, key=len, reverse=True)
    words = "|".join(_edged(_GAP.join(map(re.escape, value)), value) for value in longest)
    return re.compile(words, re.IGNORECASE)


def _edged(pattern: str, value: str) -> str:
    """Latin and digit values as whole words, long numbers among letters, too; Chinese ones anywhere."""
    glued = r"0-9" if value.isdigit() and len(value) >= _LONG else "0-9A-Za-z"
    before = rf"(?<![{glued}])" if value[0].isascii() else ""
    after = rf"(?![{glued}])" if value[-1].isascii() else ""
    return f"{before}{pattern}{after}"

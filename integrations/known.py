"""Identifier values of a study, made ready for being found in any text."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from integrations import identifiers
from integrations.identifiers import BIRTH, NAME

NEVER = re.compile(r"(?!)")


@dataclass(frozen=True)
class Known:
    """Identifier values of a study, indexed by their first character; made once, used by many gates."""

    buckets: Mapping[str, tuple[re.Pattern[str], Mapping[str, str]]] = field(default_factory=dict)
    start: re.Pattern[str] = NEVER
    kept: frozenset[str] = frozenset()
    addressed: re.Pattern[str] = NEVER

    @classmethod
    def of(cls, values: Mapping[str, Collection[str]], keep: Collection[str] = ()) -> Known:
        """From {field or kind: values}; `keep` (record ids) is never an identifier."""
        kept = {identifiers.normalise(text).casefold() for text in keep}
        kinds: dict[str, str] = {}
        for name, texts in values.items():
            kind = identifiers.kind_of(name)
            for spelling in (form for text in texts for form in _spellings(str(text), kind)):
                value = " ".join(identifiers.normalise(spelling).split())
                if _telling(value, kind) and value.casefold() not in kept:
                    kinds.setdefault(value.casefold(), kind)
        grouped: dict[str, dict[str, str]] = {}
        for value, kind in kinds.items():
            grouped.setdefault(value[0], {})[squeeze(value)] = kind
        first = "".join(re.escape(char) for char in grouped)
        start = re.compile(f"[{first}]", re.IGNORECASE) if first else NEVER
        buckets = {char: (_any_of(group), group) for char, group in grouped.items()}
        families = {identifiers.surname(value) for value, kind in kinds.items() if kind == NAME}
        spoken = identifiers.addressed(families - {""}) if families - {""} else NEVER
        return cls(buckets, start, frozenset(kept), spoken)


def _spellings(value: str, kind: str) -> list[str]:
    return [value, *(identifiers.birth_spellings(value) if kind == BIRTH else ())]


def _telling(value: str, kind: str) -> bool:
    """Whether a known value can be masked wherever it occurs without wiping out ordinary words."""
    if re.fullmatch(r"[\d.,/-]*", value):
        return len(re.sub(r"\D", "", value)) >= (5 if kind != BIRTH else 6)
    return len(value) >= 2


def squeeze(value: str) -> str:
    """A value without what people put between its characters."""
    return re.sub(r"[\s·._/-]", "", value.casefold())


def _any_of(values: Collection[str]) -> re.Pattern[str]:
    longest = sorted(values, key=len, reverse=True)
    gap = r"[\s·._/-]{0,5}"
    words = "|".join(_edged(gap.join(map(re.escape, value)), value) for value in longest)
    return re.compile(words, re.IGNORECASE)


def _edged(pattern: str, value: str) -> str:
    """Latin and digit values only as whole words; Chinese ones anywhere."""
    before = r"(?<![0-9A-Za-z])" if value[0].isascii() else ""
    after = r"(?![0-9A-Za-z])" if value[-1].isascii() else ""
    return f"{before}{pattern}{after}"

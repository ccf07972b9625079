"""Identifier values of a study, made ready for being found in any text."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from integrations import dates, identifiers, person_names
from integrations.identifiers import BIRTH, DASHES, DOTS, NAME, SHORT_ID, SUBJECT
from integrations.scripts import normalise, simplified

NEVER = re.compile(r"(?!)")
_PUT_BETWEEN = rf"[\s{DOTS}.,_/|*()+:;{DASHES}]"
_BETWEEN = re.compile(_PUT_BETWEEN)
_GAP = rf"{_PUT_BETWEEN}{{0,5}}"
_LONG = 7
# What parts a short number or name is little, or 血压130/80 is the number 13080, 血压高;飞蚊症 is 高飞.
_DIGITS_APART = rf"[ \t{DASHES}]"
_SHORT_GAP = rf"{_DIGITS_APART}{{0,3}}"
_NO_DATE = rf"(?!(?:19|20)\d\d{_DIGITS_APART}{{1,3}}\d\d?{_DIGITS_APART}{{1,3}}\d\d?(?!\d))"
_SHORT_NUMBER = re.compile(r"\d{1,8}")
_SHORT_NAME = re.compile(r"[\u4e00-\u9fff]{2}")
_NAME_GAP = rf"(?:[\s{DOTS}.,_/|{DASHES}]{{0,5}}|\s?\((?=.\)))"


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
    births: frozenset[date] = frozenset()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    @cached_property
    def _digest(self) -> str:
        kinds = sorted(pair for _regex, group in self.buckets.values() for pair in group.items())
        births = sorted(map(str, self.births))
        told = json.dumps(
            [kinds, sorted(self.kept), self.addressed.pattern, sorted(self.numbers), births]
        )
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()

    @classmethod
    def of(cls, values: Mapping[str, Collection[str]], keep: Collection[str] = ()) -> Known:
        """From {field or kind: values}; `keep` (record ids) is never an identifier."""
        kept = {simplified(normalise(text)).casefold() for text in keep}
        kinds: dict[str, str] = {}
        numbers: set[str] = set()
        births: set[date] = set()
        for name, texts in values.items():
            kind = identifiers.kind_of(name)
            plain = [simplified(normalise(str(text))) for text in texts]
            if kind == BIRTH:
                births |= {day for text in plain for _start, _end, day in dates.days(text)}
            for spelling in (form for text in plain for form in _spellings(text, kind)):
                value = " ".join(spelling.split())
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
        return cls(buckets, start, frozenset(kept), spoken, frozenset(numbers), frozenset(births))


def _spellings(value: str, kind: str) -> list[str]:
    if kind == BIRTH:
        return [value, *dates.birth_spellings(value)]
    return [value, *(person_names.name_spellings(value) if kind == NAME else ())]


def _telling(value: str, kind: str) -> bool:
    """Whether a known value can be masked wherever it occurs without wiping out ordinary words."""
    if re.fullmatch(r"[\d.,/-]*", value):
        return len(re.sub(r"\D", "", value)) >= (5 if kind != BIRTH else 6)
    return len(value) >= 2


def squeeze(value: str) -> str:
    """A value without what people put between its characters."""
    return _BETWEEN.sub("", value.casefold())


def _any_of(values: Mapping[str, str]) -> re.Pattern[str]:
    longest = sorted(values, key=len, reverse=True)
    words = "|".join(_edged(_joined(value, values[value]), value) for value in longest)
    return re.compile(words, re.IGNORECASE)


def _joined(value: str, kind: str) -> str:
    """A value with what may stand between its characters."""
    if kind != BIRTH and _SHORT_NUMBER.fullmatch(value):
        pairs = (
            rf"(?!\d{{{first}}}{_DIGITS_APART}{{1,3}}\d{{{len(value) - first}}}(?!\d))"
            for first in range(max(1, len(value) - 3), 4)
        )
        return f"{_NO_DATE}{''.join(pairs)}{_SHORT_GAP.join(value)}"
    gap = _NAME_GAP if _SHORT_NAME.fullmatch(value) else _GAP
    return gap.join(map(re.escape, value))


def _edged(pattern: str, value: str) -> str:
    """Latin and digit values as whole words, long numbers among letters, too; Chinese ones anywhere."""
    glued = r"0-9" if value.isdigit() and len(value) >= _LONG else "0-9A-Za-z"
    before = rf"(?<![{glued}])" if value[0].isascii() else ""
    after = rf"(?![{glued}])" if value[-1].isascii() else ""
    return f"{before}{pattern}{after}"

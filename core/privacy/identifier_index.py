"""Identifier values of a study, made ready for being found in any text."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from core.privacy import (
    dates,
    fold,
    identifiers,
    person_names,
)
from core.privacy.fold import Folded
from core.privacy.fold_text import normalise, simplified
from core.privacy.identifiers import (
    BIRTH,
    DASHES,
    DOTS,
    NAME,
    SHORT_ID,
    SUBJECT,
)

NEVER = re.compile(r"(?!)")
_BETWEEN = re.compile(rf"[\s{DOTS}.,_/|*()+:;{DASHES}]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_LONG = 7
_MANY_DIGITS = 5
# What parts a short number or name is little, or 血压130/80 is the number 13080, 血压高;飞蚊症 is 高飞.
_DIGITS_APART = re.compile(rf"[ \t{DASHES}]{{0,3}}")
# Chance seldom makes seven digits of a known number; a stroke or a point still makes two figures of them.
_MORE_APART = re.compile(rf"[\s、,;()\[\]{{}}<>*_|{DASHES}]{{0,4}}")
_EACH_APART = re.compile(rf"[ \t()\[\]{{}}<>*{DASHES}]{{1,4}}")
_DATE = re.compile(rf"(?:19|20)\d\d[ \t{DASHES}]{{1,3}}\d\d?[ \t{DASHES}]{{1,3}}\d\d?(?!\d)")
_NAME_APART = re.compile(rf"[\s{DOTS}.,_/|{DASHES}]{{0,5}}")
_MOST_BETWEEN = 8


@dataclass(frozen=True, slots=True)
class Form:
    """One spelling of a value by its letters: `value` is what it is called by, whichever way it is typed."""

    letters: str
    kind: str
    value: str

    @property
    def is_number(self) -> bool:
        """Whether a letter typed for a digit is one: o for 0, l for 1."""
        return sum(map(str.isdigit, self.letters)) >= _MANY_DIGITS

    @property
    def is_short(self) -> bool:
        """Whether chance could put its letters beside each other."""
        return len(self.letters) <= 8 if self.letters.isdigit() else _is_han(self.letters, 2)


@dataclass(frozen=True, eq=False)
class Known:
    """Identifier values of a study by their letters; made once, used by many gates.

    `forms`: what letters look like -> the values they may be; `starts`: how long those are that begin so,
    longest first. Equal when their content is.
    """

    forms: Mapping[str, tuple[Form, ...]] = field(default_factory=dict)
    starts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
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
        forms = sorted(
            (one.letters, one.kind, one.value) for all in self.forms.values() for one in all
        )
        births = sorted(map(str, self.births))
        told = json.dumps(
            [forms, sorted(self.kept), self.addressed.pattern, sorted(self.numbers), births]
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
        forms, starts = _table(_forms(kinds))
        families = {person_names.surname(value) for value, kind in kinds.items() if kind == NAME}
        spoken = person_names.addressed(families - {""}) if families - {""} else NEVER
        return cls(forms, starts, frozenset(kept), spoken, frozenset(numbers), frozenset(births))

    def found(self, text: Folded) -> Iterator[tuple[int, int, Form]]:
        """The longest value at each place of a text, with its place."""
        reach = 0
        for start in range(len(text.alike) - 1) if self.forms else ():
            if start < reach:
                continue
            for size in self.starts.get(text.alike[start : start + 2], ()):
                looks = text.alike[start : start + size]
                if looks in self.forms and (form := self._written(looks, size, text, start)):
                    reach = start + size
                    yield (*text.span(start, size), form)
                    break

    def _written(self, looks: str, size: int, text: Folded, start: int) -> Form | None:
        forms = self.forms[looks] if len(looks) == size else ()
        return next((form for form in forms if _is_written(form, text, start)), None)


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


def _forms(kinds: Mapping[str, str]) -> Iterator[Form]:
    """Every value forwards; those that nothing else reads like backwards, too."""
    for value, kind in kinds.items():
        letters = fold.letters(value)
        form = Form(letters, kind, squeeze(value))
        if len(letters) > 1:
            yield form
        if len(letters) >= (3 if _HAN.search(letters) else _LONG):
            yield Form(letters[::-1], kind, squeeze(value))


def _table(
    forms: Iterable[Form],
) -> tuple[dict[str, tuple[Form, ...]], dict[str, tuple[int, ...]]]:
    found: dict[str, tuple[Form, ...]] = {}
    starts: dict[str, set[int]] = {}
    for form in forms:
        looks = fold.look(form.letters)
        found[looks] = (*found.get(looks, ()), form)
        starts.setdefault(looks[:2], set()).add(len(looks))
    return found, {start: tuple(sorted(sizes, reverse=True)) for start, sizes in starts.items()}


def _is_written(form: Form, text: Folded, start: int) -> bool:
    """Whether the letters at a place are this value and no part of another word or number."""
    size = len(form.letters)
    exact = text.exact[start : start + size]
    if exact != form.letters and not (form.is_number and _typed(form.letters, exact)):
        return False
    between = text.between(start, size)
    return (
        max(map(len, between)) <= _MOST_BETWEEN
        and _stands_alone(form, text, start)
        and (not form.is_short or _is_close(form, text, start, between))
    )


def _typed(letters: str, exact: str) -> bool:
    """Only digits have look-alikes: 十一 is no name that has a 1 in it."""
    return all(one == other or one.isdigit() for one, other in zip(letters, exact, strict=True))


def _stands_alone(form: Form, text: Folded, start: int) -> bool:
    """Latin and digit values as whole words, long numbers among letters, too; Chinese ones anywhere."""
    begin, end = text.span(start, len(form.letters))
    is_long = form.letters.isdigit() and len(form.letters) >= _LONG
    glued = re.compile(r"[0-9]" if is_long else r"[0-9A-Za-z]")
    left = form.letters[0].isascii() and glued.match(text.plain[begin - 1 : begin] if begin else "")
    right = form.letters[-1].isascii() and glued.match(text.plain[end : end + 1])
    return not (left or right)


def _is_close(form: Form, text: Folded, start: int, between: list[str]) -> bool:
    """Whether nothing parts a short value but what people part one with."""
    begin, end = text.span(start, len(form.letters))
    if not form.letters.isdigit():
        (gap,) = between
        return bool(_NAME_APART.fullmatch(gap)) or _is_unusual(gap, text.plain, begin, end)
    is_long = len(form.letters) >= _LONG
    if all(gap if is_long else _EACH_APART.fullmatch(gap) for gap in between):
        return not _goes_on(text, start, len(form.letters), between[0])
    apart = _MORE_APART if is_long else _DIGITS_APART
    if is_long and any(char.isalpha() for char in text.plain[begin:end]):
        apart = (
            _NAME_APART  # nobody writes figures with letters for digits: lO / O62 is no fraction
        )
    if not all(apart.fullmatch(gap) for gap in between):
        return False
    pieces = _pieces(between)
    is_range = len(pieces) == 2 and max(pieces) <= 3
    return not is_range and not (form.kind != BIRTH and _DATE.match(text.plain, begin))


def _goes_on(text: Folded, start: int, size: int, gap: str) -> bool:
    """Whether a number written digit by digit has more of them: 1-3-9-1-2-3-4 holds no 1-2-3-4."""
    around = text.exact[start - 1 : start] if start else "", text.exact[start + size :][:1]
    gaps = (
        text.between(max(start - 1, 0), 2)[0] if start else "",
        *text.between(start + size - 1, 2),
    )
    return any(
        letter.isdigit() and apart == gap for letter, apart in zip(around, gaps, strict=False)
    )


def _is_unusual(gap: str, plain: str, begin: int, end: int) -> bool:
    """张(三), and 张、三 that stands alone: 血压高、飞蚊症 is nobody."""
    if gap.strip() == "(":
        return plain[end : end + 1] == ")"
    return not (_HAN.match(plain[begin - 1 : begin] if begin else "") and _HAN.match(plain[end:]))


def _pieces(between: list[str]) -> list[int]:
    """How long the pieces are in which a number is written."""
    pieces = [1]
    for gap in between:
        if gap:
            pieces.append(0)
        pieces[-1] += 1
    return pieces


def _is_han(letters: str, size: int) -> bool:
    return len(letters) == size and all(map(_HAN.match, letters))

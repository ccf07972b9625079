"""What a model extracted, held against the user's own words (issue 4, "Grounded").

The model says which field, whether it is the speaker's and stated; the value that is kept is read from the
words by code. A quote that does not stand there, a number or a word that does not stand in the quote, a
denial that the value does not have, an identifier: dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from core.language import clock_times, spoken_numbers
from core.language.spoken_numbers import Number
from core.language.values import PLACEHOLDER
from memory.people.quotes import Clause, denies, folded, letters, letters_of, places, torn
from memory.people.schemas import Slot, aliases, pattern

LONGEST = 120
_CURRENCY = re.compile(
    r"^(?:元|块)?\s*(人民币|港币|港元|港纸|美元|美金|欧元|英镑|日元|澳元|加元|新币|rmb|cny|hkd|usd|eur|gbp)",
    re.IGNORECASE,
)
_YES = frozenset({"true", "是", "有", "yes", "1"})
_NO = frozenset({"false", "否", "无", "没有", "no", "0"})
_PIECES = 3
_HEDGES = {"about": "约", "under": "不到", "near": "近"}
_VAGUE = re.compile(r"大概|左右|上下|可能|也许|差不多|不确定")


class Item(BaseModel):
    """One field as the model points at it.

    `of_speaker`: said of the user themselves (of their family, where the field is about it); `stated`: as
    holding now, neither asked, supposed, wished nor past.
    """

    field: str
    value: str | int | float | bool | None = None
    quote: str = ""
    of_speaker: bool = False
    stated: bool = False


@dataclass(frozen=True)
class Grounded:
    """A field that holds: `value` for machines, `said` as it reads, `plain` as it is compared."""

    slot: Slot
    value: Any
    said: str
    plain: str
    quote: str
    context: str
    vague: bool = False

    @property
    def detail(self) -> dict[str, Any]:
        """As it is stored."""
        stored = ("value", "said", "plain", "quote", "vague", "context")
        return {name: getattr(self, name) for name in stored}


@dataclass(frozen=True)
class _Words:
    """The part of a quote that stands in one clause."""

    text: str
    clause: Clause
    start: int
    end: int
    quote: str

    @property
    def stretch(self) -> str:
        return self.text[self.start : self.end]

    def denies(self, value: str) -> bool:
        """Whether the clause denies something that the value does not."""
        return denies(self.clause.text) and not denies(value)

    def grounded(
        self, slot: Slot, value: Any, said: str, plain: str, vague: bool = False
    ) -> Grounded:
        return Grounded(slot, value, said, plain, self.quote, self.clause.text.strip(), vague)


def accept(slot: Slot, item: Item, said: str) -> Grounded | None:
    """The field as the user's words have it; None where they do not.

    `said` is the user's message after the gate; nothing else is ever a source.
    """
    text = folded(said)
    given = "" if item.value is None else folded(str(item.value)).strip()
    if not (item.of_speaker and item.stated and given and item.quote):
        return None
    if PLACEHOLDER.search(item.quote) or PLACEHOLDER.search(given):
        return None
    for place in places(text, folded(item.quote)):
        quote = text[place.start : place.end]
        for clause in (one for one in place.clauses if one.states):
            start, end = max(clause.start, place.start), min(clause.end, place.end)
            found = _READ[slot.kind](slot, given, _Words(text, clause, start, end, quote))
            if found is not None:
                return found
    return None


def _number(slot: Slot, given: str, words: _Words) -> Grounded | None:
    """The number of the quote that the model means; its vagueness is read from the words."""
    wanted = spoken_numbers.find(given)
    if len(wanted) != 1 or words.denies(""):
        return None
    one = wanted[0]
    for number in spoken_numbers.find(words.text):
        is_inside = words.start <= number.start and number.end <= words.end
        # Of a range a model may name either end.
        is_end = one.upto is None and one.value in number.ends
        if is_inside and (is_end or number.ends == one.ends):
            return _of_number(slot, number, words)
    return None


def _of_number(slot: Slot, number: Number, words: _Words) -> Grounded | None:
    """As it reads: 约32岁, 30+岁, 近40岁, 30-35岁; what is merely rounded still is a number."""
    if not slot.least <= number.value <= slot.most:
        return None
    is_amount = slot.kind == "amount"
    money = _CURRENCY.match(words.text[number.end :]) if is_amount else None
    unit = money[1] if money else ""
    write = spoken_numbers.written if is_amount else spoken_numbers.plain_number
    shown = "-".join(map(write, number.ends))
    figure = f"{shown}{'+' if number.vague == 'plus' else ''}{unit}"
    hedge = _HEDGES.get(number.vague, "")
    value: Any = f"{hedge.replace('约', '')}{figure}"
    if number.vague in ("", "about") and not money:
        value = (int if number.value == int(number.value) else float)(number.value)
    return words.grounded(
        slot,
        value,
        f"{hedge}{slot.show.format(value=figure)}",
        "/".join([number.vague.replace("about", ""), shown, unit]),
        bool(number.vague),
    )


def _text(slot: Slot, given: str, words: _Words) -> Grounded | None:
    """Words of the quote, also in up to three pieces of one clause; short names get their full form."""
    if len(given) > LONGEST or not any(char.isalnum() for char in given):
        return None
    table = aliases(slot.aliases) if slot.aliases else {}
    full = table.get(given, given)
    shorts = [short for short, name in table.items() if name == full]
    for said in dict.fromkeys([given, full, *shorts]):
        if _stands(said, words.stretch) and _is_as_sure(said, words) and not words.denies(said):
            return words.grounded(slot, full, full, letters_of(full), bool(_VAGUE.search(full)))
    return None


def _is_as_sure(value: str, words: _Words) -> bool:
    """Whether its numbers are as vague as they were said: 20例 is not 大概20例."""
    said = [(number.ends, number.vague) for number in spoken_numbers.find(words.clause.text)]
    return all((one.ends, one.vague) in said for one in spoken_numbers.find(value))


def _time(slot: Slot, given: str, words: _Words) -> Grounded | None:
    """A time of the day that the model read as the code does; a part of the day stays as it was said."""
    wanted, said = clock_times.exact(given), clock_times.exact(words.stretch)
    if words.denies("") or wanted != said:
        return None
    if wanted is None:
        return _text(slot, given, words) if clock_times.parse(given) else None
    shown = wanted.strftime("%H:%M")
    return words.grounded(slot, shown, shown, letters_of(shown))


def _stands(words: str, stretch: str) -> bool:
    """Whether all letters stand there, in order, in pieces of two or more."""
    left, here, at = letters(words)[0], letters(stretch)[0], 0
    for _ in range(_PIECES):
        size, found = _longest(left, here, at)
        if not size or (size < 2 and size < len(left)):
            return False
        left, at = left[size:], found + size
        if not left:
            return True
    return False


def _longest(left: str, here: str, start: int) -> tuple[int, int]:
    """The longest beginning of `left` that stands in `here` behind `start`, and where."""
    for size in range(len(left), 0, -1):
        if not torn(left, size):
            at = here.find(left[:size], start)
            while at >= 0 and (torn(here, at) or torn(here, at + size)):
                at = here.find(left[:size], at + 1)
            if at >= 0:
                return size, at
    return 0, -1


def _choice(slot: Slot, given: str, words: _Words) -> Grounded | None:
    """One of the listed values, by the words that say it."""
    for value, ways in slot.choices.items():
        said = next((hit for way in ways if (hit := pattern(way).search(words.stretch))), None)
        is_meant = given.casefold() == value.casefold() or any(
            pattern(way).fullmatch(given) for way in ways
        )
        if said and is_meant:
            found = words.grounded(slot, value, said[0], value)
            return None if words.denies(said[0]) else found
    return None


def _boolean(slot: Slot, given: str, words: _Words) -> Grounded | None:
    """Yes or no, as the model read it; the words must deny what it denies."""
    value = given.casefold() in _YES
    if value == denies(words.clause.text) or not (value or given.casefold() in _NO):
        return None
    return words.grounded(slot, value, "有" if value else "无", str(value))


_READ = {
    "number": _number,
    "amount": _number,
    "text": _text,
    "choice": _choice,
    "boolean": _boolean,
    "time": _time,
}

"""What a model extracted, held against the user's own words (issue 4, "Grounded").

The value that is kept is read from the words by code; a model only points at it. A quote that does not
stand there, a number or a word that does not stand in the quote, an identifier: dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from language import clock_times, spoken_numbers
from language.spoken_numbers import Number
from language.values import PLACEHOLDER
from memory import quotes
from memory.people import clauses
from memory.people.clauses import Clause
from memory.people.schemas import Slot, aliases, pattern
from memory.quotes import Place, letters

LONGEST = 120
_CURRENCY = re.compile(
    r"^(?:元|块)?\s*(人民币|港币|港元|港纸|美元|美金|欧元|英镑|日元|澳元|加元|新币|rmb|cny|hkd|usd|eur|gbp)",
    re.IGNORECASE,
)
_MONEY = re.compile(r"^(?:元|块|人民币|港|美|欧|英镑|日元|rmb|cny|hkd|usd|eur|gbp)", re.IGNORECASE)
_SCALED = re.compile(r"[万亿千kw]$", re.IGNORECASE)
_YES, _NO = (
    frozenset({"true", "是", "有", "yes", "1"}),
    frozenset({"false", "否", "无", "没有", "no", "0"}),
)
_PIECES = 3
# A number that only what stands before it tells the meaning of counts nothing else: 今年32, not 今年32例.
_ALONE = re.compile(r"^(?:[多几余来+]|好几|出头|左右|上下|不到)*了?\s*(?:[,。!?;\n]|$)")
_HEDGES = {"about": "约", "under": "不到", "near": "近"}
_PAST = re.compile(r"半|[一三]刻|[\d零一二三四五六七八九十]+分?")
# What is said of a notice, and what claims to be an hour.
_NOTICE = re.compile(r"通知|提醒|推送|打扰|[发找]我|notif|remind", re.IGNORECASE)
_HOUR = re.compile(r"\d|[零〇一二两三四五六七八九十][点时]")
_NUMERAL = frozenset("0123456789.零〇一二两三四五六七八九十百千万亿")


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


def accept(slot: Slot, value: object, quote: str, said: str) -> Grounded | None:
    """The field as the user's words have it; None where they do not.

    `said` is the user's message after the gate; nothing else is ever a source.
    """
    text = clauses.folded(said)
    given = _given(value)
    if not given or not quote or PLACEHOLDER.search(quote) or PLACEHOLDER.search(given):
        return None
    for place in _places(slot, text, clauses.folded(quote)):
        found = _READ[slot.kind](slot, given, place, text)
        if found is not None:
            return found
    return None


def readings(slot: Slot, said: str) -> list[Grounded]:
    """Every number of a message that could be this field; two of them are a question."""
    text = clauses.folded(said)
    found = []
    for clause in clauses.split(text):
        place = Place(clause.start, clause.end, clause.text.strip(), (clause,))
        for number in spoken_numbers.find(text):
            inside = clause.start <= number.start and number.end <= clause.end
            if inside and _may_tell(slot, clause) and _holds(slot, number, clause, text):
                found.append(_of_number(slot, number, place, text))
    return found


def _given(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return clauses.folded(str(value)).strip() if isinstance(value, str | int | float) else ""


def _places(slot: Slot, text: str, quote: str) -> Iterator[Place]:
    """Where the quote stands in clauses that may be a source."""
    for place in quotes.places(text, quote):
        if place.clauses and all(_may_tell(slot, clause) for clause in place.clauses):
            yield place


def _may_tell(slot: Slot, clause: Clause) -> bool:
    if not clause.states or clause.who == "other":
        return False
    if slot.bars and pattern(slot.bars).search(clause.text):
        return False
    return clause.who == "self" or slot.family


def _number(slot: Slot, given: str, place: Place, text: str) -> Grounded | None:
    """The number of the quote that the model means; its vagueness is read from the words."""
    wanted = spoken_numbers.find(given)
    inside = [n for n in spoken_numbers.find(text) if place.start <= n.start and n.end <= place.end]
    meant = [number for number in inside if len(wanted) == 1 and _is(number, wanted[0])]
    for number in meant:
        clause = clauses.at(list(place.clauses), number.start, number.end)[0]
        if _holds(slot, number, clause, text):
            return _of_number(slot, number, place, text)
    return None


def _is(said: Number, given: Number) -> bool:
    """Whether a model means that number; of a range it may name either end."""
    return said.ends == given.ends or (given.upto is None and given.value in said.ends)


def _holds(slot: Slot, number: Number, clause: Clause, text: str) -> bool:
    """Whether a number is one of this field: its size, what stands beside it, and of whom it is said."""
    if not slot.least <= number.value <= slot.most or not _fits(slot, number, text):
        return False
    if not pattern(slot.cue).search(clause.text) or _negated(clause, ""):
        return False
    return not clauses.modifies_others(clause, number.end)


def _fits(slot: Slot, number: Number, text: str) -> bool:
    behind, before = text[number.end :], text[: number.start]
    if slot.kind == "amount":
        return bool(_SCALED.search(text[number.start : number.end]) or _MONEY.match(behind))
    if slot.units and re.match(rf"(?:[多几余来+]|好几)?\s*(?:{slot.units})", behind):
        return True
    led = bool(slot.lead) and re.search(
        rf"(?:{slot.lead})[是为:]?\s*{spoken_numbers.HEDGE}\s*$", before
    )
    return bool(led) and bool(_ALONE.match(behind))


def _of_number(slot: Slot, number: Number, place: Place, text: str) -> Grounded:
    """As it reads: 约32岁, 30+岁, 近40岁, 30-35岁; what is merely rounded still is a number."""
    money = _CURRENCY.match(text[number.end :]) if slot.kind == "amount" else None
    unit = money[1] if money else ""
    shown = "-".join(_figure(slot, end) for end in number.ends)
    figure = f"{shown}{'+' if number.vague == 'plus' else ''}{unit}"
    hedge = _HEDGES.get(number.vague, "")
    is_number = number.vague in ("", "about") and not money
    return Grounded(
        slot=slot,
        value=_json(number.value) if is_number else f"{hedge.replace('约', '')}{figure}",
        said=f"{hedge}{slot.show.format(value=figure)}",
        plain="/".join([number.vague.replace("about", ""), shown, unit]),
        quote=place.text,
        context=place.context,
        vague=bool(number.vague),
    )


def _figure(slot: Slot, value: Decimal) -> str:
    return spoken_numbers.written(value) if slot.kind == "amount" else spoken_numbers.plain(value)


def _json(value: Decimal) -> int | float:
    return int(value) if value == int(value) else float(value)


def _text(slot: Slot, given: str, place: Place, text: str) -> Grounded | None:
    """Words of the quote, also in up to three pieces of one clause; short names get their full form."""
    if len(given) > LONGEST or not any(char.isalnum() for char in given):
        return None
    table = aliases(slot.aliases) if slot.aliases else {}
    full = table.get(given, given)
    shorts = [short for short, name in table.items() if name == full]
    for clause in place.clauses:
        stretch = text[max(clause.start, place.start) : min(clause.end, place.end)]
        for words in dict.fromkeys([given, full, *shorts]):
            stands = _stands(words, stretch) and _is_as_sure(words, clause)
            if stands and not _negated(clause, words):
                return Grounded(
                    slot, full, full, plain(full), place.text, place.context, _is_vague(full)
                )
    return None


def _is_as_sure(words: str, clause: Clause) -> bool:
    """Whether its numbers are as vague as they were said: 20例 is not 大概20例."""
    said = [(number.ends, number.vague) for number in spoken_numbers.find(clause.text)]
    return all((one.ends, one.vague) in said for one in spoken_numbers.find(words))


def _time(slot: Slot, given: str, place: Place, text: str) -> Grounded | None:
    """A time of the day that the model read as the code does; one without an hour stays as it was said.

    Of "别在8点,9点通知我" it is the one that is not denied; where the notice itself is, there is none.
    """
    wanted, told = clock_times.exact(given), _not_refused(place, text)
    said = [clock_times.exact(stretch) for stretch in told]
    if wanted is None and told and not any(said) and _is_part(given, place):
        return _text(slot, given, place, text)
    if wanted is None or wanted not in said:
        return None
    shown = wanted.strftime("%H:%M")
    return Grounded(slot, shown, shown, plain(shown), place.text, place.context)


def _not_refused(place: Place, text: str) -> list[str]:
    """What of the quote stands in clauses that deny nothing; [] where a notice is denied without a time."""
    concerned = list(place.clauses)
    if not any(_NOTICE.search(clause.text) for clause in concerned):
        # 中午,别通知我
        concerned += [one for one in clauses.split(text) if one.start >= concerned[-1].end][:1]
    denied = [clause for clause in concerned if _negated(clause, "")]
    if any(clock_times.parse(clause.text) is None for clause in denied):
        return []
    return [
        text[max(clause.start, place.start) : min(clause.end, place.end)]
        for clause in place.clauses
        if clause not in denied
    ]


def _is_part(given: str, place: Place) -> bool:
    """Whether the words name a part of the day (早上, 班前); 25点 is none."""
    return clock_times.parse(given) is not None or not _HOUR.search(place.text + given)


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


def torn(text: str, at: int) -> bool:
    """Whether a cut there goes through a number or a time: 3 例 is not in 13 例, 8 点 not in 8 点半."""
    if not 0 < at < len(text):
        return False
    if text[at - 1] in "点时":
        return bool(_PAST.match(text, at))
    return text[at - 1] in _NUMERAL and text[at] in _NUMERAL


def _choice(slot: Slot, given: str, place: Place, text: str) -> Grounded | None:
    """One of the listed values, by the words that say it."""
    for value, words in slot.choices.items():
        said = next((hit for word in words if (hit := pattern(word).search(place.text))), None)
        if said is None or not _means(value, words, given):
            continue
        if any(_negated(clause, said[0]) for clause in _spanned(place, said)):
            return None
        return Grounded(slot, value, said[0], value, place.text, place.context)
    return None


def _means(value: str, words: Sequence[str], given: str) -> bool:
    return given.casefold() == value.casefold() or any(
        pattern(word).fullmatch(given) for word in words
    )


def _spanned(place: Place, said: re.Match[str]) -> list[Clause]:
    start = place.start + said.start()
    return clauses.at(list(place.clauses), start, start + len(said[0]))


def _boolean(slot: Slot, given: str, place: Place, text: str) -> Grounded | None:
    """Yes or no by the schema's own patterns, which the model must agree with."""
    no = pattern(slot.no).search(place.text)
    yes = pattern(slot.yes).search(place.text)
    if not (no or yes):
        return None
    value = not no
    if given.casefold() not in (_YES if value else _NO):
        return None
    return Grounded(slot, value, "有" if value else "无", str(value), place.text, place.context)


def _negated(clause: Clause, words: str) -> bool:
    """Whether the clause denies something that the value does not."""
    return clauses.denies(clause.text) and not clauses.denies(words)


def _is_vague(text: str) -> bool:
    return bool(re.search(r"大概|左右|上下|可能|也许|差不多|不确定", text))


def plain(text: str) -> str:
    """Letters and digits only, as values are compared."""
    return letters(clauses.folded(text))[0]


_READ = {
    "number": _number,
    "amount": _number,
    "text": _text,
    "choice": _choice,
    "boolean": _boolean,
    "time": _time,
}

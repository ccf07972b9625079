"""What a model extracted, held against the user's own words (issue 4, "Grounded").

The value that is kept is read from the words by code; a model only points at it. A quote that does not
stand there, a number or a word that does not stand in the quote, an identifier: dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from core.language import clock_times, spoken_numbers
from core.language.spoken_numbers import Number
from core.language.values import PLACEHOLDER
from memory.people import clauses
from memory.people.clauses import Clause, Place, letters, letters_of
from memory.people.schemas import Slot, aliases, pattern

LONGEST = 120
_CURRENCY = re.compile(
    r"^(?:元|块)?\s*(人民币|港币|港元|港纸|美元|美金|欧元|英镑|日元|澳元|加元|新币|rmb|cny|hkd|usd|eur|gbp)",
    re.IGNORECASE,
)
_MONEY = re.compile(r"^(?:元|块|人民币|港|美|欧|英镑|日元|rmb|cny|hkd|usd|eur|gbp)", re.IGNORECASE)
_SCALED = re.compile(r"[万亿千kw]$", re.IGNORECASE)
_YES = frozenset({"true", "是", "有", "yes", "1"})
_NO = frozenset({"false", "否", "无", "没有", "no", "0"})
_PIECES = 3
# A number that only what stands before it tells the meaning of counts nothing else: 今年32, not 今年32例.
_ALONE = re.compile(r"^(?:[多几余来+]|好几|出头|左右|上下|不到)*了?\s*(?:[,。!?;\n]|$)")
_HEDGES = {"about": "约", "under": "不到", "near": "近"}
_PAST = re.compile(r"半|[一三]刻|[\d零一二三四五六七八九十]+分?")
# What is said of a notice, and what claims to be an hour.
_NOTICE = re.compile(r"通知|提醒|推送|打扰|[发找]我|notif|remind", re.IGNORECASE)
_HOUR = re.compile(r"\d|[零〇一二两三四五六七八九十][点时]")
_VAGUE = re.compile(r"大概|左右|上下|可能|也许|差不多|不确定")
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

    @property
    def detail(self) -> dict[str, Any]:
        """As it is stored."""
        stored = ("value", "said", "plain", "quote", "vague", "context")
        return {name: getattr(self, name) for name in stored}


def accept(slot: Slot, value: object, quote: str, said: str) -> Grounded | None:
    """The field as the user's words have it; None where they do not.

    `said` is the user's message after the gate; nothing else is ever a source.
    """
    text = clauses.folded(said)
    given = ""
    if isinstance(value, str | int | float):
        given = clauses.folded(str(value)).strip()
    if not given or not quote or PLACEHOLDER.search(quote) or PLACEHOLDER.search(given):
        return None
    for place in clauses.places(text, clauses.folded(quote)):
        if place.clauses and all(_may_tell(slot, clause) for clause in place.clauses):
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


def _may_tell(slot: Slot, clause: Clause) -> bool:
    if not clause.states or clause.who == "other":
        return False
    if slot.bars and pattern(slot.bars).search(clause.text):
        return False
    return clause.who == "self" or slot.family


def _number(slot: Slot, given: str, place: Place, text: str) -> Grounded | None:
    """The number of the quote that the model means; its vagueness is read from the words."""
    wanted = spoken_numbers.find(given)
    if len(wanted) != 1:
        return None
    one = wanted[0]
    for number in spoken_numbers.find(text):
        is_inside = place.start <= number.start and number.end <= place.end
        # Of a range a model may name either end.
        is_end = one.upto is None and one.value in number.ends
        if not is_inside or not (is_end or number.ends == one.ends):
            continue
        clause = clauses.at(list(place.clauses), number.start, number.end)[0]
        if _holds(slot, number, clause, text):
            return _of_number(slot, number, place, text)
    return None


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
    write = spoken_numbers.written if slot.kind == "amount" else spoken_numbers.plain_number
    shown = "-".join(map(write, number.ends))
    whole = number.value == int(number.value)
    figure = f"{shown}{'+' if number.vague == 'plus' else ''}{unit}"
    hedge = _HEDGES.get(number.vague, "")
    is_number = number.vague in ("", "about") and not money
    return Grounded(
        slot=slot,
        value=(int if whole else float)(number.value)
        if is_number
        else f"{hedge.replace('约', '')}{figure}",
        said=f"{hedge}{slot.show.format(value=figure)}",
        plain="/".join([number.vague.replace("about", ""), shown, unit]),
        quote=place.text,
        context=place.context,
        vague=bool(number.vague),
    )


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
                    slot,
                    full,
                    full,
                    letters_of(full),
                    place.text,
                    place.context,
                    bool(_VAGUE.search(full)),
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
    return Grounded(slot, shown, shown, letters_of(shown), place.text, place.context)


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
        is_meant = given.casefold() == value.casefold() or any(
            pattern(word).fullmatch(given) for word in words
        )
        if said is None or not is_meant:
            continue
        start = place.start + said.start()
        spanned = clauses.at(list(place.clauses), start, start + len(said[0]))
        if any(_negated(clause, said[0]) for clause in spanned):
            return None
        return Grounded(slot, value, said[0], value, place.text, place.context)
    return None


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


_READ = {
    "number": _number,
    "amount": _number,
    "text": _text,
    "choice": _choice,
    "boolean": _boolean,
    "time": _time,
}

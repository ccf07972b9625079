"""The words of a clause: the study's, numbers and days, words that claim something, and what is left."""

from __future__ import annotations

import re
from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import cached_property

from engines.assistant.lines.types import Sheet
from engines.assistant.understand.study_words import vocabulary
from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.understand.tokens import Reading
from engines.assistant.understand.vocabulary import Vocabulary
from language.answer_forms import INDEFINITE, SHORT_DAY, UP_TO, VERSION
from language.claims import CLAIMS, LONGEST
from language.folding import folded
from language.numerals import HAN, number
from language.periods import Calendar, Period, periods
from rules.context import Kind as Column
from study.design import StudyDesign
from study.facts import Fact

_UNITS = (
    r"×109/l|kg/m2|个?百分点|mmol/l|μmol/l|umol/l|mg/dl|iu/l|u/l|g/l|mmhg|毫米汞柱|公斤|千克|kg|厘米|cm"
    r"|mm|mg|ml|°c|摄氏度|周岁|岁|个月|小时|分钟|%|倍|天|日|周|月|年|分|级|期|度|片|成"
    r"|例|人|名|位|个|条|次|项|种|起|件|份|cases|patients|subjects"
)
_AS = {
    "公斤": "kg",
    "千克": "kg",
    "厘米": "cm",
    "摄氏度": "°c",
    "度": "°c",
    "毫米汞柱": "mmhg",
    "周岁": "岁",
    "百分点": "个百分点",
    "日": "天",
}
_NUMBER = re.compile(
    rf"(?<![a-z\d.×])(?P<digits>\d+(?:\.\d+)?)(?:\s?(?P<unit>{_UNITS})(?![a-z](?<=[a-z][a-z])))?"
    rf"|百分之(?P<percent>[\d.]+|[{HAN}]+)|(?P<base>[{HAN}]+)分之(?P<part>[{HAN}]+)|(?P<words>[{HAN}]+)(?!百?分[之点])(?P<of>岁|类|倍|级|分|天|周|小时|年|成|例|人|名|位|个|条|次|项|种|起|件)"
)
_UNIT = re.compile(
    r"(?<![a-z])(mmol/l|μmol/l|umol/l|mg/dl|iu/l|u/l|g/l|mmhg|kg|cm|×109/l)(?![a-z])"
)
_QUOTE = re.compile(r"[“\"「『]([^”\"」』]{1,60})[”\"」』]")
_ROW = re.compile(rf"#(\d+)|第(\d|[{HAN}])[条例个项](?!标准)")
_SITE = re.compile(r"([a-z甲乙丙丁])\s?中心|site_[a-z0-9]+")
_SLASHED = re.compile(r"(?<![\d./-])(1[0-2]|0?[1-9])/(3[01]|[12]\d|0?[1-9])(?![\d/])")
_MONTH = re.compile(r"(20\d\d)-(0[1-9]|1[0-2])(?![-\d])")
_COUNTED = re.compile(r"\s?[例人名位个条次]")
_LATIN = re.compile(r"[a-z][a-z0-9\-_.+]*|\d+")
_TAIL = re.compile(
    r"\s*(?:(之前|以前|前)|(之后|以后|后)|(为止)|(?:起|开始|以来|至今|到现在|到目前))$"
)
_TO = re.compile(r"\s*(?:至|到|~|—|-(?=\d{1,2}月|20\d\d))\s*")
_SECTION = re.compile(r"(?:§|第)?\d+(?:\.\d+){2,3}节?|§\d+(?:\.\d+)*")
_STUDY = (Meant.FIELD, Meant.FORM, Meant.CHOICE, Meant.PLACE, Meant.SITE, Meant.IDENTIFIER)


_TELLING = 0.5
"""Share of a label that a part of it must be to stand for it."""


_SMALL = frozenset({"small"})
_LAY = 4
"""Rank of what only the table of lay words says (understand.vocabulary)."""
_TALK = (
    Meant.FILL, Meant.WHAT, Meant.WHEN, Meant.AND, Meant.EACH, Meant.AMONG, Meant.FOLLOW, Meant.PRONOUN,
    Meant.OVERVIEW,
)  # fmt: skip


class Kind(StrEnum):
    """What a token is."""

    SUBJECT = "subject"
    STUDY = "study"
    DAY = "day"
    SPAN = "span"
    NUMBER = "number"
    UNIT = "unit"
    ROW = "row"
    QUOTE = "quote"
    WORD = "word"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class Token:
    """A word. `is_a`, `readings`: of the study's words; `days`: first and last of a stretch, twice the day of a
    DAY; `is_to`: the end of a range; `name`: a subject, a row's number or name, what stands in quotation marks.
    """

    kind: Kind
    text: str
    at: int
    claims: frozenset[str] = frozenset()
    is_a: Meant | None = None
    readings: tuple[Reading, ...] = ()
    number: Decimal | None = None
    unit: str = ""
    days: tuple[date, date] | None = None
    name: str = ""
    pair: str = ""
    is_to: bool = False

    @property
    def end(self) -> int:
        """The place behind it."""
        return self.at + len(self.text)

    def names(self) -> frozenset[str]:
        """Fields, forms, events or sites that it may mean."""
        return frozenset(reading.name for reading in self.readings)


@dataclass(frozen=True)
class Lexer:
    """Reads clauses with the words of one sheet."""

    sheet: Sheet

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The study's words."""
        return vocabulary(self.sheet.design, self.sheet.sites)

    @cached_property
    def rows(self) -> dict[str, set[tuple[str, str, int | None]]]:
        """Names of rows of repeating forms (急性阑尾炎) -> whose, form and number."""
        found: defaultdict[str, set[tuple[str, str, int | None]]] = defaultdict(set)
        for line in self.sheet.lines:
            for fact in line.facts:
                if fact.field in self._naming and fact.text:
                    whole = folded(fact.text)
                    for name in {whole, re.sub(r"\([^()]*\)", "", whole)}:
                        found[name].add((fact.subject, fact.instrument, fact.instance))
        return found

    @cached_property
    def _naming(self) -> set[str]:
        """The field that the rows of each repeating form are called by: its first free text."""
        design = self.sheet.design
        found: dict[str, str] = {}
        for name, column in design.context.columns.items():
            if column.kind is Column.TEXT and design.form_of(name) in design.repeating_forms:
                found.setdefault(design.form_of(name), name)
        return set(found.values())

    @cached_property
    def _subjects(self) -> re.Pattern[str]:
        ids = {subject for subject in self.sheet.subjects if not subject.isdecimal()}
        shapes = {re.sub(r"\d", "9", folded(subject)) for subject in ids}
        parts = sorted((re.escape(s).replace("9", r"\d") for s in shapes), key=len, reverse=True)
        named = rf"(?<![a-z0-9])(?:{'|'.join(parts)})(?!\d(?!\d?月))" if parts else r"(?!)"
        bare = "|".join(sorted(self.sheet.subjects - ids, key=len, reverse=True)) or r"(?!)"
        # A bare number is a subject only where it is called one: 受试者7, 7号.
        bare += "".join(
            rf"|(?<![\d.-]){s}(?![\d.%])" for s in self.sheet.subjects - ids if s[:1] == "0"
        )
        called = rf"(?:受试者|患者|编号|id)(?:{bare})(?!\d)号?|(?<![\d.月])(?:{bare})号"
        return re.compile(f"{named}|{called}")

    def read(self, text: str) -> list[Token]:
        """The tokens of a clause in order."""
        plain = folded(text)
        fixed = self._fixed(plain)
        tokens: list[Token] = []
        at = left = 0
        while at < len(plain):
            token = fixed.get(at) or self._word(plain, at)
            if token is None:
                hit = _LATIN.match(plain, at)
                at = hit.end() if hit else at + 1
                continue
            if token.is_a is Meant.PLACE and UP_TO.search(plain[:at]):
                token = replace(token, is_to=True)
            tokens += self._rest(plain, left, at)
            tokens.append(token)
            at = left = token.end
        return [*tokens, *self._rest(plain, left, len(plain))]

    def _rest(self, plain: str, start: int, end: int) -> Iterator[Token]:
        for hit in re.finditer(r"[^\W_]+", plain[start:end]):
            yield Token(Kind.LEFT, hit[0], start + hit.start())

    def _fixed(self, plain: str) -> dict[int, Token]:
        """What is known by its shape, by where it begins."""
        found: dict[int, Token] = {}
        taken: set[int] = set()

        def take(token: Token) -> None:
            places = range(token.at, token.end)
            if not taken.intersection(places):
                taken.update(places)
                found[token.at] = token

        def take_all(tokens: Iterable[Token]) -> None:
            for token in tokens:
                take(token)

        for hit in _QUOTE.finditer(plain):
            kind = Kind.ROW if hit[1] in self.rows else Kind.QUOTE
            take(Token(kind, hit[0], hit.start(), name=hit[1]))
        for hit in self._subjects.finditer(plain):
            take(Token(Kind.SUBJECT, hit[0], hit.start(), name=self._id(hit[0])))
        take_all((*self._days(plain), *self._rows(plain)))
        for hit in _SITE.finditer(plain):
            if hit[0] not in self.vocabulary.words:
                name = Reading(hit[0])
                take(Token(Kind.STUDY, hit[0], hit.start(), is_a=Meant.SITE, readings=(name,)))
        for hit in (*INDEFINITE.finditer(plain), *_SECTION.finditer(plain)):
            take(Token(Kind.WORD, hit[0], hit.start(), frozenset({"small"})))
        for hit in _NUMBER.finditer(plain):
            if not self._inside(plain, hit):
                take(_numbered(hit))
        take_all(Token(Kind.LEFT, hit[0], hit.start()) for hit in VERSION.finditer(plain))
        take_all(Token(Kind.UNIT, h[0], h.start(), unit=h[1]) for h in _UNIT.finditer(plain))
        return found

    def _id(self, said: str) -> str:
        bare = re.sub(r"^(?:受试者|患者|编号|id)(?=\d)|号$", "", said)
        return self._ids.get(bare) or said.upper()

    @cached_property
    def _ids(self) -> dict[str, str]:
        """Subjects by their spelling for comparing."""
        return {folded(subject): subject for subject in self.sheet.subjects}

    def _rows(self, plain: str) -> Iterator[Token]:
        for hit in _ROW.finditer(plain):
            value = number(hit[1] or hit[2])
            yield Token(Kind.ROW, hit[0], hit.start(), name=str(value or 0))
        for name in sorted(self.rows, key=len, reverse=True):
            at = plain.find(name)
            while at >= 0 and len(name) > 1:
                yield Token(Kind.ROW, name, at, name=name)
                at = plain.find(name, at + 1)

    def _inside(self, plain: str, hit: re.Match[str]) -> bool:
        """Whether a number is part of a longer word: V2, ECOG 0-1, 第3次, a choice such as 1级."""
        if plain[hit.start() - 1 : hit.start()] == "第":
            return True
        word = self._word(plain, hit.start())
        return word is not None and word.is_a is Meant.CHOICE and word.end >= hit.end()

    def _days(self, plain: str) -> Iterator[Token]:
        for hit in (*_SLASHED.finditer(plain), *SHORT_DAY.finditer(plain)):
            day = _date(self.sheet.today.year, int(hit[1]), int(hit[2]))
            if day:
                yield Token(Kind.DAY, hit[0], hit.start(), days=(day, day))
        for hit in _MONTH.finditer(plain):
            yield _month(hit[0], hit.start(), int(hit[1]), int(hit[2]))
        for period in periods(plain, Calendar(self.sheet.today, self.sheet.design.start)):
            said, first, last = _closed(plain[period.start : period.end], period)
            if first is not None and last is not None:
                yield from _dated(plain, period.start, said, first, last)

    def _word(self, plain: str, at: int) -> Token | None:
        """The longest word of the study or of claims at a place."""
        words = self.vocabulary.words
        for size in range(min(max(self.vocabulary.longest, LONGEST), len(plain) - at), 0, -1):
            word = plain[at : at + size]
            meaning = words.get(word)
            talk = meaning is not None and meaning.kind in _TALK and size > 1
            if meaning is not None and meaning.kind not in _STUDY:
                others = (self.vocabulary.other(word, kind) for kind in _STUDY)
                meaning = next((other for other in others if other is not None), None)
            if meaning is not None and meaning.value == "part":
                strong = tuple(r for r in meaning.readings if r.weight >= _TELLING)
                meaning = replace(meaning, readings=strong) if strong else None
            claims = CLAIMS.get(word, _SMALL if talk else frozenset())
            if meaning and meaning.kind is Meant.FIELD and meaning.rank <= _LAY and claims - _SMALL:
                meaning = None
            if (meaning is None and not claims) or not _whole(plain, at, at + size):
                continue
            is_a, readings = (meaning.kind, meaning.readings) if meaning else (None, ())
            kind = Kind.STUDY if meaning else Kind.WORD
            return Token(kind, word, at, claims, is_a, readings)
        return None


def deeds(design: StudyDesign) -> frozenset[str]:
    """What the days of the study's single forms are of: 筛选, 入组, 首次用药."""
    context, label = design.context, design.metadata.label
    return frozenset(
        folded(label(name)).removesuffix("日期")
        for name, column in context.columns.items()
        if column.kind is Column.DATE and design.form_of(name) not in design.repeating_forms
    )


def is_prose(fact: Fact, sheet: Sheet) -> bool:
    """Whether its value is what somebody wrote freely."""
    column = sheet.design.context.columns.get(fact.field)
    return column is not None and column.kind is Column.TEXT and isinstance(fact.value, str)


def _whole(text: str, start: int, end: int) -> bool:
    first, last = text[start], text[end - 1]
    if first.isascii() and first.isalnum() and start and _latin(text[start - 1]):
        return False
    if last.isascii() and last.isalpha() and end < len(text) and text[end].isascii():
        return not text[end].isalpha()
    return not (last.isdigit() and re.match(r"\.?\d", text[end : end + 2]))


def _latin(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _date(year: int, month: int, day: int) -> date | None:
    return date(year, month, day) if day <= monthrange(year, month)[1] else None


def _month(said: str, at: int, year: int, month: int) -> Token:
    days = (date(year, month, 1), date(year, month, monthrange(year, month)[1]))
    return Token(Kind.SPAN, said, at, days=days)


def _closed(said: str, period: Period) -> tuple[str, date | None, date | None]:
    """What 前, 后, 为止 and 起 stand behind, with its own days."""
    first, last = period.first, period.last
    tail = _TAIL.search(said)
    if tail is None:
        return said, first, last
    said = said[: tail.start()]
    if tail[1] and last:
        first = last = last + timedelta(days=1)
    elif tail[2] and first:
        first = last = first - timedelta(days=1)
    elif tail[3]:
        first = last
    elif said[-1:] in "日号" or said[-1:].isdigit():
        last = first
    return said, first, last


def _dated(plain: str, at: int, said: str, first: date, last: date) -> Iterator[Token]:
    """A day, both ends of a stretch that names its days, or a stretch; 11月3例 is a month and a number."""
    counted = re.match(r"(?:20\d\d年)?(\d{1,2})月(?=\d{1,2}$)", said)
    if counted and _COUNTED.match(plain, at + len(said)):
        yield _month(counted[0], at, first.year, first.month)
    elif first == last and not _names_both(said):
        yield Token(Kind.DAY, said, at, days=(first, last))
    elif ("月" in said and re.search(r"[日号]", said)) or said.count("-") > 3:
        yield from _pair(said, at, first, last)
    else:
        yield Token(Kind.SPAN, said, at, days=(first, last))


def _names_both(said: str) -> bool:
    """Whether both ends of a stretch are named, be they the same day."""
    ends = _TO.split(said)
    return len(ends) > 1 and all(end[:1].isdigit() for end in ends)


def _pair(said: str, at: int, first: date, last: date) -> Iterator[Token]:
    """Both ends of a stretch that names its days."""
    hit = _TO.search(said)
    cut = hit.end() if hit else len(said)
    yield Token(Kind.DAY, said[:cut], at, days=(first, first), pair="first")
    yield Token(Kind.DAY, said[cut:], at + cut, days=(last, last), pair="last")


def _numbered(hit: re.Match[str]) -> Token:
    value = number(hit["digits"] or hit["percent"] or hit["words"] or hit["part"])
    unit = "%" if hit["percent"] or hit["part"] else hit["unit"] or hit["of"] or ""
    base = number(hit["base"]) if hit["base"] else None
    if base and value is not None:
        value = (100 * value / base).quantize(Decimal(1))
    if hit["of"] == "成" and value is not None:
        value, unit = value * 10, "%"
    return Token(Kind.NUMBER, hit[0], hit.start(), number=value, unit=_AS.get(unit, unit))

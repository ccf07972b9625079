"""Numbers, dates, ids and names in a text, with where they stand."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal

from core.language.numerals import DIGITS, SIZES, whole

PLACEHOLDER = re.compile(r"\[([\u4e00-\u9fff]{1,6})#(\d+)\]")
"""What stands in a text for an identifier: [姓名#1]."""
_DATES = (
    re.compile(r"(?<!\d)(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})\s*[日号]?(?!\d)"),
    re.compile(r"(?<!\d)(\d{4})\s*(?:年\s*|[-/])(\d{1,2})(?!\d)(?:\s*月)?"),
    re.compile(r"(?<![\d-])()(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]?(?!\d)(?!\s*[例人名位个条次%])"),
    re.compile(r"(?<!\d)()(\d{1,2})\s*月(?:份)?(?!\d)"),
)
_SHAPED_ID = re.compile(
    r"(?<![A-Za-z0-9])(?<![A-Za-z0-9]-)(?:[A-Za-z]{1,4}-?\d{3,6}(?![A-Za-z0-9])|[A-Za-z]{1,4}-\d{1,3}-\d{1,6})"
)
_BARE_ID = re.compile(
    r"(?:受试者|患者|病人|编号|记录|ID)\s*[:#]?\s*(\d{1,6})(?![\d.%])(?!\s*(?:例|位|名|人|个|%|岁|年(?!龄)|月|天|次))|(?<![\d.])(\d{1,6})\s*号(?!\d)"
)
_LINE_ID = re.compile(r"^\s*(\d{1,6})(?=\s+[^\d\s.,%])")
_NAMED = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z])\s?(\d{1,3})(?![\d.])")
_SECTION = re.compile(r"(?<![\d.])\d+(?:\.\d+){2,}")
_NUMBER = re.compile(r"(?<![\d.])\d+(?:\.\d+)?")
_NEGATIVE = re.compile(
    r"(?:(?<![\w)%°~./-])|(?<=[\u4e00-\u9fff])(?<![年月日号时周天第期至到访视口前后])(?<!\d分))[-\u2212\u2013](\d+(?:\.\d+)?)(?!\s*/\s*\+|[\d-])"
    r"|(?:负|零下)\s?(\d+(?:\.\d+)?|[一二三四五六七八九十])(?!荷)"
)
_HAN_NUMBER = re.compile(
    r"([零一二两三四五六七八九十百千万]{2,7}|[二两三四五六七八九十百])\s*"
    r"(?=例|位|名|人|天|周|次|分|岁|级|条|项|种|件|个(?!中心|代码|周期|系统|部分|阶段|方面|数字|以上)|%)"
    r"|(?<![第每唯统同任进])(一)\s*(?=例|岁|分(?!钟|别|析)|级|条)"
)
_HAN_DATE = re.compile(
    r"([〇零一二三四五六七八九]{4})\s*年\s*([一二三四五六七八九十]{1,2})\s*月(?:\s*([一二三四五六七八九十]{1,3})\s*[日号])?"
)
_UNITS = re.compile(r"[×x*]\s?10\^?\d+(?:/L)?|(?<=m)[23](?!\d)|(?<=/m)\^?2", re.IGNORECASE)
_NUMBERING = re.compile(
    r"(?m)^\s*(?:[-*•]\s+)?(?:\d{1,2}[.、)]\s*(?!\d)|\(\d{1,2}\))|(?<=[;。:])\s*\d{1,2}[.)]\s*(?=[^\W\d])"
    r"|\[(?:任务|文档)\s?\d+\]"
)
_AROUND = re.compile(r"-\s?(\d+)\s*天?\s*/\s*\+\s?(\d+)")
_LOOSE_MONTH = re.compile(r"(\d)\s+(?=月)")
_ANY = re.compile(r"[\d零一二两三四五六七八九十百千万]")
_CIRCLED = re.compile("[\u2460-\u2473]")


@dataclass(frozen=True)
class Token:
    """A value in a text: a Decimal, a date (year, month, day; 0 = not said), an id or a name (V2, 5.2.1)."""

    kind: str
    value: object
    text: str
    start: int


def plain(text: str) -> str:
    """Folded text without placeholders, list numbering and powers of units."""
    folded = _folded(text)
    if not _ANY.search(folded):
        return folded
    folded = _HAN_DATE.sub(_han_date, _folded(_UNITS.sub(" ", _CIRCLED.sub(" ", text))))
    folded = _AROUND.sub(r"前 \1 天后 \2", _LOOSE_MONTH.sub(r"\1", folded))
    return _UNITS.sub(" ", _NUMBERING.sub(" ", PLACEHOLDER.sub(" ", folded)))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("µ", "μ")


def tokens(text: str, known_ids: Collection[str] = ()) -> list[Token]:
    """All values of a plain text in order; each character belongs to one."""
    if not _ANY.search(text):
        return []
    taken = [False] * len(text)
    found: list[Token] = []
    for token in _candidates(text, known_ids):
        end = token.start + len(token.text)
        if not any(taken[token.start : end]):
            taken[token.start : end] = [True] * (end - token.start)
            found.append(token)
    return sorted(found, key=lambda token: token.start)


def _candidates(text: str, known_ids: Collection[str]) -> Iterator[Token]:
    for regex in _DATES:
        for hit in regex.finditer(text):
            parts = [int(part) if part else 0 for part in hit.groups()]
            yield Token("date", tuple([*parts, 0, 0][:3]), hit[0], hit.start())
    for hit in _SHAPED_ID.finditer(text):
        yield Token("id", hit[0].upper(), hit[0], hit.start())
    for hit in _BARE_ID.finditer(text):
        group = 1 if hit[1] else 2
        yield Token("id", hit[group], hit[group], hit.start(group))
    for hit in _LINE_ID.finditer(text):
        if hit[1] in known_ids:
            yield Token("id", hit[1], hit[1], hit.start(1))
    for hit in _NAMED.finditer(text):
        yield Token("name", (hit[1] + hit[2]).upper(), hit[0], hit.start())
    for hit in _SECTION.finditer(text):
        yield Token("name", hit[0], hit[0], hit.start())
    yield from _numbers(text)


def _numbers(text: str) -> Iterator[Token]:
    for hit in _NEGATIVE.finditer(text):
        said = hit[1] or hit[2]
        size = han_number(said) if said in DIGITS or said == "十" else said
        yield Token("number", -Decimal(size or 0), hit[0], hit.start())
    for hit in _NUMBER.finditer(text):
        yield Token("number", Decimal(hit[0]), hit[0], hit.start())
    for hit in _HAN_NUMBER.finditer(text):
        said = hit[1] or hit[2]
        number = han_number(said)
        if number is not None:
            yield Token("number", Decimal(number), said, hit.start())


def han_number(text: str) -> int | None:
    """二十三 → 23, 一百零五 → 105, 一万 → 10000; None for what is no number."""
    high, wan, low = text.rpartition("万")
    above = _below_wan(high) if wan else 0
    below = _below_wan(low) if low or not wan else 0
    return None if above is None or below is None else above * 10_000 + below


def _below_wan(text: str) -> int | None:
    digits = len(text) == 1 or bool({*text} & {*SIZES})
    return whole(text) if text and digits and {*text} <= {*DIGITS, *SIZES} else None


def _han_date(hit: re.Match[str]) -> str:
    year = "".join(str(DIGITS[char]) for char in hit[1])
    day = f"{han_number(hit[3])}日" if hit[3] else ""
    return f"{year}年{han_number(hit[2])}月{day}"


@dataclass(frozen=True)
class Values:
    """The values a source holds."""

    numbers: frozenset[Decimal]
    dates: frozenset[tuple[int, int, int]]
    ids: frozenset[str]
    names: frozenset[str]

    def holds(self, token: Token) -> bool:
        """Whether the source says this value; a date may be said less exactly than in the source."""
        if token.kind == "number":
            return token.value in self.numbers
        if token.kind == "date":
            return any(_fits(token.value, date) for date in self.dates)
        return token.value in (self.ids if token.kind == "id" else self.names)


def _fits(said: object, source: tuple[int, int, int]) -> bool:
    return all(not a or a == b for a, b in zip(said, source, strict=True))  # type: ignore[call-overload]


def values(text: str, known_ids: Collection[str] = ()) -> Values:
    """What a source text holds, read generously: parts of dates and names count as numbers too."""
    folded = plain(text)
    found = tokens(folded, known_ids)
    numbers = {Decimal(hit) for hit in re.findall(r"\d+(?:\.\d+)?", folded)}
    numbers |= {token.value for token in found if isinstance(token.value, Decimal)}
    return Values(
        numbers=frozenset(numbers),
        dates=frozenset(t.value for t in found if t.kind == "date"),  # type: ignore[misc]
        ids=frozenset(str(t.value) for t in found if t.kind == "id"),
        names=frozenset(str(t.value) for t in found if t.kind == "name"),
    )


def bigrams(text: str) -> set[str]:
    """Pairs of Chinese characters and Latin words: what a text speaks of."""
    han = re.findall(r"[\u4e00-\u9fff]+", text)
    pairs = {run[i : i + 2] for run in han for i in range(len(run) - 1)}
    return pairs | {word.casefold() for word in re.findall(r"[A-Za-z]{2,}", text)}

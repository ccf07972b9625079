"""Figures of a question and the ranges of a rule: 45 is below 50, "超过上限 5 倍" is not "不高于 5 倍"."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

_N = r"(\d+(?:\.\d+)?)"
_UNIT = (
    r"\s*(倍|级|天|日|小时|h(?![a-z])|分钟|分(?!级|期)|周岁|岁|周|个月|月|年|次|例|片|人|元|%|℃|度"
    r"|(?:[x×]?10\^?[9⁹]|mmol|μmol|umol|mg|g|u|iu)\s*/\s*d?l|mg|)"
)
_OF = r"[\s了到为是]*(?:正常)?(?:值)?(?:上限|下限)?的?\s*"
_SIDES: tuple[tuple[str, bool, bool], ...] = (
    # words, whether the range lies above, whether the figure itself belongs to it
    ("不低于|不少于|不小于|达到或超过|达到|至少|≥|>=", True, True),
    ("不高于|不超过|不大于|不多于|至多|最多|≤|<=", False, True),
    ("超过|高于|大于|多于|超出|超|>", True, False),
    ("低于|小于|少于|不足|不到|不满|<", False, False),
)
_WORDS = "|".join(words for words, _above, _with in _SIDES)
_TOKEN = re.compile(
    rf"{_N}{_UNIT}\s*[~～至到-]\s*{_N}{_UNIT}|(?P<side>{_WORDS}){_OF}{_N}{_UNIT}"
    rf"|{_N}{_UNIT}\s*(?P<after>及以上|或以上|以上|及以下|以下|以内|之内)|{_N}{_UNIT}",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\d{4}[-年/]\d{1,2}(?:[-月/]\d{1,2}日?)?|\b[vp]\d+|day\s?-?\d+|cyp\w+|\d+\.\d+\.\d+"
)
_OUTSIDE = re.compile(r"不在[^,。;]{0,20}?之[间内]")
_SAME = {"周岁": "岁", "日": "天", "度": "℃", "h": "小时", "个月": "月"}
# What a laboratory value is measured in is often not said: "血小板 45".
_COUNTED = frozenset("倍 级 天 小时 分钟 分 岁 周 月 年 次 例 片 人 元 % ℃ mg".split())  # noqa: SIM905
_JOINT = re.compile(r"\s*(?:且|并且|但|,|，|而)\s*")


@dataclass(frozen=True, slots=True)
class Range:
    """Values between two ends; None: open; `unit` "" where none is said."""

    low: Decimal | None
    high: Decimal | None
    with_low: bool
    with_high: bool
    unit: str

    def meets(self, other: Range) -> bool:
        """Whether some value lies in both."""
        return self._reaches(other) and other._reaches(self)

    def _reaches(self, other: Range) -> bool:
        """Whether this does not end below where the other begins."""
        if self.high is None or other.low is None or self.high > other.low:
            return True
        return self.high == other.low and self.with_high and other.with_low

    def is_of(self, other: Range) -> bool:
        """Whether both may measure the same."""
        if self.unit in _COUNTED or other.unit in _COUNTED:
            return self.unit == other.unit
        return not (self.unit and other.unit) or self.unit == other.unit

    def within(self, other: Range) -> Range:
        """What lies in both."""
        low = max((r for r in (self, other) if r.low is not None), key=_low, default=self)
        high = min((r for r in (self, other) if r.high is not None), key=_high, default=self)
        return Range(low.low, high.high, low.with_low, high.with_high, self.unit)


def _low(one: Range) -> Decimal:
    return one.low if one.low is not None else Decimal("-Infinity")


def _high(one: Range) -> Decimal:
    return one.high if one.high is not None else Decimal("Infinity")


def fitting(asked: tuple[Range, ...], rule: str) -> int:
    """1: a range of the rule holds the figure asked; -1: it has ranges of that kind and none does; else 0."""
    fits = 0
    for figure in asked:
        near = [one for one in ranges(rule) if one.is_of(figure)]
        bare = [one for one in ranges(rule) if not one.unit]
        if any(one.meets(figure) for one in [*near, *bare]):
            return 1
        fits = -1 if near else fits
    return fits


@lru_cache(maxsize=4096)
def ranges(text: str) -> tuple[Range, ...]:
    """The ranges that a text names, two that hold together ("超过 3 倍且不高于 5 倍") as one."""
    plain = _DATE.sub(lambda hit: " " * len(hit[0]), unicodedata.normalize("NFKC", text).casefold())
    plain = _OUTSIDE.sub(lambda hit: " " * len(hit[0]), plain)
    found: list[Range] = []
    end = -1
    for hit in _TOKEN.finditer(plain):
        one = _range(hit)
        joined = end >= 0 and _JOINT.fullmatch(plain[end : hit.start()])
        if joined and hit["side"] and found[-1].unit == one.unit and found[-1].meets(one):
            found[-1] = found[-1].within(one)
        else:
            found.append(one)
        end = hit.end()
    return tuple(found)


def _range(hit: re.Match[str]) -> Range:
    figures = [g for g in hit.groups() if g is not None and re.fullmatch(_N, g)]
    known = [g for g in hit.groups() if g and re.fullmatch(_UNIT, g)]
    unit = known[-1].replace(" ", "") if known else ""
    unit = _SAME.get(unit, unit)
    first = Decimal(figures[0])
    if len(figures) == 2:
        return Range(first, Decimal(figures[1]), True, True, unit)
    if side := hit["side"]:
        above, own = next((a, w) for words, a, w in _SIDES if side in words.split("|"))
        return (
            Range(first, None, own, False, unit) if above else Range(None, first, False, own, unit)
        )
    if after := hit["after"]:
        above = "上" in after
        return (
            Range(first, None, True, False, unit)
            if above
            else Range(None, first, False, True, unit)
        )
    return Range(first, first, True, True, unit)

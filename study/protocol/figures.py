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


_End = tuple[Decimal, int]
_BELOW_ALL, _ABOVE_ALL = (Decimal("-Infinity"), 0), (Decimal("Infinity"), 0)


@dataclass(frozen=True, slots=True)
class Range:
    """Values between two ends; `unit` "" where none is said.

    An end is (value, shift): a shift of 1 begins just above the value, one of -1 ends just below it.
    """

    low: _End
    high: _End
    unit: str

    @classmethod
    def of(cls, value: Decimal, unit: str) -> Range:
        """One value alone."""
        return cls((value, 0), (value, 0), unit)

    def meets(self, other: Range) -> bool:
        """Whether some value lies in both."""
        return self.low <= other.high and other.low <= self.high

    def is_of(self, other: Range) -> bool:
        """Whether both may measure the same."""
        if self.unit in _COUNTED or other.unit in _COUNTED:
            return self.unit == other.unit
        return not (self.unit and other.unit) or self.unit == other.unit


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
            both = found[-1]
            found[-1] = Range(max(both.low, one.low), min(both.high, one.high), one.unit)
        else:
            found.append(one)
        end = hit.end()
    return tuple(found)


def _range(hit: re.Match[str]) -> Range:
    figures = [Decimal(g) for g in hit.groups() if g is not None and re.fullmatch(_N, g)]
    known = [g for g in hit.groups() if g and re.fullmatch(_UNIT, g)]
    unit = known[-1].replace(" ", "") if known else ""
    unit = _SAME.get(unit, unit)
    first, last = figures[0], figures[-1]
    if side := hit["side"]:
        above, own = next((a, w) for words, a, w in _SIDES if side in words.split("|"))
    elif after := hit["after"]:
        above, own = "上" in after, True
    else:
        return Range((first, 0), (last, 0), unit)
    if above:
        return Range((first, 0 if own else 1), _ABOVE_ALL, unit)
    return Range(_BELOW_ALL, (first, 0 if own else -1), unit)

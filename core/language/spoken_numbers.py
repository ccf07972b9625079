"""Numbers as people write them: 80万, 1.5亿, 三十二, 三十多, 七八 (decisions.md, "004 scenarios' figures")."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from core.language.numerals import SIZES, whole

_SCALES = {"亿": 10**8, "万": 10**4, "千": 1000, "百": 100, "k": 1000, "w": 10**4}
_HAN = "零〇一二两三四五六七八九十百千"
_MORE = "多几余来"
_NUMBER = re.compile(
    rf"(?P<arabic>\d+(?:,\d{{3}})*(?:\.\d+)?)(?P<more>[{_MORE}]|\+)?(?P<scale>[百千]?[万亿]|[百千]|[kw](?![a-z]))?"
    rf"|(?<![几数])(?P<han>[{_HAN}]+)(?P<hmore>[{_MORE}])?(?P<hscale>[万亿]+)?",
    re.IGNORECASE,
)
# 七八, 三十五六, 一百二三十, 三四十: one of two neighbours.
_EITHER = re.compile(
    r"^(?P<head>.*[十百千])?(?P<low>[一二两三四五六七八九])(?P<high>[二两三四五六七八九])(?P<size>[十百千]?)$"
)
_NEIGHBOURS = {("三", "五")} | {(a, b) for a, b in pairwise("一二三四五六七八九")}
_NEIGHBOURS |= {("一", "两"), ("两", "三")}
_TO = re.compile(r"\s*(?:周?岁|年|元|块|例|个)?\s*(?:到|至|-|~|—|–|―)+\s*")
_HALF = re.compile(r"^(?:年|岁|个?月|个?小时)半")
_UNIT = r"[^\d,。;!?]{0,3}?"
# In the order they are looked for; the left side stands right before the number, the right side behind.
_VAGUE = (
    (
        "under",
        r"(?:不到|不足|未满|不满|低于|少于|最多|顶多|至多|不超过)",
        rf"^{_UNIT}(?:不到|不足|以下|以内)",
    ),
    (
        "plus",
        r"(?:超过|至少|起码|多于|不止|不少于|高于)",
        rf"^[{_MORE.replace('来', '')}+]|^好几|^(?:周?岁|年|元|块)?以上|^{_UNIT}(?:出头|有余)",
    ),
    ("near", r"(?:将近|接近|近|快|奔|逼近)", r"(?!)"),
    ("about", r"(?:大概|大约|约|差不多|估计|左右|可能)", rf"^来|^{_UNIT}(?:左右|上下)"),
)
_BEFORE = {kind: re.compile(rf"{before}\s*(?:有|是|能有|到)?$") for kind, before, _ in _VAGUE}
_BEHIND = {kind: re.compile(behind) for kind, _, behind in _VAGUE}
_NEAR = 12


@dataclass(frozen=True)
class Number:
    """A number in a text: its value, where it stands, and how sure it is.

    `vague`: "", "about", "plus" (30 or more), "under", "near", or "range": up to `upto`.
    """

    value: Decimal
    start: int
    end: int
    vague: str
    upto: Decimal | None = None

    @property
    def ends(self) -> tuple[Decimal, ...]:
        """The value, of a range both ends."""
        return (self.value,) if self.upto is None else (self.value, self.upto)

    def may_be(self, exact: Decimal) -> bool:
        """Whether somebody who says this may mean that number."""
        size = Decimal(10) ** self.value.adjusted()
        low, high = {
            "about": (self.value * Decimal("0.9"), self.value * Decimal("1.1")),
            "plus": (self.value, self.value + size - 1),
            "under": (self.value - size, self.value),
            "near": (self.value - size, self.value),
            "range": (self.value, self.upto or self.value),
        }.get(self.vague, (self.value, self.value))
        return low <= exact <= high


def find(text: str) -> list[Number]:
    """All numbers of a text (NFKC), left to right; 万 and 亿 are multiplied out, "30 到 35" is one."""
    found: list[Number] = []
    scale = 1
    for hit in _NUMBER.finditer(text):
        read = _value(hit)
        if read is None:
            scale = 1
            continue
        number = Number(read[0], hit.start(), hit.end(), _vague(text, hit), read[2])
        if number.upto is not None:
            number = replace(number, vague="range")
        if found and found[-1].end == number.start and number.value < scale:
            number = _joined(found.pop(), number, scale, read[1])
        elif found and (both := _range(found[-1], scale, number, read[1], text)):
            found[-1:], scale = [both], read[1]
            continue
        found.append(_with_half(number, text))
        scale = read[1]
    return found


def _joined(big: Number, small: Number, scale: int, own: int) -> Number:
    """一万五千 and 一万五, which leaves the smaller unit out."""
    bare = own == 1 and small.value < 10
    more = small.value * scale / 10 if bare else small.value
    return Number(big.value + more, big.start, small.end, small.vague or big.vague)


def _range(low: Number, scale: int, high: Number, own: int, text: str) -> Number | None:
    """30-35, 80到100万: both ends as one number; None for what is no range."""
    if not _TO.fullmatch(text[low.end : high.start]) or low.upto is not None:
        return None
    value = low.value * (own if scale == 1 and low.value * own < high.value else 1)
    if value >= high.value:
        return None
    return Number(value, low.start, high.end, "range", high.value)


def _with_half(number: Number, text: str) -> Number:
    """3年半 is 3.5."""
    if number.vague != "range" and _HALF.match(text[number.end :]):
        return replace(number, value=number.value + Decimal("0.5"))
    return number


def _value(hit: re.Match[str]) -> tuple[Decimal, int, Decimal | None] | None:
    """The number, the unit it was counted in, and the other end where it is one of two."""
    if hit["arabic"]:
        scale = _scale(hit["scale"])
        return Decimal(hit["arabic"].replace(",", "")) * scale, scale, None
    scale = _scale(hit["hscale"])
    if either := _either(hit["han"]):
        return Decimal(either[0]) * scale, scale, Decimal(either[1]) * scale
    base = whole(hit["han"])
    return None if base is None else (Decimal(base) * scale, scale, None)


def _either(written: str) -> tuple[int, int] | None:
    """三十五六 → 35, 36."""
    hit = _EITHER.match(written)
    if not hit or (hit["low"], hit["high"]) not in _NEIGHBOURS:
        return None
    ends = [whole(f"{hit['head'] or ''}{digit}{hit['size']}") for digit in hit.group("low", "high")]
    return None if ends[0] is None or ends[1] is None else (ends[0], ends[1])


def _scale(written: str | None) -> int:
    size = 1
    for char in (written or "").casefold():
        size *= _SCALES[char]
    return size


def _vague(text: str, hit: re.Match[str]) -> str:
    """三十多, 30+ and 三十出头 are more than 30; 不到, 快, 大概 and the like are near it."""
    before = text[max(0, hit.start() - _NEAR) : hit.start()]
    behind = f"{hit['more'] or hit['hmore'] or ''}{text[hit.end() : hit.end() + _NEAR]}"
    if before.endswith("上") and text[hit.start()] in SIZES:
        return "plus"
    kinds = (
        kind for kind in _BEFORE if _BEFORE[kind].search(before) or _BEHIND[kind].match(behind)
    )
    return next(kinds, "")


def written(value: Decimal) -> str:
    """800000 → 80万, 150000000 → 1.5亿, 32 → 32."""
    for size, name in ((10**8, "亿"), (10**4, "万")):
        if value >= size:
            scaled = value / size
            if scaled == round(scaled, 4):
                return f"{plain_number(scaled)}{name}"
    return plain_number(value)


def plain_number(value: Decimal) -> str:
    """Without a needless fraction or exponent."""
    return format(value.normalize(), "f")

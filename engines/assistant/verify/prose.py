"""Whether a line of prose says what a clause says: words in order, figures, negation, modality."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from language.answer_forms import RATIO, VISITS
from language.claims import CLAIMS, LONGEST, SAME
from language.folding import folded
from language.former import changed
from language.numerals import HAN, number

_ITEM = re.compile(
    r"(?P<day>20\d\d[-/年]\d{1,2}[-/月]\d{1,2}日?|\d{1,2}月\d{1,2}日)|(?P<month>\d{1,2})月|每(?P<each>[日天周月年次])"
    rf"|(?P<number>\d+(?:\.\d+)?|[{HAN}]+(?=岁|年|月|天|周|小时|倍|级|分|例|名|个|次|成|元|倍|位|人|项|种|条))"
    r"\s?(?P<unit>×109/l|mmol/l|mg/dl|u/l|g/l|mg|mm|小时|周岁|岁|个月|天|周|年|月|日|倍|级|分|%|℃|°c|元|例|名|人|位|个工作日|个|项|种|次|条|片|成)?"
    r"|(?P<latin>[a-z][a-z0-9\-+.]*)|(?P<cut>[,，。;；:：\n|!?！？])|(?P<char>[一-鿿])"
)
_STRONG = {
    "not": "not",
    "forbid": "forbid",
    "need_not": "need_not",
    "may": "may",
    "must": "must",
    "over": "over",
    "under": "under",
}
_STANCE = {"not": "-", "forbid": "x", "need_not": "x", "否": "?"}
"""What a word makes of those behind it in its part of a sentence: denied, or not to be."""
_REACH = 6
"""Items behind such a word up to which it holds."""  # fmt: skip
MODAL = frozenset({"must", "may", "forbid", "need_not"})
_RANGE = re.compile(r"(\d+(?:\.\d+)?)(至|~|-|—|到)(\d+(?:\.\d+)?)(岁|周岁|分|级|倍|天|%|周|元|月)")
_FIRST = re.compile(r"(?<![\d.])1\.(?!\d)")
"""The first item of a list: what stands before it holds for all."""
_ASIDE = re.compile(r"\([^()]*\)|(?<![\d.])\d+\.(?=\s|[^\d])")
_ALIKE = {"周岁": "岁", "日": "天", "位": "人", "名": "人"}
_GONE = frozenset(
    "的了是为在于有也还就则而与和及或以并且其该此这那之等者时将把被由给又再已曾着地得所个其您请本约后中内从至到对每进行"
)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing in a text: a figure, a Latin word, a word that turns the sense, or a character."""

    kind: str
    text: str
    is_old: bool = field(default=False, compare=False)
    is_aside: bool = field(default=False, compare=False)

    @property
    def weight(self) -> int:
        """How much it counts."""
        return 1 if self.kind == "char" else 3


@lru_cache(maxsize=1024)
def items(text: str) -> tuple[Item, ...]:
    """A text as its items; empty words are dropped."""
    told, was = changed(plain(text))
    aside = {n for hit in _ASIDE.finditer(told) for n in range(*hit.span())}
    found: list[Item] = []
    at = 0
    while at < len(told):
        strong = None if _ONLY_LOOK.match(told, at) else _strong(told, at)
        if strong:
            found.append(replace(strong[0], is_aside=at in aside))
            at = strong[1]
            continue
        whole = _ONLY_LOOK.match(told, at)
        if whole:
            found += [Item("char", char) for char in whole[0] if char not in _GONE]
            at = whole.end()
            continue
        hit = _ITEM.match(told, at)
        if hit:
            found += _items_of(hit, at in was, at in aside)
        at = hit.end() if hit else at + 1
    return tuple(found)


def plain(text: str) -> str:
    """A text with one way of saying a thing; both ends of a range have its unit."""
    found = folded(text)
    for said, meant in SAME.items():
        found = found.replace(said, meant)
    found = RATIO.sub(r"\1例(\2例)", VISITS.sub(_each_visit, found))
    return _RANGE.sub(r"\1\4\2\3\4", found)


def _each_visit(hit: re.Match[str]) -> str:
    return "、".join(f"v{number}" for number in range(int(hit[1]), int(hit[2]) + 1)) or hit[0]


def _strong(plain: str, at: int) -> tuple[Item, int] | None:
    for size in range(min(LONGEST, len(plain) - at), 0, -1):
        word = plain[at : at + size]
        if word.isascii() and word.isalpha():
            continue
        if word == "要求":
            return None
        kinds = [_STRONG[claim] for claim in CLAIMS.get(word, ()) if claim in _STRONG]
        if kinds:
            order = sorted(kinds, key=lambda k: (k not in MODAL, k))
            return Item("strong", order[0]), at + size
    return None


# Longer words that only begin like one that turns the sense.
_ONLY_LOOK = re.compile(
    "不良|非小|无关|有无|不明|不详|不清|能力|可能|功能|可测|不适|非血|没收|未知|应答|反应|相应|适应|需求"
    "|不同|未成年|要点|主要|重要|必要(?!时)|需要时"
)


def _items_of(hit: re.Match[str], is_old: bool, is_aside: bool) -> list[Item]:
    if hit["day"]:
        parts = re.findall(r"\d+", hit["day"])
        month, day = (str(int(p)) for p in parts[-2:])
        return [Item("day", f"{month}-{day}"), Item("cut", f"{month}月")]
    if hit["month"]:
        return [Item("day", f"{int(hit['month'])}月")]
    if hit["each"]:
        return [Item("each", _ALIKE.get(hit["each"], hit["each"]))]
    if hit["number"]:
        value = number(hit["number"])
        text = f"{value.normalize():f}" if value is not None else hit["number"]
        return [Item("number", text + _ALIKE.get(hit["unit"], hit["unit"] or ""), is_old, is_aside)]
    if hit["latin"]:
        return [Item("latin", hit["latin"], is_old)]
    if hit["cut"]:
        return [Item("cut", "|")]
    return [Item("char", hit["char"])] if hit["char"] not in _GONE else []


@lru_cache(maxsize=4096)
def stances(text: str) -> dict[str, frozenset[str]]:
    """Each two characters in a row -> how they are said: "+" so, "-" denied, "x" not to be, "?" left open."""
    found: dict[str, set[str]] = {}
    stance, left, before = "+", 0, ""
    for item in items(text):
        if item.kind == "cut":
            stance, before = "+", ""
            continue
        turn = _STANCE.get(item.text) if item.kind == "strong" or item.text == "否" else None
        if turn:
            stance, left = turn, _REACH
        elif item.kind == "char":
            stance = stance if left > 0 else "+"
            if before:
                found.setdefault(before + item.text, set()).add(stance)
            left -= 1
        before = item.text if item.kind == "char" and not turn else ""
    return {pair: frozenset(told) for pair, told in found.items()}


def contradicts(clause: str, line: str) -> bool:
    """Whether a clause says so what a line denies or leaves open everywhere, or the other way round."""
    told = stances(line)
    return any(
        ("+" in said and "+" not in told[pair]) or (said == {"-"} and told[pair] == {"+"})
        for pair, said in stances(clause).items()
        if pair in told
    )


@dataclass(frozen=True, slots=True)
class Match:
    """How a clause lies in a line: which of its items were found, what was passed over, what leads its list."""

    said: tuple[Item, ...]
    found: tuple[bool, ...]
    skipped: tuple[Item, ...]
    taken: tuple[Item, ...]
    around: tuple[Item, ...]
    lead: frozenset[str] = frozenset()
    is_torn: bool = False

    @property
    def share(self) -> float:
        """How much of the clause was found."""
        total = sum(i.weight for i in self.said) - sum(
            i.weight for i in self.missing if i.text == "must"
        )
        return sum(i.weight for i, ok in zip(self.said, self.found, strict=True) if ok) / max(
            total, 1
        )

    @property
    def missing(self) -> list[Item]:
        """What was not found."""
        return [i for i, ok in zip(self.said, self.found, strict=True) if not ok]

    @property
    def longest_gap(self) -> int:
        """Characters in a row that the line has not."""
        longest = run = 0
        for item, ok in zip(self.said, self.found, strict=True):
            run = 0 if ok else run + (item.kind == "char")
            longest = max(longest, run)
        return longest


@lru_cache(maxsize=4096)
def match(clause: str, line: str) -> Match:
    """The best place of a clause in a line, in order; days, weeks and Latin words stand anywhere."""
    said = tuple(i for i in items(clause) if i.kind != "cut")
    told = items(line)
    anywhere = {i for i in told if i.kind in ("day", "latin")}
    days = {i.text for i in told if i.kind in ("day", "cut")}
    ordered = [i for i in said if i.kind not in ("day", "latin")]
    places = _aligned(ordered, told)
    hits = iter(places)
    found = tuple(
        (i in anywhere or i.text in days) if i.kind in ("day", "latin") else next(hits) is not None
        for i in said
    )
    taken = sorted(p for p in places if p is not None)
    low, high = (taken[0], taken[-1]) if taken else (0, -1)
    skipped = tuple(told[n] for n in range(low, high + 1) if n not in set(taken))
    left = low
    while left > 0 and low - left < 4 and told[left - 1].kind != "cut":
        left -= 1
    right = high
    while right + 1 < len(told) and right - high < 3 and told[right + 1].kind != "cut":
        right += 1
    around = tuple(told[left:low]) + tuple(told[high + 1 : right + 1])
    head, *rest = _FIRST.split(plain(line), maxsplit=1)
    lead = frozenset(i.text for i in items(head) if i.text in MODAL) if rest else frozenset()
    torn = _is_torn(said, found, told, right)
    return Match(said, found, skipped, tuple(told[p] for p in taken), around, lead, torn)


_APART = 8
"""Items between a figure and what it is told of."""


@lru_cache(maxsize=4096)
def speaks_of(clause: str, line: str) -> float:
    """Share of a clause that a line has in any order: pairs of characters, and figures beside what they are of.

    0 where two things in a row are strange to it.
    """
    said = [i for i in items(clause) if i.kind != "cut"]
    told = items(line)
    pairs = {(a, b) for a, b in pairwise(i for i in told if i.kind != "cut")}
    held = [
        _is_near(n, said, told)
        if one.kind in ("number", "day", "each")
        else one in told
        if one.kind in ("latin", "strong")
        else any(pair in pairs for pair in pairwise(said[max(0, n - 1) : n + 2]))
        for n, one in enumerate(said)
    ]
    figures = (ok for i, ok in zip(said, held, strict=True) if i.kind not in ("char", "strong"))
    strange = any(not (one or other) for one, other in pairwise(held))
    if strange or not all(figures):
        return 0.0
    weights = [i.weight for i in said]
    return sum(w for w, ok in zip(weights, held, strict=True) if ok) / max(sum(weights), 1)


def _is_near(at: int, said: Sequence[Item], told: Sequence[Item]) -> bool:
    """Whether a figure stands in the line with some word that stands beside it in the clause."""
    beside = {i for i in said[max(0, at - 2) : at + 3] if i.kind in ("char", "latin")}
    return any(
        one == said[at]
        and len(beside & set(told[max(0, n - _APART) : n + _APART])) >= min(2, len(beside))
        for n, one in enumerate(told)
    )


def _is_torn(said: Sequence[Item], found: Sequence[bool], told: Sequence[Item], end: int) -> bool:
    """Whether what a clause begins with stands only further on in the line: it is said of something else."""
    text = "".join(i.text if i.kind == "char" else " " for i in said)
    first = text[: next((n for n, ok in enumerate(found) if ok), 0)]
    next_cut = next((n for n in range(end + 1, len(told)) if told[n].kind == "cut"), len(told))
    behind = "".join(i.text if i.kind == "char" else " " for i in told[next_cut:])
    return len(first) > 1 and first in behind


def _aligned(said: Sequence[Item], told: Sequence[Item]) -> list[int | None]:
    """For each item its place in the line: the heaviest common order, passing over little of weight."""
    if not said or not told:
        return [None] * len(said)
    width = len(told) + 1
    best = [[0.0] * width for _ in range(len(said) + 1)]
    for i, one in enumerate(said, 1):
        above, row = best[i - 1], best[i]
        for j in range(1, width):
            other = told[j - 1]
            heavy = other.kind in ("number", "strong") and not (other.is_old or other.is_aside)
            keep = row[j - 1] - (2.0 if heavy else 0.04)
            score = keep if keep > above[j] else above[j]
            if one == other and above[j - 1] + one.weight > score:
                score = above[j - 1] + one.weight
            row[j] = score if score > 0 else 0.0
    return _traced(said, told, best)


def _traced(
    said: Sequence[Item], told: Sequence[Item], best: list[list[float]]
) -> list[int | None]:
    places: list[int | None] = [None] * len(said)
    i = len(said)
    j = max(range(len(told) + 1), key=lambda n: best[i][n])
    while i and j and best[i][j] > 0:
        if said[i - 1] == told[j - 1] and best[i][j] == best[i - 1][j - 1] + said[i - 1].weight:
            places[i - 1] = j - 1
            i, j = i - 1, j - 1
        elif best[i][j] == best[i - 1][j]:
            i -= 1
        else:
            j -= 1
    return places

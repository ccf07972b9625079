"""Where a quote stands in a message, and what the clauses it touches say: stated, denied."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_CLAUSE = re.compile(r"(?:[^,。!?;\n]|(?<=\d),(?=\d{3}))+\??")
_ASKS = re.compile(
    r"\?$|(?:吗|么|呢)\s*$|是不是|有没有|能不能|可不可以|要不要|什么|怎么|哪|谁|多少"
    r"|(?<![十百千0-9好前这那上])几[岁个年点例位名次条份]|帮我[看查找]|查一?[下查]|看一?[下看]"
)
_SUPPOSES = re.compile(
    r"如果|假如|假设|要是|万一|倘若|若是|比如|例如|譬如|好比|的话|\bif\b|suppose", re.IGNORECASE
)
# 别 within a word: 性别, 分别, 特别.
_DENIES = re.compile(
    r"没|不|无|并非|非(?!常)|从未|尚未|勿|甭|(?<![性级分特区个鉴类识判差辨告离病组派])别(?!的|人|处|名|称|家|院|科|国|墅|致)"
    r"|\bnot\b|n't|\bno\b",
    re.IGNORECASE,
)
_DENIES_NOTHING = re.compile(
    # 别忘了我… is an order to remember it; a mere 不对 denies what was said before it.
    r"(?:不要?|不能|别|勿)忘(?:了|记)?|^\s*(?:(?:不对|不是|不|没有?)[了的啊哦呀吧]*\s*)+$"
    r"|差不多|不错|不过|不久|不少|不仅|不但|不断|不良事件|没问题|无锡|无疑"
    r"|(?:不[到足满止]|未满|不(?:少于|超过|低于|高于))\s*(?=[\d一二两三四五六七八九十百])|(?<=[岁年万亿元例个])不[到足]"
)
# What separates two digits, unless it is the comma of 80,000.
_BETWEEN = re.compile(r"\d(?!,\d{3})[^\w\s]\d")
_NUMERAL = frozenset("0123456789.零〇一二两三四五六七八九十百千万亿")
_PAST = re.compile(r"半|[一三]刻|[\d零一二三四五六七八九十]+分?")


@dataclass(frozen=True)
class Clause:
    """A stretch of a folded message; `states`: neither asked nor supposed."""

    start: int
    end: int
    text: str
    states: bool


def folded(text: str) -> str:
    """As numbers and patterns are looked for: NFKC."""
    return unicodedata.normalize("NFKC", text)


def clauses(text: str) -> list[Clause]:
    """The clauses of a folded message, in order."""
    return [
        Clause(
            found.start(),
            found.end(),
            found[0],
            not _ASKS.search(found[0]) and not _SUPPOSES.search(found[0]),
        )
        for found in _CLAUSE.finditer(text)
    ]


def denies(text: str) -> bool:
    """Whether something is said not to be."""
    return bool(_DENIES.search(_DENIES_NOTHING.sub("", text)))


def says(text: str, words: Collection[str]) -> bool:
    """Whether a clause says one of some words and does not deny it: 别太简短 does not say 简短."""
    told = [clause.text.casefold() for clause in clauses(folded(text))]
    return any(
        word in said and not denies(said[: said.index(word)]) for said in told for word in words
    )


@dataclass(frozen=True)
class Place:
    """Where a quote stands in a text, and the clauses it touches."""

    start: int
    end: int
    clauses: tuple[Clause, ...]


def places(text: str, quote: str) -> Iterator[Place]:
    """Every place of a quote in a text, both folded; only letters and digits count."""
    stood, where = letters(text)
    wanted, _ = letters(quote)
    found = clauses(text)
    at = stood.find(wanted) if wanted else -1
    while at >= 0:
        start, end = where[at], where[at + len(wanted) - 1] + 1
        touched = (clause for clause in found if clause.start < end and start < clause.end)
        yield Place(start, end, tuple(touched))
        at = stood.find(wanted, at + 1)


def letters(text: str) -> tuple[str, list[int]]:
    """Letters and digits in small letters, and where each stood; 1.5 and 1-2 do not become 15 and 12."""
    kept = [
        (char.casefold(), at)
        for at, char in enumerate(text)
        if char.isalnum() or _BETWEEN.match(text, at - 1 if at else 0, at + 5)
    ]
    pairs = [(one, at) for chars, at in kept for one in chars]
    return "".join(one for one, _ in pairs), [at for _, at in pairs]


def letters_of(text: str) -> str:
    """Letters and digits only, as values are compared."""
    return letters(folded(text))[0]


def torn(text: str, at: int) -> bool:
    """Whether a cut there goes through a number or a time: 3 例 is not in 13 例, 8 点 not in 8 点半."""
    if not 0 < at < len(text):
        return False
    if text[at - 1] in "点时":
        return bool(_PAST.match(text, at))
    return text[at - 1] in _NUMERAL and text[at] in _NUMERAL

"""The words of a question and of a document, as they are compared (reference/redcap_dify.md 3.2)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from core.language.numerals import HAN, numeral_value

SAME = 0.45
"""Share of the pairs of the shorter of two rules from which on they say the same."""

RUN = re.compile(r"[a-z0-9]+(?:[.\-][a-z0-9]+)*|[\u3400-\u9fff]+")
_PART = re.compile(r"[a-z]+\d*|\d+")
_ASKING = re.compile(
    r"(?:几|多少)个?(?:工作日|小时|分钟|毫克|[天日周月年次级分倍片])?(?:之?[内后前])?|"
    r"为什么|为啥|为何|请问|什么时候|什么样|什么|怎么办|咋办|咋整|怎么|怎样|如何|多少|多久|多长时间|哪些|哪个|哪里"
    r"|是否|能不能|可不可以|要不要|有没有|是不是|需不需要|算不算|行不行|可以|能否|可否|要求|需要|应该|应当|必须|一下"
    r"|[本该](?:研究|试验|方案|项目)"
    r"|我们|咱们|这个|那个|这种|这样|的话|方案里|方案中|方案|规定|研究者|研究|受试者|病人|患者|时候"
    r"|[谁啥咋怎哪几请吗呢吧啊呀嘛么的了着是在有和跟与及或对于要能会个到就才都还再也又把被给让得很太我你他她它这那]"
)
_NTH = re.compile(rf"第\s*([\d{HAN}]+)\s*次?\s*(?:访视|随访|回访)")
# 一次 is mostly no figure.
_SPOKEN = re.compile(
    rf"(?<![{HAN}])[二两三四五六七八九](?=\s*(?:[次级倍天岁度分片粒周]|小时|个月))"
)
_SPAN = re.compile(r"v(\d)\s*[至到~-]\s*v(\d)")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Something a question speaks of: sets of terms that each name it, with what they count, and its weight."""

    names: tuple[tuple[frozenset[str], float], ...]
    weight: float


def folded(text: str) -> str:
    """A text as it is compared: NFKC, lower case."""
    return unicodedata.normalize("NFKC", text).lower()


def without_asking(text: str) -> str:
    """A question without the words that only ask."""
    return _ASKING.sub(" ", folded(text))


def terms(text: str) -> Iterator[str]:
    """Latin words, figures, pairs and single characters of Chinese: as good as word segmentation here."""
    for run in RUN.findall(folded(text)):
        if not run[0].isascii():
            yield from run
            yield from pairs_of(run)
            continue
        yield run
        if "-" in run:
            yield from _PART.findall(run)


def pairs_of(run: str) -> list[str]:
    """The pairs of characters of a run of Chinese, in order."""
    return [run[at : at + 2] for at in range(len(run) - 1)]


def same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two rules say the same, or one of them all that the other does."""
    return len(one & other) >= SAME * max(1, min(len(one), len(other)))


def name_of(word: str) -> frozenset[str]:
    """The terms of a word: its pairs, where it has some; single characters say little beside them."""
    held = frozenset(terms(word))
    return frozenset(t for t in held if len(t) > 1 or t.isascii()) or held


def visits_named(text: str) -> str:
    """第六次访视 → v6; V2 至 V5 → each of them."""
    text = _NTH.sub(lambda hit: f"v{numeral_value(hit[1])} ", folded(text))
    return _SPAN.sub(
        lambda hit: " ".join(f"v{at}" for at in range(int(hit[1]), int(hit[2]) + 1)), text
    )


def figures_said(text: str) -> str:
    """二次 → 2次: figures as digits where they are told in words."""
    return _SPOKEN.sub(lambda hit: str(numeral_value(hit[0])), text)

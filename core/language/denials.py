"""Whether a free text denies a word that stands in it: 否认间质性肺炎、活动性感染."""

from __future__ import annotations

import re

_PART = re.compile(r"[,，;；。!！?？\n]")
_DENIES = re.compile(
    r"否认|未见|未发现|未患|未诊断|没有|排除|无(?!症状|规律)|\b(?:no|not|without|denies|denied)\b",
    re.IGNORECASE,
)
_NONE = frozenset({"none", "nil", "n/a", "na", "-", "/", "阴性"})


def only_denies(text: str) -> bool:
    """Whether a free text says of nothing that it is there: 无, 否认食物、药物过敏史."""
    told = [part.strip() for part in _PART.split(text.casefold()) if part.strip()]
    return bool(told) and all(_DENIES.match(part) or part in _NONE for part in told)


def denies(text: str, word: str) -> bool:
    """Whether the word stands in the text, and only where it is denied; a list shares its denial."""
    folded, sought = text.casefold(), word.casefold()
    told = [part for part in _PART.split(folded) if sought in part]
    return bool(told) and all(_DENIES.search(part[: part.find(sought)]) for part in told)

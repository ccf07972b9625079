"""Whether a free text denies a word that stands in it: 否认间质性肺炎、活动性感染."""

from __future__ import annotations

import re

_PART = re.compile(r"[,，;；。!！?？\n]")
_DENIES = re.compile(
    r"否认|未见|未发现|未患|未诊断|没有|排除|无(?!症状|规律)|\b(?:no|not|without|denies|denied)\b",
    re.IGNORECASE,
)
_CUT = re.compile(r"[,，;；]")
_NOT = frozenset("不没未无非")
_NONE = frozenset({"none", "nil", "n/a", "na", "-", "/", "阴性"})


def only_denies(text: str) -> bool:
    """Whether a free text says of nothing that it is there: 无, 否认食物、药物过敏史."""
    told = [part.strip() for part in _PART.split(text.casefold()) if part.strip()]
    return bool(told) and all(_DENIES.match(part) or part in _NONE for part in told)


def is_denied(text: str, at: int, reach: int = 4) -> bool:
    """Whether a 不, 未, 没, 无 or 非 stands at most `reach` characters before a place of its part."""
    ahead = _CUT.split(text[:at])[-1][-reach - 1 :]
    return any(char in _NOT for char in ahead)


def denies(text: str, word: str) -> bool:
    """Whether the word stands in the text, and only where it is denied; a list shares its denial."""
    folded, sought = text.casefold(), word.casefold()
    told = [part for part in _PART.split(folded) if sought in part]
    return bool(told) and all(_DENIES.search(part[: part.find(sought)]) for part in told)

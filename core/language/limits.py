"""Limits as people write them into a field note: "正常上限 40", "参考范围 3.5-9.5", "<= 1.2", "ULN 40"."""

from __future__ import annotations

import re
from decimal import Decimal

_NUMBER = r"(\d+(?:\.\d+)?)"
_NORMAL = r"(?:正常|参考|normal|reference)?\s*(?:值|范围|区间|range|limits?)?\s*[:：为是]?\s*"
_BOTH = re.compile(rf"{_NORMAL}{_NUMBER}\s*(?:-|–|—|~|～|至|到|to)\s*{_NUMBER}", re.IGNORECASE)
_HIGH = re.compile(
    rf"(?:上限|ULN|upper limit(?: of normal)?|≤|<=?|不高于|不超过)\s*[:：为是]?\s*{_NUMBER}",
    re.IGNORECASE,
)
_LOW = re.compile(
    rf"(?:下限|LLN|lower limit(?: of normal)?|≥|>=?|不低于|不小于)\s*[:：为是]?\s*{_NUMBER}",
    re.IGNORECASE,
)
_NAMED = re.compile(r"正常|参考|上限|下限|ULN|LLN|normal|reference|limit|[≤≥<>]", re.IGNORECASE)

Limits = tuple[Decimal | None, Decimal | None]


def limits(note: str) -> Limits | None:
    """(low, high) of a note that speaks of normal limits, None on an open side; None for any other note."""
    if not _NAMED.search(note):
        return None
    low, high = _first(_LOW, note), _first(_HIGH, note)
    if low is None and high is None and (both := _BOTH.search(note)):
        low, high = Decimal(both[1]), Decimal(both[2])
    return None if low is None and high is None else (low, high)


def _first(pattern: re.Pattern[str], note: str) -> Decimal | None:
    found = pattern.search(note)
    return Decimal(found[1]) if found else None

"""Figures of a text that held before: 由200元降到100元, 此前签署的为V2.0."""

from __future__ import annotations

import re

_CHANGE = re.compile(
    r"[由从][^,，;；。]{0,8}?(\d+(?:\.\d+)?\s?(?:元|岁|周岁|分|倍|天|%|mg)?)\s?(?:降|提高|放宽|取得|调整|改|升)[^,，;；。\d]{0,3}(?=\d)"
)
_BEFORE = re.compile(r"(?:此前|以前|原先|原来)[^,，;；。]*")


def changed(told: str) -> tuple[str, frozenset[int]]:
    """Where figures stand that were changed to others, 原标准 told as such a figure: 由200元降到100元."""
    hits = list(_CHANGE.finditer(told))
    if len(hits) == 1:
        told = told.replace("原标准", hits[0][1])
        hits = list(_CHANGE.finditer(told))
    before = (n for hit in _BEFORE.finditer(told) for n in range(*hit.span()))
    return told, frozenset({*(hit.start(1) for hit in hits), *before})

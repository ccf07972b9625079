"""How long a reply may be, in a reader's own words: 回复不超过 100 字, 别超过五十个字, 80 字以内."""

from __future__ import annotations

import re

from core.language import spoken_numbers

_COUNT = r"(\d{1,4}|[一二两三四五六七八九十百千零]{1,6})\s*个?(?:汉)?字"
_NOT_MORE = r"(?:不|别|勿|莫)\s*(?:要|能|可以?|得|许|必|准|应该?)?\s*(?:再)?\s*(?:超过?|多于|大于|高于|长于)"
_LIMIT = re.compile(
    rf"(?:{_NOT_MORE}|最多|至多|顶多|上限(?:是|为)?|[≤<]=?)\s*{_COUNT}"
    rf"|{_COUNT}\s*(?:以内|之内|以下|内(?![容部])|封顶)"
    rf"|(?:控制|限制?|压缩)[在到]\s*{_COUNT}"
)
_LIFTED = re.compile(r"(?:不用|不必|不再|无需|没必要|取消|不要再|别再)(?:限|控制|压缩|管|要求)")


def limit(text: str) -> int | None:
    """The number of characters that a line allows; None where it says nothing of it."""
    found = _LIMIT.search(text)
    if found is None or _LIFTED.search(text):
        return None
    counted = spoken_numbers.find(next(group for group in found.groups() if group))
    return int(counted[0].value) if counted else None

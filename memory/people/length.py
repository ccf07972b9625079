"""How long a reply may be, in a reader's own words: 回复不超过 100 字, 别超过五十个字, 80 字以内, 简洁."""

from __future__ import annotations

import re

from core.language import spoken_numbers
from memory.people.quotes import letters_of, says

SHORT = ("简洁", "简短", "简明", "精简", "concise")
"""Words of a reader who wants it short, without a number."""
_COUNT = r"(\d{1,4}|[一二两三四五六七八九十百千零]{1,6})\s*个?(?:汉)?字"
_NOT_MORE = r"(?:不|别|勿|莫)\s*(?:要|能|可以?|得|许|必|准|应该?)?\s*(?:再)?\s*(?:超过?|多于|大于|高于|长于)"
_LIMIT = re.compile(
    rf"(?:{_NOT_MORE}|最多|至多|顶多|上限(?:是|为)?|[≤<]=?)\s*{_COUNT}"
    rf"|{_COUNT}\s*(?:以内|之内|以下|内(?![容部])|封顶)"
    rf"|(?:控制|限制?|压缩)[在到]\s*{_COUNT}"
)
_LIFTED = re.compile(r"(?:不用|不必|不再|无需|没必要|取消|不要再|别再)(?:限|控制|压缩|管|要求)")
# How long a report is to be says nothing of replies.
_OF_WHAT = re.compile(
    r"(?P<report>[周月季年日简]报|报告|总结|摘要|邮件)|回复|回答|答复|答案|汇报|消息"
)
_LABEL = re.compile(r"^[-*\s]*\*\*[^*]*\*\*\s*[:\uff1a]")


def limit(text: str) -> int | None:
    """The number of characters that a line allows a reply; None where it says nothing of it."""
    found = _of_replies(text)
    counted = found and spoken_numbers.find(next(group for group in found.groups() if group))
    return int(counted[0].value) if counted else None


def _of_replies(text: str) -> re.Match[str] | None:
    """Where a text limits replies: what was named last before the number, else behind it, is no report."""
    if _LIFTED.search(text):
        return None
    named = [*_OF_WHAT.finditer(text)]
    for found in _LIMIT.finditer(text):
        before = [one for one in named if one.end() <= found.start()]
        of = (before[-1:] or named)[:1]
        if not (of and of[0]["report"]):
            return found
    return None


def takes_over(said: str, line: str) -> bool:
    """Whether a statement limits replies as a line of a profile does that says nothing beyond it."""
    found = _of_replies(line)
    if found is None or limit(said) is None:
        return False
    rest = _LABEL.sub("", line[: found.start()]) + line[found.end() :]
    return letters_of(_OF_WHAT.sub("", rest)) in letters_of(said)


def wants_short(text: str) -> bool:
    """Whether a line of a profile wants replies short."""
    return says(text, SHORT)

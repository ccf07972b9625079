"""How long a reply may be, in a reader's own words: 回复不超过 100 字, 别超过五十个字, 80 字以内, 简洁."""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.language import spoken_numbers
from memory.people.quotes import clauses, denies, folded, letters_of

SHORT = ("简洁", "简短", "简明", "精简", "concise")
"""Words of a reader who wants it short, without a number."""
_LONG = re.compile(r"详[细尽](?=一?[些点]|地|的?\s*$)|\b(?:in|more) detail\b")
_COUNT = r"(\d{1,4}|[一二两三四五六七八九十百千零]{1,6})\s*个?(?:汉)?字"
_NOT_MORE = r"(?:不|别|勿|莫)\s*(?:要|能|可以?|得|许|必|准|应该?)?\s*(?:再)?\s*(?:超过?|多于|大于|高于|长于)"
_LIMIT = re.compile(
    rf"(?:{_NOT_MORE}|最多|至多|顶多|上限(?:是|为)?|[≤<]=?)\s*{_COUNT}"
    rf"|{_COUNT}\s*(?:以内|之内|以下|内(?![容部])|封顶)"
    rf"|(?:控制|限制?|压缩)[在到]\s*{_COUNT}"
)
_LENGTH = r"字数|长度|篇幅"
_LIFTED = re.compile(
    rf"(?:不用|不必|不再|无需|没必要|取消|不要再|别再)(?:(?:{_LENGTH})的?)?(?:限|控制|压缩|管|要求)"
    rf"|不限制?(?={_LENGTH})"
)
_OF_LENGTH = re.compile(rf"{_LENGTH}|{_COUNT}")
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
    lifted = _LIFTED.search(text)
    if lifted and not _is_of_report(text, lifted.start()):
        return None
    limits = _LIMIT.finditer(text)
    return next((found for found in limits if not _is_of_report(text, found.start())), None)


def _is_of_report(text: str, at: int, end: int | None = None) -> bool:
    """Whether what was named last before a place, else first behind it (up to `end`), is a report."""
    named = [*_OF_WHAT.finditer(text, 0, len(text) if end is None else end)]
    before = [one for one in named if one.end() <= at]
    of = (before[-1:] or named)[:1]
    return bool(of and of[0]["report"])


def lifts(text: str) -> bool:
    """Whether a line says that the length of replies is limited no more: 不用限制字数了."""
    text = folded(text)
    return any(
        not _is_of_report(text, clause.start + found.start(), clause.end)
        for clause in clauses(text)
        if _OF_LENGTH.search(clause.text) and (found := _LIFTED.search(clause.text))
    )


def newest_limit(lines: Iterable[str]) -> int | None:
    """The characters of a reply by lines, newest first: the first that sets or lifts a limit decides."""
    return next((limit(line) for line in lines if limit(line) or lifts(line)), None)


def takes_over(said: str, line: str) -> bool:
    """Whether a statement limits replies as a line of a profile does that says nothing beyond it."""
    found = _of_replies(line)
    if found is None or limit(said) is None:
        return False
    rest = _LABEL.sub("", line[: found.start()]) + line[found.end() :]
    return letters_of(_OF_WHAT.sub("", rest)) in letters_of(said)


def wants_short(text: str) -> bool | None:
    """Whether a line wants replies short, without a number; None where it says nothing of their length."""
    if limit(text) or lifts(text):
        return False
    text = folded(text).casefold()
    said = {
        not denies(clause.text[:at]) if is_short else False
        for clause in clauses(text)
        for at, is_short in _wishes(clause.text)
        if not _is_of_report(text, clause.start + at, clause.end)
    }
    return any(said) if said else None


def _wishes(clause: str) -> list[tuple[int, bool]]:
    """Where a clause names a short reply (True) or a long one (False); 别太详细 is neither."""
    short = [(clause.index(word), True) for word in SHORT if word in clause]
    long = [(found.start(), False) for found in _LONG.finditer(clause)]
    return short + [one for one in long if not denies(clause[: one[0]])]

"""English answers as the house reads them: its words, dates and numbers in Chinese, in Chinese order."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

_TABLE: dict[str, Any] = json.loads(
    Path(__file__).with_name("english.v1.json").read_text(encoding="utf-8")
)
_WORDS = {word: told for told, words in _TABLE["words"].items() for word in words.split("|")}
_MONTHS = {name: n for n, name in enumerate(_TABLE["months"].split(), 1)}
_MONTHS |= {name[:3]: n for name, n in _MONTHS.items()}
_NUMBERS = {name: n for n, name in enumerate(_TABLE["numbers"].split())}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_DATE = re.compile(
    rf"\b(?:(?P<first>\d{{1,2}}) (?:to|-|–) )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)? {_MONTH}"
    r"(?:,? (?P<year>20\d\d))?\b"
    rf"|\b{_MONTH.replace('<month>', '<other>')} (?P<of>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<late>20\d\d))?\b",
    re.IGNORECASE,
)
_FROM = re.compile(r"\bfrom (?=\d|[a-z]+ \d)", re.IGNORECASE)
_GRADE = re.compile(r"\bgrade (\d)\b", re.IGNORECASE)
_SITE = re.compile(r"\bsite ([a-z])\b", re.IGNORECASE)
_PLACED = re.compile(
    r"(\d+(?:\.\d+)?(?: ?[a-zμ%]+/[a-zL]+)?) (?:at|in) (V\d|baseline|site_\w+)", re.IGNORECASE
)
_WORD = re.compile(
    r"(?<![A-Za-z_])(?:"
    + "|".join(re.escape(w) for w in sorted(_WORDS, key=len, reverse=True))
    + r")(?![A-Za-z]|中心)",
    re.IGNORECASE,
)
_COUNT = re.compile(rf"\b(?:{'|'.join(_NUMBERS)})\b(?=[ -][A-Za-z一-鿿])", re.IGNORECASE)
_NOUN = re.compile(r"(?<=\d) (?=(?:严重)?不良事件|访视|读数|合并用药)")
_YEARS = re.compile(r"(?<!年)(\b\d{1,2}月\d{1,2}日) to (20\d\d)年")
_PROSE = re.compile(r"[A-Za-z]{2,}")
_HAN = re.compile(r"[一-鿿]")
_LEAST = 3
"""English words from which on a text without Chinese is an English one."""


def is_english(text: str) -> bool:
    """Whether a sentence is an English one: some words, and not as many Chinese characters."""
    return max(_LEAST - 1, len(_HAN.findall(text))) < len(_PROSE.findall(text))


@lru_cache(maxsize=256)
def in_chinese(text: str) -> str:
    """An English text by the words of the house; what it does not know is left as it is."""
    found = text.replace("'s ", " ").replace("’s ", " ")
    found = _YEARS.sub(r"\2年\1 to \2年", _DATE.sub(_day, _FROM.sub("", found)))
    found = _PLACED.sub(r"\2 \1", _SITE.sub(lambda hit: f"{hit[1].upper()}中心", found))
    found = _COUNT.sub(lambda hit: str(_NUMBERS[hit[0].casefold()]), _GRADE.sub(r"\1级", found))
    found = _WORD.sub(lambda hit: _WORDS[hit[0].casefold()], found)
    return re.sub(r" {2,}", " ", _NOUN.sub("个", found))


def _day(hit: re.Match[str]) -> str:
    month = _MONTHS[(hit["month"] or hit["other"]).casefold()]
    year = hit["year"] or hit["late"]
    told = f"{year}年" if year else ""
    first = f"{told}{month}月{hit['first']}日至" if hit["first"] else ""
    return f"{first}{told}{month}月{hit['day'] or hit['of']}日"

"""Times of the day as people write them: "08:30", "早上九点半", "3pm", "下午"."""

from __future__ import annotations

import re
import unicodedata
from datetime import time

from core.language import spoken_numbers

_DIGIT = "零〇一二两三四五六七八九十"
_HOUR = rf"\d{{1,2}}|[{_DIGIT}]{{1,3}}"
_DARK = "凌晨|[前后]?半夜|午夜|子夜|深夜|夜里|夜间|[今昨明每当]?夜"
_EVENING = "傍晚|黄昏|晚间|夜晚|晚上|[今昨明每当]?晚"
_AFTERNOON = "下午|午后"
_NOONTIDE = "中午|正午"
_MORNING = "清晨|清早|早晨|早上|上午"
_CLOCK = re.compile(
    rf"(?P<part>{_EVENING}|{_DARK}|{_AFTERNOON}|{_NOONTIDE}|{_MORNING}|am|pm)?\s*"
    rf"(?<![\d百千])(?P<hour>{_HOUR})\s*"
    # 2-3点: the hour of the beginning stands without its 点.
    rf"(?:(?:-|~|—|–|到|至)+\s*(?:{_HOUR})\s*[点时]"
    r"|[:：]\s*(?P<minute>\d{2})"
    rf"|[点时](?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<past>\d{{1,2}}|[{_DIGIT}]{{1,3}})\s*分?)?"
    r"|(?=\s*[ap]m))"
    r"\s*(?P<after>am|pm)?",
    re.IGNORECASE,
)
_NOON = 12
# The hours from which on a part of the day means the second half of it: 晚上8点 is 20:00, 晚上2点 is not 14:00.
_SECOND_HALF = (
    (re.compile(rf"{_AFTERNOON}|pm", re.IGNORECASE), range(_NOON)),
    (re.compile(_NOONTIDE), range(1, 3)),
    (re.compile(_EVENING), range(4, _NOON)),
    (re.compile("凌晨"), range(0)),
    (re.compile(_DARK), range(6, _NOON)),
)
_MIDNIGHT = re.compile(rf"am|{_EVENING}|{_DARK}", re.IGNORECASE)
# A part of the day without an hour begins at:
_PARTS = {
    **dict.fromkeys(("凌晨", "半夜", "午夜", "子夜"), 0),
    **dict.fromkeys(("清晨", "清早"), 6),
    **dict.fromkeys(("早上", "早晨"), 8),
    "上午": 9,
    **dict.fromkeys(("中午", "正午"), _NOON),
    **dict.fromkeys(("下午", "午后"), 14),
    **dict.fromkeys(("傍晚", "黄昏"), 18),
    **dict.fromkeys(("晚上", "晚间", "夜晚", "今晚", "每晚"), 19),
    **dict.fromkeys(("深夜", "夜里", "夜间"), 22),
}
# 早一点, 第3点: no time.
_NO_TIME = re.compile(r"[早晚快慢多少有差]一$|第\w{1,3}$")


def parse(text: str) -> time | None:
    """The first time of the day in a text; of a range its beginning, of a part of the day its first hour."""
    folded = unicodedata.normalize("NFKC", text)
    if (clock := exact(folded)) is not None:
        return clock
    part = next((part for part in _PARTS if part in folded), None)
    return time(_PARTS[part]) if part else None


def without(text: str) -> str:
    """A text without its first time that names an hour."""
    folded = unicodedata.normalize("NFKC", text)
    found = next((one for one in _CLOCK.finditer(folded) if _clock(one) is not None), None)
    return folded[: found.start()] + folded[found.end() :] if found else folded


def exact(text: str) -> time | None:
    """The first time that names an hour; None where there is none, also for "早上"."""
    clocks = (_clock(found) for found in _CLOCK.finditer(unicodedata.normalize("NFKC", text)))
    return next((clock for clock in clocks if clock is not None), None)


def _clock(found: re.Match[str]) -> time | None:
    if _NO_TIME.search(found.string[: found.end("hour")]):
        return None
    hour = _number(found["hour"])
    minute = _number(found["minute"] or found["past"] or "0")
    minute += 30 if found["half"] else 0
    minute += {"一": 15, "三": 45}.get(found["quarter"] or "", 0)
    part = found["part"] or found["after"] or ""
    hours = next((hours for named, hours in _SECOND_HALF if named.fullmatch(part)), range(0))
    hour += _NOON if hour in hours else 0
    if (hour == _NOON and _MIDNIGHT.fullmatch(part)) or (hour, minute) == (24, 0):
        hour = 0
    try:
        return time(hour, minute)
    except ValueError:
        return None


def _number(text: str) -> int:
    """Of 两三 the first; 99, which no clock has, for what is no number."""
    found = spoken_numbers.find(text)
    return int(found[0].value) if found else 99

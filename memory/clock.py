"""Times of the day as people write them: "08:30", "早上九点半", "3pm", "下午"."""

from __future__ import annotations

import re
import unicodedata
from datetime import time

from memory import numbers

_HOUR = r"\d{1,2}|[一二两三四五六七八九十]{1,3}"
_CLOCK = re.compile(
    r"(?P<part>凌晨|清晨|早晨|早上|上午|中午|下午|傍晚|晚上|夜里|半夜|[今每]?晚|am|pm)?\s*"
    rf"(?P<hour>{_HOUR})\s*"
    # 2-3点: the hour of the beginning stands without its 点.
    rf"(?:(?:-|~|—|–|到|至)+\s*(?:{_HOUR})\s*[点时]"
    r"|[:：]\s*(?P<minute>\d{2})|[点时](?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<past>\d{1,2}|[一二三四五六七八九十]{1,3})\s*分?)?"
    r"|(?=\s*[ap]m))"
    r"\s*(?P<after>am|pm)?",
    re.IGNORECASE,
)
_MIDNIGHT = {"am", "凌晨", "夜里", "半夜", "晚上", "晚", "今晚", "每晚"}
_LATER = {"下午", "傍晚", "晚上", "夜里", "晚", "今晚", "每晚", "pm"}
# A part of the day without an hour begins at:
_PARTS = {"早上": 8, "早晨": 8, "上午": 9, "中午": 12, "下午": 14, "傍晚": 18, "晚上": 19}
_NOON = 12
# 早一点, 第3点: no time.
_NO_TIME = re.compile(r"[早晚快慢多少有差]一$|第\w{1,3}$")


def parse(text: str) -> time | None:
    """The first time of the day in a text; of a range its beginning, of a part of the day its first hour."""
    folded = unicodedata.normalize("NFKC", text)
    if (clock := exact(folded)) is not None:
        return clock
    part = next((part for part in _PARTS if part in folded), None)
    return time(_PARTS[part]) if part else None


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
    part = (found["part"] or found["after"] or "").lower()
    if hour < _NOON and (part in _LATER or (part == "中午" and hour < 3)):
        hour += _NOON
    hour = 0 if hour == _NOON and part in _MIDNIGHT else hour
    try:
        return time(hour, minute)
    except ValueError:
        return None


def _number(text: str) -> int:
    """Of 两三 the first; 99, which no clock has, for what is no number."""
    found = numbers.find(text)
    return int(found[0].value) if found else 99

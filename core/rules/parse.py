"""Text from a data capture system into typed values; None where the text does not fit.

Formats: reference/redcap_dify.md 1.2 and 1.3 (what REDCap exports), 5.1 (decimal comma, "<0.5"),
edge cases E25 (partial dates). Only ASCII digits count: "１２" is a typing error, not a number.
"""

from __future__ import annotations

import calendar
import re
from datetime import datetime
from decimal import Decimal
from functools import lru_cache

from core.rules.values import DAY, MINUTE, SECOND, Clock, Moment, Range

_NUMBER = re.compile(r"[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]{1,3})?")
_CENSORED = re.compile(r"(<=|>=|[<>≤≥＜＞]=?)\s*(\S+)")
_MAX_NUMBER_LENGTH = 400
_MAX_DATE_LENGTH = 64
_OPEN = r"U(?:NK?|K)|NK|XX|\?\?"
_DATE = re.compile(
    rf"([0-9]{{4}})(?:[-年]|([-/.年])([0-9]{{1,2}}|{_OPEN})(?:[-/.月]([0-9]{{1,2}}|{_OPEN})日?|[-月])?)?"
    rf"(?:[ T]([0-9]{{1,2}}|{_OPEN})(?::([0-9]{{2}}|{_OPEN})(?::([0-9]{{2}})(?:\.[0-9]+)?)?)?)?",
    re.IGNORECASE,
)
_NO_DATE = re.compile(rf"(?:{_OPEN})(?:[-/](?:{_OPEN})){{1,2}}", re.IGNORECASE)
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?")
_FULL_DATE = re.compile(r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}(?:[ T][0-9]{1,2}:[0-9]{2}.*)?")


def number(text: str, *, decimal_comma: bool = False) -> Decimal | Range | None:
    """A number or a censored number ("<0.5", ">100", "≤ 3"), exactly as written."""
    value = exact(text, decimal_comma=decimal_comma)
    censored = _CENSORED.fullmatch(text) if value is None else None
    if censored is None:
        return value
    return _censored(censored[1], exact(censored[2], decimal_comma=decimal_comma))


def exact(text: str, *, decimal_comma: bool = False) -> Decimal | None:
    """A plain number in REDCap's notation."""
    if decimal_comma:
        text = "bad" if "." in text else text.replace(",", ".")
    if len(text) > _MAX_NUMBER_LENGTH or not _NUMBER.fullmatch(text):
        return None
    return Decimal(text)


def _censored(sign: str, limit: Decimal | None) -> Range | None:
    if limit is None:
        return None
    is_open = sign in "<>＜＞"
    if sign[0] in "<≤＜":
        return Range(None, limit, high_open=is_open)
    return Range(limit, None, low_open=is_open)


def moment(text: str) -> Moment | None:
    """A date or datetime, year first, in the precision it is written in.

    Unknown parts ("2024-03", "2024-UN-UN", "2024-03-01 UN:UN") widen it to all it can mean;
    an impossible date or time gives None.
    """
    return (_moment if len(text) <= _MAX_DATE_LENGTH else _moment.__wrapped__)(text)


@lru_cache(maxsize=4096)  # a study's days come again in every rule and record
def _moment(text: str) -> Moment | None:
    if _NO_DATE.fullmatch(text):
        return Moment(datetime(1, 1, 1), datetime(9999, 12, 31), DAY)  # noqa: DTZ001
    found = _DATE.fullmatch(text)
    if not found:
        return None
    year, _separator, month, day, *clock = found.groups()
    try:
        first, last = _days(int(year), _known(month), _known(day))
        return _with_clock(first, last, *clock)
    except ValueError:
        return None


def is_full_date(text: str) -> bool:
    """Whether a literal is so clearly a date that text beside it must be one too."""
    return _FULL_DATE.fullmatch(text) is not None and moment(text) is not None


def _known(part: str | None) -> int | None:
    return int(part) if part and part.isdigit() else None


def _days(year: int, month: int | None, day: int | None) -> tuple[datetime, datetime]:
    if month is None:
        return datetime(year, 1, 1), datetime(year, 12, 31)  # noqa: DTZ001
    if day is None:
        last = calendar.monthrange(year, month)[1]
        return datetime(year, month, 1), datetime(year, month, last)  # noqa: DTZ001
    exact_day = datetime(year, month, day)  # noqa: DTZ001
    return exact_day, exact_day


def _with_clock(
    first: datetime, last: datetime, hour: str | None, minute: str | None, second: str | None
) -> Moment:
    if hour is None:
        return Moment(first, last, DAY)
    if first != last or _known(hour) is None or _known(minute) is None:
        return Moment(first, last.replace(hour=23, minute=59, second=59), MINUTE)
    seconds = int(second) if second else 0
    exact_time = first.replace(hour=int(hour), minute=int(minute or 0), second=seconds)
    return Moment(exact_time, exact_time, MINUTE if second is None else SECOND)


def clock(text: str, *, minutes_first: bool = False) -> Clock | None:
    """HH:MM or HH:MM:SS; with `minutes_first` the two parts are MM:SS (time_mm_ss)."""
    found = _CLOCK.fullmatch(text)
    if not found:
        return None
    first, second, third = int(found[1]), int(found[2]), int(found[3] or 0)
    if minutes_first:
        is_valid = found[3] is None and first < 60 and second < 60
        return Clock(first * 60 + second, SECOND) if is_valid else None
    if first > 23 or second > 59 or third > 59:
        return None
    return Clock(first * 3600 + second * 60 + third, SECOND if found[3] else MINUTE)

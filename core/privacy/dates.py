"""Dates as people write them: dates of birth behind their cue words, and known ones in every spelling."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date

from core.privacy.identifiers import DASHES, IS, YEAR
from core.privacy.identifying_fields import NOT_BORN

_BIRTH_CUE = (
    rf"(?:出生(?:日期|时间|年月日?)?|生{NOT_BORN}(?:日在?|于)|D\.?O\.?B\.?|birth(?:day| date)?|"
    rf"\bborn(?: on| in)?)于?{IS}"
)
_HAN_NUMBER = r"[正冬腊初一二三四五六七八九十廿]{1,3}"
_NUMBERED_DAY = (
    rf"{YEAR}\s?[/.年{DASHES}]\s?\d{{1,2}}(?:\s?[/.月{DASHES}]\s?\d{{1,2}}\s?[日号]?|\s?月)?|{YEAR}\d{{4}}|"
    rf"\d{{1,2}}\s?[/.{DASHES}]\s?\d{{1,2}}\s?[/.{DASHES}]\s?{YEAR}|"
    rf"(?:(?<!\d)\d{{2}}年)?\d{{1,2}}月\d{{1,2}}[日号]|(?<!\d)\d{{2}}(?:\s?[/.年{DASHES}]\s?\d{{1,2}}){{2}}(?!\d)|"
    rf"(?:{YEAR}年|[一二][零〇一二三四五六七八九]{{3}}年)?{_HAN_NUMBER}月{_HAN_NUMBER}[日号]?"
)
_WRITTEN_DAY = (
    rf"{_NUMBERED_DAY}|[A-Z]{{3,9}}\.? \d{{1,2}},? {YEAR}|\d{{1,2}}[ -][A-Z]{{3,9}}\.?,?[ -]{YEAR}"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED_MONTH = rf"(?:{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_UNCOUNTED = r"(?!\d|\.\d|\s?(?:[克例人名个]|k?g\b|m?L\b))"
_LESS_THAN_A_DAY = (
    rf"{YEAR}(?:0[1-9]|1[0-2])(?!\d)|{YEAR}{_UNCOUNTED}|"
    rf"\d{{1,2}}[ -]?{_NAMED_MONTH},?[ -]?\d{{2}}(?!\d)|{_NAMED_MONTH} ?\d{{1,2}},? ?\d{{2}}(?!\d)|"
    rf"{_NAMED_MONTH},? ?(?:{YEAR}|\d{{2}})(?!\d)"
)
"""With a year of two digits, or without a day: only right behind a word of birth."""
_BIRTHDAY_CUE = rf"(?:出生日期?|生{NOT_BORN}日在?|D\.?O\.?B\.?|birth(?:day| date)|\bborn on){IS}"
_MONTH_AND_DAY = r"(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\d)"
_WITHOUT_A_YEAR = rf"{_MONTH_AND_DAY}|\d{{1,2}}\s?[/.{DASHES}]\s?\d{{1,2}}(?![\d/.])"
BIRTH_DATES = (
    re.compile(rf"{_BIRTH_CUE}({_WRITTEN_DAY}|{_LESS_THAN_A_DAY})", re.IGNORECASE),
    re.compile(rf"{_BIRTHDAY_CUE}({_WITHOUT_A_YEAR})", re.IGNORECASE),
    re.compile(
        rf"(?=[^生]{{3,24}}生)({_NUMBERED_DAY}|(?<!\d)\d{{2}}年\d{{1,2}}月|"
        rf"(?<!\d){YEAR}(?:年|(?=生))|(?<!\d)\d{{2}}年(?=生人))[\s(]{{0,3}}"
        rf"(?:出生(?!缺陷|率|队列|体重)|生人|生(?=$|的|[^\u4e00-\u9fff]))"
    ),
    re.compile(rf"((?:{YEAR}年)?(?<!\d)\d{{1,2}}月\d{{1,2}}[日号])[^\W\d]{{0,4}}生{NOT_BORN}日"),
)
"""The first two behind their cues, the others before them."""
MORE_BIRTHS = re.compile(rf"\s?[、和及]\s?({_WRITTEN_DAY})", re.IGNORECASE)
"""One more date right behind one of birth: 出生日期1987-06-15、1988-07-16."""
BIRTH_VALUE = re.compile(rf"^\W{{0,9}}{YEAR}|(?<!\d)(?:{_WRITTEN_DAY})", re.IGNORECASE)
"""A field's value that is a date, be it of a year alone."""

_HAN = "零一二三四五六七八九"
_ZERO = "〇○"
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_TH = r"(?:st|nd|rd|th)?"
_APART = rf"\s?[-/.,\s{DASHES}]\s?"
_DAYS = tuple(
    (orders, re.compile(regex, re.IGNORECASE))
    for orders, regex in (
        (
            ("ymd",),
            rf"([\d{_ZERO}{_HAN}](?<!\d\d)[\d{_ZERO}{_HAN}](?:[\d{_ZERO}{_HAN}]{{2}})?)\s?年\s?"
            r"(\d{1,2}|[正元冬腊一二三四五六七八九十]{1,3})\s?月\s?(\d{1,2}|[初一二三四五六七八九十廿]{1,3})\s?[日号]?(?!\d)",
        ),
        (
            ("ymd",),
            rf"(\d(?<![\d.]\d)\d(?:\d\d)?){_APART}(\d{{1,2}}){_APART}(\d{{1,2}})(?!\d|\.\d)",
        ),
        (("ymd",), r"(\d(?<![\d.]\d)\d(?:\d\d)?)(\d\d)(\d\d)(?!\d|\.\d)"),
        (
            ("dmy", "mdy"),
            rf"(\d(?<![\d.]\d)\d?){_APART}(\d{{1,2}}){_APART}({YEAR})(?!\d|\.\d)",
        ),
    )
)
_STARTS = re.compile(rf"[\d{_ZERO}{_HAN}]")
"""Without one of them there is no day in a text: looked for first, because most cells have none."""
_DAYS_IN_ENGLISH = tuple(
    (orders, re.compile(regex, re.IGNORECASE))
    for orders, regex in (
        (
            ("dmy",),
            rf"(\d(?<!\d\d)\d?){_TH}[-/,.\s]{{0,3}}(?:of )?{_MONTH}[-/,\s]{{0,3}}(\d{{4}}|\d\d)(?!\d)",
        ),
        (
            ("mdy",),
            rf"(?<![a-z]){_MONTH}[-/\s]{{0,3}}(\d{{1,2}}){_TH}[-/,\s]{{1,3}}(\d{{4}})(?!\d)",
        ),
        (("ymd",), rf"(\d(?<!\d\d)\d{{3}})[-/,\s]{{1,3}}{_MONTH}[-/,\s]{{1,3}}(\d{{1,2}})(?!\d)"),
    )
)


def days(text: str) -> Iterator[tuple[int, int, date]]:
    """Every full date that may be meant, with its place; 5/3/1962 and 62-03-05 mean more than one."""
    if not _STARTS.search(text):
        return
    small = text.lower()
    in_english = any(month in small for month in _MONTHS)
    for orders, regex in (*_DAYS, *(_DAYS_IN_ENGLISH if in_english else ())):
        for found in regex.finditer(text):
            for order in orders:
                for day in _meant(dict(zip(order, found.groups(), strict=True))):
                    yield found.start(), found.end(), day


def _meant(parts: dict[str, str]) -> Iterator[date]:
    year, month, day = (_number(parts[part]) for part in "ymd")
    for century in (1900, 2000) if len(parts["y"]) == 2 else (0,):
        if (
            century + year > 0
            and 1 <= month <= 12
            and 1 <= day <= monthrange(century + year, month)[1]
        ):
            yield date(century + year, month, day)


def _number(text: str) -> int:
    """2, 02, Feb, 二, 十二, 廿二, 一九六二; 0 for what is no number."""
    if text.isdigit() and text.isascii():
        return int(text)
    if text[:3].lower() in _MONTHS:
        return _MONTHS.index(text[:3].lower()) + 1
    plain = text.strip("初").translate(str.maketrans("〇○正元冬腊", "零零一一冬腊"))
    plain = plain.replace("冬", "十一").replace("腊", "十二").replace("廿", "二十")
    tens, ten, ones = plain.rpartition("十")
    try:
        if not ten:
            return int("".join(str(_HAN.index(char)) for char in plain))
        return 10 * (_HAN.index(tens) if tens else 1) + (_HAN.index(ones) if ones else 0)
    except ValueError:
        return 0


def age_on(birth: str, today: date | None) -> int | None:
    """Completed years on `today`; None without a full, possible date."""
    digits = re.findall(r"\d+", birth)
    if today is None or not digits or len(digits[0]) == 2:
        return None
    parts = [digits[0][:4], digits[0][4:6], digits[0][6:8]] if len(digits[0]) == 8 else digits
    try:
        born = date(int(parts[0]), int(parts[1]), int(parts[2]))
    except (ValueError, IndexError):
        return None
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))


def birth_spellings(value: str) -> list[str]:
    """A date of birth as others write it, for lists that are compared as texts; [] for no full date."""
    born = next((day for _start, _end, day in days(value)), None)
    return [f"{born:%Y-%m-%d}", f"{born.year}年{born.month}月{born.day}日"] if born else []

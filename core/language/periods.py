"""Days and stretches of time as people name them: 昨天, 上周三, 11月16号到22号, 第12周, 最近两周."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

from core.language.numerals import numeral_value

_N = r"(?:\d{1,3}|[零一二两俩三四五六七八九十]{1,3})"
_WEEKDAY = "一二三四五六日天"
_YEAR = r"(?:(?P<year>20\d\d|去|今|前|明)年)?"
_MONTH = r"(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月"
_DIGIT = "[一二三四五六七八九]"
_DAY = rf"(?:3[01]|[12]\d|0?[1-9]|三十一?|二十{_DIGIT}?|十{_DIGIT}?|{_DIGIT})"
_TO = r"\s*(?:到|至|-|~|—)\s*"
_WEEK = r"(?:周|星期|礼拜)"
_OPEN = re.compile(
    r"\s*(?:(以来|至今|到现在|到目前|之后|以后|后|起|开始)|(之前|以前|前|为止))(?!\d)"
)

WEEKS_OF_YEAR = 52
"""Of a year of the study (第1年), counted from the study's first week."""

NEWEST = re.compile(
    r"上一?[次期份]|最近的?(?:一[次期份])?|最新的?(?:一[次期份])?|the (?:last|latest)|latest",
    re.IGNORECASE,
)
"""The newest of what comes out again and again: 上次周报, 最近一期."""


@dataclass(frozen=True, slots=True)
class Period:
    """Days, both included, and where the text names them; None: open on that side."""

    start: int
    end: int
    first: date | None
    last: date | None


@dataclass(frozen=True, slots=True)
class Calendar:
    """What relative words are counted from: `today`, and the first day of the study for its weeks."""

    today: date
    begin: date


_Days = tuple[date, date]
_Maker = Callable[[re.Match[str], Calendar], _Days]


def periods(text: str, calendar: Calendar) -> Iterator[Period]:
    """The stretches a normalised text names, left to right, none inside another."""
    at = 0
    for hit in _ANY.finditer(text):
        if hit.start() < at or not hit.lastgroup:
            continue
        found = _made(text, hit, calendar)
        if found:
            yield found
            at = found.end


def _made(text: str, hit: re.Match[str], calendar: Calendar) -> Period | None:
    shape, make = _SHAPES[int(str(hit.lastgroup)[1:])]
    exact = shape.match(text, hit.start())
    if exact is None:
        return None
    try:
        first, last = make(exact, calendar)
    except (ValueError, OverflowError):
        return None
    # 近0天 and 22号到16号 are no stretch.
    if first > last:
        return None
    return _opened(text, Period(exact.start(), exact.end(), first, last), calendar)


def _opened(text: str, period: Period, calendar: Calendar) -> Period:
    """What "3月以来" adds: it goes on to today, "3月之前" has no beginning."""
    more = _OPEN.match(text, period.end)
    if more is None or not period.first or not period.last:
        return period
    if more[2]:
        until = period.last if more[2] == "为止" else period.first - timedelta(days=1)
        return replace(period, end=more.end(), first=None, last=until)
    if more[1] in ("之后", "以后", "后"):
        return replace(period, end=more.end(), first=period.last + timedelta(days=1), last=None)
    last = None if period.first > calendar.today else calendar.today
    return replace(period, end=more.end(), last=last)


def _whole(said: str) -> int:
    value = numeral_value(said)
    if value is None:
        raise ValueError(said)
    return int(value)


def _year(said: str | None, calendar: Calendar, month: int) -> int:
    today = calendar.today
    if said is None:
        return today.year - (month > today.month)
    shift = {"前": -2, "去": -1, "今": 0, "明": 1}
    return today.year + shift[said] if said in shift else int(said)


def _span_of_months(first: date, number_of: int) -> _Days:
    months = first.year * 12 + first.month - 1 + number_of
    return first, date(months // 12, months % 12 + 1, 1) - timedelta(days=1)


def _iso(hit: re.Match[str], _calendar: Calendar) -> _Days:
    days = [date(*map(int, re.split(r"[-/.年月]", part)[:3])) for part in hit.groups() if part]
    return days[0], days[-1]


def _days_of_month(hit: re.Match[str], calendar: Calendar) -> _Days:
    month = _whole(hit["month"])
    year = _year(hit["year"], calendar, month)
    first = date(year, month, _whole(hit["day"]))
    if not hit["until"]:
        return first, first
    month = _whole(hit["until_month"]) if hit["until_month"] else month
    return first, date(year + (month < first.month), month, _whole(hit["until"]))


def _months_named(hit: re.Match[str], calendar: Calendar) -> _Days:
    month = _whole(hit["month"])
    first = date(_year(hit["year"], calendar, month), month, 1)
    until = _whole(hit["until"]) if hit["until"] else month
    return _span_of_months(first, (until - month) % 12 + 1)


def _month_shift(hit: re.Match[str], calendar: Calendar) -> _Days:
    word = hit[1]
    shift = {"上": -1, "下": 1}.get(word[-1], 0) * len(word)
    months = calendar.today.year * 12 + calendar.today.month - 1 + shift
    return _span_of_months(date(months // 12, months % 12 + 1, 1), 1)


def _week_of_study(calendar: Calendar, number_of: int) -> _Days:
    first = calendar.begin + timedelta(days=7 * (number_of - 1))
    return first, first + timedelta(days=6)


def _study_week(hit: re.Match[str], calendar: Calendar) -> _Days:
    begin = _whole(hit[1] or hit[3])
    return _week_of_study(calendar, begin)[0], _week_of_study(
        calendar, _whole(hit[2] or str(begin))
    )[1]


def _study_year(hit: re.Match[str], calendar: Calendar) -> _Days:
    first = WEEKS_OF_YEAR * (_whole(hit[1]) - 1) + 1
    return (
        _week_of_study(calendar, first)[0],
        _week_of_study(calendar, first + WEEKS_OF_YEAR - 1)[1],
    )


def _week_shift(hit: re.Match[str], calendar: Calendar) -> _Days:
    word = hit[1]
    shift = {"上": -1, "下": 1}.get(word[-1], 0) * len(word)
    if hit["weekday"]:
        monday = calendar.today - timedelta(days=calendar.today.weekday()) + timedelta(weeks=shift)
        day = monday + timedelta(days=min(_WEEKDAY.index(hit["weekday"]), 6))
        return day, day
    now = (calendar.today - calendar.begin).days // 7 + 1
    return _week_of_study(calendar, now + shift)


_DAY_WORDS = {"前": -2, "昨": -1, "今": 0, "明": 1, "后": 2}


def _day_word(hit: re.Match[str], calendar: Calendar) -> _Days:
    day = calendar.today + timedelta(days=_DAY_WORDS[hit[1]])
    return day, day


def _around(hit: re.Match[str], calendar: Calendar) -> _Days:
    count = _count(hit["count"])
    days = round(count * {"天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30}[hit["unit"]])
    today = calendar.today
    if hit["back"]:
        return today - timedelta(days=days - 1), today
    return today, today + timedelta(days=days - 1)


def _count(said: str) -> float:
    value = numeral_value(said)
    if value is None:
        raise ValueError(said)
    return float(value)


def _quarter(hit: re.Match[str], calendar: Calendar) -> _Days:
    quarter = _whole(hit["quarter"] or hit["q"])
    return _span_of_months(
        date(_year(hit["year"], calendar, 3 * quarter - 2), 3 * quarter - 2, 1), 3
    )


def _quarter_shift(hit: re.Match[str], calendar: Calendar) -> _Days:
    today = calendar.today
    shift = {"上": -1, "下": 1}.get(hit[1], 0)
    months = today.year * 12 + (today.month - 1) // 3 * 3 + 3 * shift
    return _span_of_months(date(months // 12, months % 12 + 1, 1), 3)


def _half_year(hit: re.Match[str], calendar: Calendar) -> _Days:
    month = 1 if hit["half"] == "上" else 7
    return _span_of_months(date(_year(hit["year"] or "今", calendar, month), month, 1), 6)


def _whole_year(hit: re.Match[str], calendar: Calendar) -> _Days:
    return _span_of_months(date(_year(hit["year"], calendar, 1), 1, 1), 12)


_ISO_DAY = r"(20\d\d[-/.年]\d{1,2}[-/.月]\d{1,2})[日号]?"
_SHAPES: tuple[tuple[re.Pattern[str], _Maker], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), make)
    for pattern, make in (
        (rf"{_ISO_DAY}(?:{_TO}{_ISO_DAY})?(?!\d)", _iso),
        (
            rf"{_YEAR}{_MONTH}(?P<day>{_DAY})[日号]?(?!\d)"
            rf"(?:{_TO}(?:(?P<until_month>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月)?(?P<until>{_DAY})[日号])?",
            _days_of_month,
        ),
        (
            rf"{_YEAR}{_MONTH}份?(?:{_TO}(?P<until>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月)?份?",
            _months_named,
        ),
        (r"(上上|上|本|这|当|下下|下)一?个?月", _month_shift),
        (rf"第({_N})(?:{_TO}第?({_N}))?周|(?<![a-z0-9])w(\d{{1,3}})(?!\d)", _study_week),
        # 术后第1年 and 第1年随访 are places of a subject's own course.
        (rf"(?<!后)第({_N})年(?!级|龄|度?的?(?:随访|访视))", _study_year),
        (rf"(上上|上|本|这|下下|下)一?个?{_WEEK}(?P<weekday>[{_WEEKDAY}](?!共))?", _week_shift),
        (r"(前|昨|今|明|后)[天日](?!为止)", _day_word),
        (
            rf"(?:(?P<back>最近这?|近|过去|这(?=\d|[两三]))|(?P<on>未来|接下来|今后|往后))(?:的)?"
            rf"(?P<count>{_N}|半)个?(?P<unit>天|日|周|星期|礼拜|月)(?!龄)",
            _around,
        ),
        (rf"{_YEAR}(?:第?(?P<quarter>[一二三四1-4])季度|q(?P<q>[1-4]))", _quarter),
        (r"(上|本|这|下)一?个?季度", _quarter_shift),
        (r"(?:(?P<year>20\d\d|去|今|前|明)年)?(?P<half>[上下])半年", _half_year),
        (r"(?P<year>20\d\d|去|今|前|明)年", _whole_year),
    )
)
_ANY = re.compile(
    "|".join(
        f"(?P<s{number_of}>{re.sub(r'[(][?]P<[a-z_]+>', '(?:', shape.pattern)})"
        for number_of, (shape, _make) in enumerate(_SHAPES)
    ),
    re.IGNORECASE,
)

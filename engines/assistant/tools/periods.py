"""The stretches of time a question names ("上周", "3月", "最近10天"), as days of the study's calendar."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date, timedelta

from memory.reports import weeks
from projects.models import Project

# 上周三 is a day, 上周一共 is not; what something is counted up to is no stretch either.
_WHOLE = r"(?!(?:[二三四五六日天]|一(?!共)))"
_NOT_UP_TO = r"(?<![至止到])"
_YEAR = r"20\d\d\s*年|去年|(?<!大)前年|今年"
_MONTH = r"1[0-2]|0?[1-9]|十[一二]|[一二三四五六七八九十]"
# 最近3月 is no month, 3月底, 3月后 and 去年下半年 are neither the month nor the year.
_OF_CALENDAR = r"(?<![近去前后每第\d一二三四五六七八九十])"
_WHOLLY = (
    r"(?!\s*(?:\d|年?[底初中末内]|[以之]?[前后]|份?(?:至(?!今)|到(?!现在|目前)|[~-])|[上下]半|第|同期|[一二三四]季"
    r"|[一二三四五六七八九十]+[月日号]|龄))"
)
_PERIODS = re.compile(
    rf"(?:(?P<before_last>上上个?(?:周|星期|礼拜){_WHOLE})"
    rf"|(?P<last_week>(?<!上)上一?个?(?:周|星期|礼拜){_WHOLE}|last week)"
    rf"|(?P<this_week>{_NOT_UP_TO}(?:本|这一?个?)(?:周|星期|礼拜){_WHOLE}|this week)"
    r"|(?P<month_before_last>上上个?月)"
    r"|(?P<last_month>(?<!上)上一?个?月|last month)"
    rf"|(?P<this_month>{_NOT_UP_TO}(?:本月|这个?月|当月)|this month)"
    rf"|(?P<yesterday>{_NOT_UP_TO}昨[天日]|yesterday)"
    rf"|(?P<today>{_NOT_UP_TO}今[天日](?!为止)|today)"
    r"|(?:第\s*(?P<week>\d{1,3})\s*周|(?<![A-Za-z0-9])W(?P<w>\d{1,3})(?!\d)|week\s*(?P<nth>\d{1,3}))"
    r"|(?:最近|近|过去|the last |last )(?P<days>[1-9]\d{0,2})\s*(?:天|日|days)"
    rf"|{_NOT_UP_TO}(?:(?P<year>{_YEAR})的?\s*)?{_OF_CALENDAR}"
    rf"(?P<month>{_MONTH})月(?:份?[至到~-]\s*(?P<until>{_MONTH})月)?份?{_WHOLLY}"
    rf"|{_NOT_UP_TO}(?P<whole_year>{_YEAR}){_WHOLLY}"
    r")(?P<since>以来|至今|到现在|到目前|起|开始)?",
    re.IGNORECASE,
)
_WEEKS_BACK = {"before_last": 2, "last_week": 1, "this_week": 0}
_MONTHS_BACK = {"month_before_last": 2, "last_month": 1, "this_month": 0}
_YEARS_BACK = {"前": 2, "去": 1, "今": 0}
MOST = 4


@dataclass(frozen=True)
class Period:
    """Days, both included, under the words the question has for them; `week`: its number, 0 for none."""

    said: str
    first: date
    last: date
    week: int = 0


def named(question: str, project: Project, today: date) -> list[Period]:
    """The stretches a question names, at most four; a week is one of the study's (decisions.md)."""
    folded = unicodedata.normalize("NFKC", question)
    found = (_period(hit, project, today) for hit in _PERIODS.finditer(folded))
    return list(dict.fromkeys(period for period in found if period))[:MOST]


def _period(hit: re.Match[str], project: Project, today: date) -> Period | None:
    groups = {name: value for name, value in hit.groupdict().items() if value}
    for make in (_week, _days, _month):
        days = make(groups, project, today)
        if days and "since" in groups:
            return Period(hit[0].strip(), days[0], today) if days[0] <= today else None
        if days:
            first, last, *number = days
            return Period(hit[0].strip(), first, last, *number)
    return None


_Days = tuple[date, date] | tuple[date, date, int] | None


def _week(groups: dict[str, str], project: Project, today: date) -> _Days:
    back = next((weeks for name, weeks in _WEEKS_BACK.items() if name in groups), None)
    number = next((int(groups[name]) for name in ("week", "w", "nth") if name in groups), None)
    if back is not None:
        week = weeks.week_of(project, today - timedelta(days=weeks.DAYS * back))
    else:
        week = weeks.week(project, number) if number else None
    return (week.first, week.last, week.number) if week else None


def _days(groups: dict[str, str], project: Project, today: date) -> _Days:
    if "today" in groups:
        return today, today
    if "yesterday" in groups:
        return today - timedelta(days=1), today - timedelta(days=1)
    return (today - timedelta(days=int(groups["days"]) - 1), today) if "days" in groups else None


def _month(groups: dict[str, str], project: Project, today: date) -> _Days:
    """Whole months; one without a year is the latest one that has begun."""
    back = next((months for name, months in _MONTHS_BACK.items() if name in groups), None)
    if back is not None:
        return _months(today.year, today.month - back)
    if "whole_year" in groups:
        return _months(_year(groups["whole_year"], today), 1, 12)
    if "month" not in groups:
        return None
    month = _number(groups["month"])
    year = _year(groups["year"], today) if "year" in groups else today.year - (month > today.month)
    until = _number(groups["until"]) if "until" in groups else month
    return _months(year, month, (until - month) % 12 + 1)


def _months(year: int, month: int, number: int = 1) -> tuple[date, date]:
    """The first and last day of so many months; month 0 is December of the year before."""
    first, after = (
        date(year + (month + more - 1) // 12, (month + more - 1) % 12 + 1, 1)
        for more in (0, number)
    )
    return first, after - timedelta(days=1)


def _year(said: str, today: date) -> int:
    digits = re.match(r"\d+", said)
    return int(digits[0]) if digits else today.year - _YEARS_BACK[said[0]]


def _number(said: str) -> int:
    """3, 03, 三 or 十二."""
    return int(said) if said.isdecimal() else int(sum(map(unicodedata.numeric, said)))

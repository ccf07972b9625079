"""The stretches of time a question names ("上周", "3月", "最近10天"), as days of the study's calendar."""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

from memory import reports
from projects.models import Project

# 上周三 is a day, 上周一共 is not; what something is counted up to is no stretch either.
_WHOLE = r"(?!(?:[二三四五六日天]|一(?!共)))"
_NOT_UP_TO = r"(?<![至止到])"
_PERIODS = re.compile(
    rf"(?P<before_last>上上个?(?:周|星期|礼拜){_WHOLE})"
    rf"|(?P<last_week>(?<!上)上一?个?(?:周|星期|礼拜){_WHOLE}|last week)"
    rf"|(?P<this_week>{_NOT_UP_TO}(?:本|这一?个?)(?:周|星期|礼拜){_WHOLE}|this week)"
    r"|(?P<last_month>上一?个?月|last month)"
    rf"|(?P<this_month>{_NOT_UP_TO}(?:本月|这个?月|当月)|this month)"
    rf"|(?P<yesterday>{_NOT_UP_TO}昨[天日]|yesterday)"
    rf"|(?P<today>{_NOT_UP_TO}今[天日](?!为止)|today)"
    r"|(?:第\s*(?P<week>\d{1,3})\s*周|(?<![A-Za-z0-9])W(?P<w>\d{1,3})(?!\d)|week\s*(?P<nth>\d{1,3}))"
    rf"|(?:最近|近|过去|the last |last )(?P<days>\d{{1,3}})\s*(?:天|日|days)"
    rf"|{_NOT_UP_TO}(?:(?P<year>20\d\d)\s*年)?(?<!\d)(?P<month>1[0-2]|0?[1-9])月(?!\d|底|前|后|内|初|中)",
    re.IGNORECASE,
)
_WEEKS_BACK = {"before_last": 2, "last_week": 1, "this_week": 0}
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
        if days:
            first, last, *number = days
            return Period(hit[0].strip(), first, last, *number)
    return None


_Days = tuple[date, date] | tuple[date, date, int] | None


def _week(groups: dict[str, str], project: Project, today: date) -> _Days:
    back = next((weeks for name, weeks in _WEEKS_BACK.items() if name in groups), None)
    number = next((int(groups[name]) for name in ("week", "w", "nth") if name in groups), None)
    if back is not None:
        week = reports.week_of(project, today - timedelta(days=reports.DAYS * back))
    else:
        week = reports.week(project, number) if number else None
    return (week.first, week.last, week.number) if week else None


def _days(groups: dict[str, str], project: Project, today: date) -> _Days:
    if "today" in groups:
        return today, today
    if "yesterday" in groups:
        return today - timedelta(days=1), today - timedelta(days=1)
    return (today - timedelta(days=int(groups["days"]) - 1), today) if "days" in groups else None


def _month(groups: dict[str, str], project: Project, today: date) -> _Days:
    """A month without a year is the latest one that has begun."""
    if "this_month" in groups:
        year, month = today.year, today.month
    elif "last_month" in groups:
        before = today.replace(day=1) - timedelta(days=1)
        year, month = before.year, before.month
    elif "month" in groups:
        month = int(groups["month"])
        year = int(groups.get("year") or today.year - (month > today.month))
    else:
        return None
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])

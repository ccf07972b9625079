"""A cron expression as people say it: 每周一 08:00, 每 15 分钟, 每月 1、15 日 09:30."""

from __future__ import annotations

from collections.abc import Collection

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from house import cron

_MOST_TIMES = 6
_MINUTES, _HOURS, _WEEK, _MONTH, _YEAR = 60, 24, 7, 31, 12
_WORKDAYS = {1, 2, 3, 4, 5}
_WEEKDAYS = (
    gettext_lazy("Sundays"),
    gettext_lazy("Mondays"),
    gettext_lazy("Tuesdays"),
    gettext_lazy("Wednesdays"),
    gettext_lazy("Thursdays"),
    gettext_lazy("Fridays"),
    gettext_lazy("Saturdays"),
)


def in_words(expression: str) -> str:
    """The expression in the reader's language. Raises ValidationError where it is none."""
    plan = cron.parse(expression)
    days = _days(plan.day_of_week, plan.day_of_month, plan.month_of_year)
    return f"{days} {_times(sorted(plan.minute), sorted(plan.hour))}"


def _listed(numbers: Collection[object]) -> str:
    return "、".join(str(number) for number in numbers)


def _days(week: set[int], month: set[int], year: set[int]) -> str:
    parts = []
    if len(year) < _YEAR:
        parts.append(_("in month %(months)s") % {"months": _listed(sorted(year))})
    if len(month) < _MONTH:
        parts.append(_("on day %(days)s of the month") % {"days": _listed(sorted(month))})
    if week == _WORKDAYS:
        parts.append(_("Monday to Friday"))
    elif len(week) < _WEEK:
        names = [str(_WEEKDAYS[day]) for day in sorted(week, key=lambda day: day or _WEEK)]
        parts.append(_("on %(weekdays)s") % {"weekdays": _listed(names)})
    return " ".join(parts) or _("every day")


def _times(minutes: list[int], hours: list[int]) -> str:
    if len(minutes) * len(hours) <= _MOST_TIMES:
        return _listed([f"{hour:02}:{minute:02}" for hour in hours for minute in minutes])
    often = _often(minutes)
    if len(hours) == _HOURS:
        return often
    return _("%(often)s, in the hours %(hours)s") % {"often": often, "hours": _spans(hours)}


def _often(minutes: list[int]) -> str:
    step = _MINUTES // len(minutes)
    if len(minutes) == _MINUTES:
        return _("every minute")
    if len(minutes) > 1 and minutes == list(range(0, _MINUTES, step)):
        return _("every %(count)d minutes") % {"count": step}
    return _("at minute %(minutes)s of every hour") % {"minutes": _listed(minutes)}


def _spans(hours: list[int]) -> str:
    """8–17 of consecutive hours, else each."""
    is_span = hours == list(range(hours[0], hours[-1] + 1)) and len(hours) > 1
    return f"{hours[0]}–{hours[-1]}" if is_span else _listed(hours)

"""A cron expression as people say it: 每周一 08:00, 每 15 分钟, 每月 1、15 日 09:30."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.house import cron

_MOST_TIMES = 6
_MINUTES, _HOURS, _WEEK, _MONTH, _YEAR = 60, 24, 7, 31, 12
_WORKDAYS = [1, 2, 3, 4, 5]
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
    plan = cron.parse_cron(expression)
    return f"{_days(plan)} {_times(plan.minute, plan.hour)}"


def _listed(numbers: Collection[object]) -> str:
    return "、".join(str(number) for number in numbers)


def _days(plan: cron.Plan) -> str:
    months = days = ""
    if len(plan.month_of_year) < _YEAR:
        months = _("in month %(months)s") % {"months": _listed(plan.month_of_year)}
    if len(plan.day_of_month) < _MONTH:
        days = _("on day %(days)s of the month") % {"days": _listed(plan.day_of_month)}
    weekdays = _weekdays(plan.day_of_week)
    if days and weekdays and plan.either:
        days = _("%(days)s or %(weekdays)s") % {"days": days, "weekdays": weekdays}
    elif days and weekdays:
        days = _("%(days)s (%(weekdays)s only)") % {"days": days, "weekdays": weekdays}
    return " ".join(filter(None, [months, days or weekdays])) or _("every day")


def _weekdays(week: Sequence[int]) -> str:
    if [*week] == _WORKDAYS:
        return _("Monday to Friday")
    if len(week) == _WEEK:
        return ""
    names = [str(_WEEKDAYS[day]) for day in sorted(week, key=lambda day: day or _WEEK)]
    return _("on %(weekdays)s") % {"weekdays": _listed(names)}


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

"""Reading a date as REDCap exports it, and saying why it is none."""

import calendar
import re
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from core.rules.values import Reason

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_PARTIAL = re.compile(r"[0-9]{4}(-([0-9]{2}|[A-Za-z]{2,3})(-[A-Za-z]{2,3})?)?-?")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a date field holds: a day, nothing (both empty), or a problem to be told.

    `span`: first and last day that a partial date can be, where that is its problem. `reason`: the problem as
    the rules name it, where they do.
    """

    day: date | None = None
    problem: str = ""
    span: tuple[date, date] | None = None
    reason: Reason | None = None


def read_date(field: str, raw: str | None, zone: ZoneInfo) -> Reading:
    """The calendar day of `raw`; a time with an offset is moved to `zone` first.

    Blank (or white space) is a Reading without day and problem. A partial or impossible date is
    never completed or moved (reference/redcap_dify.md 5.1, edge case E25).
    """
    text = (raw or "").strip()
    if not text:
        return Reading()
    day = _calendar_day(text, zone)
    if day is not None:
        return Reading(day)
    if _PARTIAL.fullmatch(text):
        problem = _("%(field)s is a partial date") % {"field": field}
        return Reading(problem=problem, span=_span(text), reason=Reason.PARTIAL_DATE)
    problem = _("%(field)s is not a possible date") % {"field": field}
    return Reading(problem=problem, reason=Reason.TYPE_MISMATCH)


def _span(text: str) -> tuple[date, date] | None:
    """All days of a partial date; None for a month that does not exist."""
    year, _separator, rest = text.partition("-")
    month = rest[:2]
    first, last = (int(month), int(month)) if month.isdigit() else (1, 12)
    try:
        days_of_last = calendar.monthrange(int(year), last)[1]
        return date(int(year), first, 1), date(int(year), last, days_of_last)
    except ValueError:
        return None


def _calendar_day(text: str, zone: ZoneInfo) -> date | None:
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
        found = _MOMENT.fullmatch(text)
        if found is None:
            return None
        clock = found[2] if found[2].index(":") == 2 else f"0{found[2]}"
        moment = datetime.fromisoformat(f"{found[1]}T{clock}{found[5] or ''}")
        return (moment.astimezone(zone) if moment.tzinfo else moment).date()
    except (ValueError, OverflowError):
        return None

"""The one clock that a study is at (contracts.md, DEMO_TODAY).

Everything that asks for today or now about a study asks here. Leases, heartbeats, sessions and the audit
trail keep the machine's clock: they measure, they don't tell.
"""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import timezone


def now() -> datetime:
    """The moment the studies are at (UTC): with DEMO_TODAY that date at the machine's time of day."""
    real = timezone.now()
    return real + _shift(real)


def to_study_clock(moment: datetime) -> datetime:
    """A moment of just now that the machine's clock measured, on the clock that the studies are at."""
    return moment + _shift(timezone.now())


def _shift(real: datetime) -> timedelta:
    if not (settings.DEBUG and settings.DEMO_TODAY):
        return timedelta()
    here = real.astimezone(ZoneInfo(settings.TIME_ZONE))
    return date.fromisoformat(settings.DEMO_TODAY) - here.date()


def today(zone: str) -> date:
    """The calendar date of this moment in a study's time zone."""
    return now().astimezone(ZoneInfo(zone)).date()

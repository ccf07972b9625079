"""Functions of dates. An incomplete date gives what all its days agree on, or bounds."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from core.rules import parse
from core.rules.redcap.nodes import UNTOLD, Counted, MinutesSeconds, Open, Operand, UnfitError, need
from core.rules.values import DAY, SECOND, Moment, Range, Reason

UNITS = {
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86400),
    "M": Decimal("30.44") * 86400,
    "y": Decimal("365.2425") * 86400,
}
_DAY_FIRST = re.compile(r"([0-9]{1,2})[-/]([0-9]{1,2})[-/]([0-9]{4})(.*)", re.DOTALL)
_TIME_UNITS = frozenset({"h", "m", "s"})
_ORDERS = frozenset({"dmy", "mdy", "ymd"})
_MAX_SHIFT = 400_000 * 86400
_UNKNOWN_DAY = Open("", why=Reason.NOT_EXPORTED)


class _OpenError(Exception):
    """An operand that is no date yet."""

    def __init__(self, value: Open) -> None:
        super().__init__()
        self.value = value


def _moment(today: date | None, value: Operand, order: str = "ymd") -> Moment:
    """All that a date can mean; ValueError for what is none, _OpenError for what is open."""
    if isinstance(value, Open):
        if isinstance(value.bounds, Moment):
            return value.bounds
        raise _OpenError(value)
    text = str(value)
    if text.lower() in {"today", "now"}:
        return _now(today, is_day=text.lower() == "today")
    found = _DAY_FIRST.fullmatch(text) if order != "ymd" else None
    if found:
        month, day = (found[2], found[1]) if order == "dmy" else (found[1], found[2])
        text = f"{found[3]}-{month}-{day}{found[4]}"
    moment = parse.moment(text)
    if moment is None:
        raise UnfitError if text.strip() else ValueError
    return moment


def _now(today: date | None, *, is_day: bool) -> Moment:
    """The day is known, the time of day is not."""
    if today is None:
        raise _OpenError(_UNKNOWN_DAY)
    midnight = datetime.combine(today, time())
    if is_day:
        return Moment(midnight, midnight, DAY)
    return Moment(midnight, midnight.replace(hour=23, minute=59, second=59), SECOND)


def _with_open(function: Callable[..., Operand]) -> Callable[..., Operand]:
    def evaluate(*values: Operand) -> Operand:
        try:
            return function(*values)
        except _OpenError as doubt:
            return doubt.value

    return evaluate


def _between(low: Decimal, high: Decimal, about: Operand) -> Operand:
    if low == high:
        return low
    cause = about if isinstance(about, Open) else Open("")
    bounds = Range(low, high, reason=Reason.PARTIAL_DATE)
    return Open(cause.cause, cause.event, bounds=bounds, why=Reason.PARTIAL_DATE)


def _seconds(later: datetime, earlier: datetime) -> Decimal:
    gap = later - earlier
    return Decimal(gap.days * 86400 + gap.seconds)


def _datediff(
    today: date | None, first: Operand, second: Operand, unit: Operand, *rest: Operand
) -> Operand:
    """second - first: unsigned unless told; M = 30.44 d, y = 365.2425 d. An order of dates may stand before.

    Two times of day differ by hours, minutes or seconds; what else REDCap makes of times no source tells.
    """
    length = UNITS[str(unit)]
    order = next((str(one) for one in rest if str(one) in _ORDERS), "ymd")
    is_signed = any(str(one).lower() == "true" for one in rest)
    times = tuple(parse.clock(v.strip()) if isinstance(v, str) else None for v in (first, second))
    if times[0] is not None and times[1] is not None:
        is_clock = not isinstance(first, MinutesSeconds) and not isinstance(second, MinutesSeconds)
        is_told = str(unit) in _TIME_UNITS and is_clock
        gap = (times[1].seconds - times[0].seconds) / length
        return (gap if is_signed else abs(gap)) if is_told else UNTOLD
    doubt = next((one for one in (first, second) if isinstance(one, Open)), None)
    if doubt is not None and times != (None, None):
        raise _OpenError(doubt)
    a, b = _moment(today, first, order), _moment(today, second, order)
    low, high = _seconds(b.low, a.high), _seconds(b.high, a.low)
    if not is_signed:
        ends = abs(low), abs(high)
        low = Decimal(0) if low < 0 < high else min(ends)
        high = max(ends)
    about = first if isinstance(first, Open) else second
    return _between(low / length, high / length, about)


def _age_at_date(
    today: date | None, birth: Operand, at: Operand, decimal: Operand = False
) -> Operand:
    """Completed years. How many digits the decimal age has, no source tells."""
    born, day = _moment(today, birth), _moment(today, at)
    if str(decimal).lower() == "true":
        return UNTOLD
    low, high = age(born.high.date(), day.low.date()), age(born.low.date(), day.high.date())
    return _between(Decimal(low), Decimal(high), birth if isinstance(birth, Open) else at)


def age(born: date, day: date) -> int:
    """Completed years; a 29 February birthday counts from 1 March."""
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))


def _part(of_day: Callable[[datetime], int], *, given: int = 3) -> Callable[..., Operand]:
    """A part of a date; `given`: how many of year, month and day have to be known for it."""

    def part(today: date | None, value: Operand) -> Operand:
        moment = _moment(today, value)
        if moment.low.timetuple()[:given] == moment.high.timetuple()[:given]:
            return Decimal(of_day(moment.low))
        cause = value if isinstance(value, Open) else Open("")
        return Open(cause.cause, cause.event, why=Reason.PARTIAL_DATE)

    return part


def _calcdate(today: date | None, start: Operand, offset: Operand, unit: Operand) -> Operand:
    """@CALCDATE: the date so many units on. Months and years are no whole days: untold."""
    moment = _moment(today, start)
    if isinstance(offset, Open):
        raise _OpenError(offset)
    if moment.is_partial or str(unit) in {"M", "y"}:
        return UNTOLD
    seconds = need(offset) * UNITS[str(unit)]
    if abs(seconds) > _MAX_SHIFT:
        raise ValueError
    moved = moment.low + timedelta(seconds=float(seconds))
    return moved.isoformat(" ", "seconds")


FUNCTIONS: dict[str, Counted] = {
    "datediff": (_with_open(_datediff), 3, 5),
    "age_at_date": (_with_open(_age_at_date), 2, 3),
    "dayoftheweek": (_with_open(_part(datetime.isoweekday)), 1, 1),
    "year": (_with_open(_part(lambda moment: moment.year, given=1)), 1, 1),
    "month": (_with_open(_part(lambda moment: moment.month, given=2)), 1, 1),
    "day": (_with_open(_part(lambda moment: moment.day)), 1, 1),
    "calcdate": (_with_open(_calcdate), 3, 3),
}

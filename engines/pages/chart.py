"""A lab over time as the geometry of a small SVG; the template draws it, so nothing here is markup."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from study.facts import Fact, Flag

WIDTH, HEIGHT = 320, 140
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 14, 12, 26
_TICKS = 4
"""At most so many values are written beside an axis."""
_MARGIN = 0.08
"""So much of the span of values is left free above and below them."""


@dataclass(frozen=True)
class Point:
    """One value; `way`: "high", "low" or "" within its limits; `when`: its date, else the name of its event."""

    x: float
    y: float
    way: str
    fact: Fact
    when: str


@dataclass(frozen=True)
class Tick:
    """What is written beside an axis, and where; `anchor` as SVG's text-anchor."""

    at: float
    text: str
    anchor: str = "middle"


@dataclass(frozen=True)
class Chart:
    """`low`, `high`: y of the limits where there are any; `band`: y and height of what is normal.

    `up`, `along`: the ticks of both axes; `left`, `right`, `bottom`: where the axes lie.
    """

    label: str
    unit: str
    points: list[Point]
    low: float | None
    high: float | None
    band: tuple[float, float]
    limits: str
    others: int
    untold: int
    up: list[Tick]
    along: list[Tick]
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    bottom: int = HEIGHT - _BOTTOM
    width: int = WIDTH
    height: int = HEIGHT
    span: int = WIDTH - _LEFT - _RIGHT


def chart(label: str, facts: Sequence[Fact], name: Callable[[str], str] = str) -> Chart | None:
    """The numbers of one field in the unit of the last of them; None where there is none.

    `others` counts the values in other units, which no axis holds with them, `untold` those that are no number
    (below a limit of detection, a missing code). The limits are the last row's. `name`: of an event.
    """
    numbers = [one for one in facts if isinstance(one.value, int | float | Decimal)]
    if not numbers:
        return None
    last = numbers[-1]
    shown = [one for one in numbers if one.unit == last.unit]
    low, high = (last.limit.low, last.limit.high) if last.limit else (None, None)
    values = [float(str(one.value)) for one in shown]
    ends = [float(end) for end in (low, high) if end is not None]
    least, most = min(values + ends), max(values + ends)

    def y(value: Decimal | float) -> float:
        """From the top; all values alike stand in the middle."""
        free = (most - least) * _MARGIN
        share = (float(value) - least + free) / (most - least + 2 * free) if free else 0.5
        return round(_TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - share), 1)

    places = _across(shown)
    top = float(_TOP) if high is None else y(high)
    bottom = float(HEIGHT - _BOTTOM) if low is None else y(low)
    return Chart(
        label=label,
        unit=last.unit,
        points=[
            Point(x, y(value), _way(one), one, one.date or name(one.event))
            for x, value, one in zip(places, values, shown, strict=True)
        ],
        low=None if low is None else y(low),
        high=None if high is None else y(high),
        band=(top, round(bottom - top, 1)),
        limits=_limits(low, high),
        others=len(numbers) - len(shown),
        untold=sum(bool(one.text) for one in facts) - len(numbers),
        up=[Tick(y(at), f"{at:g}", "end") for at in round_steps(least, most)],
        along=_ends(shown, places, name),
    )


def round_steps(least: float, most: float) -> list[float]:
    """Round values between both ends (1, 2 or 5 of a power of ten apart), else the one value that there is."""
    span = most - least
    if not span:
        return [least]
    power = 10.0 ** math.floor(math.log10(span))
    sizes = (power * factor for factor in (0.1, 0.2, 0.5, 1, 2, 5))
    size = next(one for one in sizes if span / one <= _TICKS - 1)
    first = math.ceil(least / size - 1e-9)
    return [round(n * size, 10) for n in range(first, math.floor(most / size + 1e-9) + 1)]


def _ends(facts: Sequence[Fact], places: Sequence[float], name: Callable[[str], str]) -> list[Tick]:
    """When the first and the last value are of: their dates where both have one, else the events."""
    are_dated = facts[0].date and facts[-1].date
    told = [one.date or "" if are_dated else name(one.event) for one in facts]
    if len(facts) == 1:
        return [Tick(places[0], told[0])]
    return [Tick(places[0], told[0], "start"), Tick(places[-1], told[-1], "end")]


def _way(fact: Fact) -> str:
    return "high" if Flag.HIGH in fact.flags else "low" if Flag.LOW in fact.flags else ""


def _limits(low: Decimal | None, high: Decimal | None) -> str:
    shown = ["" if one is None else f"{one.normalize():f}" for one in (low, high)]
    if all(shown):
        return " – ".join(shown)
    return f"≤ {shown[1]}" if shown[1] else f"≥ {shown[0]}" if shown[0] else ""


def _across(facts: Sequence[Fact]) -> list[float]:
    """By date where each has its own whole one, else evenly in their order."""
    room = WIDTH - _LEFT - _RIGHT
    try:
        days = [date.fromisoformat(one.date or "").toordinal() for one in facts]
    except ValueError:
        days = []
    if len({*days}) > 1:
        first, span = min(days), max(days) - min(days)
        return [round(_LEFT + room * (day - first) / span, 1) for day in days]
    if len(facts) == 1:
        return [round(_LEFT + room / 2, 1)]
    return [round(_LEFT + room * n / (len(facts) - 1), 1) for n in range(len(facts))]

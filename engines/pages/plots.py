"""Figures of a study as the geometry of a small SVG and of the table beneath it; the template draws both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from engines.pages.chart import Tick, round_steps

WIDTH, HEIGHT = 360, 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 36, 12, 10, 24
_SHOWN = 5
"""At most so many names are written below the axis."""


class Form(StrEnum):
    """How a series is drawn: bars of one place stand on each other."""

    LINE = "line"
    DASHED = "dashed"
    BAR = "bar"


@dataclass(frozen=True)
class Series:
    """Values for the places along the axis, None where there is none."""

    name: str
    values: Sequence[float | None]
    form: Form = Form.LINE


@dataclass(frozen=True)
class Mark:
    """One value where it is drawn; `width`, `height`: of a bar."""

    at: str
    text: str
    x: float
    y: float
    width: float = 0
    height: float = 0


@dataclass(frozen=True)
class Drawn:
    """A series: `number` chooses its colour, `points` is the line through the marks."""

    name: str
    form: Form
    number: int
    marks: tuple[Mark, ...]
    points: str


@dataclass(frozen=True)
class Plot:
    """A picture and its table: `rows` hold (place, the text of each series); `up`, `along`: the axes' ticks."""

    key: str
    label: str
    place: str
    series: tuple[Drawn, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    up: tuple[Tick, ...]
    along: tuple[Tick, ...]
    note: str = ""
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    bottom: int = HEIGHT - _BOTTOM
    width: int = WIDTH
    height: int = HEIGHT


def plot(
    key: str, label: str, place: str, along: Sequence[str], series: Sequence[Series], note: str = ""
) -> Plot | None:
    """Draw series over the places of `along`, from nought upwards; None where there is no value.

    `place`: what the places are (the head of the table's first column).
    """
    told = [value for one in series for value in one.values if value is not None]
    if not told or not along:
        return None
    bars = [one for one in series if one.form is Form.BAR]
    piles = [sum(one.values[n] or 0 for one in bars) for n in range(len(along))]
    most = max([*told, *piles]) or 1
    room = (WIDTH - _LEFT - _RIGHT) / len(along)
    places = [round(_LEFT + room * (n + 0.5), 1) for n in range(len(along))]

    def y(value: float) -> float:
        return round(HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * value / most, 1)

    piled = [0.0] * len(along)
    drawn = []
    for number, one in enumerate(series):
        marks = []
        for n, value in enumerate(one.values):
            if value is None:
                continue
            text = _text(value)
            if one.form is not Form.BAR:
                marks.append(Mark(along[n], text, places[n], y(value)))
                continue
            top = y(piled[n] + value)
            height = round(y(piled[n]) - top, 1)
            piled[n] += value
            left = round(places[n] - room * 0.36, 1)
            marks.append(Mark(along[n], text, left, top, round(room * 0.72, 1), height))
        line = " ".join(f"{m.x},{m.y}" for m in marks) if one.form is not Form.BAR else ""
        drawn.append(Drawn(one.name, one.form, number, tuple(marks), line))
    return Plot(
        key=key,
        label=label,
        place=place,
        series=tuple(drawn),
        rows=tuple(
            (name, tuple(_text(one.values[n]) for one in series)) for n, name in enumerate(along)
        ),
        up=tuple(Tick(y(at), f"{at:g}", "end") for at in round_steps(0, most)),
        along=tuple(Tick(places[n], along[n]) for n in _told(len(along))),
        note=note,
    )


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}".removesuffix(".0")


def _told(count: int) -> range:
    """Evenly spread places, the first with them, so that names do not run into each other."""
    return range(0, count, -(-count // _SHOWN))

"""Figures of a study as the geometry of a small SVG and of the table beneath it; the template draws both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from engines.pages.chart import Tick, round_steps

WIDTH, HEIGHT = 360, 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 36, 12, 10, 24
_SHOWN = 5
"""At most so many names are written below the axis."""
_WIDE, _NARROW, _LINE = 9.0, 5.2, 11.0
"""Breadth of a Chinese and of another character beside a line, and how far apart two such labels stand."""
_LABEL_ROOM = 66.0


class Form(StrEnum):
    """How a series is drawn, so that no two rest on colour alone: bars of one place stand on each other.

    DASHED is what is likely to come, EDGE an end of its range (two of them enclose a band), GOAL a target.
    """

    LINE = "line"
    DASHED = "dashed"
    EDGE = "edge"
    GOAL = "goal"
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
class Label:
    """The name of a line, and where it stands; `anchor` as SVG's text-anchor."""

    text: str
    x: float
    y: float
    anchor: str = "start"


@dataclass(frozen=True)
class Drawn:
    """A series: `number` chooses colour and dashes, `points` is the line through the marks.

    `label`: the name beside its end where several lines are drawn, shortened to the room.
    """

    name: str
    form: Form
    number: int
    marks: tuple[Mark, ...]
    points: str
    label: Label | None = None


@dataclass(frozen=True)
class Plot:
    """A picture and its table: `rows` hold (place, the text of each series); `up`, `along`: the axes' ticks.

    `band`: the corners of what lies between the two ends of a range.
    """

    key: str
    label: str
    place: str
    series: tuple[Drawn, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    up: tuple[Tick, ...]
    along: tuple[Tick, ...]
    note: str = ""
    band: str = ""
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    bottom: int = HEIGHT - _BOTTOM
    width: int = WIDTH
    height: int = HEIGHT


@dataclass(frozen=True)
class _Frame:
    """Where values lie: `places` of the axis by number, `most` at its top."""

    names: Sequence[str]
    right: int
    most: float

    @property
    def room(self) -> float:
        return (self.right - _LEFT) / len(self.names)

    def x(self, n: int) -> float:
        return round(_LEFT + self.room * (n + 0.5), 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * value / self.most, 1)


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
    lines = [_short(one.name) for one in series if one.form is not Form.BAR]
    beside = max(map(_breadth, lines)) + 10 if len(lines) > 1 else _RIGHT
    frame = _Frame(along, round(WIDTH - beside), max([*told, *piles]) or 1)
    piled = [0.0] * len(along)
    drawn = [_drawn(one, n, frame, piled) for n, one in enumerate(series)]
    return Plot(
        key=key,
        label=label,
        place=place,
        series=tuple(_labelled(drawn, frame.right) if len(lines) > 1 else drawn),
        rows=tuple(
            (name, tuple(_text(one.values[n]) for one in series)) for n, name in enumerate(along)
        ),
        up=tuple(Tick(frame.y(at), f"{at:g}", "end") for at in round_steps(0, frame.most)),
        along=tuple(Tick(frame.x(n), along[n]) for n in _told(len(along))),
        note=note,
        band=_band([one for one in drawn if one.form is Form.EDGE]),
        right=frame.right,
    )


def _drawn(one: Series, number: int, frame: _Frame, piled: list[float]) -> Drawn:
    """A series where it stands; bars are put onto `piled`, the height of those before."""
    marks = []
    for n, value in enumerate(one.values):
        if value is None:
            continue
        at, text = frame.names[n], _text(value)
        if one.form is not Form.BAR:
            marks.append(Mark(at, text, frame.x(n), frame.y(value)))
            continue
        top = frame.y(piled[n] + value)
        height = round(frame.y(piled[n]) - top, 1)
        piled[n] += value
        left = round(frame.x(n) - frame.room * 0.36, 1)
        marks.append(Mark(at, text, left, top, round(frame.room * 0.72, 1), height))
    line = " ".join(f"{m.x},{m.y}" for m in marks) if one.form is not Form.BAR else ""
    return Drawn(one.name, one.form, number, tuple(marks), line)


def _labelled(drawn: Sequence[Drawn], right: int) -> list[Drawn]:
    """Each line with its name: right of its end and apart from others, below it where it ends before them.

    There is room below: what is counted in total falls neither before nor after.
    """
    lines = [one for one in drawn if one.points]
    last = max(one.marks[-1].x for one in lines)
    places: dict[int, float] = {}
    y = 0.0
    for at, number in sorted((o.marks[-1].y, o.number) for o in lines if o.marks[-1].x == last):
        y = places[number] = max(at, y + _LINE)
    over = max(y - (HEIGHT - _BOTTOM), 0)
    found = []
    for one in drawn:
        if one.points:
            end = one.marks[-1]
            low = min(end.y + 15, HEIGHT - _BOTTOM - 4)
            label = Label(_short(one.name), end.x + 2, round(low, 1), "middle")
            if one.number in places:
                label = Label(label.text, right + 4, round(places[one.number] - over, 1))
            one = replace(one, label=label)
        found.append(one)
    return found


def _band(edges: Sequence[Drawn]) -> str:
    if len(edges) != 2:
        return ""
    low, high = edges
    return " ".join([low.points, *reversed(high.points.split())])


def _breadth(text: str) -> float:
    return sum(_WIDE if ord(char) > 0x2E7F else _NARROW for char in text)


def _short(text: str) -> str:
    """What fits beside a line; the whole name stands in the legend."""
    if _breadth(text) <= _LABEL_ROOM:
        return text
    while _breadth(text) > _LABEL_ROOM - _NARROW:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}".removesuffix(".0")


def _told(count: int) -> range:
    """Evenly spread places, the first with them, so that names do not run into each other."""
    return range(0, count, -(-count // _SHOWN))

"""A workflow as a drawing: boxes in layers from its start, with named edges (seed 001, 4.2).

Drawn while it is written, so it takes any JSON: what is not there yet is left out or marked as missing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from skills.graph import DEFAULT_TARGETS, KINDS, is_end

WIDTH, HEIGHT = 190, 52
PASS = 40
"""The room that a long edge takes between boxes."""
KEY_ROOM, KIND_ROOM = 24, 28

ENDS: dict[str, Promise] = {
    "end": _("Ended"),
    "end_success": _("Passed"),
    "end_with_violation": _("Ended with a violation"),
    "end_review_required": _("Ended, review required"),
    "end_rejected": _("Rejected"),
    "end_error": _("Ended with an error"),
    "cancelled": _("Cancelled"),
}
NAMES: dict[str, Promise] = {
    "on_pass": _("passed"),
    "on_fail": _("not passed"),
    "on_error": _("error"),
    "on_approve": _("approved"),
    "on_reject": _("rejected"),
}


@dataclass(frozen=True)
class Edge:
    """`is_stated`: written in the configuration, not its documented default."""

    name: str
    target: str
    is_stated: bool

    @property
    def label(self) -> str:
        """The edge's name for the reader."""
        return str(NAMES.get(self.name, self.name))

    @property
    def is_worth_a_line(self) -> bool:
        """An error that goes where all errors go is left to the list."""
        return self.is_stated or self.name != "on_error"


@dataclass
class Box:
    """A node, an end, or a target that is missing; x and y of its upper left corner in pixels.

    `name`: what people call it.
    """

    key: str
    kind: str
    name: str
    edges: list[Edge] = field(default_factory=list)
    is_start: bool = False
    is_bad: bool = False
    layer: int = 0
    x: float = 0
    y: float = 0
    width: float = WIDTH
    above: list[Box | Bend] = field(default_factory=list)

    @property
    def middle(self) -> float:
        """Where its centre line stands."""
        return self.x + self.width / 2

    @property
    def title(self) -> str:
        """What the node is called, cut to the box."""
        return cut_to_width(self.name, KEY_ROOM)

    @property
    def subtitle(self) -> str:
        """The kind of the node."""
        return cut_to_width(
            str(KINDS[self.kind].label) if self.kind in KINDS else self.kind, KIND_ROOM
        )


@dataclass(frozen=True)
class Line:
    """A drawn edge: an SVG path and where its label stands."""

    edge: Edge
    path: str
    x: float
    y: float


@dataclass(frozen=True)
class Drawing:
    """Everything the template needs; width and height in pixels."""

    boxes: list[Box]
    lines: list[Line]
    width: float
    height: float

    @property
    def nodes(self) -> list[Box]:
        """The boxes that have edges, for the list."""
        return [box for box in self.boxes if box.edges]


@dataclass
class Bend:
    """Where a long edge passes a layer between others."""

    layer: int
    above: list[Box | Bend] = field(default_factory=list)
    x: float = 0
    width: float = PASS

    @property
    def middle(self) -> float:
        """Where its centre line stands."""
        return self.x + self.width / 2


def title(key: str, node: Any) -> str:
    """What people call a node: an end and a review by what they are, others as described, else by their kind.

    A target that is missing has only its key.
    """
    if key in ENDS:
        return str(ENDS[key])
    given: dict[str, Any] = node if isinstance(node, dict) else {}
    kind, described = given.get("type"), given.get("description")
    named = str(KINDS[kind].label) if isinstance(kind, str) and kind in KINDS else ""
    if kind == "human_review" or not (isinstance(described, str) and described.strip()):
        return named or key
    return described


def cut_to_width(text: str, room: int) -> str:
    """`text` in at most `room` half-width places: a Chinese sign takes two."""
    return "".join(_fitting(text, room))


def _fitting(text: str, room: int) -> Iterator[str]:
    for sign in text:
        room -= 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        if room < 0:
            yield "…"
            return
        yield sign


ACROSS, DOWN, MARGIN, TOP = 30, 74, 40, 10
LABEL_AT = 0.35
Point = tuple[float, float]
Layers = dict[int, list[Box | Bend]]
Way = tuple[Box, Box, Edge, list[Bend]]
"""An edge with its source, its target and where it passes other layers."""


def layer(boxes: dict[str, Box], start: str) -> None:
    """Every node goes below what leads there; what no path reaches comes below everything else."""
    reached = _downwards(boxes, start)
    depth = dict.fromkeys(reached, 0)
    order = {key: place for place, key in enumerate(reached)}
    for key in reached:
        for edge in boxes[key].edges:
            # An edge that leads back up does not count: it closes a circle.
            if order.get(edge.target, -1) > order[key]:
                depth[edge.target] = max(depth[edge.target], depth[key] + 1)
    below = 1 + max(depth.values(), default=-1)
    for key, box in boxes.items():
        box.layer = depth.get(key, below)


def _downwards(boxes: dict[str, Box], start: str) -> list[str]:
    """Nodes that the start reaches, each before what it leads to (but for circles)."""
    if start not in boxes:
        return []
    done: list[str] = []
    seen, todo = {start}, [(start, iter(boxes[start].edges))]
    while todo:
        key, edges = todo[-1]
        target = next((edge.target for edge in edges if edge.target in boxes), None)
        if target is None:
            done.append(key)
            todo.pop()
        elif target not in seen:
            seen.add(target)
            todo.append((target, iter(boxes[target].edges)))
    return done[::-1]


def placed(boxes: list[Box]) -> Drawing:
    """Give the boxes, whose layers are known, their places."""
    places = {box.key: box for box in boxes}
    layers: Layers = {}
    for box in boxes:
        layers.setdefault(box.layer, []).append(box)
    ways = [
        (box, places[edge.target], edge, _bends(layers, box, places[edge.target]))
        for box in boxes
        for edge in box.edges
        if edge.target in places and edge.is_worth_a_line
    ]
    width = _across(layers)
    rows = {layer: row for row, layer in enumerate(sorted(layers))}
    for box in boxes:
        box.y = TOP + rows[box.layer] * (HEIGHT + DOWN)
    tops = {layer: TOP + row * (HEIGHT + DOWN) for layer, row in rows.items()}
    out = max(box.x for box in boxes) + WIDTH + MARGIN
    leaves = _leaves(ways)
    lines = [_line(*way, leaves[id(way)], tops, out) for way in ways]
    height = 2 * TOP + len(layers) * HEIGHT + (len(layers) - 1) * DOWN
    return Drawing(boxes, lines, width + 2 * MARGIN, height)


def _leaves(ways: Iterable[Way]) -> dict[int, float]:
    """{id of a way: where along its box it leaves}: from left to right as they go on, so none cross there."""
    found: dict[int, float] = {}
    by_box: dict[str, list[Way]] = {}
    for way in ways:
        by_box.setdefault(way[0].key, []).append(way)
    for mine in by_box.values():
        mine.sort(key=lambda way: way[3][0].middle if way[3] else way[1].middle)
        found |= {id(way): (place + 1) / (len(mine) + 1) for place, way in enumerate(mine)}
    return found


def _bends(layers: Layers, source: Box, target: Box) -> list[Bend]:
    """Keep a place for a long edge in every layer that it passes; tells the order who stands above whom."""
    between = [layer for layer in sorted(layers) if source.layer < layer < target.layer]
    above: Box | Bend = source
    made: list[Bend] = []
    for layer in between:
        bend = Bend(layer, [above])
        layers[layer].append(bend)
        made.append(bend)
        above = bend
    if source.layer < target.layer:
        target.above.append(above)
    return made


def _across(layers: Layers) -> float:
    """Order and place every layer under what leads to it; the width of the widest."""
    widths = {
        layer: sum(item.width for item in items) + ACROSS * (len(items) - 1)
        for layer, items in layers.items()
    }
    widest = max(widths.values())
    for layer in sorted(layers):
        layers[layer].sort(key=_wish)
        x = MARGIN + (widest - widths[layer]) / 2
        for item in layers[layer]:
            item.x = x
            x += item.width + ACROSS
    return widest


def _wish(item: Box | Bend) -> float:
    return sum(above.middle for above in item.above) / len(item.above) if item.above else 0


def _line(
    source: Box,
    target: Box,
    edge: Edge,
    bends: list[Bend],
    at: float,
    tops: Mapping[int, float],
    out: float,
) -> Line:
    if target.layer <= source.layer:
        # Back up: round the right-hand side of everything.
        begin = (source.x + WIDTH, source.y + HEIGHT / 2)
        end = (target.x + WIDTH, target.y + HEIGHT / 2)
        corners = [begin, (out, begin[1]), (out, end[1]), end]
        return Line(edge, _path(corners), round(out, 1), round((begin[1] + end[1]) / 2, 1))
    here = (source.x + WIDTH * at, source.y + HEIGHT)
    points, first = [here], None
    stops = [(bend.middle, tops[bend.layer]) for bend in bends]
    for x, y in [*stops, (target.x + WIDTH * (0.5 + (at - 0.5) / 3), target.y)]:
        half = (y - here[1]) / 2
        points += [(here[0], here[1] + half), (x, y - half), (x, y)]
        first = first or points[:4]
        # A bend is passed straight down.
        here = (x, y + HEIGHT)
        if (x, y) in stops:
            points += [(x, y), here, here]
    x, y = _at(first or points[:4], LABEL_AT)
    return Line(edge, _path(points), round(x, 1), round(y, 1))


def _path(points: Iterable[Point]) -> str:
    begin, *rest = (f"{x:.1f},{y:.1f}" for x, y in points)
    return f"M{begin} C{' '.join(rest)}"


def _at(points: list[Point], t: float) -> Point:
    weights = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3]
    x = sum(weight * point[0] for weight, point in zip(weights, points, strict=True))
    y = sum(weight * point[1] for weight, point in zip(weights, points, strict=True))
    return x, y


MOST_NODES = 80


def draw(config: object, bad: Collection[str] = ()) -> Drawing | None:
    """Lay out what is there of a configuration; `bad`: nodes to paint red. None: nothing to draw."""
    nodes = config.get("nodes") if isinstance(config, dict) else None
    if not isinstance(config, dict) or not isinstance(nodes, dict) or not nodes:
        return None
    if len(nodes) > MOST_NODES:
        return None
    start = config.get("start_node")
    boxes = {str(key): _box(str(key), node) for key, node in nodes.items()}
    for key, box in boxes.items():
        box.is_start, box.is_bad = key == start, key in bad
    layer(boxes, str(start))
    last = 1 + max(box.layer for box in boxes.values())
    for target in _targets(boxes):
        kind = "end" if is_end(target) else "missing"
        boxes[target] = Box(target, kind, title(target, None), layer=last, is_bad=kind == "missing")
    return placed([*boxes.values()])


def _box(key: str, node: Any) -> Box:
    given: dict[str, Any] = node if isinstance(node, dict) else {}
    kind = given.get("type")
    kind = kind if isinstance(kind, str) else ""
    edges = []
    for name in KINDS[kind].edges if kind in KINDS else ():
        target = given.get(name)
        stated = isinstance(target, str) and bool(target)
        edges.append(Edge(name, str(target) if stated else DEFAULT_TARGETS[name], stated))
    return Box(key, kind, title(key, node), edges, is_bad=kind not in KINDS)


def _targets(boxes: dict[str, Box]) -> list[str]:
    """Targets that are no nodes, each once, as far as a line leads there."""
    found = (
        edge.target
        for box in boxes.values()
        for edge in box.edges
        if edge.target not in boxes and edge.is_worth_a_line
    )
    return [*dict.fromkeys(found)]

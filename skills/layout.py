"""Where the boxes and edges of a drawn workflow go: layers from its start, long edges between the boxes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from skills.shapes import HEIGHT, WIDTH, Bend, Box, Drawing, Edge, Line

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

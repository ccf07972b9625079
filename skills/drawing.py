"""A workflow as a drawing: boxes in layers from its start, with named edges (seed 001, 4.2).

Drawn while it is written, so it takes any JSON: what is not there yet is left out or marked as missing.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from skills.graph import DEFAULT_TARGETS, EDGES, is_end
from skills.layout import layer, placed
from skills.shapes import Box, Drawing, Edge, title

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
    for name in EDGES.get(kind, ()):
        target = given.get(name)
        stated = isinstance(target, str) and bool(target)
        edges.append(Edge(name, str(target) if stated else DEFAULT_TARGETS[name], stated))
    return Box(key, kind, title(key, node), edges, is_bad=kind not in EDGES)


def _targets(boxes: dict[str, Box]) -> list[str]:
    """Targets that are no nodes, each once, as far as a line leads there."""
    found = (
        edge.target
        for box in boxes.values()
        for edge in box.edges
        if edge.target not in boxes and edge.is_worth_a_line
    )
    return [*dict.fromkeys(found)]

"""Any JSON is drawn, or is not: never an error, no box upon another."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from skills.drawing import HEIGHT, WIDTH, Drawing, cut_to_width, draw
from skills.graph import KINDS
from tests.skills.test_places import JSON

NAMES = st.sampled_from(["a", "b", "c", "d", "end_success", "end", "gone", "", 7, None])
NODE = st.fixed_dictionaries(
    {"type": st.sampled_from([*KINDS, "unknown", 3])},
    optional={edge: NAMES for kind in KINDS.values() for edge in kind.edges},
)
CONFIGS = st.fixed_dictionaries(
    {"start_node": NAMES, "nodes": st.dictionaries(st.sampled_from("abcd"), NODE, min_size=1)}
)


def overlap(one: Any, other: Any) -> bool:
    return bool(abs(one.x - other.x) < WIDTH and abs(one.y - other.y) < HEIGHT)


def check(drawing: Drawing) -> None:
    assert not any(overlap(*pair) for pair in combinations(drawing.boxes, 2))
    for box in drawing.boxes:
        assert 0 <= box.x <= drawing.width - WIDTH
        assert 0 <= box.y <= drawing.height - HEIGHT
    keys = [box.key for box in drawing.boxes]
    assert len(keys) == len(set(keys))
    assert all(0 <= line.x <= drawing.width for line in drawing.lines)


@given(CONFIGS)
def test_every_node_has_its_box_and_every_stated_edge_its_line(config: dict[str, Any]) -> None:
    drawing = draw(config)
    assert drawing
    check(drawing)
    boxes = {box.key: box for box in drawing.boxes}
    assert set(config["nodes"]) <= set(boxes)
    stated = [edge for box in drawing.nodes for edge in box.edges if edge.is_stated]
    assert len(drawing.lines) >= len(stated)
    assert [box.key for box in drawing.boxes if box.is_start] == [
        key for key in config["nodes"] if key == config["start_node"]
    ]
    for key in set(boxes) - set(config["nodes"]):
        assert boxes[key].is_bad is not key.startswith("end")


@given(JSON | CONFIGS | st.builds(lambda x: {"nodes": {"a": x}, "start_node": x}, JSON))
def test_anything_is_taken(config: Any) -> None:
    drawing = draw(config)
    if drawing:
        check(drawing)
        assert render_to_string("skills/check.html", {"problems": [], "drawing": drawing})


def test_names_are_escaped_and_cut() -> None:
    name = "<script>alert(1)</script>"
    page = render_to_string(
        "skills/check.html",
        {"drawing": draw({"start_node": name, "nodes": {name: {"type": "hard_rule"}}})},
    )
    assert "<script>" not in page
    assert cut_to_width("受试者入组资格核查流程", 9) == "受试者入…"
    assert cut_to_width("short", 5) == "short"


def test_far_too_many_nodes_are_not_drawn() -> None:
    nodes = {f"n{number}": {"type": "hard_rule"} for number in range(200)}
    assert draw({"start_node": "n0", "nodes": nodes}) is None
    assert draw(json.loads('{"nodes": {}}')) is None

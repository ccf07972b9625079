"""What is wrong with a flow graph, and where (decisions.md, "end states"; seed 002, 2.1)."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from django.utils.translation import override
from hypothesis import given, settings
from hypothesis import strategies as st

from skills.graph import Graph
from skills.validation import MAX_BYTES, Problem, validate
from tests.skills.graphs import SEED_QC, SEED_REMINDER, graph, hard, human, soft


@pytest.fixture(autouse=True)
def _english() -> Any:
    with override("en"):
        yield


def found(config: object) -> list[tuple[str, str, bool]]:
    return [(problem.path, problem.node, problem.is_warning) for problem in validate(config)]


def errors(config: object) -> list[str]:
    return [problem.path for problem in validate(config) if not problem.is_warning]


def test_the_example_of_seed_002_gets_exactly_its_two_problems() -> None:
    assert validate(SEED_QC) == [
        Problem(
            "nodes.history_check.on_pass",
            "on_pass leads to “medication_check”, which does not exist.",
            "history_check",
        ),
        Problem(
            "nodes.human_review",
            "No path leads to “human_review”.",
            "human_review",
            is_warning=True,
        ),
    ]


def test_completed_as_decided_it_has_none() -> None:
    config = copy.deepcopy(SEED_QC)
    config["nodes"]["medication_check"] = soft(on_fail="human_review")
    config["nodes"]["history_check"]["on_fail"] = "human_review"
    assert validate(config) == []


def test_the_reminder_of_seed_002_is_fine() -> None:
    assert validate(SEED_REMINDER) == []


@pytest.mark.parametrize(
    ("node", "targets"),
    [
        (
            hard(),
            {"on_pass": "end_success", "on_fail": "end_review_required", "on_error": "end_error"},
        ),
        (
            soft(),
            {"on_pass": "end_success", "on_fail": "end_review_required", "on_error": "end_error"},
        ),
        (human(), {"on_approve": "end_success", "on_reject": "end_rejected"}),
        (hard(on_fail="b"), {"on_pass": "end_success", "on_fail": "b", "on_error": "end_error"}),
    ],
)
def test_silent_edges_have_documented_targets(
    node: dict[str, Any], targets: dict[str, str]
) -> None:
    assert Graph.model_validate(graph(a=node)).nodes["a"].edges() == targets


def test_a_graph_that_relies_on_defaults_is_fine() -> None:
    assert validate(graph(a=hard())) == []
    assert validate(graph(a=human())) == []


@pytest.mark.parametrize("edge", ["on_pass", "on_fail", "on_error"])
def test_a_missing_target_is_an_error(edge: str) -> None:
    assert found(graph(a=hard(**{edge: "nowhere"}))) == [(f"nodes.a.{edge}", "a", False)]


@pytest.mark.parametrize("edge", ["on_approve", "on_reject"])
def test_a_missing_target_of_a_review_is_an_error(edge: str) -> None:
    assert found(graph(a=human(**{edge: "nowhere"}))) == [(f"nodes.a.{edge}", "a", False)]


@pytest.mark.parametrize("target", ["end", "end_", "end_success", "end_with_violation", "end_结束"])
def test_every_end_is_a_target_and_none_is_a_node(target: str) -> None:
    assert validate(graph(a=hard(on_fail=target))) == []
    assert (f"nodes.{target}", target, False) in found(
        graph(start="a", a=hard(on_pass=target), **{target: hard()})
    )


@pytest.mark.parametrize("target", ["ending", "END", "the_end"])
def test_what_only_looks_like_an_end_is_a_node(target: str) -> None:
    assert errors(graph(a=hard(on_pass=target))) == ["nodes.a.on_pass"]


def test_a_start_that_does_not_exist_is_an_error() -> None:
    assert "start_node" in errors(graph(start="nowhere", a=hard()))
    assert errors(graph(start="end", a=hard())) == ["start_node"]


def test_unreachable_nodes_are_warnings_and_come_last() -> None:
    config = graph(a=hard(on_fail="nowhere"), b=hard(on_pass="c"), c=hard())
    assert found(config) == [
        ("nodes.a.on_fail", "a", False),
        ("nodes.b", "b", True),
        ("nodes.c", "c", True),
    ]


def test_a_node_behind_on_error_is_reached() -> None:
    assert validate(graph(a=hard(on_error="b"), b=human())) == []


@pytest.mark.parametrize(
    "config",
    [
        graph(a=human(on_approve="a", on_reject="a")),
        graph(a=hard(on_pass="a", on_fail="a")),
        graph(a=hard(on_pass="b", on_fail="b"), b=soft(on_pass="a", on_fail="a")),
        graph(a=hard(on_pass="a", on_fail="a", on_error="a")),
    ],
)
def test_a_loop_that_only_a_fault_can_leave_is_an_error(config: dict[str, Any]) -> None:
    assert errors(config) == [f"nodes.{key}" for key in sorted(config["nodes"])]


def test_a_loop_behind_a_good_start_is_an_error_of_the_loop_alone() -> None:
    config = graph(a=hard(on_fail="b"), b=human(on_approve="b", on_reject="b"))
    assert errors(config) == ["nodes.b"]


def test_a_loop_with_a_way_out_is_fine() -> None:
    assert validate(graph(a=hard(on_fail="b"), b=human(on_approve="a"))) == []


def test_doubled_rule_ids_are_errors() -> None:
    node = hard()
    node["rules"] = [{**node["rules"][0], "id": "r1"}, {**node["rules"][0], "id": "r1"}]
    assert errors(graph(a=node)) == ["nodes.a.rules"]


def test_an_unknown_tool_is_an_error() -> None:
    assert errors(graph(a=soft(tools=["read_clinical_data", "delete_record"]))) == ["nodes.a.tools"]  # type: ignore[arg-type]


def test_an_unknown_operator_is_an_error_of_its_rule() -> None:
    node = hard()
    node["rules"][0]["logic"] = {"method": [{"var": "age"}, "system"]}
    assert all(path.startswith("nodes.a.rules.") for path in errors(graph(a=node)))
    assert errors(graph(a=node))


@pytest.mark.parametrize(
    "config",
    [
        None,
        [],
        "text",
        7,
        {},
        {"nodes": {"a": hard()}},
        {"start_node": "a"},
        {"start_node": "a", "nodes": {}},
        {"start_node": "a", "nodes": []},
        {"start_node": 1, "nodes": {"a": hard()}},
        graph(a={}),
        graph(a={"type": "python"}),
        graph(a={"type": "hard_rule"}),
        graph(a={"type": "hard_rule", "rules": []}),
        graph(a={"type": "hard_rule", "rules": ["age > 18"]}),
        graph(a={"type": "soft_instruction"}),
        graph(a={"type": "soft_instruction", "instruction": ""}),
        graph(a={"type": "human_review"}),
        graph(a=hard(on_pas="end")),
        graph(a=hard(on_pass="")),
        graph(a=human(reviewers=["NURSE"])),  # type: ignore[arg-type]
        graph(a=soft(threshold=1.5)),  # type: ignore[arg-type]
        graph(a=human(on_timeout={"remind_hours": 1e9})),  # type: ignore[arg-type]
        graph(a=human(on_timeout={"escalate_hours": 1e300})),  # type: ignore[arg-type]
        graph(a=human(on_timeout={"escalate_hours": 10**400})),  # type: ignore[arg-type]
        graph(a=hard()) | {"surprise": 1},
        graph(a=hard()) | {"event": "full_moon"},
        graph(a=hard()) | {"max_steps": 0},
        graph(a=hard()) | {"name": float("nan")},
        graph(a=hard()) | {"name": {1, 2}},
        graph(a=hard()) | {"name": "\ud800"},
    ],
)
def test_what_does_not_fit_the_schema_is_an_error(config: object) -> None:
    assert errors(config)


def test_the_node_of_a_schema_error_is_named() -> None:
    problems = validate(graph(a=hard(), b={"type": "hard_rule", "rules": []}))
    assert {problem.node for problem in problems} == {"b"}


def nested(depth: int, kind: str) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"!": value} if kind == "object" else [value]
    return value


@pytest.mark.parametrize("kind", ["object", "list"])
@pytest.mark.parametrize("depth", [60, 100, 300, 900, 990, 1500, 5000])
def test_deep_nesting_is_refused_and_never_crashes(depth: int, kind: str) -> None:
    node = hard()
    node["rules"][0]["logic"] = nested(depth, kind)
    problems = validate(graph(a=node))
    assert all(len(problem.message) < 1000 for problem in problems)
    if depth > 64:
        assert [problem for problem in problems if not problem.is_warning]
    assert validate(nested(depth, kind))
    assert validate(graph(a=nested(depth, kind)))


def test_size_is_limited_in_bytes() -> None:
    config = graph(a=human()) | {"match": ["词" * (MAX_BYTES // 3)]}
    assert found(config) == [("", "", False)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3)
    ),
    max_leaves=10,
)
EDGES = st.dictionaries(
    st.sampled_from(["on_pass", "on_fail", "on_error", "on_approve", "on_reject"]),
    st.sampled_from(["a", "b", "c", "d", "end", "end_x"]),
)
NODES = st.dictionaries(
    st.sampled_from(["a", "b", "c", "end", "d.e"]),
    st.builds(lambda make, edges: make(**edges), st.sampled_from([hard, soft, human]), EDGES),
    min_size=1,
)


@given(JSON)
def test_any_json_gets_an_answer(config: object) -> None:
    assert errors(config)


@pytest.mark.full
@settings(max_examples=200)
@given(st.sampled_from(["a", "b"]), NODES)
def test_a_graph_without_errors_can_be_walked_to_an_end(start: str, nodes: dict[str, Any]) -> None:
    config = graph(start, **nodes)
    if errors(config):
        return
    built = Graph.model_validate(config)
    known = built.nodes.keys()
    for key in known:
        seen, todo = {key}, [key]
        ended = False
        while todo:
            for edge, target in built.nodes[todo.pop()].edges().items():
                ended = ended or (target not in known and edge != "on_error")
                if target in known and target not in seen:
                    seen.add(target)
                    todo.append(target)
        assert ended

"""Kleene logic over remembered leaves says what the closures of the operators say."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import leaves
from rules.context import StudyContext
from rules.kleene import Writer
from rules.leaves import ASK, VERDICTS, Memo, OpenPairs, row_of, state_of
from rules.planning import Ask, Composed, Fixed, Planner, Remembered, complete_value
from rules.results import Outcome
from rules.rule import compile_rule
from rules.tier import _Closures
from rules.values import Reason
from tests.rules.support import DICTIONARY, MISSING_CODES, TODAY, field, var, verdict

CONTEXT = StudyContext.build(
    [*DICTIONARY, field("hcg", validation="number", shown_if="[sex] = '0'")], MISSING_CODES
)
# three leaves over one column each, and the cells that make them true, false and undecided
LEAVES = [{"<": [var(name), 10]} for name in ("age", "alt", "ast")]
CELLS = {1: "5", 0: "50", 2: "", 3: "NA"}
REASON = {2: Reason.MISSING, 3: Reason.MISSING_CODE}
TREES = st.recursive(
    st.sampled_from([0, 1, 2, True, False]),
    lambda inner: (
        st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, min_size=1, max_size=3))
        | st.tuples(st.just("!"), st.tuples(inner))
        | st.tuples(st.just("if"), st.tuples(inner, inner, inner))
        | st.tuples(st.just("if"), st.tuples(inner, inner, inner, inner, inner))
    ),
    max_leaves=7,
)


def logic_of(tree: Any) -> Any:
    if isinstance(tree, bool):
        return tree
    if isinstance(tree, int):
        return LEAVES[tree]
    operator, parts = tree
    return {operator: [logic_of(part) for part in parts]}


def state(short: int) -> int:
    return short if short < 2 else state_of((Outcome.UNKNOWN, REASON[short]))


def combined(tree: Any, states: Sequence[int]) -> int:
    """The state of a tree by its generated source."""
    writer = Writer()
    leaves = [f"leaf{number}" for number in range(len(states))]
    name = writer.name(tree, leaves)
    namespace: dict[str, Any] = dict(zip(leaves, states, strict=True))
    exec("\n".join([*writer.lines(), f"found = {name}"]), namespace)
    return int(namespace["found"])


@settings(max_examples=80, deadline=None)
@given(TREES, st.tuples(*[st.sampled_from([0, 1, 2, 3])] * 3))
def test_combined_states_equal_the_operators(tree: Any, shorts: tuple[int, ...]) -> None:
    found = combined(tree, [state(short) for short in shorts])
    row = {name: CELLS[s] for name, s in zip(("age", "alt", "ast"), shorts, strict=True)}
    outcome, reason = VERDICTS[found]
    expected = verdict(logic_of(tree), row)
    assert f"{outcome} {reason or ''}".strip() == expected


@pytest.mark.parametrize("operator", ["and", "or"])
def test_the_first_doubt_gives_the_reason(operator: str) -> None:
    neutral, first, second = int(operator == "and"), state(3), state(2)
    for states in product([neutral, first], [second]):
        found = combined((operator, (0, 1)), states)
        assert found == (first if states[0] == first else second)


def test_a_part_of_several_rules_is_computed_once() -> None:
    writer = Writer()
    shared = ("and", (0, 1))
    first, second = (writer.name((op, (shared, 0)), ["a", "b"]) for op in ("or", "and"))
    assert len({first, second, writer.name(shared, ["a", "b"])}) == len(list(writer.lines())) == 3


@pytest.mark.parametrize("reason", list(Reason))
def test_a_state_names_its_reason(reason: Reason) -> None:
    number = state_of((Outcome.UNKNOWN, reason))
    assert VERDICTS[number] == (Outcome.UNKNOWN, reason)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ((Outcome.PASS, None), 1),
        ((Outcome.FAIL, None), 0),
        ((Outcome.FAIL, Reason.TYPE_MISMATCH), ASK),
        ((Outcome.ERROR, None), ASK),
        ((Outcome.NOT_APPLICABLE, None), ASK),
        (None, ASK),
    ],
)
def test_what_is_neither_true_false_nor_undecided_is_for_the_closures(
    found: Any, expected: int
) -> None:
    assert state_of(found) == expected


def test_a_memory_is_bounded_and_asks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaves, "MAX_CACHED", 3)
    asked: list[int] = []

    def double(key: int) -> int:
        asked.append(key)
        return key * 2

    memo = Memo(double)
    assert [memo[n] for n in (1, 1, 2, 3, 3)] == [2, 2, 4, 6, 6]
    assert asked == [1, 2, 3]
    assert [memo[n] for n in (4, 5)] == [8, 10]
    assert len(memo) <= 3


def test_a_remembered_row_holds_only_what_was_there() -> None:
    assert row_of(("a",), "1") == {"a": "1"}
    assert row_of(("a", "b"), ("1", leaves.ABSENT)) == {"a": "1"}


def test_an_unknown_side_is_asked_once_whatever_stands_beside() -> None:
    asked: list[Any] = []

    def decide(row: Any) -> Any:
        asked.append(row)
        return Outcome.UNKNOWN, Reason.MISSING

    pairs = OpenPairs(("a", "b"), decide, lambda _index, cell: cell == "")
    assert {pairs("", None, str(n), n) for n in range(50)} == {state(2)}
    assert asked == [{"a": "", "b": "0"}]
    for n in range(5):  # a censored value is compared with each other value
        pairs("<5", None, str(n), n)
    assert len(asked) == 6


# --- plans ----------------------------------------------------------------------------------------


def answer(logic: Any, about: str = "age") -> Any:
    from datetime import date

    day = date.fromisoformat(TODAY)
    rule, refused = compile_rule({"field": about, "logic": logic, "message": ""}, "", CONTEXT)
    assert rule is not None, refused
    closures = _Closures(CONTEXT, {}, day)
    return Planner(CONTEXT, lambda _form: True, closures).answer(rule)


@pytest.mark.parametrize(
    ("logic", "about", "kind"),
    [
        (LEAVES[0], "age", Remembered),
        (True, "age", Ask),
        ({"in": [var("sex"), [0, 1]]}, "sex", Remembered),
        ({"and": [var("exclusion___1"), LEAVES[0]]}, "age", Remembered),
        ({"and": LEAVES}, "age", Composed),
        ({"<": [var("alt"), var("ast")]}, "alt", Composed),
        ({"if": [LEAVES[0], LEAVES[1], LEAVES[2]]}, "alt", Composed),
        ({"if": [LEAVES[0], var("alt"), var("ast")]}, "alt", Ask),
        ({"<": [{"+": [var("alt"), var("ast")]}, 5]}, "alt", Ask),
        ({"<": [var("alt"), var("alt")]}, "alt", Remembered),
        ({"across_events": ["e1", LEAVES[0]]}, "age", Ask),
        ({"<": [var("hcg"), var("alt")]}, "hcg", Ask),
        ({"<": [var("hcg"), 5]}, "hcg", Remembered),
    ],
    ids=str,
)
def test_how_a_rule_is_answered(logic: Any, about: str, kind: type) -> None:
    found = answer(logic, about)
    assert isinstance(found, kind)
    assert not isinstance(found, Fixed)


def test_rules_share_their_leaves() -> None:
    from datetime import date

    closures = _Closures(CONTEXT, {}, date.fromisoformat(TODAY))
    planner = Planner(CONTEXT, lambda _form: True, closures)
    for logic in ({"and": LEAVES}, {"or": list(reversed(LEAVES))}):
        rule, _problems = compile_rule({"field": "age", "logic": logic}, "", CONTEXT)
        assert rule is not None
        assert isinstance(planner.answer(rule), Composed)
    assert len(planner.leaves) == 3


@pytest.mark.parametrize(
    ("name", "cell", "is_complete"),
    [
        ("alt", "5.0", True),
        ("alt", "<5", False),
        ("alt", "ND", False),
        ("alt", "NA", False),
        ("alt", "", False),
        ("alt", None, False),
        ("icf", "2024-03-01", True),
        ("icf", "2024-03", False),
        ("icf", "2024-02-30", False),
    ],
)
def test_only_complete_values_are_compared_directly(
    name: str, cell: Any, is_complete: bool
) -> None:
    found = complete_value(CONTEXT.columns[name], cell, CONTEXT)
    assert (found is not None) is is_complete

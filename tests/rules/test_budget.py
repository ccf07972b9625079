"""A rule of a few kilobytes must not take the machine: each judgement has a budget, and so has a node."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from core.rules import limits
from core.rules.context import StudyContext
from core.rules.results import RuleResult
from core.rules.ruleset import compile_rule_set
from tests.fuzz.checks import validate_rules
from tests.rules.support import DICTIONARY, TODAY, resolve_today

CONTEXT = StudyContext.build(DICTIONARY)
ITEM, TOTAL = {"var": ""}, {"var": "accumulator"}
FORTY = [*range(40)]


def rule(logic: Any) -> dict[str, Any]:
    return {"field": "age", "logic": logic, "message": "m"}


def nested(operator: str, depth: int, items: list[int] = FORTY) -> Any:
    logic: Any = {"==": [1, 1]}
    for _level in range(depth):
        logic = {operator: [items, logic]}
    return logic if operator in {"some", "all", "none"} else {"some": [logic, {"==": [ITEM, 1]}]}


def summed(depth: int) -> Any:
    logic: Any = 1
    for _level in range(depth):
        logic = {"reduce": [FORTY, {"+": [TOTAL, logic]}, 0]}
    return {">": [logic, 0]}


TOLD_WHEN_SAVING = {
    "the five nested maps of 7 kB": {"some": [nested("map", 5, [*range(300)]), {"==": [ITEM, 1]}]},
    "maps": nested("map", 5),
    "filters": nested("filter", 4),
    "some": nested("some", 5),
    "all": nested("all", 5),
    "none": nested("none", 5),
    "sums of sums": summed(4),
    "two loops over long lists": {
        "some": [[*range(3000)], {"some": [[*range(3000)], {"==": [ITEM, -1]}]}]
    },
    "loops over what a merge puts together": nested("some", 2, [*range(400)])
    | {"some": [{"merge": [FORTY] * 20}, nested("some", 2)]},
}
ONLY_WHEN_IT_RUNS = {
    "a list that doubles": {
        "some": [{"reduce": [FORTY, {"merge": [TOTAL, TOTAL]}, [1]]}, {"==": [ITEM, 1]}]
    },
    "a text that doubles": {"==": [{"reduce": [FORTY, {"cat": [TOTAL, TOTAL]}, "x"]}, "y"]},
    "lists in lists that are compared": {
        "==": [
            {"reduce": [FORTY, [TOTAL, TOTAL], 1]},
            {"reduce": [FORTY, [TOTAL, TOTAL], 1]},
        ]
    },
    "a list that doubles, then doubles again": {
        "in": [
            2,
            {"reduce": [FORTY, {"merge": [TOTAL, {"merge": [TOTAL, TOTAL]}]}, [1]]},
        ]
    },
    "long texts in many patterns": {
        "all": [
            [*range(150)],
            {"matches": [{"cat": ["ab" * 1000, ITEM]}, "(a|b|ab){100,300}c"]},
        ]
    },
}


def evaluated(logic: Any) -> RuleResult:
    [found] = compile_rule_set([rule(logic)], CONTEXT).evaluate(
        "1", [{"age": "5"}], resolve_today(TODAY, CONTEXT)
    )
    return found


@pytest.mark.parametrize("name", TOLD_WHEN_SAVING)
def test_a_rule_that_multiplies_is_refused_when_it_is_saved(name: str) -> None:
    logic = TOLD_WHEN_SAVING[name]
    assert len(json.dumps(logic)) < 64 * 1024
    problems = validate_rules([rule(logic)], CONTEXT)
    told = {problem.path for problem in problems if str(limits.MAX_STEPS) in problem.message}
    assert told == {"rules/0/logic"}
    with pytest.raises(ValueError, match=str(limits.MAX_STEPS)):
        compile_rule_set([rule(logic)], CONTEXT)


@pytest.mark.full
@pytest.mark.parametrize("name", ONLY_WHEN_IT_RUNS)
def test_what_multiplies_only_as_it_runs_is_an_error_within_bounds(name: str) -> None:
    logic = ONLY_WHEN_IT_RUNS[name]
    tracemalloc.start()
    try:
        found = evaluated(logic)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.outcome == "ERROR"
    assert found.message
    assert peak < 64 * 1024 * 1024


def test_a_bomb_loses_no_other_result() -> None:
    rules = [rule({">=": [{"var": "age"}, 18]}), rule(ONLY_WHEN_IT_RUNS["a list that doubles"])]
    kept = compile_rule_set([*rules, rules[0]], CONTEXT)
    day = resolve_today(TODAY, CONTEXT)
    for age in ("5", "6", "40"):  # the third by compiled code
        found = [one.outcome for one in kept.evaluate("1", [{"age": age}], day)]
        own = "PASS" if age == "40" else "FAIL"
        assert found == [own, "ERROR", own]


def test_a_rule_of_the_ward_has_room() -> None:
    for logic in (
        {"some": [[*range(300)], {"==": [ITEM, {"var": ""}]}]},
        {"all": [FORTY, {"some": [FORTY, {">=": [ITEM, 0]}]}]},
        {"in": [{"var": "age"}, [*range(1000)]]},
        {"matches": [{"cat": ["x" * 5000]}, "x*"]},
        {">=": [{"reduce": [FORTY, {"+": [TOTAL, {"var": "current"}]}, 0]}, 0]},
    ):
        assert validate_rules([rule(logic)], CONTEXT) == []
        assert evaluated(logic).outcome in {"PASS", "FAIL"}


def test_when_the_time_of_a_node_is_over_what_loops_is_an_error_and_the_rest_is_judged() -> None:
    loops, plain = rule({"some": [FORTY, {"==": [ITEM, 1]}]}), rule({">=": [{"var": "age"}, 1]})
    kept = compile_rule_set([loops, plain], CONTEXT)
    day = resolve_today(TODAY, CONTEXT)
    with limits.within_seconds(-1), limits.within_seconds(60):
        late = kept.evaluate("1", [{"age": "5"}], day)
    assert [one.outcome for one in late] == ["ERROR", "PASS"]
    assert [one.outcome for one in kept.evaluate("1", [{"age": "5"}], day)] == ["PASS", "PASS"]

"""What must hold for any input: only the named errors, plain values, tiers that agree.

Each check returns silently or raises Broken, or lets the exception out that should not be there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from engines.hard_rules import (
    HardRuleEngine,
    Outcome,
    RuleError,
    RuleResult,
    StudyContext,
    compile_rule_set,
    validate_rules,
)
from engines.jsonlogic import apply, compile_rule, compile_rules
from fuzz.study import DICTIONARY, PROJECT
from skills.graph import Graph, is_end
from skills.validation import Problem, validate

TODAY = date(2024, 6, 1)
CONTEXT = StudyContext.build(DICTIONARY, PROJECT)
BARE = StudyContext.build(None)


class Broken(AssertionError):
    """A property does not hold."""


def expect(holds: object, *about: object) -> None:
    """Raise Broken with `about` unless `holds`."""
    if not holds:
        raise Broken(about)


def standard(logics: Sequence[Any], data: Any) -> None:
    """JSON Logic: a value of JSON or a RuleError, the fused tier as the closures one by one.

    The fused rules see cells that look alike after each other: none is answered from memory.
    """
    fused = _outcome(compile_rules, logics)
    for some in (data, _alike(data), data):
        single = [_outcome(apply, logic, some) for logic in logics]
        for value in single:
            expect(value is RuleError or is_plain(value), value)
        together = RuleError if fused is RuleError else _outcome(fused, some)
        if RuleError in single:
            expect(together is RuleError)
        else:
            expect(together is not RuleError)
            expect(same(together, single), (together, single))
    for logic in logics:
        expect(_outcome(compile_rule, logic) is RuleError or callable(compile_rule(logic)))


def _alike(data: Any) -> Any:
    """The same data with 1 for true, 0 for false and the other way round."""
    if not isinstance(data, dict):
        return data
    return {name: _twin(cell) for name, cell in data.items()}


def _twin(cell: Any) -> Any:
    if isinstance(cell, bool):
        return int(cell)
    return bool(cell) if isinstance(cell, int) and cell in {0, 1} else cell


def clinical(rules: Sequence[Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """Clinical rules: refused with a message, or evaluated to results that JSON can hold."""
    for context in (CONTEXT, BARE):
        problems = validate_rules(rules, context)
        if problems:
            expect(all(problem.path and problem.message for problem in problems), problems)
            expect(_outcome(compile_rule_set, rules, context) is RuleError)
        else:
            _evaluated(rules, rows, context)
    known = [rule for rule in rules if isinstance(rule, Mapping)]
    data = {"record_id": "1", "rows": list(rows)}
    HardRuleEngine(PROJECT).run(known, data, DICTIONARY, today=TODAY)


def _evaluated(
    rules: Sequence[Any], rows: Sequence[Mapping[str, Any]], context: StudyContext
) -> None:
    compiled = compile_rule_set(rules, context)
    results = compiled.evaluate("1", rows, TODAY)
    for result in results:
        json.dumps(result.as_dict(), allow_nan=False)
        expect(not _hides_a_defect(result, rules), result)
    expected = [(result.outcome, result.reason) for result in results]
    fast = compiled.verdicts(rows, TODAY)
    expect(fast == expected, fast, results)
    records = [("1", rows), ("2", rows[:1]), ("3", rows)]
    swept = dict(compiled.sweep(records, TODAY))
    expect(swept["1"] == swept["3"] == expected, swept, results)
    expect(swept["2"] == compiled.verdicts(rows[:1], TODAY), swept)
    for kind in (int, float):
        numeric = [{name: _as(kind, cell) for name, cell in row.items()} for row in rows]
        slow = [(r.outcome, r.reason) for r in compiled.evaluate("1", numeric, TODAY)]
        expect(compiled.verdicts(numeric, TODAY) == slow, kind, slow)


def _as(kind: type, cell: Any) -> Any:
    return kind(cell) if isinstance(cell, str) and cell.isascii() and cell.isdigit() else cell


def _hides_a_defect(result: RuleResult, rules: Sequence[Any]) -> bool:
    """An ERROR that is no calculation without a result: an exception was swallowed."""
    own = {str(rule.get("message") or "") for rule in rules}
    return result.outcome is Outcome.ERROR and not any(
        result.message == text or result.message.startswith(f"{text} ".lstrip()) for text in own
    )


def workflow(config: Any) -> None:
    """The SOP loader: any JSON gets a list of problems; without one it is a graph that can run."""
    problems = validate(config)
    expect(all(isinstance(problem, Problem) and problem.message for problem in problems))
    if any(not problem.is_warning for problem in problems):
        return
    graph = Graph.model_validate(config)
    expect(graph.start_node in graph.nodes)
    for key, node in graph.nodes.items():
        expect(not is_end(key))
        for target in node.edges().values():
            expect(is_end(target) or target in graph.nodes, (key, target))
    again = json.loads(json.dumps(config, ensure_ascii=False))
    expect(validate(again) == problems)
    expect(any(_ends(graph, choice) for choice in (0, 1)) or len(graph.nodes) > 1)


def _ends(graph: Graph, choice: int) -> bool:
    """Whether always taking the first (or second) edge leaves the graph."""
    key = graph.start_node
    for _step in range(len(graph.nodes) + 1):
        if is_end(key):
            return True
        key = [*graph.nodes[key].edges().values()][choice]
    return is_end(key)


def is_plain(value: Any) -> bool:
    """Whether a value holds JSON types only, whatever its depth."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend([*item.keys(), *item.values()])
        elif isinstance(item, list | tuple):
            stack.extend(item)
        elif not isinstance(item, str | bool | int | float | type(None)):
            return False
    return True


def same(a: Any, b: Any) -> bool:
    """Equality that knows NaN and the sign of zero, and tells true from 1."""
    stack = [(a, b)]
    while stack:
        x, y = stack.pop()
        if isinstance(x, list) and isinstance(y, list):
            if len(x) != len(y):
                return False
            stack.extend(zip(x, y, strict=True))
        elif isinstance(x, float) and isinstance(y, float):
            if not (math.isnan(x) and math.isnan(y)) and (x != y or _sign(x) != _sign(y)):
                return False
        elif x is not y and (isinstance(x, bool) != isinstance(y, bool) or x != y):
            return False
    return True


def _sign(number: float) -> float:
    return math.copysign(1, number)


def _outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except RuleError:
        return RuleError

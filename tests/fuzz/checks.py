"""What must hold for any input: only the named errors, plain values, verdicts that agree.

Each check returns silently or raises Broken, or lets the exception out that should not be there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from core.rules import compiler
from core.rules.context import StudyContext
from core.rules.evaluation import Outcome, judge, rows_for
from core.rules.limits import RuleError
from core.rules.record import Record
from core.rules.redcap.nodes import Open
from core.rules.redcap.parser import parse_logic
from core.rules.redcap.rows import RowView
from core.rules.results import RuleResult
from core.rules.rule import compile_rule
from core.rules.ruleset import RuleSet, compile_rule_set
from core.rules.visibility import visibility
from skills.graph import Graph, is_end
from skills.validation import Problem, validate
from tests.fuzz.study import DICTIONARY, LOGIC_ROWS, PROJECT

TODAY = date(2024, 6, 1)
CONTEXT = StudyContext.build(DICTIONARY, PROJECT)
BARE = StudyContext.build(None)


def validate_rules(rules: Sequence[Any], context: StudyContext) -> list[compiler.Problem]:
    """Every reason not to save these rules, in rule order."""
    compiled = (
        compile_rule(rule, f"rules/{at}", context, is_saving=True) for at, rule in enumerate(rules)
    )
    return [problem for _rule, problems in compiled for problem in problems]


class Broken(AssertionError):
    """A property does not hold."""


def expect(holds: object, *about: object) -> None:
    """Raise Broken with `about` unless `holds`."""
    if not holds:
        raise Broken(about)


def logic(text: str) -> None:
    """REDCap's logic: refused by a RuleError, or worth something at every place of a record."""
    try:
        parsed = parse_logic(text)
    except RuleError as error:
        expect(str(error))
        return
    for row in Record(CONTEXT, LOGIC_ROWS, TODAY).rows:
        for is_calculation in (True, False):
            found = parsed.node(RowView(row, visibility, is_calculation=is_calculation))
            expect(isinstance(found, Open | str | Decimal | bool), found)


def clinical(rules: Sequence[Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """Clinical rules: refused with a message, or evaluated to results that JSON can hold."""
    for context in (CONTEXT, BARE):
        problems = validate_rules(rules, context)
        if problems:
            expect(all(problem.path and problem.message for problem in problems), problems)
            expect(_outcome(compile_rule_set, rules, context) is RuleError)
        else:
            _evaluated(rules, rows, context)
    for rule in rules:
        if (
            isinstance(rule, Mapping)
            and _outcome(compile_rule_set, [rule], context) is not RuleError
        ):
            compile_rule_set([rule], context).evaluate("1", list(rows), TODAY)


def _evaluated(
    rules: Sequence[Any], rows: Sequence[Mapping[str, Any]], context: StudyContext
) -> None:
    compiled = compile_rule_set(rules, context)
    for result in agreed(compiled, rows, TODAY):
        json.dumps(result.as_dict(), allow_nan=False)
        expect(not _hides_a_defect(result, rules), result)
    agreed(compiled, rows[:1], TODAY)
    for kind in (int, float):
        numeric = [{name: _as(kind, cell) for name, cell in row.items()} for row in rows]
        agreed(compiled, numeric, TODAY)


def agreed(rules: RuleSet, rows: Sequence[Mapping[str, Any]], today: date) -> list[RuleResult]:
    """The results of a record, which are those of the closures: when it is met first, when functions
    are written for it, and when all of it was seen before."""
    record = Record(rules.context, rows, today)
    expected = [
        RuleResult(rule, row, verdict)
        for rule in rules.rules
        for row in rows_for(rule, record)
        if (verdict := judge(rule, row)) is not None
    ]
    shown = [result.as_dict() for result in expected]
    for _time in range(3):
        found = rules.evaluate("1", rows, today)
        expect([result.as_dict() for result in found] == shown, found, expected)
    return found


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
    """Whether always taking the first edge (or the second, where there is one) leaves the graph."""
    key = graph.start_node
    for _step in range(len(graph.nodes) + 1):
        if is_end(key):
            return True
        key = [*graph.nodes[key].edges().values()][: choice + 1][-1]
    return is_end(key)


def _outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except RuleError:
        return RuleError

"""One clinical rule: checked, compiled, identified."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import core.rules.operators  # noqa: F401  # they register themselves
from core.rules import limits
from core.rules.arithmetic import truth
from core.rules.compiler import Compiler, Problem
from core.rules.context import Column, StudyContext
from core.rules.expression import Conversion, Expr, Node, Type
from core.rules.limits import RuleError, check_limits
from core.rules.redcap.nodes import Ref
from core.rules.text import translate as _

SEVERITIES = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Rule:
    """A checked rule with its compiled logic."""

    key: str
    field: str
    message: str
    severity: str
    node: Node
    column: Column
    reads: tuple[tuple[str, str | None], ...]
    looks_for: tuple[tuple[Ref, str | None], ...]
    logic: Any
    types: Mapping[str, Type]
    conversions: tuple[Conversion, ...]
    cost: int = 1


def rule_key(rule: Mapping[str, Any]) -> str:
    """A rule's identity: its `id`, else the hash of its logic (decisions.md)."""
    if _is_name(rule.get("id")) and rule["id"] != "":
        return str(rule["id"])
    text = json.dumps(rule.get("logic"), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _is_name(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def rule_list(source: Any) -> list[Any]:
    """The rules of a parsed rules file: a list, or {"rules": [...]}; RuleError otherwise."""
    rules = source.get("rules") if isinstance(source, Mapping) else source
    if not isinstance(rules, list | tuple):
        raise RuleError(_("Rules are a list, or an object with a list “rules”."))
    return list(rules)


def compile_rule(
    rule: Any, path: str, context: StudyContext, *, is_saving: bool = False
) -> tuple[Rule | None, list[Problem]]:
    """The rule, or None and why it is refused; `path` is where it stands for the messages."""
    compiler = Compiler(context, is_saving=is_saving)
    if not isinstance(rule, Mapping) or not isinstance(rule.get("field"), str):
        compiler.problem(path, _("A rule is an object with “field”, “logic” and “message”."))
        return None, compiler.problems
    if rule.get("id") is not None and not _is_name(rule["id"]):
        compiler.problem(f"{path}/id", _("The id of a rule is a text or a number."))
    column = context.column(rule["field"])
    if column is None:
        message = _("“%(name)s” is not a column of the data dictionary.")
        compiler.problem(f"{path}/field", message % {"name": rule["field"]})
    severity = rule.get("severity") or "error"
    if severity not in SEVERITIES:
        compiler.problem(f"{path}/severity", _("Severity is error, warning or info."))
    expr = _logic(compiler, rule, f"{path}/logic")
    if compiler.problems or column is None or expr is None:
        return None, compiler.problems
    return Rule(
        key=rule_key(rule),
        field=rule["field"],
        message=str(rule.get("message") or ""),
        severity=str(severity),
        node=_verdict(expr),
        column=column,
        reads=tuple(compiler.reads),
        looks_for=tuple(compiler.looks_for),
        logic=rule["logic"],
        types=compiler.types,
        conversions=tuple(compiler.conversions),
        cost=compiler.cost,
    ), []


def part_of(rule: Rule, logic: Any, context: StudyContext) -> Rule | None:
    """A part of a checked rule's logic as a rule of its own; None when it is no condition."""
    compiler = Compiler(context)
    expr = compiler.compile(logic, "")
    compiler.check_condition(expr, "")
    if compiler.problems:
        return None
    reads, looks_for = tuple(compiler.reads), tuple(compiler.looks_for)
    return replace(rule, node=_verdict(expr), reads=reads, looks_for=looks_for, logic=logic)


def _logic(compiler: Compiler, rule: Mapping[str, Any], path: str) -> Expr | None:
    if "logic" not in rule:
        compiler.problem(path, _("The rule has no logic."))
        return None
    try:
        check_limits(rule["logic"])
    except RuleError as error:
        compiler.problem(path, str(error))
        return None
    expr = compiler.compile(rule["logic"], path)
    compiler.check_condition(expr, path)
    if compiler.cost > limits.MAX_STEPS:
        compiler.problem(path, limits.too_many_steps())
    return expr


def _verdict(expr: Expr) -> Node:
    node = expr.node
    return lambda scope: truth(node(scope))

"""Clinical rule sets: checked, compiled once, evaluated record by record.

The outcome of a rule on a row (contracts.md, check_rules): mapping and branching decide whether it
applies, the typed values whether it holds, and an impossible value fails it whatever stands around.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as default
from datetime import date
from enum import StrEnum
from typing import Any

from engines.rules import op_compare, op_date, op_list, op_logic, op_number, op_study, op_text
from engines.rules.arithmetic import truth
from engines.rules.compiler import Compiler, Problem, refuse
from engines.rules.context import Column, StudyContext
from engines.rules.convert import Reading, absent, text_of
from engines.rules.errors import RuleError
from engines.rules.expression import Expr, Node, Scope
from engines.rules.limits import check_limits
from engines.rules.record import Place, Record, Row
from engines.rules.text import translate as _
from engines.rules.values import Items, Reason, Unknown
from engines.rules.visibility import branching_names, visibility

OPERATOR_MODULES = (op_compare, op_date, op_list, op_logic, op_number, op_study, op_text)
SEVERITIES = ("error", "warning", "info")


class Outcome(StrEnum):
    """What a rule came to on one row."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule on one row, in the shape of contracts.md.

    `field` is the rule's, except for applicability_unknown: there it names the undecided field.
    """

    rule: str
    field: str
    event: str | None
    instrument: str | None
    instance: int | None
    outcome: Outcome
    value: Any
    message: str
    severity: str
    reason: Reason | None = None
    detail: list[dict[str, Any]] = default(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Rule:
    """A checked rule with its compiled logic."""

    key: str
    field: str
    message: str
    severity: str
    node: Node
    reads: tuple[tuple[str, str | None], ...]
    column: Column


def rule_key(rule: Mapping[str, Any]) -> str:
    """A rule's identity: its `id`, else the hash of its logic (decisions.md)."""
    if rule.get("id") not in {None, ""}:
        return str(rule["id"])
    text = json.dumps(rule.get("logic"), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def rule_list(source: Any) -> list[Any]:
    """The rules of a parsed rules file: a list, or {"rules": [...]}; RuleError otherwise."""
    rules = source.get("rules") if isinstance(source, Mapping) else source
    if not isinstance(rules, list | tuple):
        raise RuleError(_("Rules are a list, or an object with a list “rules”."))
    return list(rules)


def validate_rules(rules: Sequence[Any], context: StudyContext) -> list[Problem]:
    """Every reason to refuse these rules, in rule order; empty when they may be saved and run."""
    return [problem for rule in _compile_each(rules, context) for problem in rule[1]]


def compile_rule_set(rules: Sequence[Any], context: StudyContext) -> RuleSet:
    """The rules ready to run; RuleError naming every problem when they are refused."""
    compiled = _compile_each(rules, context)
    problems = [problem for _rule, found in compiled for problem in found]
    if problems:
        raise refuse(problems)
    return RuleSet(tuple(rule for rule, _found in compiled if rule is not None), context)


def _compile_each(
    rules: Sequence[Any], context: StudyContext
) -> list[tuple[Rule | None, list[Problem]]]:
    return [_compile_rule(rule, f"rules/{index}", context) for index, rule in enumerate(rules)]


def _compile_rule(rule: Any, path: str, context: StudyContext) -> tuple[Rule | None, list[Problem]]:
    compiler = Compiler(context)
    if not isinstance(rule, Mapping) or not isinstance(rule.get("field"), str):
        compiler.problem(path, _("A rule is an object with “field”, “logic” and “message”."))
        return None, compiler.problems
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
    node = _verdict(expr)
    reads = tuple(compiler.reads)
    message = str(rule.get("message") or "")
    return Rule(rule_key(rule), rule["field"], message, str(severity), node, reads, column), []


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
    return expr


def _verdict(expr: Expr) -> Node:
    node = expr.node
    return lambda scope: truth(node(scope))


class RuleSet:
    """Compiled rules of one study; stateless between calls, safe to share."""

    def __init__(self, rules: tuple[Rule, ...], context: StudyContext) -> None:
        self.rules = rules
        self.context = context

    def evaluate(
        self, record_id: str | None, rows: Sequence[Mapping[str, Any]], today: date
    ) -> list[RuleResult]:
        """All outcomes for one record, in rule order, then row order.

        `record_id` only names the record for the caller; `rows` are the record's exported rows.
        """
        record = Record(self.context, rows, today)
        return [
            result
            for rule in self.rules
            for row in _rows_for(rule, record)
            if (result := _evaluate(rule, row)) is not None
        ]

    def sweep(
        self, records: Iterable[tuple[str, Sequence[Mapping[str, Any]]]], today: date
    ) -> Iterator[tuple[str, list[RuleResult]]]:
        """`evaluate` over many records, one at a time."""
        for record_id, rows in records:
            yield record_id, self.evaluate(record_id, rows, today)


def _rows_for(rule: Rule, record: Record) -> list[Row]:
    """All rows; without a dictionary only those where the rule's field is known to live.

    A repeated row repeats every other form's columns as "", so the rows in which the field (else
    any var of the rule) has a value tell which instrument it belongs to.
    """
    if record.context.has_dictionary or len(record.rows) == 1:
        return record.rows
    names = [name for name, event in rule.reads if event is None]
    for wanted in ([rule.field], names):
        homes = {
            row.place.instrument
            for row in record.rows
            if any(text_of(row.data.get(name)) not in {"", None} for name in wanted)
        }
        if homes:
            return [row for row in record.rows if row.place.instrument in homes]
    return record.rows


def _evaluate(rule: Rule, row: Row) -> RuleResult | None:
    """None where the row can't hold the form of the rule's field."""
    if not row.is_mapped(rule.column.form):
        return _result(rule, row, Outcome.NOT_APPLICABLE, None, [])
    if not row.holds(rule.column.form):
        return None
    try:
        return _applicable(rule, row)
    except Exception as error:  # one rule's defect must not lose the other results
        message = _("The rule could not be computed (%(why)s).") % {"why": type(error).__name__}
        return _result(rule, row, Outcome.ERROR, None, [], message=message)


def _applicable(rule: Rule, row: Row) -> RuleResult:
    is_shown, cause = visibility(row, rule.column.field)
    own = row.read(rule.field)
    if is_shown is True:
        return _decided(rule, row)
    if is_shown is False:
        return _hidden(rule, row, own)
    decided = _decided(rule, row)
    is_certain = own.forced is not None and decided.outcome is Outcome.FAIL
    if is_certain or (cause == rule.column.field and not _is_empty(own)):
        return decided
    readings = _branching_readings(rule, row)
    undecided = _result(rule, row, Outcome.UNKNOWN, Reason.APPLICABILITY_UNKNOWN, readings)
    raw = row.read(cause).raw
    return _renamed(undecided, cause, raw)


def _hidden(rule: Rule, row: Row, own: Reading) -> RuleResult:
    readings = _branching_readings(rule, row)
    if isinstance(own.value, Unknown) and own.value.reason is Reason.NOT_EXPORTED:
        return _result(rule, row, Outcome.UNKNOWN, Reason.NOT_EXPORTED, readings)
    if _is_empty(own):
        return _result(rule, row, Outcome.NOT_APPLICABLE, None, readings)
    return _result(rule, row, Outcome.FAIL, Reason.HIDDEN_WITH_VALUE, readings)


def _is_empty(reading: Reading) -> bool:
    """No entry at all: blank, or nothing ticked."""
    if isinstance(reading.value, Items):
        return not reading.value.known
    is_unticked_box = reading.value is False and text_of(reading.raw) in {"0", ""}
    if is_unticked_box and "___" in reading.name:
        return True
    is_missing = isinstance(reading.value, Unknown) and reading.value.reason in {
        Reason.MISSING,
        Reason.NOT_EXPORTED,
    }
    return is_missing or reading.is_blank is True


def _decided(rule: Rule, row: Row) -> RuleResult:
    """The verdict of the logic; an impossible value among all that it reads fails it."""
    record = row.record
    record.forced = None
    readings = _readings(rule, row)
    verdict = rule.node(Scope(row))
    forced = next((r.forced for r in readings if r.forced), None) or record.forced
    if forced is not None:
        return _result(rule, row, Outcome.FAIL, forced, readings)
    if isinstance(verdict, Unknown):
        return _undecided(rule, row, verdict, readings)
    outcome = Outcome.PASS if verdict else Outcome.FAIL
    return _result(rule, row, outcome, None, readings)


def _undecided(rule: Rule, row: Row, why: Unknown, readings: list[Reading]) -> RuleResult:
    if why.reason is None:
        message = f"{rule.message} {why.note}".strip()
        return _result(rule, row, Outcome.ERROR, None, readings, message=message)
    return _result(rule, row, Outcome.UNKNOWN, why.reason, readings)


def _readings(rule: Rule, row: Row) -> list[Reading]:
    readings: list[Reading] = []
    for name, event in rule.reads:
        source = row if event is None else row.record.base_row(event)
        readings.append(_not_there(name, event) if source is None else source.read(name))
    return readings


def _not_there(name: str, event: str | None) -> Reading:
    return absent(name, Place(event, None, None))


def _branching_readings(rule: Rule, row: Row) -> list[Reading]:
    context = row.record.context
    names = branching_names(rule.column.branching)
    return [row.read(name) for name in names if context.column(name) is not None]


def _result(
    rule: Rule,
    row: Row,
    outcome: Outcome,
    reason: Reason | None,
    readings: Sequence[Reading],
    *,
    message: str | None = None,
) -> RuleResult:
    own = row.read(rule.field)
    entries = {(r.name, r.place): r for r in (*readings, own)}
    return RuleResult(
        rule=rule.key,
        field=rule.field,
        event=row.place.event,
        instrument=row.place.instrument,
        instance=row.place.instance,
        outcome=outcome,
        value=own.raw,
        message=rule.message if message is None else message,
        severity=rule.severity,
        reason=reason,
        detail=[reading.as_detail() for reading in entries.values()],
    )


def _renamed(result: RuleResult, field_name: str, value: Any) -> RuleResult:
    return replace(result, field=field_name, value=value)

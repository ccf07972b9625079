"""One rule on one row, from the closures (contracts.md, check_rules).

Mapping and branching decide whether a rule applies, the typed values whether it holds, and an
impossible value fails it whatever stands around.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rules.convert import Reading, absent, text_of
from rules.expression import Scope
from rules.record import Place, Record, Row
from rules.results import Outcome, RuleResult
from rules.rule import Rule
from rules.text import translate as _
from rules.values import Items, Reason, Unknown
from rules.visibility import branching_names, visibility


def rows_for(rule: Rule, record: Record) -> list[Row]:
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


def evaluate(rule: Rule, row: Row) -> RuleResult | None:
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
    is_shown, (cause, event) = visibility(row, rule.column.field)
    own = row.read(rule.field)
    if is_shown is True:
        return decided(rule, row)
    if is_shown is False:
        return _hidden(rule, row, own)
    verdict = decided(rule, row)
    if own.forced is not None and verdict.outcome is Outcome.FAIL:
        return verdict
    readings = _branching_readings(rule, row)
    undecided = _result(rule, row, Outcome.UNKNOWN, Reason.APPLICABILITY_UNKNOWN, readings)
    return _renamed(undecided, cause, _read(row, cause, event).raw)


def _hidden(rule: Rule, row: Row, own: Reading) -> RuleResult:
    readings = _branching_readings(rule, row)
    if isinstance(own.value, Unknown) and own.value.reason is Reason.NOT_EXPORTED:
        return _result(rule, row, Outcome.UNKNOWN, Reason.NOT_EXPORTED, readings)
    if _is_empty(own):
        return _result(rule, row, Outcome.NOT_APPLICABLE, None, readings)
    return _result(rule, row, Outcome.FAIL, Reason.HIDDEN_WITH_VALUE, readings)


def _is_empty(reading: Reading) -> bool:
    """No entry at all: blank, or nothing ticked, not even a missing code."""
    if isinstance(reading.value, Items):
        return not reading.value.known and reading.is_blank is not False
    is_unticked_box = reading.value is False and text_of(reading.raw) in {"0", ""}
    if is_unticked_box and "___" in reading.name:
        return True
    is_missing = isinstance(reading.value, Unknown) and reading.value.reason in {
        Reason.MISSING,
        Reason.NOT_EXPORTED,
    }
    return is_missing or reading.is_blank is True


def decided(rule: Rule, row: Row) -> RuleResult:
    """The verdict of the logic; an impossible value among all that it reads fails it."""
    record = row.record
    record.forced = None
    readings = [_read(row, name, event) for name, event in rule.reads]
    verdict = rule.node(Scope(row))
    readings += [found for one in rule.conversions if (found := one.of(row)) is not None]
    forced = next((r.forced for r in readings if r.forced), record.forced)
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


def _read(row: Row, name: str, event: str | None) -> Reading:
    """The column in this row, or in another event's base row."""
    source = row if event is None else row.record.base_row(event)
    return absent(name, Place(event, None, None)) if source is None else source.read(name)


def _branching_readings(rule: Rule, row: Row) -> list[Reading]:
    context, pairs = row.record.context, branching_names(rule.column.branching)
    return [_read(row, name, e) for name, e in pairs if context.column(name) is not None]


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
        readings=(*readings, own),
        types=rule.types,
    )


def _renamed(result: RuleResult, field_name: str, value: Any) -> RuleResult:
    return replace(result, field=field_name, value=value)

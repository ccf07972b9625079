"""One rule on one row, from the closures (contracts.md, check_rules).

Mapping and branching decide whether a rule applies, the typed values whether it holds, and an
impossible value fails it whatever stands around. What is compiled (`compiled`) asks here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.rules.convert import Place, Reading, absent, text_of
from core.rules.expression import Scope
from core.rules.limits import TooMuchError
from core.rules.record import Cause, Record, Row
from core.rules.redcap.rows import RowView
from core.rules.rule import Rule
from core.rules.text import translate as _
from core.rules.values import Items, Reason, Unknown
from core.rules.visibility import logic_names, visibility


class Outcome(StrEnum):
    """What a rule came to on one row."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome and reason; `message` where it is not the rule's, `cause` where an undecided field is
    named instead of the rule's, `is_broken` where the rule could not be computed at all."""

    outcome: Outcome
    reason: Reason | None = None
    message: str | None = None
    cause: Cause | None = None
    is_broken: bool = False


STATES: Final = (
    Verdict(Outcome.FAIL),
    Verdict(Outcome.PASS),
    *(Verdict(Outcome.UNKNOWN, reason) for reason in Reason),
)
"""The verdicts of a condition by number: 0 false, 1 true, above that undecided for a reason."""

NUMBERS: Final = {verdict: number for number, verdict in enumerate(STATES)}


_FALSE, _TRUE = STATES[:2]
NOT_APPLICABLE = Verdict(Outcome.NOT_APPLICABLE)


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


def judge(rule: Rule, row: Row) -> Verdict | None:
    """None where the row can't hold the form of the rule's field."""
    if not row.is_mapped(rule.column.form):
        return NOT_APPLICABLE
    if not row.holds(rule.column.form):
        return None
    try:
        return _applicable(rule, row)
    except TooMuchError as error:
        return Verdict(Outcome.ERROR, message=str(error), is_broken=True)
    except Exception as error:  # one rule's defect must not lose the other results
        message = _("The rule could not be computed (%(why)s).") % {"why": type(error).__name__}
        return Verdict(Outcome.ERROR, message=message, is_broken=True)


def _applicable(rule: Rule, row: Row) -> Verdict:
    is_shown, cause = visibility(row, rule.column.field)
    if is_shown is True:
        return verdict_of(rule, row)
    own = row.read(rule.field)
    if is_shown is False:
        return _hidden(own)
    verdict = verdict_of(rule, row)
    if own.forced is not None and verdict.outcome is Outcome.FAIL:
        return verdict
    return Verdict(Outcome.UNKNOWN, Reason.APPLICABILITY_UNKNOWN, cause=cause)


def _hidden(own: Reading) -> Verdict:
    if isinstance(own.value, Unknown) and own.value.reason is Reason.NOT_EXPORTED:
        return Verdict(Outcome.UNKNOWN, Reason.NOT_EXPORTED)
    if _is_empty(own):
        return NOT_APPLICABLE
    return Verdict(Outcome.FAIL, Reason.HIDDEN_WITH_VALUE)


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


def verdict_of(rule: Rule, row: Row) -> Verdict:
    """The verdict of the logic; an impossible value among all that it reads fails it."""
    row.record.forced, row.record.spent = None, 0
    found = rule.node(Scope(row))
    forced = next((r.forced for r in _of_logic(rule, row) if r.forced), row.record.forced)
    if forced is not None:
        return Verdict(Outcome.FAIL, forced)
    if not isinstance(found, Unknown):
        return _TRUE if found else _FALSE
    if found.reason is None:
        return Verdict(Outcome.ERROR, message=f"{rule.message} {found.note}".strip())
    return Verdict(Outcome.UNKNOWN, found.reason)


def readings(rule: Rule, row: Row, verdict: Verdict) -> list[Reading]:
    """What a verdict rests on: what the logic read, or the branching where that decided."""
    if verdict.is_broken:
        return []
    own = row.read(rule.field)
    if not row.is_mapped(rule.column.form):
        return [own]
    is_shown = not rule.column.branching or visibility(row, rule.column.field)[0]
    is_of_logic = is_shown or (is_shown is None and verdict.outcome is Outcome.FAIL)
    return [*(_of_logic(rule, row) if is_of_logic else _of_branching(rule, row)), own]


def read_column(row: Row, name: str, event: str | None) -> Reading:
    """The column in this row, or in another event's base row."""
    source = row if event is None else row.record.base_row(event)
    return absent(name, Place(event, None, None)) if source is None else source.read(name)


def _of_logic(rule: Rule, row: Row) -> list[Reading]:
    found = [
        row.read(n) if event is None else read_column(row, n, event) for n, event in rule.reads
    ]
    for ref, event in rule.looks_for:
        if (origin := row if event is None else row.record.base_row(event)) is not None:
            found.append(RowView(origin, visibility).reading(ref))
    return found + [one for c in rule.conversions if (one := c.of(row)) is not None]


def _of_branching(rule: Rule, row: Row) -> list[Reading]:
    context, pairs = row.record.context, logic_names(rule.column.branching)
    return [read_column(row, name, e) for name, e in pairs if context.column(name) is not None]

"""Verdicts of a rule set without full results: one record (`fast`) or many at once (`sweep`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from engines.rules.chunks import chunks
from engines.rules.context import StudyContext
from engines.rules.evaluation import decided, evaluate, rows_for
from engines.rules.fast import Generator, Run, SlowRowError, Values
from engines.rules.leaves import Verdict, reason_of
from engines.rules.planning import Answer, Fixed, Planner
from engines.rules.record import Record, Row
from engines.rules.results import Outcome, RuleResult
from engines.rules.rule import Rule, compile_rule
from engines.rules.sweep import Sweep

if TYPE_CHECKING:
    from engines.rules.ruleset import RuleSet

Rows = Sequence[Mapping[str, Any]]
_SMALL = 16


@dataclass(frozen=True)
class Plan:
    """What answers the rows at one kind of place, and the rules it answers."""

    indices: tuple[int, ...]
    run: Run
    sweep: Sweep


class FastTier:
    """The plans of a rule set for one day, one for each kind of place."""

    def __init__(self, rule_set: RuleSet, today: date) -> None:
        self.today = today
        self._rules = rule_set.rules
        self._context = rule_set.context
        self._values = Values(rule_set.context)
        self._plans: dict[tuple[Any, ...], Plan] = {}

    def verdicts(self, rows: Rows) -> list[Verdict]:
        """See `RuleSet.verdicts`."""
        if not self._context.has_dictionary:
            record = Record(self._context, rows, self.today)
            found = (evaluate(r, row) for r in self._rules for row in rows_for(r, record))
            return [(result.outcome, result.reason) for result in found if result is not None]
        plans = self._plans_of(rows)
        asked = _Asked(self, rows)
        return in_order(plans, [asked.row(plan, number) for number, plan in enumerate(plans)])

    def sweep(self, records: Iterable[tuple[Any, Rows]]) -> Iterator[tuple[Any, list[Verdict]]]:
        """See `RuleSet.sweep`."""
        for chunk in chunks(records):
            if self._context.has_dictionary:
                yield from self._swept(chunk)
            else:
                yield from ((record_id, self.verdicts(rows)) for record_id, rows in chunk)

    def _swept(self, chunk: list[tuple[Any, Rows]]) -> Iterator[tuple[Any, list[Verdict]]]:
        plans = [self._plans_of(rows) for _record_id, rows in chunk]
        places: dict[int, list[tuple[int, int]]] = {}
        by_id = {id(plan): plan for record in plans for plan in record}
        for number, record in enumerate(plans):
            for row, plan in enumerate(record):
                places.setdefault(id(plan), []).append((number, row))
        asked = [_Asked(self, rows) for _record_id, rows in chunk]
        found: dict[tuple[int, int], list[Verdict]] = {}
        for key, where in places.items():
            found |= zip(where, _batch(by_id[key], where, asked), strict=True)
        for number, (record_id, rows) in enumerate(chunk):
            answers = [found[number, row] for row in range(len(rows))]
            yield record_id, in_order(plans[number], answers)

    def _plans_of(self, rows: Rows) -> list[Plan]:
        places = [tuple(map(row.get, _PLACE)) for row in rows]
        repeated = frozenset(place[:2] for place in places if place[1])
        return [self._plan(place, repeated) for place in places]

    def _plan(self, place: tuple[Any, ...], repeated: frozenset[Any]) -> Plan:
        key = (*place[:2], repeated)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self._build(place, repeated)
        return plan

    def _build(self, place: tuple[Any, ...], repeated: frozenset[Any]) -> Plan:
        cells = dict(zip(_PLACE, place, strict=True))
        others = [dict(zip(_PLACE, pair, strict=False)) for pair in repeated]
        row = Record(self._context, [cells, *others], self.today).rows[0]
        closures = _Closures(self._context, cells, self.today)
        planner = Planner(self._context, row.holds, closures, _VERDICTS.get)
        answers: dict[int, Answer] = {}
        for index, rule in enumerate(self._rules):
            if not row.is_mapped(rule.column.form):
                answers[index] = Fixed((Outcome.NOT_APPLICABLE, None))
            elif row.holds(rule.column.form):
                answers[index] = planner.answer(rule)
        run = Generator(self._values).build(answers, planner.leaves)
        return Plan(tuple(answers), run, Sweep(answers, planner.leaves, self._values))

    def slow(self, record: Record, number: int, index: int) -> Verdict:
        """The verdict of the closures on one row of a record."""
        return _verdict_of(evaluate(self._rules[index], record.rows[number]))

    def record(self, rows: Rows) -> Record:
        """The rows as the closures take them."""
        return Record(self._context, rows, self.today)


class _Asked:
    """One record's rows, and the closures' view of them once it is needed."""

    __slots__ = ("_record", "_tier", "rows")

    def __init__(self, tier: FastTier, rows: Rows) -> None:
        self.rows = rows
        self._tier = tier
        self._record: Record | None = None

    def slow(self, number: int, index: int) -> Verdict:
        """The closures' verdict on one row."""
        if self._record is None:
            self._record = self._tier.record(self.rows)
        return self._tier.slow(self._record, number, index)

    def row(self, plan: Plan, number: int) -> list[Verdict]:
        """All verdicts on one row."""
        try:
            return plan.run(self.rows[number], lambda index: self.slow(number, index))
        except SlowRowError:
            return [self.slow(number, index) for index in plan.indices]


def _batch(
    plan: Plan, where: Sequence[tuple[int, int]], asked: Sequence[_Asked]
) -> list[list[Verdict]]:
    """The verdicts of rows of one kind of place; a cell only the closures can take halves them."""
    if len(where) <= _SMALL:
        return [asked[number].row(plan, row) for number, row in where]

    def slow(position: int, index: int) -> Verdict:
        number, row = where[position]
        return asked[number].slow(row, index)

    try:
        return plan.sweep.run([asked[number].rows[row] for number, row in where], slow)
    except (SlowRowError, TypeError):  # TypeError: a cell that no dict takes as a key
        half = len(where) // 2
        return _batch(plan, where[:half], asked) + _batch(plan, where[half:], asked)


def in_order(plans: Sequence[Plan], answers: Sequence[list[Verdict]]) -> list[Verdict]:
    """The verdicts of a record's rows in rule order, then row order."""
    if len(plans) == 1:
        return answers[0]
    ordered = [
        (index, number, verdict)
        for number, (plan, verdicts) in enumerate(zip(plans, answers, strict=True))
        for index, verdict in zip(plan.indices, verdicts, strict=True)
    ]
    ordered.sort(key=lambda entry: entry[:2])
    return [verdict for _index, _number, verdict in ordered]


_PLACE = ("redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance")
_VERDICTS: dict[int, Verdict] = {1: (Outcome.PASS, None), 0: (Outcome.FAIL, None)}
_VERDICTS |= {
    state: (Outcome.UNKNOWN, reason) for state in range(2, 255) if (reason := reason_of(state))
}


def _verdict_of(result: RuleResult | None) -> Verdict:
    return (Outcome.ERROR, None) if result is None else (result.outcome, result.reason)


class _Closures:
    """The rules on a lone row at one place."""

    def __init__(self, context: StudyContext, place: dict[str, Any], today: date) -> None:
        self._context = context
        self._place = place
        self._today = today

    def _row(self, cells: Mapping[str, Any]) -> Row:
        return Record(self._context, [{**self._place, **cells}], self._today).rows[0]

    def judge(self, rule: Rule, row: Mapping[str, Any]) -> Verdict:
        """See `planning.Closures`."""
        return _verdict_of(evaluate(rule, self._row(row)))

    def decide(self, rule: Rule, row: Mapping[str, Any]) -> Verdict | None:
        """See `planning.Closures`."""
        try:
            return _verdict_of(decided(rule, self._row(row)))
        except Exception:  # as in evaluate; the whole rule will report it
            return None

    def part(self, rule: Rule, logic: Any) -> Rule | None:
        """See `planning.Closures`."""
        compiled, _problems = compile_rule({"field": rule.field, "logic": logic}, "", self._context)
        return compiled

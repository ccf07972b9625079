"""Verdicts of a rule set without full results (`fast`), for one record or one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from rules.cells import SlowRecordError
from rules.context import StudyContext
from rules.evaluation import decided, evaluate, rows_for
from rules.fast import AskError, Generator, Run, Values
from rules.leaves import Verdict
from rules.planning import Answer, Fixed, Planner
from rules.record import Record, Row
from rules.results import Outcome, RuleResult
from rules.rule import Rule, part_of

if TYPE_CHECKING:
    from rules.ruleset import RuleSet

Rows = Sequence[Mapping[str, Any]]
_EVENT, _INSTRUMENT = "redcap_event_name", "redcap_repeat_instrument"
_PLACE = (_EVENT, _INSTRUMENT)
Place = tuple[Any, Any]


class Plan:
    """What answers the rows at one kind of place, and the rules it answers."""

    def __init__(self, generator: Generator, indices: tuple[int, ...]) -> None:
        self.indices = indices
        self.run = generator.build(is_guarded=False)
        self._generator = generator

    @cached_property
    def guarded(self) -> Run:
        """The function for rows with a leaf that only the closures know."""
        return self._generator.build(is_guarded=True)


class FastTier:
    """The plans of a rule set for one day, one for each kind of place."""

    def __init__(self, rule_set: RuleSet, today: date) -> None:
        self.today = today
        self._rules = rule_set.rules
        self._context = rule_set.context
        self._values = Values(rule_set.context)
        self._lone: dict[Place, Run] = {}  # for records of one row that leave nothing to ask
        self._plans: dict[tuple[Place, frozenset[Place]], Plan] = {}

    def verdicts(self, rows: Rows) -> list[Verdict]:
        """See `RuleSet.verdicts`."""
        if not self._context.has_dictionary:
            record = Record(self._context, rows, self.today)
            found = (evaluate(r, row) for r in self._rules for row in rows_for(r, record))
            return [(result.outcome, result.reason) for result in found if result is not None]
        if len(rows) == 1:
            try:
                return self._lone[_place(rows[0])](rows[0], _never)
            except (KeyError, AskError, SlowRecordError, TypeError):  # the long way round
                pass
        plans = self._plans_of(rows)
        asked = _Asked(self, rows)
        return _in_order(plans, [asked.row(plan, number) for number, plan in enumerate(plans)])

    def sweep(self, records: Iterable[tuple[Any, Rows]]) -> Iterator[tuple[Any, list[Verdict]]]:
        """See `RuleSet.sweep`."""
        return ((record_id, self.verdicts(rows)) for record_id, rows in records)

    def _plans_of(self, rows: Rows) -> list[Plan]:
        places = list(map(_place, rows))
        repeated = frozenset([place for place in places if place[1]])
        return [self._plans.get((p, repeated)) or self._plan(p, repeated) for p in places]

    def _plan(self, place: Place, repeated: frozenset[Place]) -> Plan:
        cells, *others = (dict(zip(_PLACE, p, strict=True)) for p in (place, *repeated))
        row = Record(self._context, [cells, *others], self.today).rows[0]
        closures = _Closures(self._context, cells, self.today)
        planner = Planner(self._context, row.holds, closures)
        answers: dict[int, Answer] = {}
        for index, rule in enumerate(self._rules):
            if not row.is_mapped(rule.column.form):
                answers[index] = Fixed((Outcome.NOT_APPLICABLE, None))
            elif row.holds(rule.column.form):
                answers[index] = planner.answer(rule)
        generator = Generator(self._values, closures.row, answers, planner.leaves)
        plan = self._plans[place, repeated] = Plan(generator, tuple(answers))
        if not others and not generator.is_asking:
            self._lone[place] = plan.run
        return plan

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
        row, slow = self.rows[number], partial(self.slow, number)
        try:
            try:
                return plan.run(row, slow)
            except AskError:
                return plan.guarded(row, slow)
        except (SlowRecordError, TypeError):  # a cell that no dict takes as a key
            return [slow(index) for index in plan.indices]


def _place(row: Mapping[str, Any]) -> Place:
    return row.get(_EVENT), row.get(_INSTRUMENT)


def _never(index: int) -> Verdict:
    raise AssertionError(index)


def _in_order(plans: Sequence[Plan], answers: Sequence[list[Verdict]]) -> list[Verdict]:
    """The verdicts of a record's rows in rule order, then row order."""
    ordered = [
        (index, number, verdict)
        for number, (plan, verdicts) in enumerate(zip(plans, answers, strict=True))
        for index, verdict in zip(plan.indices, verdicts, strict=True)
    ]
    ordered.sort(key=lambda entry: entry[:2])
    return [verdict for _index, _number, verdict in ordered]


def _verdict_of(result: RuleResult | None) -> Verdict:
    return (Outcome.ERROR, None) if result is None else (result.outcome, result.reason)


class _Closures:
    """The rules on a lone row at one place."""

    def __init__(self, context: StudyContext, place: dict[str, Any], today: date) -> None:
        self._context = context
        self._place = place
        self._today = today

    def row(self, cells: Mapping[str, Any]) -> Row:
        """See `planning.Closures`."""
        return Record(self._context, [{**self._place, **cells}], self._today).rows[0]

    def judge(self, rule: Rule, row: Row) -> Verdict:
        """See `planning.Closures`."""
        return _verdict_of(evaluate(rule, row))

    def decide(self, rule: Rule, row: Row) -> Verdict | None:
        """See `planning.Closures`."""
        try:
            return _verdict_of(decided(rule, row))
        except Exception:  # as in evaluate; the whole rule will report it
            return None

    def part(self, rule: Rule, logic: Any) -> Rule | None:
        """See `planning.Closures`."""
        return part_of(rule, logic, self._context)

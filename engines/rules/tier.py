"""Verdicts of a rule set through the generated functions of `fast`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from engines.rules.context import StudyContext
from engines.rules.evaluation import decided, evaluate, rows_for
from engines.rules.fast import Generator, Plan, SlowRowError, Verdict
from engines.rules.record import Record, Row
from engines.rules.results import Outcome, RuleResult
from engines.rules.rule import Rule, compile_rule

if TYPE_CHECKING:
    from engines.rules.ruleset import RuleSet


class FastTier:
    """The generated functions of a rule set for one day, one for each kind of place."""

    def __init__(self, rule_set: RuleSet, today: date) -> None:
        self.today = today
        self._rules = rule_set.rules
        self._context = rule_set.context
        self._plans: dict[tuple[Any, ...], Plan] = {}
        self._place: dict[str, Any] = {}

    def verdicts(self, rows: Sequence[Mapping[str, Any]]) -> list[Verdict]:
        """See `RuleSet.verdicts`."""
        if not self._context.has_dictionary:
            record = Record(self._context, rows, self.today)
            found = (evaluate(r, row) for r in self._rules for row in rows_for(r, record))
            return [(result.outcome, result.reason) for result in found if result is not None]
        places = [tuple(map(row.get, _PLACE)) for row in rows]
        repeated = frozenset(place[:2] for place in places if place[1])
        plans = [self._plan(place, repeated) for place in places]
        answers = [self._run(plan, rows, number) for number, plan in enumerate(plans)]
        if len(rows) == 1:
            return answers[0]
        ordered = [
            (index, number, verdict)
            for number, (plan, values) in enumerate(zip(plans, answers, strict=True))
            for index, verdict in zip(plan.indices, values, strict=True)
        ]
        ordered.sort(key=lambda entry: entry[:2])
        return [verdict for _index, _number, verdict in ordered]

    def _run(self, plan: Plan, rows: Sequence[Mapping[str, Any]], number: int) -> list[Verdict]:
        made: list[Record] = []

        def slow(index: int) -> Verdict:
            if not made:
                made.append(Record(self._context, rows, self.today))
            return _verdict_of(evaluate(self._rules[index], made[0].rows[number]))

        try:
            return plan.run(rows[number], slow)
        except SlowRowError:
            return [slow(index) for index in plan.indices]

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
        clean = (Outcome.PASS, None), (Outcome.FAIL, None)
        closures = _Closures(self._context, cells, self.today)
        generator = Generator(self._context, row.holds, closures, clean)
        return generator.build([_at_place(rule, row) for rule in self._rules])


_PLACE = ("redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance")


def _at_place(rule: Rule, row: Row) -> Rule | Verdict | None:
    if not row.is_mapped(rule.column.form):
        return Outcome.NOT_APPLICABLE, None
    return rule if row.holds(rule.column.form) else None


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
        return _verdict_of(evaluate(rule, self._row(row)))

    def decide(self, rule: Rule, row: Mapping[str, Any]) -> Verdict | None:
        try:
            return _verdict_of(decided(rule, self._row(row)))
        except Exception:  # as in evaluate; the whole rule will report it
            return None

    def part(self, rule: Rule, logic: Any) -> Rule | None:
        compiled, _problems = compile_rule({"field": rule.field, "logic": logic}, "", self._context)
        return compiled

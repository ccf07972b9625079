"""Clinical rule sets: checked, compiled once, evaluated record by record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, TypeVar

from rules.compiler import Problem, refuse
from rules.context import StudyContext
from rules.evaluation import evaluate, rows_for
from rules.leaves import Verdict
from rules.record import Record
from rules.results import RuleResult
from rules.rule import Rule, compile_rule
from rules.tier import FastTier

Key = TypeVar("Key")


def validate_rules(rules: Sequence[Any], context: StudyContext) -> list[Problem]:
    """Every reason not to save these rules, in rule order; empty when they may be saved and run."""
    compiled = _compile_each(rules, context, is_saving=True)
    return [problem for _rule, problems in compiled for problem in problems]


def compile_rule_set(rules: Sequence[Any], context: StudyContext) -> RuleSet:
    """The rules ready to run; RuleError naming every problem when they are refused."""
    compiled = _compile_each(rules, context)
    problems = [problem for _rule, found in compiled for problem in found]
    if problems:
        raise refuse(problems)
    return RuleSet(tuple(rule for rule, _found in compiled if rule is not None), context)


def _compile_each(
    rules: Sequence[Any], context: StudyContext, *, is_saving: bool = False
) -> list[tuple[Rule | None, list[Problem]]]:
    return [
        compile_rule(rule, f"rules/{index}", context, is_saving=is_saving)
        for index, rule in enumerate(rules)
    ]


class RuleSet:
    """Compiled rules of one study; stateless between calls, safe to share."""

    def __init__(self, rules: tuple[Rule, ...], context: StudyContext) -> None:
        self.rules = rules
        self.context = context
        self._tier: FastTier | None = None

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
            for row in rows_for(rule, record)
            if (result := evaluate(rule, row)) is not None
        ]

    def verdicts(self, rows: Sequence[Mapping[str, Any]], today: date) -> list[Verdict]:
        """Outcome and reason of every result of `evaluate`, in its order, from the fast tier."""
        return self._fast(today).verdicts(rows)

    def sweep(
        self, records: Iterable[tuple[Key, Sequence[Mapping[str, Any]]]], today: date
    ) -> Iterator[tuple[Key, list[Verdict]]]:
        """`verdicts` of many (record id or other key, rows), in batches; `evaluate` gives a record's results.

        `records` may be a generator: no more than one batch is held.
        """
        return self._fast(today).sweep(records)

    def _fast(self, today: date) -> FastTier:
        tier = self._tier
        if tier is None or tier.today != today:
            tier = self._tier = FastTier(self, today)
        return tier

"""Clinical rule sets: checked, compiled once, evaluated record by record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from core.rules.compiled import CompiledRules
from core.rules.compiler import refuse
from core.rules.context import StudyContext
from core.rules.evaluation import judge, rows_for
from core.rules.record import Record
from core.rules.results import RuleResult
from core.rules.rule import Rule, compile_rule


def compile_rule_set(rules: Sequence[Any], context: StudyContext) -> RuleSet:
    """The rules ready to run; RuleError naming every problem when they are refused."""
    compiled = [compile_rule(rule, f"rules/{at}", context) for at, rule in enumerate(rules)]
    problems = [problem for _rule, found in compiled for problem in found]
    if problems:
        raise refuse(problems)
    return RuleSet(tuple(rule for rule, _found in compiled if rule is not None), context)


class RuleSet:
    """Compiled rules of one study; safe to share."""

    def __init__(self, rules: tuple[Rule, ...], context: StudyContext) -> None:
        self.rules = rules
        self.context = context
        self._compiled: CompiledRules | None = None

    def evaluate(
        self, record_id: str | None, rows: Sequence[Mapping[str, Any]], today: date
    ) -> list[RuleResult]:
        """All outcomes for one record, in rule order, then row order.

        `record_id` only names the record for the caller; `rows` are the record's exported rows, which
        must not change while results are in use.
        """
        record = Record(self.context, rows, today)
        if self.context.has_dictionary:
            return self._of_day(today).results(record)
        return [
            RuleResult(rule, row, verdict)
            for rule in self.rules
            for row in rows_for(rule, record)
            if (verdict := judge(rule, row)) is not None
        ]

    def _of_day(self, today: date) -> CompiledRules:
        compiled = self._compiled
        if compiled is None or compiled.today != today:
            compiled = self._compiled = CompiledRules(self.rules, self.context, today)
        return compiled

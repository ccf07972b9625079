"""Rules as one function for each kind of place: the verdicts that `evaluation` gives, sooner.

Cells of a study repeat (codes, ages, blanks): what the closures said of a cell is remembered, and
what is unusual (an impossible value, a cell that is no text, a look at another row) stays theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import repeat
from operator import itemgetter
from typing import Any, TypeAlias

from core.rules import dependencies
from core.rules.context import StudyContext
from core.rules.evaluation import judge
from core.rules.record import Record, Row
from core.rules.results import RuleResult
from core.rules.rule import Rule
from core.rules.writer import FunctionWriter, Lone, UnusualError

Kind: TypeAlias = tuple[str | None, str | None, frozenset[str]]
"""Event and instrument of a row, and what repeats beside a row without instrument."""
Numbered: TypeAlias = tuple[Sequence[int], list[RuleResult]]
"""Results of one row, and the numbers of their rules."""


class CompiledRules:
    """The rules of a study for one day; safe to share."""

    def __init__(self, rules: Sequence[Rule], context: StudyContext, today: date) -> None:
        self.today = today
        self._rules = rules
        self._context = context
        self._functions: dict[Kind, _Function] = {}
        self._met: set[Kind] = set()

    def results(self, record: Record) -> list[RuleResult]:
        """All results of a record, in rule order, then row order."""
        kinds = [_kind(row) for row in record.rows]
        answers = [self._of_row(kind, row) for kind, row in zip(kinds, record.rows, strict=True)]
        self._met.update(kinds)
        if len(answers) == 1:
            return answers[0][1]
        numbered = [pair for answer in answers for pair in zip(*answer, strict=True)]
        return [result for _number, result in sorted(numbered, key=itemgetter(0))]

    def _of_row(self, kind: Kind, row: Row) -> Numbered:
        """A function costs as much as a few records: it is written for what is met again."""
        function = self._functions.get(kind)
        if function is None and kind in self._met:
            function = self._functions[kind] = _Function(
                self._rules, self._context, kind, self.today
            )
        if function is not None:
            return function.numbers, function.results(row)
        judged = [(number, judge(rule, row)) for number, rule in enumerate(self._rules)]
        known = [(number, verdict) for number, verdict in judged if verdict is not None]
        results = [RuleResult(self._rules[number], row, verdict) for number, verdict in known]
        return [number for number, _verdict in known], results


class _Function:
    """What answers the rows of one kind."""

    def __init__(
        self, rules: Sequence[Rule], context: StudyContext, kind: Kind, today: date
    ) -> None:
        place, *others = _cells(kind)
        row = Record(context, [place, *others], today).rows[0]
        is_held = [not row.is_mapped(r.column.form) or row.holds(r.column.form) for r in rules]
        self.numbers = [number for number, held in enumerate(is_held) if held]
        self._rules = [rules[number] for number in self.numbers]
        columns = [dependencies.of_rule(context, rule) or {} for rule in self._rules]
        writer = FunctionWriter(Lone(context, place, today), row)
        codes = [writer.verdict(*pair) for pair in zip(self._rules, columns, strict=True)]
        self._reads = [frozenset(names) for names in columns]
        self._asked = [number for number, code in enumerate(codes) if code is None]
        self._run = writer.build([code or "None" for code in codes])

    def results(self, row: Row) -> list[RuleResult]:
        """The results of a row, in the order of `numbers`."""
        try:
            found, asked = self._run(row.data), self._asked
        except (UnusualError, TypeError):  # the second: a cell that no dict takes as a key
            found, asked = self._around(row.data)
        for number in asked:
            found[number] = judge(self._rules[number], row)
        return list(map(RuleResult, self._rules, repeat(row), found))

    def _around(self, data: Mapping[str, Any]) -> tuple[list[Any], list[int]]:
        """The verdicts as if unusual cells were absent, and the rules that read them or are asked."""
        odd = {name for name, cell in data.items() if not isinstance(cell, str)}
        while True:
            try:
                found = self._run({n: cell for n, cell in data.items() if n not in odd})
            except UnusualError as unusual:
                if unusual.names <= odd:  # a condition without a result whatever is there: 1 / 0
                    return [None] * len(self._rules), [*range(len(self._rules))]
                odd |= unusual.names
            else:
                touched = [n for n, names in enumerate(self._reads) if not odd.isdisjoint(names)]
                return found, [*self._asked, *touched]


def _kind(row: Row) -> Kind:
    event, instrument = row.place.event, row.place.instrument
    if instrument is not None or not row.record.seen_repeating:
        return event, instrument, frozenset()
    return event, None, frozenset(form for e, form in row.record.seen_repeating if e == event)


def _cells(kind: Kind) -> list[dict[str, Any]]:
    """Rows that make up such a place, the one in question first."""
    event, instrument, repeated = kind
    forms = [instrument, *repeated]
    return [{"redcap_event_name": event, "redcap_repeat_instrument": form} for form in forms]

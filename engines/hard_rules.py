"""Hard rules over one record, for programs that call them: no database, no model (seed 001 section 2).

Standard JSON Logic lets a missing age pass `age <= 75`; here every value is typed by the data
dictionary and a rule that can't be decided is UNKNOWN, never a pass (decisions.md, Engines).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from core.house import clock
from core.rules.context import StudyContext
from core.rules.evaluation import Outcome
from core.rules.limits import RuleError
from core.rules.results import RuleResult, refused
from core.rules.ruleset import compile_rule_set

_CLEAN = {Outcome.PASS, Outcome.NOT_APPLICABLE}


class HardRuleEngine:
    """Runs rules on one record; the seed's interface over the clinical rule sets."""

    def __init__(self, project: Mapping[str, Any] | None = None) -> None:
        self._project = project

    def run(
        self,
        rules: Sequence[Mapping[str, Any]],
        data: Mapping[str, Any],
        dictionary: Sequence[Mapping[str, Any]] | None = None,
        *,
        today: date | None = None,
    ) -> list[RuleResult]:
        """Every FAIL, UNKNOWN and ERROR; an empty list means that all rules passed.

        `data` is a flat row or {"record_id", "rows": [...]}, `dictionary` REDCap's metadata.
        A rule that would be refused on saving gives an ERROR and does not stop the others. Raises RuleError
        where the record id is neither a text nor a number.
        """
        context = StudyContext.build(dictionary, self._project)
        record_id, rows = record_rows(data, context)
        day = today or resolve_today(None, context)
        try:
            results = compile_rule_set(rules, context).evaluate(record_id, rows, day)
        except RuleError:
            results = []
            for rule in rules:
                try:
                    results += compile_rule_set([rule], context).evaluate(record_id, rows, day)
                except RuleError as error:
                    results.append(refused(rule, str(error)))
        return [result for result in results if result.outcome not in _CLEAN]

    def is_all_passed(
        self,
        rules: Sequence[Mapping[str, Any]],
        data: Mapping[str, Any],
        dictionary: Sequence[Mapping[str, Any]] | None = None,
        *,
        today: date | None = None,
    ) -> bool:
        """Whether `run` finds nothing."""
        return not self.run(rules, data, dictionary, today=today)


def record_rows(
    data: Mapping[str, Any], context: StudyContext
) -> tuple[str | None, list[Mapping[str, Any]]]:
    """Record id and rows of a flat REDCap row or of {"record_id", "rows": [...]}.

    RuleError when `rows` is not a list of objects, or the id neither a text nor a number.
    """
    rows = data.get("rows")
    if not isinstance(rows, list):
        if "rows" in data and "rows" not in context.columns:
            raise RuleError("rows must be a list of objects")
        record_id = data.get(context.record_id_field, data.get("record_id"))
        return _id(record_id), [data]
    if not all(isinstance(row, Mapping) for row in rows):
        raise RuleError("rows must be a list of objects")
    first = rows[0].get(context.record_id_field) if rows else None
    return _id(data.get("record_id", first)), rows


def _id(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise RuleError("the record id must be a text or a number")
    return None if value is None else str(value)


def resolve_today(text: str | None, context: StudyContext) -> date:
    """The day `text` names in the project's time zone; None is now.

    `text` is a date, or an ISO datetime (with an offset; without one it is local already).
    RuleError for anything else. E28: 2024-03-01T17:30Z is 2024-03-02 in Asia/Shanghai.
    """
    if text is None:
        return clock.today(context.timezone.key)
    try:
        return date.fromisoformat(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
        return (moment.astimezone(context.timezone) if moment.tzinfo else moment).date()
    except (ValueError, OverflowError):  # the second: before year 1 or after 9999 in that zone
        raise RuleError(f"not a date or ISO datetime: {text}") from None

"""`where` of a query for one subject: conditions on one form hold in one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.study.oracle import cells, compare, operands
from tests.study.oracle.compare import NO, YES, Verdict, both, either, opposite
from tests.study.oracle.study import Line, Study, Subject
from tests.study.oracle.windows import Visit


@dataclass(frozen=True)
class Scope:
    """The query's `place` and `period`, which restrict rows."""

    events: frozenset[str] | None = None
    first: Any = None
    last: Any = None

    @property
    def has_period(self) -> bool:
        """Whether rows must lie in a period."""
        return self.first is not None or self.last is not None


def scope_of(study: Study, query: dict[str, Any]) -> Scope:
    """Place and the period that is about rows' dates."""
    events = None
    if query.get("place") is not None:
        events = frozenset(operands.events_of(study, query["place"]))
    period = query.get("period") or {}
    if "field" in period:
        period = {}
    return Scope(events, period.get("from"), period.get("to"))


def in_scope(study: Study, subject: Subject, line: Any, scope: Scope) -> Verdict:
    """Whether a row, or a planned visit, lies in the query's place and period."""
    if (
        scope.events is not None
        and line.event not in scope.events
        and (
            isinstance(line, Visit)
            or any(study.can_stand(line.form, event) for event in scope.events)
        )
    ):
        return NO
    if not scope.has_period:
        return YES
    if isinstance(line, Visit):
        day = cells.of_day(line.planned) if line.planned else None
    else:
        day = operands.row_date(study, line) if line.data is not None else None
    if day is None:
        return NO
    found = YES
    if scope.first is not None:
        found = both(
            found, compare.compare(day, ">=", operands.value(study, subject, None, scope.first), {})
        )
    if scope.last is not None:
        found = both(
            found, compare.compare(day, "<=", operands.value(study, subject, None, scope.last), {})
        )
    return found


def lines_in(
    study: Study, subject: Subject, form: str, scope: Scope, *, selected: bool
) -> list[tuple[Line, Verdict]]:
    """The rows of a form to look at; of forms with one row conditions see it wherever it is."""
    found = []
    for line in operands.ordered(study, subject.lines[form]):
        verdict = in_scope(study, subject, line, scope) if selected or study.has_many(form) else YES
        if verdict[0] is not False:
            found.append((line, verdict))
    return found


class Where:
    """The truth of a list of conditions for one subject and the rows that matched."""

    def __init__(self, study: Study, subject: Subject, scope: Scope) -> None:
        self.study, self.subject, self.scope = study, subject, scope
        self.matched: dict[str, list[Line]] = {}

    def decide(self, conditions: list[dict[str, Any]]) -> Verdict:
        """All conditions, those on one form joined on a row."""
        truth = YES
        joined: dict[str, list[dict[str, Any]]] = {}
        for condition in self.flat(conditions):
            form = self.joins(condition)
            if form is None:
                truth = both(truth, self.alone(condition))
            else:
                joined.setdefault(form, []).append(condition)
        for form, own in joined.items():
            truth = both(truth, self.join(form, own))
        return truth

    def flat(self, conditions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """`all` only groups."""
        found = []
        for condition in conditions:
            found += self.flat(condition["all"]) if "all" in condition else [condition]
        return found

    def joins(self, condition: dict[str, Any]) -> str | None:
        """The form on whose rows a condition is joined; None where it stands by itself."""
        if "any" in condition or "all" in condition:
            forms = {self.joins(one) for one in condition.get("any", condition.get("all"))}
            return forms.pop() if len(forms) == 1 else None
        if "none" in condition or condition.get("holds") == "every":
            return None
        field = condition["field"]
        if isinstance(field, dict):
            if "place" in field or "rows" in field:
                return None
            field = field["field"]
        return operands.form_of(self.study, field)

    def alone(self, condition: dict[str, Any]) -> Verdict:
        """A condition that is not joined with others."""
        if "none" in condition:
            truth = YES
            for one in condition["none"]:
                truth = both(truth, opposite(self._quiet([one])))
            return truth
        if "any" in condition:
            truth = NO
            for one in condition["any"]:
                truth = either(truth, self._quiet([one]))
            return truth
        if condition.get("holds") == "every":
            return self._every(condition)
        truth = NO
        for row, verdict in self._own_rows(condition):
            truth = either(truth, both(verdict, self._test(row, condition)))
        return truth

    def _own_rows(self, condition: dict[str, Any]) -> list[tuple[Any, Verdict]]:
        """The rows of a condition that stands by itself: at its own place, picked by its own `rows`."""
        field = (
            condition["field"]
            if isinstance(condition["field"], dict)
            else {"field": condition["field"]}
        )
        name = operands.plain_name(self.study, field["field"])
        form = operands.form_of(self.study, name)
        rows = self._rows(form, due=condition["op"] == "blank")
        if "place" in field:
            events = operands.events_of(self.study, field["place"])
            scope = Scope(None, self.scope.first, self.scope.last)
            if not self.study.has_many(form):
                scope = Scope()
            lines = [*operands.ordered(self.study, self.subject.lines[form])]
            lines += self.subject.due[form] if condition["op"] == "blank" else []
            rows = [
                (line, in_scope(self.study, self.subject, line, scope))
                for line in lines
                if line.event in events
            ]
            rows = [(line, verdict) for line, verdict in rows if verdict[0] is not False]
        if "rows" in field:
            lines = [line for line, _verdict in rows]
            kept = operands.pick(self.study, lines, name, field["rows"])
            kept += operands.uncomparable(self.study, lines, name, field["rows"])
            rows = [(line, verdict) for line, verdict in rows if line in kept]
        return rows

    def _quiet(self, conditions: list[dict[str, Any]]) -> Verdict:
        """Decided for itself; its rows are not those that matched."""
        return Where(self.study, self.subject, self.scope).decide(conditions)

    def _every(self, condition: dict[str, Any]) -> Verdict:
        field = condition["field"]
        name = field["field"] if isinstance(field, dict) else field
        verdicts: list[Verdict] = []
        for line, verdict in self._own_rows(condition):
            if self._state(line, name) != "hidden":
                verdicts.append(both(verdict, self._test(line, condition)))
        if any(verdict[0] is False for verdict in verdicts):
            return NO
        if any(verdict[0] is True for verdict in verdicts):
            return YES
        return next(iter(verdicts), NO)

    def _rows(self, form: str, *, due: bool = False) -> list[tuple[Any, Verdict]]:
        """The rows a condition on a form looks at; `due`: also what due visits owe."""
        if form == "@subject":
            return [(None, YES)]
        if form == "@visits":
            rows = [
                (v, in_scope(self.study, self.subject, v, self.scope)) for v in self.subject.visits
            ]
            return [(visit, verdict) for visit, verdict in rows if verdict[0] is not False]
        found: list[tuple[Any, Verdict]] = [
            *lines_in(self.study, self.subject, form, self.scope, selected=False)
        ]
        for line in self.subject.due[form] if due else []:
            if (
                not self.study.has_many(form)
                or in_scope(self.study, self.subject, line, self.scope)[0]
            ):
                found.append((line, YES))
        return found

    def join(self, form: str, conditions: list[dict[str, Any]]) -> Verdict:
        """One row for which all of them hold."""
        truth, found = NO, []
        due = all(self._is_blank(condition) for condition in conditions)
        for row, verdict in self._rows(form, due=due):
            for condition in conditions:
                verdict = both(verdict, self._test(row, condition))
            if verdict[0] is True:
                found.append(row)
            truth = either(truth, verdict)
        self.matched[form] = found
        return truth

    def _is_blank(self, condition: dict[str, Any]) -> bool:
        if "op" in condition:
            return condition["op"] == "blank"
        return all(self._is_blank(one) for one in condition.get("any", condition.get("all")))

    def _test(self, row: Any, condition: dict[str, Any]) -> Verdict:
        """One condition, or an `any` or `all` within a form, on one row."""
        if "any" in condition:
            truth = NO
            for one in condition["any"]:
                truth = either(truth, self._test(row, one))
            return truth
        if "all" in condition:
            truth = YES
            for one in condition["all"]:
                truth = both(truth, self._test(row, one))
            return truth
        field, op = condition["field"], condition["op"]
        name = field["field"] if isinstance(field, dict) else field
        left = self._left(row, field)
        given = condition.get("value", [])
        listed = given if isinstance(given, list) else [given]
        line = row if isinstance(row, Line) else None
        values = [operands.value(self.study, self.subject, line, one, name) for one in listed]
        return compare.holds(left, op, values, self._labels(name))

    def _left(self, row: Any, field: Any) -> cells.Cell:
        name = field["field"] if isinstance(field, dict) else field
        if name.startswith("@visits."):
            return visit_cell(row, name.partition(".")[2])
        return operands.own_value(
            self.study, self.subject, row, field if isinstance(field, dict) else {"field": name}
        )

    def _state(self, row: Any, name: str) -> str:
        return "value" if name.startswith("@") else self._left(row, name).state

    def _labels(self, name: str) -> dict[str, str]:
        if name == "@status":
            name = self.study.settings["status_field"]
        name = operands.plain_name(self.study, name)
        return cells.choices_of(self.study.fields[name]) if name in self.study.fields else {}


def visit_cell(visit: Any, column: str) -> cells.Cell:
    """A column of the visit table."""
    found = getattr(visit, column)
    if found is None:
        return cells.blank(cells.DATE)
    if column in ("visit", "state"):
        return cells.Cell("value", cells.TEXT, found)
    if column == "days":
        return cells.point(cells.Fraction(found))
    return cells.of_day(found)

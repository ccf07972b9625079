"""A subject's rows as a query sees them: by form, in order, with their dates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cached_property
from itertools import chain
from typing import Any

from rules import parse
from rules.record import Record, Row
from rules.values import Items, Moment, Value
from study.query.cells import BLANK, Cell, Line, State, as_moment
from study.query.literals import midnight
from study.query.measure import Measure
from study.query.names import Names
from study.query.tree import PROJECT, SUBJECT, VISITS, WORK
from study.records import RecordData
from study.visits.calendar import State as VisitStateName
from study.visits.calendar import VisitState
from study.visits.window import planned_states

Work = Callable[[str], Mapping[str, Sequence[Mapping[str, Any]]]]
AGE = "@age"
"""The column that a reader of records adds to a row: completed years at consent."""
_DUE = frozenset({VisitStateName.DUE, VisitStateName.OVERDUE})
_DATED = {
    "@findings": "@findings.opened",
    "@reviews": "@reviews.since",
    "@runs": "@runs.ended",
    "@changes": "@changes.at",
}


class Subject:
    """One record under one study, reader and day; nothing is converted before it is asked for."""

    def __init__(
        self, data: RecordData, names: Names, measure: Measure, today: date, work: Work
    ) -> None:
        self.data = data
        self.id = data.record_id
        self.names = names
        self.measure = measure
        self.today = today
        self._work = work
        self._lines: dict[str, list[Line]] = {}

    @cached_property
    def record(self) -> Record:
        """The rows without what the reader must not learn of."""
        return Record(self.names.context, self.data.rows, self.today)

    def lines(self, form: str) -> list[Line]:
        """The rows of a form in the order of `latest`: by event, date where it repeats, instance."""
        found = self._lines.get(form)
        if found is None:
            found = self._lines[form] = self._found(form)
        return found

    def _found(self, form: str) -> list[Line]:
        if form == SUBJECT:
            return [Line(self, form, values=self._columns())]
        if form == PROJECT:
            return [Line(self, form, values=project_columns(self.names))]
        if form == VISITS:
            return self._visit_lines()
        if form in WORK:
            return self._work_lines(form)
        lines = [Line(self, form, row) for row in self.record.rows if row.holds(form)]
        return sorted(lines, key=self._rank) if len(lines) > 1 else lines

    def _rank(self, line: Line) -> tuple[int, int, int]:
        repeated = line.row is not None and line.row.place.instrument is not None
        day = self.date_of(line) if repeated else None
        return self.event_rank(line.event), day.days[0] if day else 0, line.instance or 0

    def event_rank(self, event: str) -> int:
        """The place of an event in the study; what has none comes first."""
        return self.names.design.event_order.get(event, -1 if not event else 10_000)

    # --- dates ------------------------------------------------------------------------------------

    def date_of(self, line: Line) -> Moment | None:
        """The row's date: of its form's date field, else of the visit at that event."""
        if line.day is False:
            line.day = self._date_of(line)
        return line.day

    def _date_of(self, line: Line) -> Moment | None:
        if line.form in _DATED:
            value = line.values.get(_DATED[line.form])
            return value if isinstance(value, Moment) else None
        if line.form == VISITS:
            state: VisitState = line.values[VISITS]
            day = state.actual or state.planned
            return midnight(day) if day else None
        source = self.names.column_source(self.names.design.form_dates.get(line.form, ""))
        told = as_moment(line.cell(source).value) if source and line.row else None
        return told or self._visit_dates.get(line.event)

    @cached_property
    def _visit_dates(self) -> Mapping[str, Moment]:
        found: dict[str, Moment] = {}
        for line in self.lines(VISITS):
            day = self.date_of(line)
            if day is not None:
                for event in line.values["events"]:
                    found.setdefault(event, day)
        return found

    # --- visits -----------------------------------------------------------------------------------

    def _visit_lines(self) -> list[Line]:
        design, events = self.names.design, self.names.visit_events
        own = {row.place.event for row in self.record.rows}
        lines = []
        for visit, state in planned_states(design.plan, self.data, self.today):
            at = (visit.event,) if visit.event else self._of_arm(events.get(visit.visit, ()))
            event = next((e for e in at if e in own), at[0] if at else "")
            lines.append(Line(self, VISITS, values=_visit_values(state, at), event=event))
        return lines

    def _of_arm(self, events: Sequence[str]) -> Sequence[str]:
        """Those of the subject's arms, where its rows tell any."""
        arms = self.names.arms
        return [event for event in events if arms.get(event) in self._arms] or events

    @cached_property
    def _arms(self) -> frozenset[str | None]:
        arms = self.names.arms
        return frozenset(arms.get(row.place.event or "") for row in self.record.rows)

    def due_lines(self, form: str) -> list[Line]:
        """Rows of `form` that are not there although their visit is due; not of forms that repeat."""
        if form not in self.names.due_forms:
            return []
        there = {row.place.event for row in self.record.rows}
        found = []
        for line in self.lines(VISITS):
            if line.values[VISITS].state not in _DUE:
                continue
            for event in line.values["events"]:
                if event in there or not self.names.is_expected(form, event):
                    continue
                row = Row(self.record, self._blank(form, event))
                found.append(Line(self, form, row, is_absent=True))
        return found

    def _blank(self, form: str, event: str) -> dict[str, str]:
        columns = self.names.context.columns.items()
        blank = {name: "" for name, column in columns if column.form == form}
        return blank | {"redcap_event_name": event}

    # --- columns of the subject, of work ----------------------------------------------------------

    def _columns(self) -> Mapping[str, Any]:
        return {
            "@site": self.data.site,
            "@status": lambda: self._status,
            "@enrolled": lambda: self._enrolled,
            AGE: self._age,
        }

    @cached_property
    def _status(self) -> Cell:
        return self._single(self.names.design.status_field)

    @cached_property
    def _enrolled(self) -> Cell:
        return self._single(self.names.design.enrolment_field)

    def _single(self, name: str) -> Cell:
        """The last row's answer to a field that belongs to the subject."""
        source = self.names.column_source(name)
        lines = self.lines(source.form) if source else []
        cells = (line.cell(source) for line in reversed(lines) if source)
        last = next(cells, BLANK)
        return next(
            (c for c in chain((last,), cells) if c.state in {State.VALUE, State.CODE}), last
        )

    def _age(self) -> Value:
        told = (str(row.get(AGE, "")).strip() for row in self.data.rows if AGE in row)
        return next((parse.exact(text) for text in told if text), None)

    def _work_lines(self, form: str) -> list[Line]:
        rows = self._work(form.removeprefix("@")).get(self.id, ())
        return [
            Line(
                self,
                form,
                values={f"{form}.{name}": _typed(f"{form}.{name}", v) for name, v in row.items()},
                event=str(row.get("event") or ""),
                instance=row.get("instance"),
            )
            for row in rows
        ]


def _typed(name: str, value: Any) -> Value:
    """A cell of a row of findings, reviews or runs: dates are ISO text, numbers numbers."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Decimal(str(value))
    if name in _DATED.values() and isinstance(value, str):
        return parse.moment(value[: len("2026-01-01T00:00:00")])
    return value if value is None else str(value)


def _visit_values(state: VisitState, events: Sequence[str]) -> dict[str, Any]:
    return {
        VISITS: state,
        "events": tuple(events),
        "@visits.visit": state.visit,
        "@visits.state": state.state.value,
        "@visits.open": _day(state.open),
        "@visits.close": _day(state.close),
        "@visits.target": _day(state.target),
        "@visits.actual": _day(state.actual),
        "@visits.days": Decimal(state.days),
    }


def _day(day: date | None) -> Moment | None:
    return midnight(day) if day else None


def project_columns(names: Names) -> dict[str, Any]:
    """The study's own columns; sites are those that the reader can see anything of."""
    design = names.design
    return {
        f"{PROJECT}.target": Decimal(design.target),
        f"{PROJECT}.start": midnight(design.start),
        f"{PROJECT}.sites": Items(tuple(names.sites)),
    }

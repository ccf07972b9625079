"""A subject's rows as a query sees them: cells, units and limits, dates, order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import Enum, auto
from functools import cache, cached_property, partial
from itertools import chain
from typing import Any, Literal

from core.language.limits import limits
from core.rules import parse, units
from core.rules.arithmetic import to_number
from core.rules.convert import Reading
from core.rules.record import Record, Row
from core.rules.values import Code, Items, Moment, Range, Reason, Unknown, Value
from core.rules.visibility import visibility
from study.proposals import ReferenceRange
from study.query.literals import midnight
from study.query.names import Names
from study.query.tree import PROJECT, SUBJECT, VISITS, WORK, Source, Type
from study.records import RecordData
from study.visits.calendar import State as VisitStateName
from study.visits.calendar import VisitSpec, VisitState
from study.visits.window import planned_states

_APPLICABILITY = Unknown(Reason.APPLICABILITY_UNKNOWN)
NOT_EXPORTED = Unknown(Reason.NOT_EXPORTED)
MISSING = Unknown(Reason.MISSING)
HIDDEN = Unknown(Reason.MISSING, "hidden")
"""The value of a hidden blank, told from others by identity: a condition that reads it is not decided."""


class State(Enum):
    """Whether a cell says something."""

    VALUE = auto()
    BLANK = auto()
    HIDDEN = auto()
    CODE = auto()
    OPEN = auto()


@dataclass(slots=True)
class Cell:
    """`value` is typed as the rules type it; Unknown for all but values, and for what cannot be read."""

    state: State
    value: Value
    reading: Reading | None = None


BLANK = Cell(State.BLANK, MISSING)
_UNREAD = Cell(State.OPEN, NOT_EXPORTED)
_NOT_TOLD = Cell(State.HIDDEN, HIDDEN)


@dataclass(slots=True)
class Limits:
    """The limits of a row in the study's unit of the field; None: open on that side."""

    low: Value = None
    high: Value = None


@dataclass(slots=True, eq=False)
class Line:
    """One row of a form: of the dictionary (`row`), or of the columns that are no fields (`values`)."""

    subject: Subject
    form: str
    row: Row | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    event: str = ""
    instance: int | None = None
    is_absent: bool = False
    day: Moment | Literal[False] | None = False

    def __post_init__(self) -> None:
        if self.row is not None:
            self.event, self.instance = self.row.place.event or "", self.row.place.instance

    def cell(self, source: Source) -> Cell:
        """What stands in `source` here."""
        if self.row is not None:
            return _of_row(self.row, source)
        value = self.values.get(source.name)
        found = value() if callable(value) else value
        if isinstance(found, Cell):
            return found
        return BLANK if found is None or found == "" else Cell(State.VALUE, found)


def _of_row(row: Row, source: Source) -> Cell:
    reading = row.read(source.name)
    value = reading.value
    if reading.is_blank is False:
        coded = _has_missing_code(value)
        return Cell(State.CODE if coded else State.VALUE, value, reading)
    if isinstance(value, Unknown) and value.reason is Reason.NOT_EXPORTED:
        return Cell(State.OPEN, value, reading)
    shown, _cause = visibility(row, source.column.field if source.column else source.name)
    if shown is False:
        return Cell(State.HIDDEN, HIDDEN, reading)
    if shown is None:
        return Cell(State.OPEN, _APPLICABILITY, reading)
    return Cell(State.BLANK, value, reading)


def _has_missing_code(value: Value) -> bool:
    if isinstance(value, Unknown):
        return value.reason is Reason.MISSING_CODE
    if not isinstance(value, Items) or value.known:
        return False
    return any(doubt.reason is Reason.MISSING_CODE for _item, doubt in value.maybes)


def as_moment(value: Value) -> Moment | None:
    """A value as a date, also of a text field that is used as one."""
    if isinstance(value, str):
        return parse.moment(value.strip())
    return value if isinstance(value, Moment) else None


def related(line: Line, form: str) -> Line | None:
    """The row of `form` that a condition on `line` reads (contracts.md, fine points, rows)."""
    if line.form == form:
        return line
    lines = line.subject.lines(form)
    here = [other for other in lines if other.event and other.event == line.event]
    same = [other for other in here if other.row is line.row and line.row is not None]
    for found in (same, here, lines):
        if found:
            return found[-1]
    return None


_UNIT_MISSING = Unknown(Reason.UNIT_MISSING)
_NO_RANGE = Unknown(Reason.MISSING)


class Measure:
    """Units and ranges of a study; the commonest unit is counted over all records when needed."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.subjects: Iterable[Subject] = ()
        self._units: dict[str, str] = {}
        self._ranges: dict[str, tuple[ReferenceRange, ...]] = {}

    def value(self, line: Line, source: Source, cell: Cell) -> Value:
        """The cell's value, numbers of a field with units in the unit that literals are in."""
        held = self._unit_source(source)
        if held is None or cell.state is not State.VALUE:
            return cell.value
        return self._converted(line, source, held, cell.value, self.unit(source))

    def unit(self, source: Source) -> str:
        """The unit of the range, else the commonest of the readings, else what the dictionary names."""
        known = self._units.get(source.name)
        if known is None:
            known = self._units[source.name] = self._unit(source)
        return known

    def unit_of(self, line: Line, source: Source) -> str:
        """The unit a value was written in; "" where none is named."""
        held = self._unit_source(source)
        if held is None:
            return self.unit(source)
        texts = _unit_texts(line, held)
        return texts[0] if texts else ""

    def ranges(self, source: Source) -> tuple[ReferenceRange, ...]:
        """The reference ranges of a field: the study's, else what the dictionary's note says."""
        known = self._ranges.get(source.name)
        if known is None:
            told = self.names.design.ranges.get(source.name) or self._noted(source)
            known = self._ranges[source.name] = told
        return known

    def limits(self, line: Line, source: Source) -> Limits:
        """The range that holds for the subject of `line`, in `unit(source)`."""
        found = self._range(line, source)
        if found is None:
            return Limits(_NO_RANGE, _NO_RANGE)
        return Limits(self._limit(line, source, found.low), self._limit(line, source, found.high))

    def scaled(self, value: Decimal, source: Source, unit: str) -> Decimal | None:
        """`value`, in the study's unit of the field, as so much of `unit`."""
        own = self.unit(source)
        if _same(own, unit):
            return value
        found = _converted(value, own, unit, source, self.names)
        return found if isinstance(found, Decimal) else None

    # --- units ------------------------------------------------------------------------------------

    def _unit_source(self, source: Source) -> Source | None:
        return self.names.column_source(self.names.design.unit_fields.get(source.name, ""))

    def _unit(self, source: Source) -> str:
        ranged = next((r.unit for r in self.ranges(source) if r.unit), "")
        held = self._unit_source(source)
        if ranged or held is None:
            return ranged or _written_unit(self.names, source)
        counted = Counter(
            texts[0]
            for subject in self.subjects
            for line in subject.lines(source.form)
            if (texts := _unit_texts(line, held)) and line.cell(source).state is State.VALUE
        )
        return min(counted, key=lambda unit: (-counted[unit], unit)) if counted else ""

    def _converted(
        self, line: Line, source: Source, held: Source, value: Value, target: str
    ) -> Value:
        number = to_number(line.subject.record, value)
        if isinstance(number, Unknown):
            return number
        texts = _unit_texts(line, held)
        if any(_same(text, target) for text in texts):
            return number
        made = (_converted(number, text, target, source, self.names) for text in texts)
        return next((found for found in made if found is not None), _UNIT_MISSING)

    # --- ranges -----------------------------------------------------------------------------------

    def _range(self, line: Line, source: Source) -> ReferenceRange | None:
        ranges = self.ranges(source)
        if not ranges:
            return None
        sex = self.sex(line) if any(r.sex for r in ranges) else ""
        own = (r for r in ranges if r.sex and r.sex == sex)
        return next(own, next((r for r in ranges if not r.sex), None))

    def _noted(self, source: Source) -> tuple[ReferenceRange, ...]:
        row = self.names.design.metadata.fields.get(source.name)
        is_number = source.column is not None and source.type is Type.NUMBER
        found = limits(str(row.get("field_note") or "")) if row and is_number else None
        return (ReferenceRange(source.name, "", "", *found),) if found else ()

    def sex(self, line: Line) -> str:
        """The code of the subject's sex; "" where none is told."""
        source = self.names.column_source(self.names.design.sex_field)
        lines = line.subject.lines(source.form) if source else []
        value = lines[-1].cell(source).value if source and lines else None
        return value.code if isinstance(value, Code) else ""

    def _limit(self, line: Line, source: Source, limit: Decimal | str | None) -> Value:
        if not isinstance(limit, str):
            return limit
        held = self.names.column_source(limit)
        other = related(line, held.form) if held else None
        if held is None or other is None:
            return _NO_RANGE
        cell = other.cell(held)
        value = to_number(line.subject.record, cell.value)
        unit = self._unit_source(source)
        if unit is None or isinstance(value, Unknown):
            return value
        return self._converted(line, source, unit, value, self.unit(source))


def _unit_texts(line: Line, held: Source) -> list[str]:
    """How a row names its unit: a text, or the label and the code of a choice."""
    value = line.cell(held).value
    if isinstance(value, Code):
        return [text for text in (value.label, value.code) if text]
    return [value.strip()] if isinstance(value, str) and value.strip() else []


def _same(a: str, b: str) -> bool:
    return a.replace(" ", "").casefold() == b.replace(" ", "").casefold()


def _converted(
    value: Decimal | Range, unit: str, target: str, source: Source, names: Names
) -> Value:
    """None where the table cannot tell."""
    made = (units.convert(value, unit, target, one) for one in _analytes(source, names))
    return next((found for found in made if found is not None), None)


def _analytes(source: Source, names: Names) -> Iterable[str]:
    """What the table may call a field: its name, its label, a part of either."""
    label = names.design.metadata.label(source.name)
    words = [source.name, label, *source.name.split("_"), *units.analytes_in(label)]
    is_known: Callable[[str], bool] = units.is_known_analyte
    return filter(is_known, words)


def _written_unit(names: Names, source: Source) -> str:
    """The unit in the field's note, else in the brackets that end its label."""
    metadata = names.design.metadata
    noted = metadata.unit(source.name)
    label = metadata.label(source.name).replace("（", "(").replace("）", ")")
    if noted or not label.endswith(")"):
        return noted
    return label[label.rfind("(") + 1 : -1].strip()


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

    @cached_property
    def unread(self) -> frozenset[str]:
        """Fields and columns that REDCap does not show whole, and forms of which it shows nothing."""
        return self.names.unread(self.data.missing_columns)

    def is_unread(self, source: Source) -> bool:
        """Whether REDCap does not show all of a column."""
        name = source.column.field if source.column else source.name
        return name in self.unread or (
            name == AGE and self.lines(SUBJECT)[0].cell(source) is _UNREAD
        )

    def unread_lines(self, form: str) -> list[Line]:
        """A row that nobody can read, of a form of which REDCap shows none: there may be one."""
        is_open = form in self.unread and not self.lines(form)
        return [Line(self, form, Row(self.record, {}))] if is_open else []

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
            design, sites = self.names.design, Items(tuple(self.names.sites))
            told = {"target": Decimal(design.target), "start": midnight(design.start)}
            values = {f"{PROJECT}.{name}": v for name, v in (told | {"sites": sites}).items()}
            return [Line(self, form, values=values)]
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
        arm_of = design.metadata.arms
        arms = {arm_of.get(event or "") for event in own}
        lines = []
        for visit, state in planned_states(design.plan, self.data, self.today):
            # Those of the subject's arms, where its rows tell any.
            named = (visit.event,) if visit.event else events.get(visit.visit, ())
            at = [e for e in named if visit.event or arm_of.get(e) in arms] or named
            event = next((e for e in at if e in own), at[0] if at else "")
            values = _visit_values(state, at)
            if state.is_doubtful:
                values["@visits.reason"] = self._labelled(state.reason or "", visit)
            lines.append(Line(self, VISITS, values=values, event=event))
        return lines

    def _labelled(self, reason: str, visit: VisitSpec) -> str:
        """Why a visit cannot be judged, its fields by their labels."""
        names = [visit.anchor_field, visit.date_field, self.names.design.plan.withdraw_field or ""]
        named = max((name for name in names if name and name in reason), key=len, default="")
        label = self.names.design.metadata.label(named) if named else ""
        return reason.replace(named, label) if named else reason

    def due_lines(self, form: str) -> list[Line]:
        """Rows of `form` that are not there although their visit is due; not of forms that repeat."""
        if form not in self.names.due_forms:
            return []
        there = {row.place.event for row in self.record.rows}
        columns = self.names.context.columns.items()
        unread = self.unread
        blank = {n: "" for n, c in columns if c.form == form and c.field not in unread}
        found = []
        for line in self.lines(VISITS):
            if line.values[VISITS].state not in _DUE:
                continue
            for event in line.values["events"]:
                if event in there or not self.names.is_expected(form, event):
                    continue
                row = Row(self.record, blank | {"redcap_event_name": event})
                found.append(Line(self, form, row, is_absent=True))
        return found

    # --- columns of the subject, of work ----------------------------------------------------------

    def _columns(self) -> Mapping[str, Any]:
        return {
            "@site": self.data.site,
            "@status": cache(partial(self._single, self.names.design.status_field)),
            "@enrolled": cache(partial(self._single, self.names.design.enrolment_field)),
            AGE: self._age,
        }

    def _single(self, name: str) -> Cell:
        """The last row's answer to a field that belongs to the subject."""
        source = self.names.column_source(name)
        lines = self.lines(source.form) if source else []
        cells = (line.cell(source) for line in reversed(lines) if source)
        last = next(cells, _UNREAD if source and source.form in self.unread else BLANK)
        return next(
            (c for c in chain((last,), cells) if c.state in {State.VALUE, State.CODE}), last
        )

    def _age(self) -> Value | Cell:
        told = (str(row.get(AGE, "")).strip() for row in self.data.rows if AGE in row)
        years = next((parse.exact(text) for text in told if text), None)
        # The date of birth is a name that no reader knows: it is not in `unread`.
        missing = {*self.names.design.age_fields} & {*self.data.missing_columns}
        is_open = years is None and bool(missing)
        return _UNREAD if is_open else years

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
    """The columns of a visit; what a date that cannot be read leaves open is no blank."""
    unclear = Cell(State.OPEN, Unknown(state.doubt)) if state.is_doubtful else None
    done = state.given.actual
    window = {
        f"@visits.{name}": midnight(day) if (day := getattr(state, name)) else unclear
        for name in ("open", "close", "target")
    }
    return {
        VISITS: state,
        "events": tuple(events),
        "@visits.visit": state.visit,
        "@visits.state": state.state.value,
        **window,
        "@visits.actual": midnight(state.actual)
        if state.actual
        else Cell(State.OPEN, Unknown(done.reason))
        if done.problem
        else None,
        "@visits.days": unclear or Decimal(state.days),
        "@visits.reason": _NOT_TOLD,
    }

"""Cells as facts: value, text as read, unit, flags and limits."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from core.rules.arithmetic import to_number
from core.rules.compare import less
from core.rules.convert import text_of
from core.rules.values import Code, Items, Moment, Range, Reason, Unknown, Value, json_value
from study.facts import Fact, FactValue, Flag, Kind, Limit, Role
from study.query.names import Names
from study.query.operands import value_of
from study.query.subject import Cell, Line, State
from study.query.tree import PROJECT, VISITS, FormItem, Item, Read, Source, Type
from study.visits.calendar import VisitState

_KINDS = {
    VISITS: Kind.WINDOW,
    PROJECT: Kind.PROJECT,
    "@findings": Kind.FINDING,
    "@reviews": Kind.REVIEW,
    "@runs": Kind.RUN,
    "@changes": Kind.CHANGE,
}
_ROLES = {
    "@visits.open": Role.OPEN,
    "@visits.close": Role.CLOSE,
    "@visits.target": Role.TARGET,
    "@visits.actual": Role.ACTUAL,
    "@project.start": Role.START,
}
_STATE_FLAGS = {"late": Flag.LATE, "early": Flag.EARLY, "overdue": Flag.OVERDUE}


class Teller:
    """Makes facts for one query."""

    def __init__(self, names: Names, today: date) -> None:
        self.names = names
        self.today = today
        self._visit_fields = frozenset(visit.date_field for visit in names.design.plan.visits)
        self._labels: dict[str, str] = {}

    def facts(self, item: Item, line: Line) -> list[Fact]:
        """What one row says of an item of `select`; hidden blanks are not told."""
        if isinstance(item, FormItem):
            told = (self._cell(source, line) for source in item.sources)
            return [fact for fact in told if fact is not None]
        found = self._cell(item.source, line) if item.minus is None else self.computed(item, line)
        return [found] if found is not None else []

    def _cell(self, source: Source, line: Line) -> Fact | None:
        cell = line.cell(source)
        if cell.state is State.HIDDEN:
            return None
        head = self._head(source, line)
        doubt = cell.value.reason if isinstance(cell.value, Unknown) else None
        is_open = cell.state is State.OPEN
        if cell.state is State.BLANK or (is_open and doubt is Reason.APPLICABILITY_UNKNOWN):
            value = () if isinstance(cell.value, Items) and not cell.value.maybes else None
            kind = Kind.BLANK if head["kind"] is Kind.VALUE else head["kind"]
            return Fact(**head | {"kind": kind, "flags": self._line_flags(line)}, value=value)
        if is_open:
            return None
        measured = self._measured(source, line, cell)
        flags = self._flags(source, line, cell) | measured.pop("flags")
        return Fact(
            **head, value=_plain(cell), text=self._text(source, cell), flags=flags, **measured
        )

    def computed(self, item: Read, line: Line) -> Fact | None:
        """A difference, percentage, number of days or ratio; None where it cannot be computed."""
        value = value_of(item, line, line.cell(item.source))
        if isinstance(value, Unknown):
            return None
        head = self._head(item.source, line)
        names = {
            "diff": _("%(label)s: difference"),
            "percent": _("%(label)s: change in percent"),
            "days": _("%(label)s: days between"),
            "ratio": _("%(label)s: ratio"),
        }
        label = names[item.how] % {"label": head["label"]}
        units = {"percent": "%", "days": pgettext("unit", "days"), "ratio": ""}
        unit = units.get(item.how, line.subject.measure.unit(item.source))
        flags = frozenset({Flag.PARTIAL}) if isinstance(value, Range) else frozenset()
        head |= {"kind": Kind.VALUE, "label": label, "unit": unit}
        exact = value if isinstance(value, Decimal) else None
        return Fact(**head, value=exact, text=_span_text(value), flags=flags)

    # --- parts of a fact --------------------------------------------------------------------------

    def _head(self, source: Source, line: Line) -> dict[str, Any]:
        day = line.subject.date_of(line) if line.form not in {"@", PROJECT} else None
        is_visit_date = source.name in self._visit_fields
        return {
            "id": "",
            "kind": _KINDS.get(line.form, Kind.VALUE),
            "subject": "" if line.form == PROJECT else line.subject.id,
            "field": source.name,
            "label": self.label(source, line),
            "event": line.event,
            "instrument": "" if line.form.startswith("@") else line.form,
            "instance": line.instance,
            "date": _day(day),
            "role": _ROLES.get(source.name, Role.ACTUAL if is_visit_date else None),
        }

    def label(self, source: Source, line: Line | None = None) -> str:
        """What people call a column; of a visit with its name, of a box with the choice."""
        if line is not None and line.form == VISITS:
            return f"{line.values['@visits.visit']} {source.label}"
        known = self._labels.get(source.name)
        if known is None:
            known = self._labels[source.name] = self._label(source)
        return known

    def _label(self, source: Source) -> str:
        metadata = self.names.design.metadata
        if source.name.startswith("@"):
            return str(source.label)
        column = source.column
        if column is not None and column.field != source.name:
            return f"{metadata.label(column.field)}: {column.choices.get(column.code, column.code)}"
        return metadata.label(source.name)

    def _text(self, source: Source, cell: Cell) -> str:
        raw = text_of(cell.reading.raw) if cell.reading is not None else None
        codes = self.names.context.missing_codes
        if cell.state is State.CODE:
            ticked = cell.reading.raw if cell.reading is not None else ()
            code = raw or str(next(iter(ticked if isinstance(ticked, list) else ()), ""))
            return f"{code} ({codes[code]})" if code in codes else code
        value = cell.value
        if isinstance(value, Items):
            known = [_coded(item) for item in value.known]
            return "、".join(source.choices.get(code, code) for code in known)
        if source.type is Type.CODE:
            code = _coded(value) if raw is None or isinstance(value, bool) else raw
            return source.choices.get(code, code)
        told = _plain(cell) if raw is None else raw
        return "" if told is None else str(told)

    def _flags(self, source: Source, line: Line, cell: Cell) -> frozenset[Flag]:
        flags = set(self._line_flags(line))
        value = cell.value
        if cell.state is State.CODE:
            flags.add(Flag.MISSING_CODE)
        if isinstance(value, Moment):
            if value.is_partial:
                flags.add(Flag.PARTIAL)
            is_window = line.form == VISITS
            if value.days[0] > self.today.toordinal() and not is_window:
                flags.add(Flag.FUTURE)
        return frozenset(flags)

    def _line_flags(self, line: Line) -> frozenset[Flag]:
        if line.form != VISITS:
            return frozenset()
        state: VisitState = line.values[VISITS]
        flags = {_STATE_FLAGS[state.state.value]} if state.state.value in _STATE_FLAGS else set()
        return frozenset(flags | ({Flag.PLANNED} if state.planned else set()))

    def _measured(self, source: Source, line: Line, cell: Cell) -> dict[str, Any]:
        """Unit, limits and whether the value lies beyond them."""
        nothing: dict[str, Any] = {"unit": "", "limit": None, "flags": frozenset()}
        is_lab = source.column is not None and bool(line.subject.measure.ranges(source))
        if cell.state is not State.VALUE or (source.type is not Type.NUMBER and not is_lab):
            return nothing
        measure = line.subject.measure
        unit = measure.unit_of(line, source) if source.column else ""
        if not is_lab:
            return nothing | {"unit": unit}
        value = measure.value(line, source, cell)
        limits = measure.limits(line, source)
        record = line.subject.record
        flags = set()
        if limits.low is not None and less(record, value, limits.low) is True:
            flags.add(Flag.LOW)
        if limits.high is not None and less(record, limits.high, value) is True:
            flags.add(Flag.HIGH)
        ends = [
            measure.scaled(end, source, unit) if isinstance(end, Decimal) else None
            for end in (_number(line, limits.low), _number(line, limits.high))
        ]
        limit = Limit(*ends) if any(end is not None for end in ends) else None
        return {"unit": unit, "limit": limit, "flags": frozenset(flags)}


def _number(line: Line, value: Value) -> Value:
    return None if value is None else to_number(line.subject.record, value)


def _coded(value: Value) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return value.code if isinstance(value, Code) else str(value)


def _plain(cell: Cell) -> FactValue:
    """The value of a fact: numbers exact, dates ISO, codes; None for what is not fully known."""
    value = cell.value
    if cell.state is State.CODE:
        return None
    if isinstance(value, bool | Code):
        return _coded(value)
    if isinstance(value, Items):
        return tuple(_coded(item) for item in value.known)
    if isinstance(value, Decimal):
        return value
    told: FactValue = json_value(value)
    return told


def _day(day: Moment | None) -> str | None:
    """A row's date; of a partial one the part that is known."""
    if day is None:
        return None
    first, last = day.low.date(), day.high.date()
    if first == last:
        return first.isoformat()
    return first.isoformat()[: 7 if (first.year, first.month) == (last.year, last.month) else 4]


def _span_text(value: Value) -> str:
    if not isinstance(value, Range):
        return str(json_value(value))
    low, high = ("" if end is None else str(json_value(end)) for end in (value.low, value.high))
    return f"{low}–{high}"

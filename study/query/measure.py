"""Lab values in one unit, and the reference range that holds for one row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Literal

from language.limits import limits
from rules import units
from rules.arithmetic import compute, divide, multiply, to_number
from rules.values import Code, Range, Reason, Unknown, Value
from study.design import ReferenceRange
from study.query.cells import Cell, Holder, Limits, Line, State
from study.query.names import Names
from study.query.related import related
from study.query.tree import Source, Type

_UNIT_MISSING = Unknown(Reason.UNIT_MISSING)
_NO_RANGE = Unknown(Reason.MISSING)
Side = Literal["low", "high"]


class Measure:
    """Units and ranges of a study; the commonest unit is counted over all records when needed."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.subjects: Iterable[Holder] = ()
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
        sex = self._sex(line) if any(r.sex for r in ranges) else ""
        own = (r for r in ranges if r.sex and r.sex == sex)
        return next(own, next((r for r in ranges if not r.sex), None))

    def _noted(self, source: Source) -> tuple[ReferenceRange, ...]:
        row = self.names.design.metadata.fields.get(source.name)
        is_number = source.column is not None and source.type is Type.NUMBER
        found = limits(str(row.get("field_note") or "")) if row and is_number else None
        return (ReferenceRange(source.name, "", "", *found),) if found else ()

    def _sex(self, line: Line) -> str:
        source = self.names.column_source(self.names.design.sex_field)
        value = _single(line, source).value if source else None
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


def _single(line: Line, source: Source) -> Cell:
    lines = line.subject.lines(source.form)
    return lines[-1].cell(source) if lines else Cell(State.BLANK, _NO_RANGE)


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
    for analyte in _analytes(source, names):
        factor = units.factor(unit, target, analyte)
        if factor is not None:
            scaled = compute(multiply, value, factor.numerator)
            return compute(divide, scaled, factor.denominator)
    return None


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

"""Checks of adverse events and medications.

A laboratory value beyond its limit without an adverse event, a medication that only an adverse event names, and
a medication that the protocol prohibits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from core.integrations.redcap import Row
from core.rules import compare
from core.rules.arithmetic import multiply, to_number
from core.rules.record import Record
from core.rules.values import Code, Items, Range, Reason, Unknown, Value
from engines.sop.checks.dictionary import not_exported, not_seen
from engines.sop.checks.kinds import Kind, key
from engines.sop.findings import Observation
from engines.sop.snapshot import place_of
from study import proposals
from study.dates import read_date
from study.design import StudyDesign
from study.query.names import Names
from study.query.run import no_work
from study.query.subject import Line, Measure, State, Subject
from study.query.tree import Source, Type
from study.records import RecordData

_FIELDS = ("start", "end", "term")
TIMES, DAYS = 3.0, 14
"""How far beyond the upper limit, and within how many days an adverse event begins, unless told otherwise."""


@dataclass(frozen=True)
class _Event:
    """When it began, at the earliest and the latest, and until when it went on."""

    first: date
    last: date
    until: date
    term: str


class _Labs:
    """The laboratory values of one subject beside its adverse events."""

    def __init__(
        self, design: StudyDesign, record: RecordData, told: Mapping[str, Any], today: date
    ) -> None:
        names = Names(design)
        self.design = design
        self.measure = Measure(names)
        self.subject = Subject(record, names, self.measure, today, no_work)
        self.measure.subjects = [self.subject]
        self.times = Decimal(str(told.get("times", TIMES)))
        self.within = timedelta(days=int(told.get("days", DAYS)))
        self.words: dict[str, list[str]] = {}
        for name, words in (told.get("words") or {}).items():
            self.words.setdefault(_named(design, name, ""), []).extend(words)
        proposed = zip(_FIELDS, proposals.event_fields(design.metadata), strict=True)
        start, end, term = (_named(design, told.get(name), field) for name, field in proposed)
        zone = ZoneInfo(design.plan.timezone)
        found = (_event(row, start, end, term, zone) for row in record.rows)
        self.events = [event for event in found if event]

    def seen(self, name: str) -> Iterator[Observation]:
        """What the check says of each row that holds a value of the field."""
        design = self.design
        sex = design.sex_field if any(one.sex for one in design.ranges.get(name, ())) else ""
        needed = filter(None, (name, design.unit_fields.get(name), sex))
        if gone := next((one for one in needed if one not in design.context.columns), ""):
            yield not_exported(Kind.LAB_AE, gone)
            return
        source = self.measure.names.column_source(name)
        for line in self.subject.lines(source.form) if source else ():
            if source and (found := self._of_line(line, source)):
                yield found

    def _of_line(self, line: Line, source: Source) -> Observation | None:
        cell, record = line.cell(source), self.subject.record
        is_open = _reason(cell.value) is Reason.NOT_EXPORTED
        if line.row is None or not (cell.state is State.VALUE or is_open):
            return None
        value = to_number(record, self.measure.value(line, source, cell))
        high = self._limit(line, source)
        if high is None or (source.type is Type.NUMBER and _reason(value) is Reason.TYPE_MISMATCH):
            return None  # of a number that is none another check tells
        limit = high if isinstance(high, Unknown) else multiply(self.times, high)
        beyond = compare.less(record, limit, value)
        told = self._is_told(line, source.name)
        outcome, reason = "PASS", ""
        if told is not True and beyond is not False:
            doubts = [one for one in (beyond, told) if isinstance(one, Unknown)]
            outcome, reason = ("UNKNOWN", doubts[0].reason or "") if doubts else ("FAIL", "")
        raw, unit = line.row.data.get(source.name), self.measure.unit_of(line, source)
        is_other = unit and value != to_number(record, cell.value)
        about = {
            "label": self.design.metadata.label(source.name),
            "value": f"{raw} {unit}" if is_other else raw,
            "limit": _plain(high) + (f" {self.measure.unit(source)}" if is_other else ""),
            "times": _plain(self.times),
        }
        message = _(
            "%(label)s %(value)s is beyond %(times)s times the upper limit %(limit)s and no adverse "
            "event tells of it"
        )
        if outcome == "UNKNOWN":
            message = _(
                "It is not known whether an adverse event has to tell of %(label)s %(value)s"
            )
        return Observation(
            rule_key=key(Kind.LAB_AE, source.name),
            outcome=outcome,
            field=source.name,
            message=message % about,
            reason=reason,
            value=raw,
            **place_of(line.row.data),
        )

    def _limit(self, line: Line, source: Source) -> Decimal | Range | Unknown | None:
        """The upper limit in the study's unit; None where nothing limits the value of this subject."""
        if not self.measure.ranges(source):
            return None
        limit = self.measure.limits(line, source).high
        sexes, sex = {one.sex for one in self.measure.ranges(source)}, self.measure.sex(line)
        if limit is None or (sex and sexes.isdisjoint({"", sex})):
            return None
        high = to_number(self.subject.record, limit)
        return None if isinstance(high, Decimal) and high <= 0 else high

    def _is_told(self, line: Line, name: str) -> bool | Unknown:
        """Whether an adverse event tells of a value by the day of its row (of the visit where it has none)."""
        words = [word.lower() for word in self.words.get(name, ())]
        mine = [
            e for e in self.events if not words or any(word in e.term.lower() for word in words)
        ]
        if not mine:
            return False
        day = self.subject.date_of(line)
        if day is None:
            return Unknown(Reason.MISSING)
        first, last = map(date.fromordinal, day.days)
        spans = [(e.first - self.within, max(e.last + self.within, e.until)) for e in mine]
        if any(start <= first and last <= end for start, end in spans):
            return True
        is_possible = any(start <= last and first <= end for start, end in spans)
        return Unknown(Reason.PARTIAL_DATE) if is_possible else False


def lab_without_event(
    design: StudyDesign, record: RecordData, told: Mapping[str, Any], today: date
) -> Iterator[Observation]:
    """Of each value with an upper limit: PASS, or FAIL where it is beyond `times` of it and nothing tells so.

    An adverse event tells so that begins within `days` of it, or goes on since such a value before; its fields
    `start`, `end`, `term` are the dictionary's unless told. `words`: lab field -> what its term may hold;
    without them any event does. Limits, units and days are those of a query (`study.query.subject`); where
    they leave it open it is UNKNOWN.
    """
    fields = (_named(design, told.get(name), "") for name in _FIELDS)
    if gone := [name for name in fields if name and name not in design.context.columns]:
        yield from (not_exported(Kind.LAB_AE, name) for name in gone)
        return
    labs = _Labs(design, record, told, today)
    for name in dict.fromkeys((*design.ranges, *labs.words)):
        yield from labs.seen(name)


def _reason(value: Value) -> Reason | None:
    return value.reason if isinstance(value, Unknown) else None


def _named(design: StudyDesign, told: object, proposed: str) -> str:
    """The field that a check was told, which may be by its mapped name; else the proposed one."""
    name = str(told or proposed)
    return name if name in design.context.columns else design.mapped.get(name, name)


def _plain(number: Decimal | Range | Unknown) -> str:
    return f"{number.normalize():f}" if isinstance(number, Decimal) else ""


def _event(row: Row, start: str, end: str, term: str, zone: ZoneInfo) -> _Event | None:
    read = read_date(start, str(row.get(start, "")), zone)
    first, last = read.span or (read.day, read.day)
    if first is None or last is None:
        return None
    ended = str(row.get(end, "")).strip()
    until = read_date(end, ended, zone).day or last if ended else date.max
    return _Event(first, last, until, str(row.get(term, "")))


def event_without_medication(
    design: StudyDesign, rows: Sequence[Row], told: Mapping[str, Any]
) -> Iterator[Observation]:
    """Of each adverse event that names a medication: PASS, or FAIL where no medication row names the same.

    `field` is where an adverse event names it, a text or a yes; a yes wants any medication row. `medication`
    is where medications are named. The dictionary proposes both; without them nothing is said. A missing data
    code is no medication.
    """
    metadata = design.metadata
    field = _named(design, told.get("field"), proposals.treatment_field(metadata))
    named = _named(design, told.get("medication"), proposals.medication_field(metadata))
    if gone := [name for name in (field, named) if name not in design.context.columns]:
        if told.get("field") or told.get("medication"):
            yield _without_field(Kind.AE_MEDICATION, gone)
        return
    taken = [_folded(row.get(named)) for row in rows if not _is_nothing(design, row.get(named))]
    yes_no = metadata.fields[field]["field_type"] in ("yesno", "truefalse")
    for row in rows:
        said = _folded(row.get(field))
        if _is_nothing(design, row.get(field)) or (yes_no and said != "1"):
            continue
        is_held = bool(taken) if yes_no else any(one in said or said in one for one in taken)
        text = str(row[field])
        about = {
            "label": metadata.label(field),
            "said": metadata.choices(field).get(text, text),
        }
        yield Observation(
            rule_key=key(Kind.AE_MEDICATION, field),
            outcome="PASS" if is_held else "FAIL",
            field=field,
            message=_("%(label)s: %(said)s, and no medication row holds it") % about,
            value=row[field],
            **place_of(row),
        )


def prohibited(
    design: StudyDesign, record: RecordData, told: Mapping[str, Any], today: date
) -> Iterator[Observation]:
    """Of each medication: PASS, or FAIL where its name holds one of `names`, whatever its case and blanks.

    `field` is where medications are named; the dictionary proposes it.
    """
    wanted = [name for one in told.get("names") or () if (name := _folded(one))]
    field = _named(design, told.get("field"), proposals.medication_field(design.metadata))
    if not wanted:
        return
    if field not in design.context.columns:
        yield _without_field(Kind.PROHIBITED, [field])
        return
    form = design.form_of(field)
    for row in Record(design.context, record.rows, today).rows:
        if not row.holds(form):
            continue
        read = row.read(field)
        outcome, reason = "PASS", ""
        if _reason(read.value) is Reason.NOT_EXPORTED:
            outcome, reason = "UNKNOWN", Reason.NOT_EXPORTED
        elif any(name in text for text in _texts(read.value) for name in wanted):
            outcome = "FAIL"
        yield Observation(
            rule_key=key(Kind.PROHIBITED, field),
            outcome=outcome,
            field=field,
            message=_("A medication that the protocol prohibits"),
            reason=reason,
            value=row.data.get(field),
            **place_of(row.data),
        )


def _without_field(kind: Kind, gone: Sequence[str]) -> Observation:
    """What a check of medications says without its fields: `gone`, "" for one that nobody knows."""
    if name := next(filter(None, gone), ""):
        return not_exported(kind, name)
    return not_seen(kind, _("No field is known that names medications"))


def _texts(value: Value) -> list[str]:
    """What a cell names: a text, or choices by code and label; a missing data code names nothing."""
    if isinstance(value, Items):
        return [text for one in value.known for text in _texts(one)]
    if isinstance(value, Code):
        return [_folded(value.code), _folded(value.label)]
    return [_folded(value)] if isinstance(value, str) else []


def _is_nothing(design: StudyDesign, cell: object) -> bool:
    """Whether nothing is told: a blank, or a missing data code."""
    text = str(cell or "").strip()
    return not text or text in design.metadata.missing_codes


def _folded(text: object) -> str:
    return "".join(str(text or "").split()).lower()

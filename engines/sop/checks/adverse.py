"""Adverse events beside other rows: a lab value that none tells of, a medication that only an event names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from core.integrations.redcap import Row
from core.rules import parse
from core.rules.values import Range
from engines.sop.checks.kinds import Kind, key
from engines.sop.findings import Observation
from engines.sop.snapshot import place_of
from study import proposals
from study.dates import read_date
from study.design import StudyDesign

TIMES, DAYS = 3.0, 14
"""How far beyond the upper limit, and within how many days an adverse event begins, unless told otherwise."""


@dataclass(frozen=True)
class _Event:
    """When it began, at the earliest and the latest, and until when it went on."""

    first: date
    last: date
    until: date
    term: str


def lab_without_event(
    design: StudyDesign, rows: Sequence[Row], told: Mapping[str, Any]
) -> Iterator[Observation]:
    """Of each value with an upper limit: PASS, or FAIL where it is beyond `times` of it and nothing tells so.

    An adverse event tells so that begins within `days` of it, or goes on since such a value before; its fields
    `start`, `end`, `term` are the dictionary's unless told. `words`: lab field -> what its term may hold;
    without them any event does.
    """
    zone = ZoneInfo(design.plan.timezone)
    times = Decimal(str(told.get("times", TIMES)))
    within = timedelta(days=int(told.get("days", DAYS)))
    proposed = zip(("start", "end", "term"), proposals.event_fields(design.metadata), strict=True)
    start, end, term = (str(told.get(name) or field) for name, field in proposed)
    events = [event for row in rows if (event := _event(row, start, end, term, zone))]
    message = _(
        "%(label)s %(value)s is beyond %(times)s times the upper limit %(limit)s and no adverse "
        "event tells of it"
    )
    for name in design.ranges:
        words = [word.lower() for word in (told.get("words") or {}).get(name, ())]
        mine = [e for e in events if not words or any(word in e.term.lower() for word in words)]
        dated = design.form_dates.get(design.form_of(name), "")
        for row in rows:
            value, limit = _number(design, name, row), _limit(design, name, row, rows)
            if value is None or limit is None or limit <= 0:
                continue
            day = read_date(dated, str(row.get(dated, "")), zone).day if dated else None
            is_told = any(
                day is None or event.first - within <= day <= max(event.last + within, event.until)
                for event in mine
            )
            about = {
                "label": design.metadata.label(name),
                "value": row[name],
                "limit": _plain(limit),
                "times": _plain(times),
            }
            yield Observation(
                rule_key=key(Kind.LAB_AE, name),
                outcome="FAIL" if value > times * limit and not is_told else "PASS",
                field=name,
                message=message % about,
                value=row[name],
                **place_of(row),
            )


def _limit(design: StudyDesign, name: str, row: Row, rows: Sequence[Row]) -> Decimal | None:
    """The upper limit in the unit of the value; None where unit or sex leave it open."""
    unit = str(row.get(design.unit_fields.get(name, ""), "")).strip()
    sexes = {str(r.get(design.sex_field, "")) for r in rows} - {""} if design.sex_field else set()
    for limits in design.ranges[name]:
        if limits.sex and sexes != {limits.sex}:
            continue
        if unit and limits.unit and unit != limits.unit:
            continue
        high = limits.high
        return _number(design, high, row) if isinstance(high, str) else high
    return None


def _number(design: StudyDesign, name: str, row: Row) -> Decimal | None:
    """A number that is told exactly, in the notation of its field; ">500" is told by its least."""
    column = design.context.columns.get(name)
    comma = bool(column and column.decimal_comma)
    number = parse.number(str(row.get(name) or "").strip(), decimal_comma=comma)
    return number.low if isinstance(number, Range) else number


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


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
    is where medications are named. The dictionary proposes both; without them nothing is said.
    """
    field = str(told.get("field") or proposals.treatment_field(design.metadata))
    named = str(told.get("medication") or proposals.medication_field(design.metadata))
    if field not in design.context.columns or named not in design.context.columns:
        return
    taken = [name for row in rows if (name := _folded(row.get(named)))]
    yes_no = design.metadata.fields[field]["field_type"] in ("yesno", "truefalse")
    for row in rows:
        said = _folded(row.get(field))
        if not said or (yes_no and said != "1"):
            continue
        is_held = bool(taken) if yes_no else any(one in said or said in one for one in taken)
        text = str(row[field])
        about = {
            "label": design.metadata.label(field),
            "said": design.metadata.choices(field).get(text, text),
        }
        yield Observation(
            rule_key=key(Kind.AE_MEDICATION, field),
            outcome="PASS" if is_held else "FAIL",
            field=field,
            message=_("%(label)s: %(said)s, and no medication row holds it") % about,
            value=row[field],
            **place_of(row),
        )


def _folded(text: object) -> str:
    return "".join(str(text or "").split()).lower()

"""A lab value far beyond its limit that no adverse event tells of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from engines.sop.checks.kinds import Kind, key
from engines.sop.findings import Observation
from integrations.redcap import Row
from rules import parse
from rules.values import Range
from study import proposals
from study.dates import read_date
from study.design import ReferenceRange, StudyDesign

TIMES, DAYS = 3.0, 14
"""How far beyond the upper limit, and within how many days an adverse event begins, unless told otherwise."""
_PLACE = ("redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance")


@dataclass(frozen=True)
class Told:
    """What the check is told; `words`: lab field -> what a term of an adverse event of it may hold."""

    times: Decimal
    days: int
    start: str
    end: str
    term: str
    words: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, design: StudyDesign, told: Mapping[str, Any]) -> Told:
        """With the dictionary's proposals where nothing was said."""
        start, end, term = proposals.event_fields(design.metadata)
        return cls(
            Decimal(str(told.get("times", TIMES))),
            int(told.get("days", DAYS)),
            told.get("start") or start,
            told.get("end") or end,
            told.get("term") or term,
            told.get("words") or {},
        )


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

    An adverse event tells so that begins within `days` of it, or goes on since such a value before. Without
    words for the lab any event does.
    """
    said = Told.of(design, told)
    zone = ZoneInfo(design.plan.timezone)
    events = [event for row in rows if (event := _event(row, said, zone))]
    for name in design.ranges:
        mine = [e for e in events if _tells(e, said.words.get(name, ()))]
        yield from _of_lab(design, name, rows, mine, said, zone)


def _of_lab(
    design: StudyDesign,
    name: str,
    rows: Sequence[Row],
    events: Sequence[_Event],
    said: Told,
    zone: ZoneInfo,
) -> Iterator[Observation]:
    form_date = design.form_dates.get(design.form_of(name), "")
    within = timedelta(days=said.days)
    for row in rows:
        value, limit = _number(row.get(name)), _limit(design, name, row, rows)
        if value is None or limit is None or limit <= 0:
            continue
        day = read_date(form_date, str(row.get(form_date, "")), zone).day if form_date else None
        is_far = value > said.times * limit
        is_told = any(
            day is None or event.first - within <= day <= max(event.last + within, event.until)
            for event in events
        )
        about = {
            "label": design.metadata.label(name),
            "value": row[name],
            "limit": _plain(limit),
            "times": _plain(said.times),
        }
        message = _(
            "%(label)s %(value)s is beyond %(times)s times the upper limit %(limit)s and no adverse "
            "event tells of it"
        )
        event, instrument, instance = (str(row.get(n) or "") for n in _PLACE)
        yield Observation(
            rule_key=key(Kind.LAB_AE, name),
            outcome="FAIL" if is_far and not is_told else "PASS",
            field=name,
            message=message % about,
            value=row[name],
            event=event,
            instrument=instrument,
            instance=instance,
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
        return _upper(limits, row)
    return None


def _upper(limits: ReferenceRange, row: Row) -> Decimal | None:
    if isinstance(limits.high, str):
        return _number(row.get(limits.high))
    return limits.high


def _number(text: object) -> Decimal | None:
    """A number that is told exactly; ">500" is told by its least."""
    number = parse.number(str(text or "").strip())
    return number.low if isinstance(number, Range) else number


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _event(row: Row, said: Told, zone: ZoneInfo) -> _Event | None:
    read = read_date(said.start, str(row.get(said.start, "")), zone)
    first, last = read.span or (read.day, read.day)
    if first is None or last is None:
        return None
    ended = str(row.get(said.end, "")).strip()
    until = read_date(said.end, ended, zone).day or last if ended else date.max
    return _Event(first, last, until, str(row.get(said.term, "")))


def _tells(event: _Event, words: Sequence[str]) -> bool:
    return not words or any(word.lower() in event.term.lower() for word in words)

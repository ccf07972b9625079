"""Serious events and the reports they ask for: when each clock starts, when it ends, and what is overdue.

A blank, partial or impossible report date, and one that cannot be (before the event was known, or still to
come), is never taken for a report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from core.house import clock
from core.integrations.redcap import Row
from engines.models import SafetyClock, TaskRun
from engines.sop.findings import Observation
from engines.sop.snapshot import place_of
from engines.sop.study import Study
from study.dates import read_date

CHECK = "sae_report"
RULE = f"{CHECK}."
HOURS = 24
NOT_SHOWN = "not_exported"
Recipient, Source = SafetyClock.Recipient, SafetyClock.Source
Place = tuple[str, str, str]


@dataclass(frozen=True)
class Reporting:
    """What a study says of its serious events; `reports`: recipient -> (field of the report date, hours)."""

    serious: str
    code: str
    known: str
    reports: Mapping[str, tuple[str, int]]
    zone: ZoneInfo

    @classmethod
    def of(cls, told: Mapping[str, Any], names: Mapping[str, str], zone: str) -> Reporting:
        """From a saved check; `names`: mapped name -> field."""

        def actual(name: str) -> str:
            return names.get(name, name)

        reports = {
            who: (actual(one["field"]), int(one["hours"])) for who, one in told["reports"].items()
        }
        known = actual(told.get("known", ""))
        return cls(actual(told["serious"]), told["code"], known, reports, ZoneInfo(zone))

    @property
    def fields(self) -> frozenset[str]:
        """All that a clock rests on."""
        reported = (field for field, _hours in self.reports.values())
        return frozenset(filter(None, (self.serious, self.known, *reported)))

    def is_shown(self, rows: Iterable[Row]) -> bool:
        """Whether these are columns of what was read: of others nobody knows whether they are blank."""
        return all(self.fields <= row.keys() for row in rows)

    def is_serious(self, row: Row) -> bool:
        """Whether a row tells a serious event."""
        return str(row.get(self.serious, "")).strip() == self.code


@dataclass(frozen=True)
class Ticking:
    """One clock as the readings tell it. `reported_on` None: not reported, as far as anybody can read."""

    recipient: str
    hours: int
    started_at: datetime
    started_from: str
    reported_on: date | None
    is_unreadable: bool

    @property
    def due_at(self) -> datetime:
        """When the report is to be made."""
        return self.started_at + timedelta(hours=self.hours)


def place(row: Row) -> Place:
    """Event, form and instance of a row."""
    told = place_of(row)
    return told["event"], told["instrument"], told["instance"]


def ticking(reporting: Reporting, row: Row, first_read: datetime) -> Iterator[Ticking]:
    """The clocks of a serious row, first read as such at `first_read` (UTC).

    What is entered as known later than it was read was known when it was read.
    """
    known = moment(row.get(reporting.known, ""), reporting.zone) if reporting.known else None
    is_known = known is not None and known <= first_read
    start = known if known is not None and is_known else first_read
    for recipient, (field, hours) in reporting.reports.items():
        text = str(row.get(field, "")).strip()
        day = read_date(field, text, reporting.zone).day
        earliest = start.astimezone(reporting.zone).date() if is_known else date.min
        today = clock.now().astimezone(reporting.zone).date()
        reported = day if day and earliest <= day <= today else None
        yield Ticking(
            recipient=recipient,
            hours=hours,
            started_at=start,
            started_from=Source.KNOWN if is_known else Source.READ,
            reported_on=reported,
            is_unreadable=bool(text) and reported is None,
        )


def moment(raw: object, zone: ZoneInfo) -> datetime | None:
    """A date or time of REDCap in the study's zone; a day counts from its beginning, None: not readable."""
    text = str(raw or "").strip()
    day = read_date("", text, zone).day
    if day is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = datetime.combine(day, time.min)
    return found if found.tzinfo else found.replace(tzinfo=zone)


def observe(
    told: Mapping[str, Any], run: TaskRun, study: Study, rows: Sequence[Row]
) -> list[Observation]:
    """Of each event and recipient: FAIL where the report is overdue, UNKNOWN where its date is unreadable then.

    What is no longer serious, or no longer there, passes. Where REDCap does not show a field, what is overdue
    as far as is known is UNKNOWN, and nothing passes.
    """
    reporting = Reporting.of(told, study.names, run.project.timezone)
    clocks = SafetyClock.objects.filter(project=run.project_id, record_id=run.record_id or "")
    if not reporting.is_shown(rows):
        return [*_not_shown(reporting, clocks.running())]
    first = {(one.event, one.instrument, one.instance): one.first_read_at for one in clocks}
    at, found = clock.now(), dict[tuple[str, Place], Observation]()
    for where in first:
        for recipient in Recipient.values:
            found[recipient, where] = _seen(recipient, where, "PASS")
    for row in rows:
        where = place(row)
        if not reporting.is_serious(row):
            continue
        for one in ticking(reporting, row, first.get(where, at)):
            field = reporting.reports[one.recipient][0]
            is_late = one.reported_on is None and one.due_at <= at
            bad = "UNKNOWN" if one.is_unreadable else "FAIL"
            found[one.recipient, where] = _seen(
                *(one.recipient, where, bad if is_late else "PASS"),
                field=field,
                value=row.get(field),
                message=_message(one, reporting.zone),
                reason="type_mismatch" if is_late and one.is_unreadable else "",
            )
    return [*found.values()]


def _not_shown(reporting: Reporting, running: Iterable[SafetyClock]) -> Iterator[Observation]:
    at = clock.now()
    for one in running:
        if one.due_at <= at and one.recipient in reporting.reports:
            yield _seen(
                *(one.recipient, (one.event, one.instrument, one.instance), "UNKNOWN"),
                field=reporting.reports[one.recipient][0],
                message=_message(one, reporting.zone),
                reason=NOT_SHOWN,
            )


def reported_late(one: SafetyClock, field: str, zone: ZoneInfo) -> tuple[Observation, str]:
    """What is said of a report that came after its day before anybody found it overdue; and how it ended."""
    where = (one.event, one.instrument, one.instance)
    about = {"field": field, "value": one.reported_on, "message": _message(one, zone)}
    with translation.override(settings.LANGUAGE_CODE):
        ended = _("Reported late, on %(day)s.") % {"day": one.reported_on}
    return _seen(one.recipient, where, "FAIL", **about), ended


def _seen(recipient: str, where: Place, outcome: str, **more: Any) -> Observation:
    event, instrument, instance = where
    return Observation(
        rule_key=f"{RULE}{recipient}",
        outcome=outcome,
        event=event,
        instrument=instrument,
        instance=instance,
        **more,
    )


def _message(one: Ticking | SafetyClock, zone: ZoneInfo) -> str:
    """In the house's language, whoever started the run."""
    with translation.override(settings.LANGUAGE_CODE):
        text = _(
            "Serious event not reported to the %(recipient)s within %(hours)d hours (due %(due)s)"
        )
        return text % {
            "recipient": Recipient(one.recipient).label,
            "hours": one.hours,
            "due": one.due_at.astimezone(zone).strftime("%Y-%m-%d %H:%M"),
        }

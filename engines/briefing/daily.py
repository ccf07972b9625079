"""The daily briefing: enrolment, visits today and overdue, new findings, reviews waiting, per role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engines.briefing.material import Digest, Part, View, Visit
from engines.briefing.visits import line
from engines.models import PendingAction, Review
from projects import audit, audit_anchors, audit_watch
from projects.models import Role
from projects.scoping import is_blinded
from study.visits.calendar import State

RECENT = timedelta(days=6)


def daily_briefing(view: View) -> Digest:
    """The briefing of one reader: who works with the subjects is told which ones, the others how many."""
    title = _("Daily briefing %(study)s %(day)s") % {"study": view.project.code, "day": view.today}
    warnings = [*view.warnings()]
    to_do = [*_visits(view), *_findings(view), *_reviews(view)]
    nothing = [] if to_do or warnings else [Part(_("Nothing to do today."))]
    parts = [*warnings, *_enrolment(view), *to_do, *nothing, *_audit(view)]
    return Digest(title, parts, is_empty=bool(nothing))


def _audit(view: View) -> Iterator[Part]:
    """Where the chains end now: kept by its readers, it shows later whether one was cut (design.md 9.9)."""
    if view.member.role != Role.ADMIN or view.member.site:
        return
    if audit_watch.look():
        yield Part(_("The audit trail does not hold: have manage.py audit verify run at once."))
    number, ending = audit_anchors.end(audit.chain_of(view.project.pk))
    others, house = audit_anchors.end(audit.HOUSE)
    yield Part(
        _("Audit trail: %(number)d %(ending)s, house %(others)d %(house)s")
        % {"number": number, "ending": ending[:16], "others": others, "house": house[:16]}
    )
    if is_blinded(view.member):
        return
    number, ending = audit_anchors.end(audit.chain_of(view.project.pk, unblinds=True))
    if number:
        told = {"number": number, "ending": ending[:16]}
        yield Part(_("Audit trail of what rests on blinded fields: %(number)d %(ending)s") % told)


def _enrolment(view: View) -> Iterator[Part]:
    """Counted over the subjects the reader may see; the target is the whole study's."""
    field = view.project.enrolment_field
    rows = [row for record in view.records for row in record.rows]
    metadata = view.material.reading.metadata
    if metadata and field not in metadata.fields:
        yield Part(_("Enrolled: not counted, the date of enrolment is not set in the study"))
        return
    if not view.is_readable or (rows and not any(field in row for row in rows)):
        return
    zone = view.project.timezone
    days = [day for record in view.records if (day := record.day(field, zone))]
    target = "" if view.member.site or not view.project.target_enrolment else _target(view, days)
    recent = sum(view.today - RECENT <= day <= view.today for day in days)
    place = f" ({view.member.site})" if view.member.site else ""
    yield Part(
        _("Enrolled%(place)s: %(number)d%(target)s, %(recent)d of them in the last 7 days")
        % {"place": place, "number": len(days), "target": target, "recent": recent}
    )


def _target(view: View, days: list[date]) -> str:
    target = view.project.target_enrolment
    return f" / {target} ({len(days) * 100 / target:.1f}%)"


def _visits(view: View) -> Iterator[Part]:
    overdue, due = view.in_state(State.OVERDUE), view.in_state(State.DUE)
    works = view.member.role == Role.CRC
    if overdue:
        head = _("Visits overdue: %(number)d") % {"number": len(overdue)}
        yield Part(head, tuple(map(_overdue, overdue)))
    if due:
        head = _("Visits that can be done today: %(number)d") % {"number": len(due)}
        yield Part(head, tuple(map(line, due)) if works else ())


def _overdue(visit: Visit) -> str:
    record, state = visit
    late = ngettext("%(days)d day", "%(days)d days", state.days) % {"days": state.days}
    notes = ", ".join([late, state.reason] if state.planned and state.reason else [late])
    return f"{record.record_id} {state.visit} {state.close} ({notes})"


def _findings(view: View) -> Iterator[Part]:
    found = PendingAction.objects.for_member(view.member).filter(
        state=PendingAction.State.OPEN, created_at__gte=view.material.since
    )
    rows = [*found.order_by("record_id").values_list("record_id", "action_type")]
    if not rows:
        return
    kinds = Counter(kind for _record, kind in rows)
    named = [f"{PendingAction.Kind(kind).label} {number}" for kind, number in kinds.items()]
    head = _("New findings: %(number)d (%(kinds)s)")
    values = {"number": len(rows), "kinds": ", ".join(named)}
    subjects = tuple(dict.fromkeys(record for record, _kind in rows if record))
    yield Part(head % values, subjects if view.member.role == Role.CRC else ())


def _reviews(view: View) -> Iterator[Part]:
    waiting = [*_waiting(view)]
    if waiting:
        head = _("Reviews waiting: %(number)d") % {"number": len(waiting)}
        yield Part(head, tuple(f"#{review.pk} {review.record_id or ''}" for review in waiting))


def _waiting(view: View) -> Iterator[Review]:
    """What the reader can decide; an administrator can decide all (decisions.md, "who reviews")."""
    open_ones: QuerySet[Review] = Review.objects.for_member(view.member).filter(
        status=Review.Status.OPEN
    )
    for review in open_ones.order_by("created_at"):
        if review.asks(view.member):
            yield review

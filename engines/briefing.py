"""Briefings, reminders and reports that cron skills send: contents from data, not from a model.

`decisions.md`, "cron skills"; a `notify` node names one of CONTENTS (skills.graph).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.urls import reverse
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from engines import redcap_asks
from engines.briefing_material import Digest, Material, Part, View, Visit
from engines.models import PendingAction, Review
from memory.hot import injection
from memory.models import WeeklyReport
from memory.people import facts
from memory.reports import weeks
from projects import audit, audit_anchors, audit_watch
from projects.models import Member, Role
from projects.scoping import is_blinded
from study.visits.calendar import State, is_due_within

RECENT = timedelta(days=6)
# Figures by name (memory.reports.weeks); what a later version adds is read in the report.
FIGURES: dict[str, Promise] = {
    "enrolled": gettext_lazy("enrolled"),
    "enrolled_total": gettext_lazy("enrolled in total"),
    "target": gettext_lazy("target enrolment"),
    "completion": gettext_lazy("completion in percent"),
    "visits_done": gettext_lazy("visits done"),
    "visits_due": gettext_lazy("visits due"),
    "visits_overdue": gettext_lazy("visits overdue"),
    "findings_opened": gettext_lazy("findings opened"),
    "findings_closed": gettext_lazy("findings closed"),
    "queries": gettext_lazy("queries"),
    "qc_runs": gettext_lazy("QC runs"),
}


def visit_reminder(view: View) -> Digest:
    """Visits of the reader's subjects; one that is done, or of who withdrew, is none any more."""
    days = view.material.node.days
    title = _("Visit reminder %(study)s, %(day)s and the next %(days)d days") % {
        "study": view.project.code,
        "day": view.today,
        "days": days,
    }
    warnings = [*view.warnings()]
    found = upcoming(view, days)
    if not found:
        nothing = Part(_("No visit is due in the next %(days)d days.") % {"days": days})
        return Digest(title, warnings or [nothing], is_empty=not warnings)
    head = _("Visits to be done: %(number)d") % {"number": len(found)}
    return Digest(title, [*warnings, Part(head, tuple(map(line, found)))])


def upcoming(view: View, days: int) -> list[Visit]:
    """What is due today or within `days`, as due lists have it: on its planned day, else in its window."""
    first, last = view.today, view.today + timedelta(days=days)
    return [pair for pair in view.visits if is_due_within(pair[1], first, last, first)]


def line(visit: Visit) -> str:
    """`P005 V2 2026-03-21 ~ 2026-04-04`, with the day that is planned for it."""
    record, state = visit
    planned = f" ({state.reason})" if state.planned else ""
    return f"{record.record_id} {state.visit} {state.open} ~ {state.close}{planned}"


def daily_briefing(view: View) -> Digest:
    """The briefing of one reader: who works with the subjects is told which ones, the others how many."""
    title = _("Daily briefing %(study)s %(day)s") % {"study": view.project.code, "day": view.today}
    warnings = [*view.warnings()]
    to_do = [*_visits(view), *_findings(view), *_asked_by_redcap(view), *_reviews(view)]
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
    wanted = 0 if view.member.site else view.project.target_enrolment
    target = f" / {wanted} ({len(days) * 100 / wanted:.1f}%)" if wanted else ""
    recent = sum(view.today - RECENT <= day <= view.today for day in days)
    place = f" ({view.member.site})" if view.member.site else ""
    yield Part(
        _("Enrolled%(place)s: %(number)d%(target)s, %(recent)d of them in the last 7 days")
        % {"place": place, "number": len(days), "target": target, "recent": recent}
    )


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


def _asked_by_redcap(view: View) -> Iterator[Part]:
    """Of REDCap's own queries those that no finding is about."""
    project, member = view.material.project, view.member
    if not project.reads_queries or member.role == Role.AUDITOR:
        return
    found = redcap_asks.of_member(project, member).values_list("record_id", "status_id")
    lines = tuple(f"{record} #{number}" for record, number in found)
    if lines:
        head = _("Open queries of REDCap: %(number)d") % {"number": len(lines)}
        yield Part(head, lines if member.role == Role.CRC else ())


def _reviews(view: View) -> Iterator[Part]:
    rows = Review.objects.for_member(view.member).filter(status=Review.Status.OPEN)
    # What the reader can decide; an administrator can decide all (decisions.md, "who reviews").
    waiting = [one for one in rows.order_by("created_at") if one.asks(view.member)]
    if waiting:
        head = _("Reviews waiting: %(number)d") % {"number": len(waiting)}
        yield Part(head, tuple(f"#{review.pk} {review.record_id or ''}" for review in waiting))


def weekly_announcement(view: View) -> Digest:
    """The newest report of a week that is over. Its own text is not quoted: people may have named people."""
    last = weeks.week_of(view.project, view.today - timedelta(days=7))
    written = WeeklyReport.objects.for_member(view.member).order_by("-week_number")
    report = written.filter(week_number__lte=last.number).first() if last else None
    heading = _("Weekly report %(study)s") % {"study": view.project.code}
    missing = [*_missing(last, report)]
    if report is None:
        return Digest(heading, missing, is_empty=True)
    week = weeks.week(view.project, report.week_number)
    title = f"{heading} {week.title.lstrip('# ')}"
    # The figures are the whole study's: a reader of one site finds in the console what is theirs.
    figures = [] if view.member.site else [*map(Part, _figures(report))]
    path = reverse("admin:memory_weeklyreport_change", args=[report.pk])
    return Digest(title, [*missing, *figures, Part(f"{settings.PUBLIC_URL}{path}")])


def _figures(report: WeeklyReport) -> Iterator[str]:
    """The figures, and which of them the report could not read (design.md 9.8)."""
    metrics = report.metrics if isinstance(report.metrics, dict) else {}
    told = [
        f"{label} {metrics[name]}"
        for name, label in FIGURES.items()
        if isinstance(metrics.get(name), int | float | str)
    ]
    if told:
        yield ", ".join(told)
    if unread := [
        str(label) for name, label in FIGURES.items() if name in metrics.get("unread", [])
    ]:
        yield _("Could not be read: %(figures)s") % {"figures": ", ".join(unread)}


def _missing(last: weeks.Week | None, report: WeeklyReport | None) -> Iterator[Part]:
    """Says it when last week has no report yet: the newest one is then an older one."""
    if last is not None and (report is None or report.week_number < last.number):
        yield Part(_("There is no report of week %(week)d yet.") % {"week": last.number})


@dataclass(frozen=True)
class Content:
    """How a message is made.

    `needs_data`: from what REDCap holds now. `when_empty`: what happens by default where there is nothing
    to tell. `is_daily`: on the next day it is outdated, so nobody catches up on it then.
    """

    digest: Callable[[View], Digest]
    needs_data: bool
    when_empty: str
    is_daily: bool


CONTENTS = {
    "daily_briefing": Content(daily_briefing, needs_data=True, when_empty="say", is_daily=True),
    "visit_reminder": Content(visit_reminder, needs_data=True, when_empty="silent", is_daily=True),
    "weekly_report": Content(
        weekly_announcement, needs_data=False, when_empty="silent", is_daily=False
    ),
}


def compose(material: Material, member: Member) -> str:
    """The message of one reader, in their language and length; "" where there is nothing to send."""
    content = CONTENTS[material.node.content]
    with translation.override(member.language):
        digest = content.digest(material.for_reader(member))
        if digest.is_empty and (material.node.when_empty or content.when_empty) == "silent":
            return ""
        return digest.render(_limit(material, member))


def _limit(material: Material, member: Member) -> int | None:
    """How many characters the reader allows; none but the heads where they want it short."""
    memory, own = injection.hot_text(material.project), facts.own(member)
    if injection.wants_short(memory, member.identity, own):
        return 0
    return injection.length_ban(memory, member.identity, own)

"""The reminder: visits whose window lies in the next days and that are still to be done."""

from __future__ import annotations

from datetime import timedelta

from django.utils.translation import gettext as _

from engines.briefing.material import Digest, Part, View, Visit
from study.visits.calendar import is_due_within


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

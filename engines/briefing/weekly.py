"""The weekly report's announcement: title, figures and where to read it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engines.briefing.material import Digest, Part, View
from memory.models import WeeklyReport
from memory.reports import weeks

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

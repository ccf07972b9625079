"""The charts of the weekly message as one picture, drawn for its reader alone."""

from __future__ import annotations

from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from core.house.paper.as_png import Panel, Sheet, as_png
from engines.pages.layout import UNREADABLE
from engines.pages.pictures import Part, enrolment, findings
from engines.site_figures import site_figures
from projects.models import Member

_SHOWN = ("enrolment", "findings")


def weekly_picture(member: Member) -> bytes | None:
    """PNG of enrolment against the target and of findings by week, as this member may see both now.

    From what is stored; REDCap is not asked. None where there is nothing to draw: the study was never read,
    its plan cannot be followed, or the member is none any more. Raises TypesetError.
    """
    sheet = weekly_sheet(member)
    return as_png(sheet) if sheet else None


def weekly_sheet(member: Member) -> Sheet | None:
    """What the picture shows."""
    if not member.is_active:
        return None
    project = member.project
    with translation.override(member.language):
        try:
            found = site_figures(project, member)
        except UNREADABLE:
            return None
        target = 0 if member.site else project.target_enrolment
        parts = [enrolment(found, project.start_date, target), findings(found)]
        if not any(part.plots for part in parts):
            return None
        scope = found.site_name(member.site) if member.site else _("all sites")
        told = {"scope": scope, "today": found.today, "read": found.schedule.read_on}
        return Sheet(
            title=_("%(study)s: charts of the week") % {"study": project.code},
            subtitle=_("%(scope)s, %(today)s; REDCap as of %(read)s") % told,
            language=member.language,
            panels=[*map(_panel, parts)],
        )


def _panel(part: Part) -> Panel:
    drawings = [
        (plot.label, render_to_string("engines/pictures/plot.svg", {"plot": plot}))
        for plot in part.plots
        if plot.key in _SHOWN
    ]
    # What is said of the age of findings belongs to a chart that is not here.
    note = part.note if part.key == "enrolment" else ""
    return Panel(part.title, drawings, note if drawings else part.empty)

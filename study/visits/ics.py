"""Visits that are to be done as a calendar file (RFC 5545): subject ids only, nothing that names a person."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import uuid5

from django.utils.translation import gettext as _
from icalendar import Calendar, Event

from projects.models import Project
from study.visits.due import SubjectVisit

CONTENT_TYPE = "text/calendar; charset=utf-8"
_DAY = timedelta(days=1)


def calendar_file(project: Project, visits: Iterable[SubjectVisit], at: datetime) -> bytes:
    """One all-day event a visit: on the planned day, else on its target, with the window in words.

    A visit keeps its uid, so that a calendar that reads the file again moves the event; `at`: when it was made.
    """
    made = Calendar()
    made.add("prodid", "-//IIT Manager//visits//")
    made.add("version", "2.0")
    made.add("method", "PUBLISH")
    made.add("x-wr-calname", _("Visits %(study)s") % {"study": project.code})
    for visit in visits:
        if visit.day is not None:
            made.add_component(_event(project, visit, at))
    return bytes(made.to_ical())


def _event(project: Project, visit: SubjectVisit, at: datetime) -> Event:
    event = Event()
    day = visit.day
    assert day is not None  # noqa: S101
    about = {"open": visit.open, "close": visit.close}
    event.add("uid", f"{uuid5(project.pk, f'{visit.subject}|{visit.visit}')}@iit-manager")
    event.add("dtstamp", at)
    event.add("dtstart", day)
    event.add("dtend", day + _DAY)
    event.add("summary", f"{project.code} {visit.subject} {visit.visit}")
    event.add("description", _("Window %(open)s to %(close)s") % about)
    event.add("status", "CONFIRMED" if visit.planned else "TENTATIVE")
    event.add("transp", "TRANSPARENT")
    return event

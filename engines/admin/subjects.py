"""The list of subjects: where each stands, what comes next, what is open about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin
from django.db.models import Count
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from core.house import clock
from core.house.request_cache import together
from engines import redcap_asks
from engines.admin.columns import column
from engines.models import PendingAction
from engines.pages.layout import UNREADABLE
from engines.pages.subject import SubjectQueries
from engines.pages.visit_board import Mark, mark
from projects.access import member_in
from projects.admin_base import BY_PROJECT
from projects.admin_lists import DeclaredChangeList
from projects.models import Project
from projects.scoping import User
from study import door
from study.admin.enrolled_filter import Enrolled
from study.admin.export import ExportAdmin
from study.models import Subject
from study.visits import due


@dataclass(frozen=True)
class Told:
    """What the list says of one subject beside its columns; `findings`: how many are open."""

    site: str
    status: str
    coming: Mark | None
    findings: int
    is_known: bool = True


class SubjectList(DeclaredChangeList):
    """A row leads to the subject's page, not to Django's form of four columns."""

    def url_for_result(self, result: Subject) -> str:
        return reverse("subject_page", args=[result.pk])


@admin.register(Subject)
class SubjectAdmin(ExportAdmin):
    empty = _("No subject yet: they come with the first reading of REDCap.")
    list_display = (
        *("record_id", "show_site", "show_status", "show_next", "show_findings"),
        *("is_present", "synced_at", "show_project"),
    )
    list_filter = (BY_PROJECT, "site", "is_present", Enrolled)
    change_form_template = "study/subject.html"
    search_fields = ("record_id",)
    fields = ("project", ("record_id", "site"), ("is_present", "synced_at"))
    actions = ("export_selected",)
    actions_list = ("export_list",)

    show_site = column(_("site"), lambda row: _of(row).site or row.site or "-", "site")
    show_status = column(_("status"), lambda row: _of(row).status or _nothing(row))
    count_findings = column(_("open findings"), lambda row: _of(row).findings)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[DeclaredChangeList]:
        """With links to the page."""
        return SubjectList

    def get_exported(self, request: HttpRequest) -> list[str]:
        """A file has no links and no tags."""
        plain = {"show_findings": "count_findings", "show_next": "tell_next"}
        return [plain.get(name, name) for name in super().get_exported(request)]

    def prepare(self, request: HttpRequest, rows: Sequence[Subject]) -> None:
        """One grouped statement for the findings, one of each kind of settings, one reading of each study."""
        counts = _open_findings(request.user, rows)
        projects = {row.project_id: row.project for row in rows}
        together(projects.keys())
        for project in projects.values():
            own = [row for row in rows if row.project_id == project.pk]
            told = _told(project, request.user, [row.record_id for row in own], counts)
            for row in own:
                row.told = told[row.record_id]  # type: ignore[attr-defined]

    @admin.display(description=_("next visit"))
    def show_next(self, obj: Subject) -> str:
        coming = _of(obj).coming
        if coming is None:
            return _nothing(obj)
        return format_html('<span class="iit-tag {}">{}</span>', coming.colour, self.tell_next(obj))

    @admin.display(description=_("next visit"))
    def tell_next(self, obj: Subject) -> str:
        """With the planned day, else the window."""
        coming = _of(obj).coming
        if coming is None:
            return _nothing(obj)
        visit = coming.visit
        day = visit.planned or f"{visit.open} ~ {visit.close}"
        return f"{visit.visit} {coming.label} {day}"

    @admin.display(description=_("open findings"))
    def show_findings(self, obj: Subject) -> str:
        count = _of(obj).findings
        if not count:
            return "0"
        query = {
            "project__id__exact": str(obj.project_id),
            "record_id__exact": obj.record_id,
            "waits": "yes",
        }
        address = f"{reverse('admin:engines_pendingaction_changelist')}?{urlencode(query)}"
        return format_html('<a class="iit-link" href="{}">{}</a>', address, count)


def _of(obj: Subject) -> Told:
    told: Told = obj.told  # type: ignore[attr-defined]
    return told


def _nothing(obj: Subject) -> str:
    """Of a subject that nobody has read it is not known that there is nothing."""
    return "-" if _of(obj).is_known or not obj.is_present else "?"


def _open_findings(user: User, rows: Iterable[Subject]) -> Mapping[tuple[UUID, str], int]:
    found = PendingAction.objects.for_user(user).unclosed()
    found = found.filter(
        project__in={row.project_id for row in rows}, record_id__in={row.record_id for row in rows}
    )
    counted = found.order_by().values_list("project_id", "record_id").annotate(Count("pk"))
    counts = Counter({(project, record or ""): count for project, record, count in counted})
    if redcap_asks.are_read(user):
        counts.update((project, subject) for project, subject, _no in redcap_asks.asked_of(user))
    return counts


def _told(
    project: Project, user: User, subjects: Sequence[str], counts: Mapping[tuple[UUID, str], int]
) -> dict[str, Told]:
    """As last read: a list does not wait for REDCap."""
    asked = SubjectQueries(subjects)
    open_of = {one: counts.get((project.pk, one), 0) for one in subjects}
    try:
        member = member_in(user, project.pk)
        answers = door.ask_all(project, member, asked, fresh=False, user=user)
        found = due.schedule_from(asked.design, clock.today(project.timezone), answers[:2])
    except UNREADABLE:
        return {one: Told("", "", None, open_of[one], is_known=False) for one in subjects}
    names = asked.design.metadata.sites
    status = {fact.subject: fact.text for answer in answers[2:] for fact in answer.facts}
    return {
        one: Told(
            names.get(found.sites.get(one, ""), found.sites.get(one, "")),
            status.get(one, ""),
            mark(coming, found.today) if (coming := found.next_of(one)) else None,
            open_of[one],
            is_known=one in found.sites,
        )
        for one in subjects
    }

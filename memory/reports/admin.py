"""The history book in the console: people read, correct and take back; nothing is overwritten silently."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.db.models import Exists, OuterRef, QuerySet, Value
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from core.house import task_queue
from core.house.admin_json import folded
from core.house.admin_text import rendered
from core.house.db import after_commit
from core.house.line_diff import changed_lines
from core.house.markdown import LONGEST
from memory.console import MarkdownWidget, scopes
from memory.models import FeedbackTally, WeeklyNote, WeeklyReport
from memory.reports import report_store
from memory.reports.text import NAMES, Shown, shown_to
from memory.versioned import TextAdmin, VersionedTextForm, edits
from projects import actors
from projects.admin_base import BY_PROJECT, HouseAdmin
from projects.scoping import memberships


class WeeklyReportForm(VersionedTextForm):
    text_field = "summary"
    told = _(
        "Somebody changed the report meanwhile. Your text below now holds the changes of both; "
        "look it over and save again."
    )

    class Meta:
        model = WeeklyReport
        fields = ("summary",)
        widgets = {"summary": MarkdownWidget}

    def check(self, text: str) -> None:
        if len(text) > LONGEST:
            raise report_store.ReportTooLong

    def author_of(self, current: WeeklyReport) -> str:
        newest = current.versions.filter(version=current.version).first()
        return newest.author if newest else current.created_by


@admin.register(WeeklyReport)
class WeeklyReportAdmin(TextAdmin):
    empty = _("No weekly report yet: the first one is written when the study's first week is over.")
    form = WeeklyReportForm
    restore = staticmethod(report_store.restore)
    refused = (report_store.ReportConflict, report_store.ReportTooLong)
    list_display = (
        "show_week",
        "week_start",
        "show_enrolled",
        "show_state",
        "show_author",
        "show_project",
    )
    list_filter = (BY_PROJECT,)
    list_select_related = ("project",)
    search_fields = ("summary",)
    readonly_fields = (
        "show_summary",
        "week_number",
        "week_start",
        "week_end",
        "show_figures",
        "show_author",
        "updated_at",
        "show_state",
    )
    actions = ("compare", "write_again", "count_again")

    def get_queryset(self, request: HttpRequest) -> QuerySet[WeeklyReport]:
        """Each with whether the reader's membership is one of all sites, as its figures are."""
        held = memberships(request.user).filter(project=OuterRef("project"), site="")
        whole = Value(True) if request.user.is_superuser else Exists(held)
        rows: QuerySet[WeeklyReport] = (
            super()
            .get_queryset(request)
            .annotate(is_whole=whole, is_made=Exists(report_store.machine_versions(OuterRef("pk"))))
        )
        return rows

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        editor = obj is not None and self.has_change_permission(request, obj)
        content = ("summary", "base_version") if editor else ("show_summary",)
        about = (
            ("project", "week_number"),
            ("week_start", "week_end"),
            *content,
            "show_figures",
            "show_state",
            ("show_author", "updated_at"),
        )
        return [(None, {"fields": about})]

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        """The row with what this reader is shown of it."""
        report = super().get_object(request, object_id, from_field)
        if report:
            report.shown = shown_text(request, report)
        return report

    @admin.display(description=_("report"))
    def show_summary(self, obj: Any) -> Any:
        return rendered(obj.shown)

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> Any:
        """Search finds what the reader would see, not what was left out for them."""
        rows, doubled = super().get_search_results(request, queryset, search_term)
        if not search_term or request.user.is_superuser:
            return rows, doubled
        words = search_term.casefold().split()
        shown = ((report.pk, shown_text(request, report).casefold()) for report in rows)
        found = [pk for pk, text in shown if all(word in text for word in words)]
        return queryset.filter(pk__in=found), False

    @admin.display(description=_("figures"))
    def show_figures(self, obj: Any) -> Any:
        """As programs read them; the text above says the same to people."""
        return folded(_("Show"), obj.metrics) if obj.metrics and obj.is_whole else "-"

    @admin.display(description=_("week"), ordering="week_number")
    def show_week(self, obj: WeeklyReport) -> str:
        return str(obj)

    show_author = actors.column("created_by", _("author"))

    @admin.display(description=_("enrolled / target"))
    def show_enrolled(self, obj: Any) -> str:
        figures = report_store.figures_of(obj)
        if not obj.is_whole or "enrolled_total" not in figures:
            return "-"
        return f"{Shown(figures)['enrolled_total']} / {figures.get('target', '-')}"

    @admin.display(description=_("status"))
    def show_state(self, obj: Any) -> str:
        """What is still to come, of reports that a machine makes."""
        if not obj.is_made:
            return "-"
        return ", ".join(_missing(obj)) or str(_("complete"))

    @admin.action(description=_("Complete the selected reports now"), permissions=["change"])
    def write_again(self, request: HttpRequest, queryset: QuerySet[WeeklyReport]) -> None:
        """Queue the job for reports that lack something; what people wrote stays."""
        mine = [row for row in queryset if edits(request.user, row.project_id)]
        lacking = [row for row in mine if report_store.is_machine_made(row) and _missing(row)]
        _queue(request, lacking, _("Nothing is to come in the selected reports."))

    @admin.action(description=_("Compare the two selected reports"), permissions=["view"])
    def compare(
        self, request: HttpRequest, queryset: QuerySet[WeeklyReport]
    ) -> HttpResponse | None:
        """What the later one says otherwise, as far as this reader sees both; figures side by side."""
        rows = [*queryset.order_by("project", "week_number")[:3]]
        if len(rows) != 2:
            messages.error(request, _("Select exactly two reports."))
            return None
        first, second = rows
        figures = _side_by_side(first, second) if first.is_whole and second.is_whole else []  # type: ignore[attr-defined]
        context = self.admin_site.each_context(request) | {
            "title": _("Two weekly reports"),
            "opts": self.opts,
            "first": first,
            "second": second,
            "figures": figures,
            "diff": changed_lines(shown_text(request, first), shown_text(request, second)),
        }
        return render(request, "memory/compare.html", context)

    @admin.action(description=_("Count the figures again"), permissions=["change"])
    def count_again(self, request: HttpRequest, queryset: QuerySet[WeeklyReport]) -> None:
        """From the data as they are now, as a new version; what people wrote stays."""
        mine = [row for row in queryset if edits(request.user, row.project_id)]
        made = [row for row in mine if report_store.is_machine_made(row)]
        # The job that counts them writes the version and its entry.
        WeeklyReport.objects.filter(pk__in=[row.pk for row in made]).update(counted_at=None)
        _queue(request, made, _("People wrote the selected reports; they have no figures."))

    def save_model(self, request: HttpRequest, obj: WeeklyReport, form: Any, change: bool) -> None:
        saved = report_store.edit(
            report=obj,
            content=obj.summary,
            actor=request.user,
            base_version=form.cleaned_data["base_version"] or 0,
        )
        obj.version = saved.version


def _missing(report: WeeklyReport) -> list[str]:
    is_there = {
        _("figures to come"): report_store.is_counted(report, report.week_end),
        _("summary of talks to come"): report_store.is_told(report, report.week_end),
    }
    return [str(words) for words, there in is_there.items() if not there]


def _side_by_side(first: WeeklyReport, second: WeeklyReport) -> list[tuple[str, Any, Any]]:
    """The figures that are single numbers, as the reports call them."""
    one, other = report_store.figures_of(first), report_store.figures_of(second)
    pairs = ((called, one.get(key), other.get(key)) for key, called in NAMES.items())
    return [pair for pair in pairs if all(isinstance(value, int | None) for value in pair[1:])]


def _queue(request: HttpRequest, reports: list[WeeklyReport], none: Any) -> None:
    """Let the job take up these reports, and say so; `none`: said where there is not one."""
    for row in reports:
        given = str(row.project_id), row.week_number
        after_commit(partial(task_queue.wake, "engines.tasks.write_report", *given))
    if reports:
        messages.success(request, _("%(count)d reports were queued.") % {"count": len(reports)})
    else:
        messages.info(request, none)


def shown_text(request: HttpRequest, report: WeeklyReport) -> str:
    """A report's text as the user sees it."""
    return shown_to(report.summary, scopes(request.user, report.project_id))


@admin.register(WeeklyNote)
class WeeklyNoteAdmin(HouseAdmin):
    """What the parts of a week's conversations came to."""

    empty = _("No notes for the next weekly report yet.")
    list_display = ("project", "week_number", "part", "rows", "created_at")
    fields = (("project", "week_number", "part"), ("rows", "until_at", "created_at"), "entries")


@admin.register(FeedbackTally)
class FeedbackTallyAdmin(HouseAdmin):
    """Feedback of conversations that are gone."""

    empty = _("No 👍 or 👎 was counted yet.")
    list_display = ("user_id", "up", "down", "project")
    fields = (("project", "user_id"), ("up", "down"))

"""REDCap's own queries: the page of one, all that were read, and those on the findings desk beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from typing import Any

from django.contrib import admin
from django.core.paginator import Page
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from engines import redcap_asks
from engines.admin.columns import Column, OwnFilter, OwnPages, column, shortened, tag
from engines.models import PendingAction
from engines.pages import finding_steps, finding_words
from projects import switcher
from projects.admin_base import BY_PROJECT
from projects.admin_lists import BY_STUDY, DeclaredChangeList
from projects.long_lists import KeysFirst
from projects.switcher import chosen
from study.admin.export import ExportAdmin
from study.models import RedcapQuery, SyncState
from study.redcap_queries import as_of

OURS, REDCAP = "ours", "redcap"
_ASKED_BY = frozenset({BY_STUDY, "record_id__exact", "waits", "source", "q", "o", "p", "all"})
"""What a list may be narrowed by and still show queries of REDCap, which have nothing else of a finding."""


class Source(OwnFilter):
    """What was found here, or what REDCap asks itself."""

    title = gettext_lazy("source")
    parameter_name = "source"
    options = ((OURS, gettext_lazy("Found here")), (REDCAP, gettext_lazy("Query of REDCap")))

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        """Nothing to choose from where no study reads REDCap's queries."""
        return self.options if redcap_asks.are_read(request.user) else ()

    def narrowed(self, rows: Any, chosen: str, request: HttpRequest) -> Any:
        return rows.none() if chosen == REDCAP else rows


def listed(request: HttpRequest) -> list[PendingAction]:
    """The queries of REDCap that the filters of the findings desk leave, as rows of it, the oldest first."""
    given = {name: value for name, value in request.GET.items() if value}
    if given.keys() - _ASKED_BY or given.get("waits") == "no" or given.get("source") == OURS:
        return []
    if not redcap_asks.are_read(request.user):
        return []
    rows: Any = finding_words.worded(redcap_asks.of_user(request.user).select_related("project"))
    if record := given.get("record_id__exact"):
        rows = rows.filter(record_id=record)
    study = given.get(BY_STUDY) or getattr(chosen(request), "pk", None)
    found = [row for row in rows if not study or str(row.project_id) == str(study)]
    sought = str(given.get("q", "")).casefold().split()
    return [_row(one) for one in found if all(word in _texts(one) for word in sought)]


def _texts(query: RedcapQuery) -> str:
    told = (
        query.record_id,
        query.field,
        redcap_asks.RULE,
        query.assigned,
        redcap_asks.words(query),
    )
    return "\n".join(told).casefold()


def _row(query: RedcapQuery) -> PendingAction:
    row = redcap_asks.as_finding(query)
    row.dictionary_digest = query.dictionary_digest  # type: ignore[attr-defined]
    return row


def redcap_as_of(request: HttpRequest) -> list[str]:
    """Until when the queries of REDCap are known, of each study of the reader that reads them."""
    if not redcap_asks.are_read(request.user):
        return []
    studies = [one for one in switcher.studies(request.user) if one.reads_queries]
    shown = chosen(request)
    told = [one for one in studies if shown is None or one == shown]
    rows = SyncState.objects.filter(project__in=told).select_related("project")
    states = {one.project_id: one for one in rows}
    return [f"{one.code}: {as_of(states.get(one.pk))}" for one in told]


class Beside(KeysFirst):
    """Pages of `found` findings with `others` before the finding at `at`, None: behind all of them."""

    def __init__(
        self, *args: Any, others: Sequence[Any], at: int | None, found: int, **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.others, self._at, self._found = others, at, found

    @cached_property
    def count(self) -> int:
        """Findings and others."""
        return self._found + len(self.others)

    @property
    def at(self) -> int:
        """How many findings stand before the others."""
        return self._found if self._at is None else self._at

    def page(self, number: int | str) -> Page[Any]:
        """As Django's. Raises InvalidPage."""
        number = self.validate_number(number)
        first, at, more = (number - 1) * self.per_page, self.at, len(self.others)
        end = first + self.per_page
        rows = [
            *self._ours(min(first, at), min(end, at)),
            *self.others[max(first - at, 0) : max(end - at, 0)],
            *self._ours(max(first - more, at), max(end - more, at)),
        ]
        return Page(rows, number, self)

    def _ours(self, first: int, end: int) -> Sequence[Any]:
        if first >= end:
            return ()
        rows: Any = self.object_list
        return [*rows.filter(pk__in=rows.values("pk")[first:end])]


class FindingsList(DeclaredChangeList):
    """The list of findings with the queries of REDCap in their place."""

    result_list: Any

    def get_results(self, request: HttpRequest) -> None:
        """As Django's, which takes a list of one page from the table alone."""
        super().get_results(request)
        pages, shown = self.paginator, self.result_list
        if isinstance(pages, Beside) and not isinstance(shown, list):
            found = [*shown]
            self.result_list = [*found[: pages.at], *pages.others, *found[pages.at :]]

    def url_for_result(self, result: Any) -> str:
        """The page of the row; of a query of REDCap its own."""
        if query := getattr(result, "asked", None):
            return reverse("admin:study_redcapquery_change", args=[query.pk])
        return str(super().url_for_result(result))


def of_findings(show: Column) -> Column:
    """A column that only what was found here has."""

    @wraps(show)
    def shown(page: Any, obj: Any) -> Any:
        return "-" if hasattr(obj, "asked") else show(page, obj)

    return shown


def source_words(row: PendingAction) -> str:
    """Where a row comes from, and that REDCap asks the same."""
    if hasattr(row, "asked"):
        return _("REDCap")
    number = getattr(row, "redcap_number", None)
    return _("Found here") if number is None else redcap_asks.told(number)


@require_GET
def redcap_view(request: HttpRequest, pk: int) -> HttpResponse:
    """To the query's field in REDCap."""
    rows = RedcapQuery.objects.for_user(request.user).select_related("project")
    one = get_object_or_404(rows, pk=pk)
    return finding_steps.to_field(request, one) or redirect("admin:study_redcapquery_change", pk)


@admin.register(RedcapQuery)
class RedcapQueryAdmin(OwnPages, ExportAdmin):
    """All that were read, the closed ones too; nobody edits them here."""

    empty = gettext_lazy(
        "No query was read from REDCap. Project → REDCap switches this on where REDCap has the module for it."
    )
    list_display = (
        *("record_id", "status_id", "show_place", "show_text", "opened_by", "assigned"),
        *("opened_at", "last_at", "show_state", "show_project"),
    )
    more_exported = ("event", "instrument", "instance", "field", "read_at", "closed_at")
    list_filter = (BY_PROJECT, "state")
    list_select_related = ("project",)
    search_fields = ("record_id", "field", "opened_by", "assigned")
    sealed_search_fields = ("text",)
    sealed_search_at = "opened_at"
    fields = (
        *(("project", "status_id"), ("record_id", "show_linked_place"), "text"),
        *(
            ("opened_by", "opened_at"),
            ("assigned", "last_at"),
            ("state", "closed_at"),
            "read_at",
        ),
    )
    readonly_fields = ("show_linked_place",)
    actions = ("export_selected",)
    actions_list = ("export_list", "export_book")
    whole_texts = {"show_text": "text"}
    pages = (("<int:pk>/redcap/", "redcapquery_redcap", redcap_view),)

    show_state = tag(
        "state",
        gettext_lazy("state"),
        {"open": "danger", "answered": "warning", "closed": "success"},
    )
    show_text = shortened("text", gettext_lazy("last comment"))
    show_place = column(gettext_lazy("place"), finding_words.place_words)
    show_linked_place = column(gettext_lazy("place"), finding_words.linked_place)

    def get_queryset(self, request: HttpRequest) -> QuerySet[RedcapQuery]:
        return finding_words.worded(super().get_queryset(request))

    def more_context(self, request: HttpRequest, obj: RedcapQuery) -> dict[str, Any]:
        return {}

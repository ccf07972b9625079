"""A list of the console as a CSV file: the rows and columns that its reader sees, without identifiers."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain, islice
from typing import Any, ClassVar
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import label_for_field, lookup_field
from django.contrib.admin.views.main import IGNORED_PARAMS, PAGE_VAR, SEARCH_VAR
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.text import capfirst, get_valid_filename
from django.utils.timezone import localdate, localtime
from django.utils.translation import get_language, gettext, override
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action

from core.house import spreadsheet
from core.house.db import atomic
from core.house.paper.value import PRODUCER, ai_mark
from core.integrations.redcap import RedcapError
from core.privacy.gate import NOTHING_KNOWN, Gate
from core.privacy.identifier_index import Known
from projects import audit
from projects.admin_base import ScopedAdmin
from projects.admin_lists import Undeclared
from projects.downloads import headers_of
from projects.models import Project
from study import identities, roster
from study.client import NotConfiguredError
from study.identities import unnamed
from study.request_cache import Reader

_CHUNK = 500
MOST_IN_BOOK = 20_000
"""A workbook is made in memory; a longer list leaves as CSV."""
_REMEMBERED = 4096


class ExportAdmin(ScopedAdmin):
    """A page whose list can be taken along; it names `export_list` and `export_selected` itself.

    `whole_texts`: columns that the list shortens, with the model's field that holds all of it.
    """

    whole_texts: ClassVar[dict[str, str]] = {}
    # What a file holds beside the columns of the list, which have to fit a screen.
    more_exported: ClassVar[tuple[str, ...]] = ()
    # Columns of a file that hold numbers and hashes, no text: the gate would take digits for a telephone's.
    verbatim: ClassVar[tuple[str, ...]] = ()

    def get_exported(self, request: HttpRequest) -> list[str]:
        """The columns of a file."""
        shown = [name for name in self.get_list_display(request) if isinstance(name, str)]
        return [*shown, *self.more_exported]

    def rows_beside(self, request: HttpRequest) -> Sequence[Any]:
        """What the list shows beside its own rows, and a file of it holds behind them."""
        return ()

    def by_model(self, rows: QuerySet[Any]) -> bool:
        """Whether a model wrote a part of the rows: a column tells which, and a workbook's properties."""
        return False

    @action(description=_("Export CSV"), url_path="export", permissions=["view"], icon="download")
    def export_list(self, request: HttpRequest) -> HttpResponseBase:
        """All rows that the list's filters leave."""
        return self._export_filtered(request, as_book=False)

    @action(
        description=_("Export XLSX"),
        url_path="export-xlsx",
        permissions=["view"],
        icon="table_view",
    )
    def export_book(self, request: HttpRequest) -> HttpResponseBase:
        """The same as a workbook."""
        return self._export_filtered(request, as_book=True)

    def _export_filtered(self, request: HttpRequest, *, as_book: bool) -> HttpResponseBase:
        try:
            rows = self.get_changelist_instance(request).get_queryset(request)
        except IncorrectLookupParameters:
            return redirect(self._address("changelist"))
        except Undeclared as refused:
            return self.back_to_list(request, refused)
        return export(self, request, rows, self.rows_beside(request), as_book=as_book)

    @admin.action(description=_("Export CSV"), permissions=["view"])
    def export_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponseBase:
        """The ticked rows."""
        return export(self, request, queryset)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """The button goes on from the filters, the search and the order of this page."""
        page = super().changelist_view(request, extra_context)
        chosen = request.GET.copy()
        chosen.pop(PAGE_VAR, None)
        own = {
            self._address(name)
            for name in ("export_list", "export_book")
            if name in self.actions_list
        }
        for button in (getattr(page, "context_data", None) or {}).get("actions_list", ()):
            if button["path"] in own and chosen:
                button["path"] += f"?{chosen.urlencode()}"
        return page

    def _address(self, name: str) -> str:
        meta = self.model._meta
        return reverse(f"admin:{meta.app_label}_{meta.model_name}_{name}")


def export(
    page: ExportAdmin,
    request: HttpRequest,
    rows: QuerySet[Any],
    more: Sequence[Any] = (),
    *,
    as_book: bool = False,
) -> HttpResponseBase:
    """`rows` and `more` as a download, CSV or a workbook; each study's trail says so before a line leaves.

    Without the list of a study's identifiers nothing leaves: the reader is told and sees the list again.
    What comes into being after the count is left out where it is of a study that had no rows.
    """
    counts: dict[UUID | None, int] = dict(
        rows.order_by().values_list("project_id").annotate(Count("pk"))
    )
    for row in more:
        counts[row.project_id] = counts.get(row.project_id, 0) + 1
    projects = Project.objects.in_bulk([pk for pk in counts if pk])
    try:
        sheet = Sheet(page, request, projects)
    except Unread as error:
        messages.error(request, f"{error}: {gettext('REDCap could not be read.')}")
        return redirect(page._address("changelist"))
    if as_book and sum(counts.values()) > MOST_IN_BOOK:
        messages.error(request, gettext("At most %d rows as XLSX: narrow the list.") % MOST_IN_BOOK)
        return redirect(page._address("changelist"))
    # A CSV file has no properties: its column is all that tells.
    number = secrets.token_hex(8) if as_book and page.by_model(rows) else ""
    with atomic():
        for pk, count in counts.items():
            about = {"rows": count, "filter": sheet.filters(request, pk)}
            about |= {"number": number} if number else {}
            audit.record(
                "rows.export",
                actor=request.user,
                project=projects.get(pk) if pk else None,
                new={"model": page.model._meta.model_name, **about},
            )
    only = next(iter(projects.values())) if len(projects) == 1 else None
    name = f"{only.code if only else 'IIT'}_{page.model._meta.verbose_name_plural}"
    name += f"_{localdate(timezone=ZoneInfo(only.timezone) if only else None):%Y-%m-%d}"
    if as_book:
        head, *cells = sheet.cells(rows, more)
        title, mark = page.model._meta.verbose_name_plural, ai_mark(PRODUCER, number)
        content = spreadsheet.workbook(str(title), head, cells, mark if number else "")
        return HttpResponse(content, headers=_headers(spreadsheet.CONTENT_TYPE, name, "xlsx"))
    headers = _headers("text/csv; charset=utf-8", name, "csv")
    return StreamingHttpResponse(sheet.lines(rows, more), headers=headers)


def _headers(content_type: str, name: str, ending: str) -> dict[str, str]:
    file = f"{get_valid_filename(name)}.{ending}"
    return {"Content-Type": content_type, **headers_of(file)}


class Unread(Exception):
    """The study of this code was never read: its identifiers are not known."""


class Sheet:
    """The columns of a list as its reader sees them, of rows of these studies. Raises Unread.

    Times are of the row's study, whose days its reports count by; of no study the house's.
    """

    def __init__(
        self, page: ExportAdmin, request: HttpRequest, projects: dict[UUID, Project]
    ) -> None:
        self._page = page
        self._request = request
        self._language = get_language()
        self._columns = page.get_exported(request)
        self._known: dict[UUID | None, Known] = {None: NOTHING_KNOWN}
        self._known |= {pk: known_of(project) for pk, project in projects.items()}
        self._zones = {pk: ZoneInfo(project.timezone) for pk, project in projects.items()}
        self.plain = lru_cache(_REMEMBERED)(self._plain)

    def lines(self, rows: QuerySet[Any], more: Sequence[Any] = ()) -> Iterator[str]:
        """A CSV file, line by line."""
        yield from spreadsheet.csv_lines(self.cells(rows, more))

    def cells(self, rows: QuerySet[Any], more: Sequence[Any] = ()) -> Iterator[list[str]]:
        """The head, then the cells of each row; the rows are read as they are sent."""
        with override(self._language):
            labels = [label_for_field(n, self._page.model, self._page) for n in self._columns]
            head = [capfirst(str(label)) for label in labels]
        yield head
        found = chain(rows.iterator(chunk_size=_CHUNK), more)
        while chunk := [*islice(found, _CHUNK)]:
            known = [row for row in chunk if row.project_id in self._known]
            # The response outlives the request's own language.
            with override(self._language):
                self._page.prepare(self._request, known)
                cells = [[self._cell(row, name) for name in self._columns] for row in known]
            yield from cells

    def filters(self, request: HttpRequest, project_id: UUID | None) -> dict[str, Any]:
        """How the list was narrowed. What was searched for may be a name: only that there was a search."""
        narrowed: dict[str, Any] = {
            name: self.plain(str(value), project_id)
            for name, value in request.GET.items()
            if name not in (*IGNORED_PARAMS, PAGE_VAR, SEARCH_VAR)
        }
        if request.GET.get(SEARCH_VAR):
            narrowed["search"] = True
        if request.method == "POST":
            narrowed["selected"] = True
        return narrowed

    def _plain(self, text: str, project_id: UUID | None) -> str:
        # A gate keeps all that it has read, and a file may be long: each text has one of its own.
        return unnamed(text, Gate(self._known[project_id]))

    def _cell(self, row: Any, name: str) -> str:
        field, _attribute, value = lookup_field(
            self._page.whole_texts.get(name, name), row, self._page
        )
        if choices := getattr(field, "flatchoices", None):
            value = dict(choices).get(value, value)
        if isinstance(value, tuple):
            # A label of Unfold: the code that colours it, and its words.
            value = value[-1]
        if value is None:
            return ""
        if isinstance(value, bool):
            return gettext("Yes") if value else gettext("No")
        if isinstance(value, datetime):
            return f"{localtime(value, self._zones.get(row.project_id)):%Y-%m-%d %H:%M:%S}"
        if name in self._page.verbatim:
            return str(value)
        return self.plain(str(value), row.project_id)


def known_of(project: Project) -> Known:
    """The identifiers of a study, for a gate. Raises Unread."""
    reader = Reader(project)
    try:
        roster.ensure_fresh(project, settings.ROSTER_MAX_AGE_S, reader.stored)
        return identities.known_identifiers(reader)
    except (RedcapError, NotConfiguredError) as error:
        raise Unread(project.code) from error

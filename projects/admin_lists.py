"""Lists of the console take the parameters they declare: filters, search, order, page; no other lookup.

Django takes any lookup of any column, also of one that the reader is never shown: asked often enough,
`?content__regex=` tells it letter by letter, and a regular expression can hold the database for hours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from django.contrib import messages
from django.contrib.admin import RelatedOnlyFieldListFilter
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.text import Truncator, capfirst
from django.utils.translation import gettext, override
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from core.house import sealed_search
from core.house.admin_text import coded
from core.house.encrypted_fields import is_sealed
from projects.models import Project
from projects.switcher import chosen

MOST_WORDS = 20
BY_STUDY = "project__id__exact"
_PERIOD = {"year": range(1900, 3000), "month": range(1, 13), "day": range(1, 32)}


class Undeclared(SuspiciousOperation):
    """A list was asked by a parameter that it does not declare, or by a value no column can hold."""

    def __init__(self, name: str) -> None:
        """`name` of the parameter."""
        self.name = Truncator(name).chars(60)
        super().__init__(gettext("This list cannot be narrowed by “%s”.") % self.name)


class OwnRows(RelatedOnlyFieldListFilter):
    """What the page's own rows relate to; the plain filter lists all rows of the house.

    It is applied wherever it is given: Django passes it over where there is nothing to choose from.
    """

    def has_output(self) -> bool:
        """With a choice, or in use."""
        return bool(self.used_parameters) or super().has_output()


class DeclaredChangeList(ChangeList):  # type: ignore[misc]
    """What no filter of the page has taken is refused. Raises Undeclared.

    `study`: the one that the list was narrowed to without a filter.
    """

    study: Project | None = None

    def get_filters(self, request: HttpRequest) -> Any:
        """As Django's, whose third item holds what is left."""
        for name, values in self.filter_params.items():
            if any("\0" in part for part in (name, *values)):
                raise Undeclared(name.replace("\0", ""))
        self._check_period()
        found = super().get_filters(request)
        allowed = {*self.model_admin.linked_by, *self._bounds()}
        for name in found[2]:
            if name not in allowed:
                raise Undeclared(name)
        return found

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        """The rows of the study that the reader has turned to, unless the address names one."""
        rows: QuerySet[Any] = super().get_queryset(request, exclude_parameters)
        path = getattr(self.model_admin, "project_path", "pk")
        names_one = path == "pk" or BY_STUDY in self.filter_params
        self.study = None if names_one else chosen(request)
        return rows.filter(**{path: self.study.pk}) if self.study else rows

    def get_results(self, request: HttpRequest) -> None:
        """As Django's; then the page may look up what all shown rows need, at once."""
        super().get_results(request)
        self.model_admin.prepare(request, [*self.result_list])

    def _check_period(self) -> None:
        """A year, a month of a year, a day of a month, each once."""
        outer = True
        for unit, numbers in _PERIOD.items() if self.date_hierarchy else ():
            name = f"{self.date_hierarchy}__{unit}"
            given = self.filter_params.get(name)
            if given is None:
                outer = False
            elif not outer or len(given) != 1 or not _is_in(numbers, given[0]):
                raise Undeclared(name)

    def _bounds(self) -> set[str]:
        """What Django makes of the period; sent by somebody they are parameters like others."""
        if f"{self.date_hierarchy}__year" not in self.filter_params:
            return set()
        made = {f"{self.date_hierarchy}__gte", f"{self.date_hierarchy}__lt"}
        return made - {*self.filter_params}


def _is_in(numbers: range, text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 5 and int(text) in numbers


def _message_ids(model: type[Model]) -> Iterator[tuple[str, str]]:
    """(as Django notes a column, its message id)"""
    with override(None):
        names = [str(getattr(field, "verbose_name", "")) for field in model._meta.get_fields()]
    yield from ((capfirst(name), name) for name in names if name)


class DeclaredAdmin(ModelAdmin):  # type: ignore[misc]
    """The base of all pages of the console.

    `linked_by`: parameters that links of other pages use and no filter of the side bar shows.
    """

    # What an empty list tells: how rows come here.
    empty: ClassVar[Any] = ""
    linked_by: ClassVar[tuple[str, ...]] = ()
    # Columns that hold names of REDCap, of a graph or of a program.
    codes: ClassVar[tuple[str, ...]] = ()
    # Encrypted columns to be searched as well, and the column of the time that bounds this.
    sealed_search_fields: ClassVar[tuple[str, ...]] = ()
    sealed_search_at: ClassVar[str] = "created_at"

    def get_sortable_by(self, request: HttpRequest) -> Any:
        """Without encrypted columns: ciphertext has no order that means something."""
        sealed = {field.name for field in self.opts.get_fields() if is_sealed(field)}
        return [name for name in super().get_sortable_by(request) if name not in sealed]

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """With codes shown as such; files get them plain, so `list_display` keeps their names."""
        found = super().get_changelist_instance(request)
        shown = {name: coded(self.model, name) for name in self.codes}
        found.list_display = [shown.get(name, name) for name in found.list_display]
        found.sortable_by = {*found.sortable_by, *shown.values()}
        return found

    def prepare(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        """Keep with the rows of a list or a file what their columns show and no column holds."""

    def get_sealed_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        """Encrypted columns that this reader may search."""
        return self.sealed_search_fields

    def get_texts(self) -> Callable[[Any], Iterable[str]] | None:
        """What a reader sees of a row, where its columns hold it in other words."""
        return None

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[DeclaredChangeList]:
        """The list that refuses."""
        return DeclaredChangeList

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """The list decides, which knows what its filters took; Django's answer lets every column pass."""
        return True

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """A person is told and gets the whole list: an old bookmark is no attack."""
        try:
            return super().changelist_view(request, extra_context)
        except Undeclared as refused:
            return self.back_to_list(request, refused)

    def back_to_list(self, request: HttpRequest, refused: Undeclared) -> HttpResponse:
        """The whole list, and what was refused."""
        messages.error(request, str(refused))
        return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Any:
        """As Django's, with columns by their message ids: with a capital no catalog has them."""
        noted = super().construct_change_message(request, form, formsets, add)
        models = [self.model, *(one.model for one in formsets or ())]
        ids = {name: plain for model in models for name, plain in _message_ids(model)}
        for entry in noted if isinstance(noted, list) else ():
            for told in entry.values():
                if "fields" in told:
                    told["fields"] = [ids.get(name, name) for name in told["fields"]]
        return noted

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """Django looks for the row first: who may not see the page would learn which rows there are."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        answer: HttpResponse = super().history_view(request, object_id, extra_context)
        return answer

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Nothing for what no column can hold and for more words than a person searches for."""
        if "\0" in search_term or len(search_term.split()) > MOST_WORDS:
            return queryset.none(), False
        found: tuple[QuerySet[Any], bool] = super().get_search_results(
            request, queryset, search_term
        )
        sealed = self.get_sealed_search_fields(request)
        if not sealed or not search_term.strip():
            return found
        texts = self.get_texts()
        messages.info(request, sealed_search.bounds(worded=texts is not None))
        columns = [*self.get_search_fields(request), *sealed]
        keys = sealed_search.holding(
            queryset, columns, search_term, at=self.sealed_search_at, texts=texts
        )
        # One WHERE and no subquery: a page of the newest ends as soon as it is full.
        return found[0] | queryset.filter(pk__in=keys), False

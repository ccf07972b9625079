"""Columns, filters and pages that several tables of the console have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import path
from django.utils.functional import Promise
from django.utils.text import Truncator
from unfold.decorators import display

from core.house.stored_labels import name
from engines.sop import DECIDERS
from projects.admin_base import ScopedAdmin, roles
from study.admin.export import ExportAdmin

Column = Callable[[Any, Any], Any]
_LONGEST = 60
"""Characters of a text for which a list has room."""


def tag(field: str, title: Any, colours: Mapping[Any, str], ordering: Any = None) -> Column:
    """A choice as a tag with its colour."""

    @display(
        description=title,
        ordering=ordering or field,
        label={str(value): colour for value, colour in colours.items()},
    )
    def show(_page: Any, obj: Any) -> tuple[str, str]:
        return getattr(obj, field), getattr(obj, f"get_{field}_display")()

    return show  # type: ignore[no-any-return]


def column(title: Any, word: Callable[[Any], Any], ordering: str = "") -> Column:
    """What `word` makes of a row."""

    @admin.display(description=title, ordering=ordering or None)
    def show(_page: Any, obj: Any) -> Any:
        return word(obj)

    return show


def named(field: str, title: Any, names: Mapping[str, Promise]) -> Column:
    """What an engine stores as a word, by its name."""
    return column(title, lambda obj: name(names, getattr(obj, field)) or "-", field)


def shortened(field: str, title: Any) -> Column:
    """A text as far as a list has room."""
    return column(title, lambda obj: Truncator(getattr(obj, field)).chars(_LONGEST))


class OwnPages(ScopedAdmin):
    """A table with `pages` (address, name, view) beside Django's own, and more on the page of a row."""

    pages: ClassVar[Sequence[tuple[str, str, Callable[..., Any]]]] = ()

    def get_urls(self) -> Any:
        view = self.admin_site.admin_view
        own = [path(at, view(call), name=f"engines_{name}") for at, name, call in self.pages]
        return own + super().get_urls()

    def more_context(self, request: HttpRequest, obj: Any) -> dict[str, Any]:
        """What the page of a row shows beside its fields."""
        raise NotImplementedError

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, obj: Any = None, **kwargs: Any
    ) -> Any:
        more = self.more_context(request, obj) if obj else {}
        return super().render_change_form(request, context | more, *args, obj=obj, **kwargs)


class OwnFilter(admin.SimpleListFilter):
    """A filter with a few `options` (value, label); where nothing is chosen it leaves all rows."""

    options: ClassVar[Sequence[tuple[str, Any]]] = ()

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
        return self.options

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        chosen = self.value()
        return self.narrowed(queryset, chosen, request) if chosen else queryset

    def narrowed(self, rows: Any, chosen: str, request: HttpRequest) -> Any:
        """The rows that `chosen` leaves; all for a word that is no option."""
        raise NotImplementedError


class DeciderAdmin(OwnPages, ExportAdmin):
    """A list whose rows somebody decides about; an auditor only looks on."""

    of_site = True

    def has_decide_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A role that decides, in any study; the row's own is asked for each."""
        return bool(set(DECIDERS) & roles(request))

"""Columns, filters and pages that several tables of the console have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import URLPattern, path
from django.utils.functional import Promise
from django.utils.text import Truncator
from unfold.decorators import display

from core.house.stored_labels import name
from engines import labels
from engines.sop import DECIDERS
from projects.admin_base import roles
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


def named(field: str, title: Any, names: Mapping[str, Promise]) -> Column:
    """What an engine stores as a word, by its name."""

    @admin.display(description=title, ordering=field)
    def show(_page: Any, obj: Any) -> str:
        return name(names, getattr(obj, field)) or "-"

    return show


def node(title: Any, config: Callable[[Any], dict[str, Any]]) -> Column:
    """The node that `node` names in the configuration of the row's run."""

    @admin.display(description=title)
    def show(_page: Any, obj: Any) -> str:
        return labels.node_title(config(obj), obj.node)

    return show


def shortened(field: str, title: Any) -> Column:
    """A text as far as a list has room."""

    @admin.display(description=title)
    def show(_page: Any, obj: Any) -> str:
        return Truncator(getattr(obj, field)).chars(_LONGEST)

    return show


def own_pages(
    page: admin.ModelAdmin, *routes: tuple[str, str, Callable[..., Any]]
) -> list[URLPattern]:
    """(address, name, view) of the pages that a table has beside Django's own."""
    view = page.admin_site.admin_view
    return [path(address, view(call), name=f"engines_{name}") for address, name, call in routes]


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


class DeciderAdmin(ExportAdmin):
    """A list whose rows somebody decides about; an auditor only looks on."""

    of_site = True

    def has_decide_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A role that decides, in any study; the row's own is asked for each."""
        return bool(set(DECIDERS) & roles(request))

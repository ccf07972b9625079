"""Lists over tables that grow with every message: pages by keys, counts that end, periods without a query.

Django counts all rows, walks whole rows to the page that is asked for, and asks the table for its years. Over a
million messages each of these takes seconds (tests/bench/lists.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.contrib.admin.views.main import PAGE_VAR
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.timezone import get_current_timezone, localdate
from django.utils.translation import gettext_lazy as _

AHEAD = 1000
"""So many rows behind the page that is shown are counted."""
_FARTHEST = 100_000
_MONTHS, _YEARS = 12, 10


class AtLeast(int):
    """A count that was not carried to its end: reads `1000+`."""

    def __str__(self) -> str:
        return f"{int(self)}+"


class KeysFirst(Paginator[Any]):
    """Finds the keys of a page first: the rows before it are passed over in an index."""

    def page(self, number: int | str) -> Page[Any]:
        """As Django's. Raises InvalidPage."""
        number = self.validate_number(number)
        first = (number - 1) * self.per_page
        rows: Any = self.object_list
        keys = rows.values("pk")[first : first + self.per_page]
        return Page(rows.filter(pk__in=keys), number, self)


class LongPaginator(KeysFirst):
    """Counts up to `most` rows: nobody turns a thousand pages, and who narrows the list gets its true count."""

    most = AHEAD

    @cached_property
    def count(self) -> int:
        """All rows, or at least so many."""
        rows: Any = self.object_list
        found = int(rows.order_by().values("pk")[: self.most + 1].count())
        return AtLeast(self.most) if found > self.most else found


class LongList:
    """A page of the console whose list is long; before `ScopedAdmin`."""

    def get_paginator(
        self, request: HttpRequest, queryset: QuerySet[Any], per_page: int, *args: Any, **more: Any
    ) -> LongPaginator:
        """Counts beyond the page that is asked for, so that a page far behind opens."""
        found = LongPaginator(queryset, per_page, *args, **more)
        asked = request.GET.get(PAGE_VAR, "")
        if asked.isascii() and asked.isdecimal():
            found.most = AHEAD + per_page * min(int(asked), _FARTHEST)
        return found


def period(column: str) -> type[SimpleListFilter]:
    """A filter by the time in `column`: the last days, months and years; it asks no table what there is."""

    class Period(SimpleListFilter):
        title = _("time")
        parameter_name = "period"

        def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
            """Days back from today, then months, then years."""
            days = [("1", _("Today")), ("7", _("last 7 days")), ("30", _("last 30 days"))]
            return [*days, *((one, one) for one in (*_months(), *_years()))]

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
            """Nothing lies in a period that is none."""
            chosen = self.value()
            if not chosen:
                return queryset
            if chosen not in {value for value, _name in self.lookup_choices}:
                return queryset.none()
            first, end = _bounds(chosen)
            bounds = {f"{column}__gte": _midnight(first), f"{column}__lt": _midnight(end)}
            return queryset.filter(**bounds)

    return Period


def _months() -> list[str]:
    """`2026-11` and the months before it."""
    today = localdate()
    last = today.year * 12 + today.month - 1
    return [f"{at // 12}-{at % 12 + 1:02}" for at in range(last, last - _MONTHS, -1)]


def _years() -> list[str]:
    """`2026` and the years before it."""
    return [str(year) for year in range(localdate().year, localdate().year - _YEARS, -1)]


def _bounds(chosen: str) -> tuple[date, date]:
    """The first day, and the day after the last."""
    today = localdate()
    if chosen in _years():
        return date(int(chosen), 1, 1), date(int(chosen) + 1, 1, 1)
    if "-" not in chosen:
        return today - timedelta(days=int(chosen) - 1), today + timedelta(days=1)
    first = date.fromisoformat(f"{chosen}-01")
    return first, (first + timedelta(days=31)).replace(day=1)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=get_current_timezone())

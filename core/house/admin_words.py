"""Stored words by their names in the filters of the console."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib.admin import AllValuesFieldListFilter
from django.utils.functional import Promise

from core.house.stored_labels import name


def by_name(
    field: str, names: Mapping[str, Promise], *, every: bool = False
) -> tuple[str, type[AllValuesFieldListFilter]]:
    """An entry of `list_filter`: the values of `field` that the page's rows have, by their names.

    `every`: all that have a name, for a table too long to be read for what it has.
    """

    class Named(AllValuesFieldListFilter):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            if every:
                self.lookup_choices: Any = [*names]

        def choices(self, changelist: Any) -> Iterator[Any]:
            for choice in super().choices(changelist):
                yield {**choice, "display": name(names, str(choice["display"]))}

    return field, Named

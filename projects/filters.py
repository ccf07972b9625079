"""How lists of the API are narrowed: a value that means nothing is refused, never passed over."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import QuerySet
from django_filters.rest_framework import (
    CharFilter,
    DjangoFilterBackend,
    FilterSet,
    TypedChoiceFilter,
    UUIDFilter,
)

TRUTHS = [(word, word) for word in ("true", "false", "True", "False")]


def _is_true(word: str) -> bool:
    return word.lower() == "true"


class ListFilterSet(FilterSet):
    """`project` (code or id) beside the fields a resource names.

    A relation is compared by its id: looked up, an id of somebody else would read otherwise than one that
    does not exist (design.md 9.7).
    """

    project = CharFilter(method="of_project", label="project")

    class Meta:
        filter_overrides = {
            models.ForeignKey: {"filter_class": UUIDFilter},
            models.BooleanField: {
                "filter_class": TypedChoiceFilter,
                "extra": lambda _field: {"choices": TRUTHS, "coerce": _is_true},
            },
        }

    def of_project(self, rows: QuerySet[Any], _name: str, value: str) -> QuerySet[Any]:
        """Rows of the project with this code or id."""
        path = "" if rows.model._meta.model_name == "project" else "project__"
        try:
            return rows.filter(
                models.Q(**{f"{path}pk": UUID(value)}) | models.Q(**{f"{path}code": value})
            )
        except ValueError:
            return rows.filter(**{f"{path}code": value})


class ListFilters(DjangoFilterBackend):
    """Filters of a resource that names its `filterset_fields`."""

    filterset_base = ListFilterSet

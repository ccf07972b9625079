"""How lists of the API are narrowed: a value that means nothing is refused, never passed over."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django_filters.rest_framework import (
    CharFilter,
    DjangoFilterBackend,
    FilterSet,
    TypedChoiceFilter,
    UUIDFilter,
)
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from projects.models import TokenScope

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
    """Filters of a resource that names its `filterset_fields`; a row asked for by its id is not narrowed."""

    filterset_base = ListFilterSet

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: Any) -> Any:
        """Raises ValidationError for a value that means nothing."""
        if view.detail:
            return queryset
        return super().filter_queryset(request, queryset, view)


class DeclaredParameters(APIView):
    """A view that refuses every parameter of its address that it does not declare.

    `read_scope`, `write_scope`: what a narrowed token needs (`projects.token_scopes`).
    """

    read_scope: TokenScope | None = TokenScope.READ
    write_scope: TokenScope | None = None

    def parameters(self) -> set[str]:
        """The names that the view takes beside its path."""
        return set()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """For who is known and a method that there is. Raises ValidationError that names what is refused."""
        method = (request.method or "").lower()
        answers = method in self.http_method_names and hasattr(self, method)
        if answers and request.user and request.user.is_authenticated:
            check_parameters(request, self.parameters())
        super().initial(request, *args, **kwargs)


def check_parameters(request: Request, declared: set[str]) -> None:
    """Raises ValidationError for names that are not declared and for those given more than once."""
    errors = {
        name: [_("There is no such parameter.")] for name in {*request.query_params} - declared
    }
    for name, values in request.query_params.lists():
        if name in declared and len(values) > 1:
            errors[name] = [_("Give this parameter once.")]
    if errors:
        raise ValidationError(errors)

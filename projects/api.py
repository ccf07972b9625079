"""Base of the API's resources, and the projects (contracts.md, HTTP)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import mixins, serializers, viewsets
from rest_framework.exceptions import PermissionDenied
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request

from projects import reads
from projects.access import has_role
from projects.filters import DeclaredParameters, ListFilters
from projects.models import Project

PAGE = PageNumberPagination.page_query_param


def not_allowed() -> PermissionDenied:
    """The error for who is in the study, but not in the role or at the site that it takes."""
    return PermissionDenied(_("Your role does not allow this."))


def require_role(request: Request, project_id: UUID, *roles: str, of_site: bool = False) -> None:
    """Raises PermissionDenied unless the user holds one of `roles` there (`projects.access.has_role`)."""
    if not has_role(request.user, project_id, *roles, of_site=of_site):
        raise not_allowed()


class ScopedViewSet(DeclaredParameters, viewsets.GenericViewSet):
    """Only rows the user's memberships open; everything else is a 404 (design.md 9.7)."""

    filter_backends = (ListFilters,)
    lists_values: ClassVar[bool] = False
    """Whether a list holds what was read of its rows' subjects; then these are noted (`projects.reads`)."""

    def paginate_queryset(self, queryset: Any) -> Any:
        """A page; who it tells values of is noted."""
        page = super().paginate_queryset(queryset)
        if self.lists_values:
            self.note_reads(page or ())
        return page

    def note_reads(self, rows: Iterable[Any]) -> None:
        """Note that the user is shown these rows."""
        shown: dict[UUID, list[str]] = {}
        for row in rows:
            for record_id in self.subjects_of(row):
                shown.setdefault(row.project_id, []).append(record_id)
        for project_id, record_ids in shown.items():
            reads.note(
                actor=self.request.user, project=project_id, record_ids=record_ids, door="api"
            )

    def subjects_of(self, row: Any) -> list[str]:
        """Whose data a row holds."""
        record_id = getattr(row, "record_id", None)
        return [record_id] if record_id else []

    def parameters(self) -> set[str]:
        """Of a list: its filters and the page."""
        if self.action != "list":
            return set()
        filters = ListFilters().get_filterset_class(self, self.get_queryset())
        return {*filters.base_filters, PAGE}

    def get_queryset(self) -> QuerySet[Any]:
        """Rows of the requesting user, in an order that no page boundary tears."""
        model = super().get_queryset().model
        manager: Any = model._default_manager
        rows: QuerySet[Any] = manager.for_user(self.request.user)
        return rows.order_by(*(model._meta.ordering or ()), "pk")

    def get_object(self) -> Any:
        """One row; who it is about is noted (`projects.reads`)."""
        row = super().get_object()
        self.note_reads([row])
        return row


class ReadViewSet(ScopedViewSet, viewsets.ReadOnlyModelViewSet):
    """A resource that is read only."""


class EditViewSet(
    ScopedViewSet,
    mixins.CreateModelMixin,
    mixins.UpdateModelMixin,
    viewsets.ReadOnlyModelViewSet,
):
    """A resource that holders of `edit_roles` may create and change, through a service."""

    edit_roles: ClassVar[tuple[str, ...]] = ("ADMIN",)

    def require_role(self, project: Project) -> None:
        """Raises Http404 outside the user's projects, PermissionDenied without the role."""
        if not Project.objects.for_user(self.request.user).filter(pk=project.pk).exists():
            raise Http404
        require_role(self.request, project.pk, *self.edit_roles)


class ProjectField(serializers.SlugRelatedField):
    """A project by code or id, among those of the user; shown as its code."""

    def __init__(self, **kwargs: Any) -> None:
        """A related field on Project."""
        super().__init__(slug_field="code", queryset=Project.objects.all(), **kwargs)

    def get_queryset(self) -> QuerySet[Project]:
        """Projects of the requesting user."""
        return Project.objects.for_user(self.context["request"].user)

    def to_internal_value(self, data: Any) -> Project:
        """Find by id where the value is one, else by code. Raises ValidationError."""
        if not isinstance(data, str) or "\0" in data:
            self.fail("invalid")
        try:
            project = self.get_queryset().filter(pk=UUID(data)).first()
        except ValueError:
            project = None
        if project is not None:
            return project
        found: Project = super().to_internal_value(data)
        return found


def find_project(request: Request, name: object) -> Project:
    """The project of the user with this code or id. Raises Http404."""
    field: Any = ProjectField()
    field._context = {"request": request}
    try:
        found: Project = field.to_internal_value(name)
    except serializers.ValidationError as error:
        raise Http404 from error
    return found


class ProjectSerializer(serializers.ModelSerializer):
    """A study without its secrets."""

    class Meta:
        model = Project
        fields = (
            "id",
            "code",
            "name",
            "status",
            "start_date",
            "target_enrolment",
            "timezone",
            "record_id_pattern",
            "registration_no",
            "pi_name",
            "synopsis",
            "anchor_is_day",
            "created_at",
            "updated_at",
        )


class ProjectViewSet(ReadViewSet):
    """Studies the user takes part in."""

    queryset = Project.objects.none()
    serializer_class = ProjectSerializer
    filterset_fields = ("code", "status")

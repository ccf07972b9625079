"""Base of the API's resources, and the projects (contracts.md, HTTP)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from pydantic import ValidationError
from rest_framework import mixins, serializers, viewsets
from rest_framework.exceptions import PermissionDenied
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response

from integrations.redcap import RedcapError
from projects import reads, records, visit_window
from projects.access import has_role, member_in
from projects.api_fields import Text
from projects.client import NotConfiguredError
from projects.filters import DeclaredParameters, ListFilters
from projects.models import Project
from projects.problems import Conflict, Unavailable

PAGE = PageNumberPagination.page_query_param


def not_allowed() -> PermissionDenied:
    """The error for who is in the study, but not in the role or at the site that it takes."""
    return PermissionDenied(_("Your role does not allow this."))


def require_role(request: Request, project_id: UUID, *roles: str) -> None:
    """Raises PermissionDenied unless the user holds one of `roles` in the project."""
    if not has_role(request.user, project_id, *roles):
        raise not_allowed()


class ScopedViewSet(DeclaredParameters, viewsets.GenericViewSet):
    """Only rows the user's memberships open; everything else is a 404 (design.md 9.7)."""

    filter_backends = (ListFilters,)

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
        if record_id := getattr(row, "record_id", None):
            reads.note(
                actor=self.request.user, project=row.project_id, record_ids=[record_id], door="api"
            )
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


class VisitSerializer(serializers.Serializer):
    """A planned visit of a subject (contracts.md, visit_window), and of which study it is."""

    project = serializers.CharField()
    record_id = serializers.CharField()
    visit = serializers.CharField()
    anchor_field = serializers.CharField()
    anchor = serializers.DateField(allow_null=True)
    anchor_is_day = serializers.IntegerField()
    target = serializers.DateField(allow_null=True)
    open = serializers.DateField(allow_null=True)
    close = serializers.DateField(allow_null=True)
    actual = serializers.DateField(allow_null=True)
    state = serializers.CharField()
    days = serializers.IntegerField()
    reason = serializers.CharField(allow_null=True)


class VisitQuerySerializer(serializers.Serializer):
    """Which visits: of one study, of one subject; else all that the user may see."""

    project = Text(required=False, allow_blank=True)
    record_id = Text(required=False, allow_blank=True, max_length=100)
    record = Text(required=False, allow_blank=True, max_length=100)


class VisitViewSet(DeclaredParameters, viewsets.GenericViewSet):
    """Visits with their windows and states, computed from REDCap: `?project=CODE&record_id=P001`."""

    serializer_class = VisitSerializer
    queryset = Project.objects.none()
    filter_backends = ()

    def parameters(self) -> set[str]:
        """Those of the query and the page."""
        return {*VisitQuerySerializer().fields, PAGE} if self.action == "list" else set()

    @extend_schema(parameters=[VisitQuerySerializer])
    def list(self, request: Request) -> Response:
        """One row per planned visit of each subject the user may see."""
        query = VisitQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        said = query.validated_data
        wanted = said.get("record_id") or said.get("record")
        projects = _projects(request, said.get("project"))
        rows = [row for project in projects for row in _visits(request, project, wanted)]
        page = self.paginate_queryset(rows) or []
        for project in projects:
            shown = [row["record_id"] for row in page if row["project"] == project.code]
            reads.note(actor=request.user, project=project, record_ids=shown, door="api")
        return self.get_paginated_response(page)


def _projects(request: Request, name: str | None) -> list[Project]:
    """The named study, or all of the user's that plan visits. Raises Http404."""
    if name:
        return [find_project(request, name)]
    mine = Project.objects.for_user(request.user)
    return list(mine.filter(visit_plan__isnull=False).distinct())


def _visits(request: Request, project: Project, wanted: str | None) -> Iterator[dict[str, Any]]:
    """Raises Unavailable: a study that could not be read is never one without visits."""
    member = member_in(request.user, project.pk)
    if member is None and not request.user.is_superuser:
        raise Http404
    try:
        plan = visit_window.plan_of(project)
        found = records.read_records(
            project=project, member=member, record_ids=[wanted] if wanted else None
        )
    except (RedcapError, NotConfiguredError) as error:
        raise Unavailable(_("REDCap could not be read.")) from error
    except ValidationError as error:
        text = _("The visit plan of %(study)s cannot be followed.") % {"study": project.code}
        raise Conflict(text, "visit_plan") from error
    for data in found:
        for state in visit_window.visit_states(project, data, plan=plan):
            yield {"project": project.code, **state.as_json(data.record_id)}

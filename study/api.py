"""Visits of subjects over the API (contracts.md, HTTP)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from pydantic import ValidationError
from rest_framework import serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from house.api_errors import Conflict, Unavailable
from house.api_fields import Text
from integrations.redcap import RedcapError
from projects import reads
from projects.access import member_in
from projects.api import PAGE, find_project
from projects.filters import DeclaredParameters
from projects.models import Project
from study import records
from study.client import NotConfiguredError
from study.visits import window


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
        plan = window.plan_of(project)
        found = records.read_records(
            project=project, member=member, record_ids=[wanted] if wanted else None
        )
    except (RedcapError, NotConfiguredError) as error:
        raise Unavailable(_("REDCap could not be read.")) from error
    except ValidationError as error:
        text = _("The visit plan of %(study)s cannot be followed.") % {"study": project.code}
        raise Conflict(text, "visit_plan") from error
    for data in found:
        for state in window.visit_states(project, data, plan=plan):
            yield {"project": project.code, **state.as_json(data.record_id)}

"""Visits of subjects over the API (contracts.md, HTTP)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from pydantic import ValidationError
from rest_framework import serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from house import clock
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
from study.visits.calendar import State, VisitState, is_due_within


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
    state = serializers.ChoiceField([*map(str, State)], required=False)
    due_from = serializers.DateField(required=False)
    due_to = serializers.DateField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Days in their order."""
        first, last = attrs.get("due_from"), attrs.get("due_to")
        if first and last and last < first:
            raise serializers.ValidationError({"due_to": _("The last day is before the first.")})
        return attrs


class VisitViewSet(DeclaredParameters, viewsets.GenericViewSet):
    """Visits with their windows and states, computed from REDCap: `?project=CODE&record_id=P001`.

    `due_from`, `due_to`: only what is to be done on one of these days.
    """

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
        rows: list[dict[str, Any]] = [
            {"project": project.code, **state.as_json(record_id)}
            for project in projects
            for record_id, state in _visits(request, project, wanted)
            if _is_asked_for(state, said, clock.today(project.timezone))
        ]
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


def _is_asked_for(state: VisitState, said: Mapping[str, Any], today: date) -> bool:
    """Whether it is in the wanted state, and to be done on one of the wanted days."""
    if said.get("state") not in (None, state.state):
        return False
    first, last = said.get("due_from"), said.get("due_to")
    if first is None and last is None:
        return True
    return is_due_within(state, first or date.min, last or date.max, today)


def _visits(
    request: Request, project: Project, wanted: str | None
) -> Iterator[tuple[str, VisitState]]:
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
            yield data.record_id, state

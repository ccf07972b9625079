"""Visits of subjects over the API (contracts.md, HTTP)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from django.db.models import Count, QuerySet
from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from pydantic import ValidationError
from rest_framework import serializers, viewsets
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from core.house import clock
from core.house.api_errors import Conflict, Unavailable
from core.house.api_fields import StrictModelSerializer, Text
from core.house.parsers import DeepJSONParser
from core.integrations.redcap import RedcapError
from projects import reads
from projects.access import member_in
from projects.api import PAGE, EditViewSet, ProjectField, find_project
from projects.filters import DeclaredParameters
from projects.models import Project, TokenScope
from study import records
from study.blinding.mask import mask_of_user
from study.client import NotConfiguredError
from study.dictionary import load
from study.identifier_filter import IdentifierFilter
from study.models import ProtocolDocument
from study.protocol import index
from study.protocol.index import DocumentError
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
        mine = Project.objects.for_user(request.user).filter(visit_plan__isnull=False).distinct()
        projects = [find_project(request, said["project"])] if said.get("project") else [*mine]
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
    except NotConfiguredError as error:
        raise Conflict(str(error), "not_configured") from error
    except RedcapError as error:
        raise Unavailable(_("REDCap could not be read.")) from error
    except ValidationError as error:
        text = _("The visit plan of %(study)s cannot be followed.") % {"study": project.code}
        raise Conflict(text, "visit_plan") from error
    seen = map(mask_of_user(project, request.user).record, found)
    for data in map(IdentifierFilter(project, load(project)).record, seen):
        for state in window.visit_states(project, data, plan=plan):
            yield data.record_id, state


class DocumentSerializer(StrictModelSerializer):
    """A version of a document; sent with its `text`, or as a form with a `file`."""

    id = serializers.CharField(read_only=True)
    project = ProjectField()
    text = Text(required=False, trim_whitespace=False, max_length=index.MAX_BYTES)
    file = serializers.FileField(required=False, write_only=True)
    sections = serializers.IntegerField(read_only=True)

    class Meta:
        model = ProtocolDocument
        fields = (
            *("id", "project", "name", "version", "is_active", "sections"),
            *("text", "file", "updated_at"),
        )
        read_only_fields = ("is_active",)
        validators = ()  # the active document of this name makes room

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The text, whichever way it came. Raises ValidationError."""
        file = attrs.pop("file", None)
        if (file is None) == ("text" not in attrs):
            raise serializers.ValidationError(_("Give a file or a text, one of the two."))
        try:
            if file is not None:
                attrs["text"] = index.decoded_document(file.read(index.MAX_BYTES + 1))
            index.checked_document(attrs["text"])
        except DocumentError as error:
            name = "text" if file is None else "file"
            raise serializers.ValidationError({name: [str(error)]}) from error
        return attrs

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """A list has no texts."""
        row: dict[str, Any] = super().to_representation(instance)
        if self.context["view"].action == "list":
            del row["text"]
        return row


class ProtocolDocumentViewSet(EditViewSet):
    """The study's documents: members read them, the administrator adds versions."""

    queryset = ProtocolDocument.objects.none()
    serializer_class = DocumentSerializer
    write_scope = TokenScope.DOCUMENTS
    parser_classes = (DeepJSONParser, MultiPartParser)
    filterset_fields = ("project__code", "name", "is_active")
    http_method_names = ("get", "head", "options", "post")

    def get_queryset(self) -> QuerySet[Any]:
        """With the number of sections."""
        rows: QuerySet[Any] = super().get_queryset()
        counted: QuerySet[Any] = rows.annotate(sections=Count("chunks"))
        return counted

    def perform_create(self, serializer: serializers.BaseSerializer[Any]) -> None:
        """Through the service."""
        self.require_role(serializer.validated_data["project"])
        stored = index.add_document(**serializer.validated_data, actor=self.request.user)
        serializer.instance = self.get_queryset().get(pk=stored.pk)

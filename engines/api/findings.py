"""Findings in the API (contracts.md, HTTP)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.house.api_errors import Conflict
from engines import redcap_asks
from engines.api.base import ActingViewSet, service_errors
from engines.models import PendingAction
from engines.sop import finding_life
from engines.sop.findings import told_value
from engines.sop.serializers import (
    AssignSerializer,
    CommentSerializer,
    MoveSerializer,
    ResolutionSerializer,
)
from projects.models import TokenScope


class PendingActionSerializer(serializers.ModelSerializer):
    """A finding."""

    project = serializers.CharField(source="project.code", read_only=True)
    redcap_query = serializers.IntegerField(
        read_only=True,
        allow_null=True,
        help_text="Number of REDCap's own open query about the same place.",
    )

    class Meta:
        model = PendingAction
        fields = (
            *("id", "project", "task_run", "record_id", "action_type", "field", "message"),
            *("severity", "state", "skill_type", "skill_version", "node", "rule_key", "event"),
            *("instrument", "instance", "outcome", "reason", "value", "assignee", "due_on"),
            *("resolved_by", "resolved_at", "resolution", "created_at"),
            "redcap_query",
        )

    def to_representation(self, instance: PendingAction) -> dict[str, Any]:
        """Of a field that identifies a person without the value found."""
        return super().to_representation(instance) | {"value": told_value(instance)}


class PendingActionViewSet(ActingViewSet):
    """Findings: list and resolve."""

    queryset = PendingAction.objects.none()
    serializer_class = PendingActionSerializer
    lists_values = True
    write_scope = TokenScope.FINDINGS
    filterset_fields = (
        *("project__code", "action_type", "record_id", "severity", "state"),
        *("task_run", "rule_key", "assignee"),
    )

    def get_queryset(self) -> QuerySet[PendingAction]:
        """Those of the user, each with REDCap's query about the same place."""
        return redcap_asks.with_numbers(super().get_queryset())

    @extend_schema(request=MoveSerializer, responses=PendingActionSerializer)
    @action(detail=True, methods=["post"], serializer_class=MoveSerializer)
    def move(self, request: Request, pk: str) -> Response:
        """Confirm, reject, ask the site, answer, or take up again."""
        return self._act(finding_life.move)

    @extend_schema(request=AssignSerializer, responses=PendingActionSerializer)
    @action(detail=True, methods=["post"], serializer_class=AssignSerializer)
    def assign(self, request: Request, pk: str) -> Response:
        """Say who sees to it, and by when."""
        return self._act(finding_life.assign)

    @extend_schema(request=CommentSerializer, responses=PendingActionSerializer)
    @action(detail=True, methods=["post"], serializer_class=CommentSerializer)
    def comment(self, request: Request, pk: str) -> Response:
        """Say something about it."""
        return self._act(finding_life.comment)

    @extend_schema(request=ResolutionSerializer, responses=PendingActionSerializer)
    @action(detail=True, methods=["post"], serializer_class=ResolutionSerializer)
    def resolve(self, request: Request, pk: str) -> Response:
        """Close a finding with what was done about it."""

        def close(**said: Any) -> None:
            if not finding_life.close(**said):
                raise Conflict(_("The finding is closed already."), "not_open")

        return self._act(close)

    def _act(self, service: Callable[..., object]) -> Response:
        finding: PendingAction = self.row()
        with service_errors():
            service(finding=finding, actor=self.request.user, **self.said())
        return Response(PendingActionSerializer(self.get_object()).data)

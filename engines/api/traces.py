"""Traces in the API (contracts.md, HTTP)."""

from __future__ import annotations

import json
from typing import Any

from rest_framework import serializers

from engines.models import AgentTrace
from projects.access import sees_all_sites
from projects.api import ReadViewSet
from study.record_ids import record_ids_in


def texts_of(trace: AgentTrace) -> list[str]:
    """What a trace holds as text."""
    return [trace.query, json.dumps([trace.trace, trace.left_out], ensure_ascii=False, default=str)]


class AgentTraceSerializer(serializers.ModelSerializer):
    """How an answer came about."""

    project = serializers.CharField(source="project.code", read_only=True)

    class Meta:
        model = AgentTrace
        fields = (
            *("id", "project", "user_id", "query", "intent_type", "trace", "token_usage"),
            *("duration", "success", "prompt_version", "model", "models_asked", "left_out"),
            "created_at",
        )

    def to_representation(self, instance: AgentTrace) -> dict[str, Any]:
        """Without what was looked up for members with a site: what was replaced tells who is in the study."""
        shown: dict[str, Any] = super().to_representation(instance)
        if sees_all_sites(self.context["request"].user, instance.project_id):
            return shown
        withheld: dict[str, Any] = {"query": "", "trace": [], "left_out": [], "token_usage": None}
        return shown | withheld | {"duration": None}


class AgentTraceViewSet(ReadViewSet):
    """Traces, for debugging."""

    queryset = AgentTrace.objects.none()
    serializer_class = AgentTraceSerializer
    filterset_fields = ("project__code", "user_id", "intent_type", "success")
    lists_values = True

    def subjects_of(self, row: AgentTrace) -> list[str]:
        """Those that the trace names; of what a reader is not shown nothing is noted."""
        if not sees_all_sites(self.request.user, row.project_id):
            return []
        return record_ids_in(row.project_id, texts_of(row))

"""Runs as the API shows them (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from engines import sop
from engines.models import TaskRun
from engines.review_view import review_view
from engines.sop.findings import finding_line, open_now


class TaskRunSerializer(serializers.ModelSerializer):
    """A run; `review` while it waits for a person."""

    project = serializers.CharField(source="project.code", read_only=True)
    skill_type = serializers.CharField(source="skill.skill_type", read_only=True)
    review = serializers.SerializerMethodField()
    findings = serializers.SerializerMethodField()

    class Meta:
        model = TaskRun
        fields = (
            "id",
            "project",
            "skill",
            "skill_type",
            "skill_version",
            "record_id",
            "triggered_by",
            "rerun_of",
            "status",
            "current_node",
            "final_state",
            "message",
            "trace",
            "review",
            "findings",
            "suspended_at",
            "resumed_at",
            "completed_at",
            "created_at",
            "updated_at",
        )

    def get_review(self, run: TaskRun) -> dict[str, Any] | None:
        """What the reviewer has to see, while the run is suspended."""
        if run.status != TaskRun.Status.SUSPENDED:
            return None
        review = sop.open_review(run)
        return review_view(review) if review else None

    def get_findings(self, run: TaskRun) -> list[dict[str, Any]]:
        """What is open of its subject in its workflow now, whichever run found it."""
        return [finding_line(row) for row in open_now(run)]

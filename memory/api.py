"""Conversations, hot memory, weekly reports and user memories in the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memory import services
from memory.models import ConversationHistory, ProjectMemory, UserMemory, WeeklyReport
from projects.api import EditViewSet, ReadViewSet
from projects.problems import Conflict


class ConversationSerializer(serializers.ModelSerializer):
    """One message of a conversation."""

    project = serializers.CharField(source="project.code", read_only=True)

    class Meta:
        model = ConversationHistory
        fields = (
            "id",
            "project",
            "user_id",
            "record_id",
            "role",
            "content",
            "intent",
            "entities",
            "feedback",
            "feedback_reason",
            "created_at",
        )


class ConversationViewSet(ReadViewSet):
    """The flow log, for people."""

    model = ConversationHistory
    queryset = ConversationHistory.objects.none()
    serializer_class = ConversationSerializer
    filterset_fields = ("project__code", "user_id", "record_id", "role", "intent", "feedback")


class ProjectMemorySerializer(serializers.ModelSerializer):
    """Hot memory; send the `version` you read, a later one is answered with 409."""

    project = serializers.CharField(source="project.code", read_only=True)
    version = serializers.IntegerField()

    class Meta:
        model = ProjectMemory
        fields = ("id", "project", "content", "last_updated_by", "version", "updated_at")
        read_only_fields = ("last_updated_by",)


class ProjectMemoryViewSet(EditViewSet):
    """Hot memory: the study administrator and the PI edit it."""

    model = ProjectMemory
    queryset = ProjectMemory.objects.none()
    serializer_class = ProjectMemorySerializer
    filterset_fields = ("project__code",)
    edit_roles = ("ADMIN", "PI")
    http_method_names = ("get", "head", "options", "put", "patch")

    def perform_update(self, serializer: serializers.BaseSerializer[Any]) -> None:
        """Through the service, which compares versions."""
        memory: ProjectMemory = serializer.instance  # type: ignore[assignment]
        self.require_role(memory.project)
        data = serializer.validated_data
        try:
            serializer.instance = services.save_memory(
                project=memory.project,
                content=data.get("content", memory.content),
                base_version=data.get("version", memory.version),
                actor=self.request.user,
            )
        except services.MemoryConflict as error:
            raise Conflict(str(error), "memory_changed", current=error.content) from error


class WeeklyReportSerializer(serializers.ModelSerializer):
    """A week of the study."""

    project = serializers.CharField(source="project.code", read_only=True)

    class Meta:
        model = WeeklyReport
        fields = (
            "id",
            "project",
            "week_number",
            "week_start",
            "week_end",
            "summary",
            "metrics",
            "created_by",
            "created_at",
            "updated_at",
        )


class WeeklyReportViewSet(ReadViewSet):
    """The history book."""

    model = WeeklyReport
    queryset = WeeklyReport.objects.none()
    serializer_class = WeeklyReportSerializer
    filterset_fields = ("project__code", "week_number")


class UserMemorySerializer(serializers.ModelSerializer):
    """What the assistant keeps about a user."""

    project = serializers.CharField(source="project.code", read_only=True)

    class Meta:
        model = UserMemory
        fields = (
            "id",
            "project",
            "user_id",
            "memory_type",
            "importance",
            "field",
            "value",
            "content",
            "category",
            "evidence",
            "superseded_by",
            "expires_at",
            "created_at",
        )


class UserMemoryViewSet(ReadViewSet):
    """Facts, preferences and intents of users."""

    model = UserMemory
    queryset = UserMemory.objects.none()
    serializer_class = UserMemorySerializer
    filterset_fields = ("project__code", "user_id", "memory_type", "field")

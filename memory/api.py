"""Conversations, hot memory, weekly reports and user memories in the API."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied

from memory import services
from memory.models import ConversationHistory, ProjectMemory, UserMemory, WeeklyReport
from memory.visibility import scope_of
from memory.weekly.text import without_figures
from projects.access import User, member_in
from projects.api import EditViewSet, ReadViewSet
from projects.api_fields import Number, StrictModelSerializer
from projects.problems import Conflict


def readable(user: User, project_id: UUID, text: str) -> str:
    """Shared text without the lines about subjects of other sites (decisions.md, Memory)."""
    member = member_in(user, project_id)
    if member is None or not member.site:
        return text
    return scope_of(member).shown(text)


class SharedTextSerializer(StrictModelSerializer):
    """A row whose `text_field` names subjects of all sites."""

    text_field: ClassVar[str]

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """The row as the requesting user may read it."""
        shown: dict[str, Any] = super().to_representation(instance)
        user = self.context["request"].user
        shown[self.text_field] = readable(user, instance.project_id, shown[self.text_field])
        return shown


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


class ProjectMemorySerializer(SharedTextSerializer):
    """Hot memory; send the `version` you read, a later one is answered with 409."""

    text_field = "content"
    project = serializers.CharField(source="project.code", read_only=True)
    version = Number()

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
        self._require_whole_text(memory)
        data = serializer.validated_data
        if "version" not in data:
            raise serializers.ValidationError({"version": [_("Send the version you read.")]})
        try:
            serializer.instance = services.save_memory(
                project=memory.project,
                content=data.get("content", memory.content),
                base_version=data["version"],
                actor=self.request.user,
            )
        except services.MemoryConflict as error:
            raise Conflict(str(error), "memory_changed", current=error.content) from error
        except services.MemoryTooLarge as error:
            raise serializers.ValidationError({"content": [str(error)]}) from error

    def _require_whole_text(self, memory: ProjectMemory) -> None:
        # Who does not see every line would delete the hidden ones by saving.
        member = member_in(self.request.user, memory.project_id)
        if member is not None and member.site:
            raise PermissionDenied(_("Your role does not allow this."))


class WeeklyReportSerializer(SharedTextSerializer):
    """A week of the study; its figures count over all sites, so a member with a site reads none."""

    text_field = "summary"
    project = serializers.CharField(source="project.code", read_only=True)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Without the figures where the requesting user reads one site alone (design.md 9.7)."""
        shown = super().to_representation(instance)
        member = member_in(self.context["request"].user, instance.project_id)
        if member is not None and member.site:
            shown |= {"metrics": None, "summary": without_figures(shown["summary"])}
        return shown

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
            "version",
            "counted_at",
            "narrated_at",
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

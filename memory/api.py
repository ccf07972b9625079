"""Conversations, hot memory, weekly reports and user memories in the API."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django_filters.rest_framework import CharFilter
from rest_framework import serializers

from core.house.api_errors import Conflict
from core.house.api_fields import Number, StrictModelSerializer
from core.house.sealed_search import DAYS, MOST, holding
from memory.console import scopes, without_unreadable
from memory.hot import save
from memory.hot.text import MemoryTooLarge
from memory.log import reading
from memory.models import ConversationHistory, ProjectMemory, UserMemory, WeeklyReport
from memory.reports.text import shown_to
from memory.versioned import edits
from memory.visibility import Scope, visible, whole
from projects.api import EditViewSet, ReadViewSet, not_allowed
from projects.filters import ListFilterSet
from projects.models import TokenScope


class SharedTextSerializer(StrictModelSerializer):
    """A row whose `text_field` names subjects of all sites."""

    text_field: ClassVar[str]

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """The row as the requesting user may read it."""
        row: dict[str, Any] = super().to_representation(instance)
        return row | self.read_by(row, scopes(self.context["request"].user, instance.project_id))

    def read_by(self, row: dict[str, Any], opened: list[Scope]) -> dict[str, Any]:
        """What a reader with these scopes gets otherwise (decisions.md, Memory)."""
        return {self.text_field: visible(row[self.text_field], opened)}


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


class ConversationFilters(ListFilterSet):
    """The columns, and words of the encrypted text."""

    search = CharFilter(
        method="of_words",
        label=f"Words of the text, of the last {DAYS} days and the newest {MOST} rows.",
    )

    class Meta(ListFilterSet.Meta):
        model = ConversationHistory
        fields = ("project__code", "user_id", "record_id", "role", "intent", "feedback")

    def of_words(self, rows: QuerySet[Any], _name: str, value: str) -> QuerySet[Any]:
        """Rows whose text holds each word (house.sealed_search)."""
        return rows.filter(pk__in=holding(rows, ["content"], value, at="created_at"))


class ConversationViewSet(ReadViewSet):
    """The flow log, for people."""

    queryset = ConversationHistory.objects.none()
    serializer_class = ConversationSerializer
    filterset_class = ConversationFilters

    def paginate_queryset(self, queryset: Any) -> Any:
        """A page of messages; the trail says whose words were shown."""
        page = super().paginate_queryset(queryset)
        reading.note_reading(actor=self.request.user, rows=page or ())
        return page

    def get_object(self) -> Any:
        """One message, noted likewise."""
        row = super().get_object()
        reading.note_reading(actor=self.request.user, rows=[row])
        return row


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

    queryset = ProjectMemory.objects.none()
    serializer_class = ProjectMemorySerializer
    filterset_fields = ("project__code",)
    edit_roles = ("ADMIN", "PI")
    write_scope = TokenScope.MEMORY
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
            serializer.instance = save.save_memory(
                project=memory.project,
                content=data.get("content", memory.content),
                base_version=data["version"],
                actor=self.request.user,
            )
        except save.MemoryConflict as error:
            raise Conflict(str(error), "memory_changed", current=error.content) from error
        except MemoryTooLarge as error:
            raise serializers.ValidationError({"content": [str(error)]}) from error

    def _require_whole_text(self, memory: ProjectMemory) -> None:
        # Who does not see every line would delete the hidden ones by saving.
        if not edits(self.request.user, memory.project_id):
            raise not_allowed()


class WeeklyReportSerializer(SharedTextSerializer):
    """A week of the study; its figures count over all sites, so a member with a site reads none."""

    text_field = "summary"
    project = serializers.CharField(source="project.code", read_only=True)

    def read_by(self, row: dict[str, Any], opened: list[Scope]) -> dict[str, Any]:
        """Without the figures where the requesting user reads one site alone (design.md 9.7)."""
        figures = row["metrics"] if whole(opened) else None
        return {"summary": shown_to(row["summary"], opened), "metrics": figures}

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

    queryset = UserMemory.objects.none()
    serializer_class = UserMemorySerializer
    filterset_fields = ("project__code", "user_id", "memory_type", "field")

    def get_queryset(self) -> QuerySet[Any]:
        """Without what names a record of another site."""
        return without_unreadable(super().get_queryset(), self.request.user)

"""Skills, field mappings and form templates in the API."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.house.api_errors import Conflict
from core.house.api_fields import Number, StrictModelSerializer
from projects.api import EditViewSet, ProjectField
from projects.models import TokenScope
from skills import form_templates, services, skill_exchange
from skills.models import FieldMapping, FormTemplate, Skill


class StoredViewSet(EditViewSet):
    """Rows that are written by a service. The study of a row stays; its version is counted."""

    write_scope = TokenScope.SKILLS

    def store(self, row: Any, given: dict[str, Any]) -> Any:
        """Store a new or changed row, with what was sent for it."""
        raise NotImplementedError

    def perform_create(self, serializer: serializers.BaseSerializer[Any]) -> None:
        """Through the service."""
        given = serializer.validated_data
        self.require_role(given["project"])
        values = {name: value for name, value in given.items() if name != "version"}
        model: Any = self.get_queryset().model
        serializer.instance = self.store(model(**values), given)

    def perform_update(self, serializer: serializers.BaseSerializer[Any]) -> None:
        """Through the service."""
        row: Any = serializer.instance
        self.require_role(row.project)
        for name, value in serializer.validated_data.items():
            if name not in ("project", "version"):
                setattr(row, name, value)
        self.store(row, serializer.validated_data)


class SkillSerializer(StrictModelSerializer):
    """A workflow with its configuration; a `version` that is sent is the one that was read."""

    project = ProjectField()
    version = Number(required=False)

    class Meta:
        model = Skill
        fields = (
            "id",
            "project",
            "skill_type",
            "name",
            "config",
            "is_active",
            "version",
            "trigger_type",
            "cron_schedule",
            "created_at",
            "updated_at",
        )


class SkillImportSerializer(serializers.Serializer):
    """What an import takes: a study, and one skill or a list of them as seed 002 prints them."""

    project = ProjectField()
    skills = serializers.JSONField()


class SkillViewSet(StoredViewSet):
    """Workflows; saving validates the graph and makes a new version."""

    queryset = Skill.objects.none()
    serializer_class = SkillSerializer
    filterset_fields = ("project__code", "skill_type", "trigger_type", "is_active")

    def store(self, row: Skill, given: dict[str, Any]) -> Skill:
        """Of an older `version` than the current one: 409."""
        is_told = "version" in given and not row._state.adding
        read = {"version": given["version"]} if is_told else None
        try:
            return services.save_skill(skill=row, actor=self.request.user, read=read)
        except services.SkillChanged as error:
            raise Conflict(str(error), "skill_changed") from error

    @extend_schema(request=SkillImportSerializer, responses={201: SkillSerializer(many=True)})
    @action(detail=False, methods=["post"], url_path="import", pagination_class=None)
    def take(self, request: Request) -> Response:
        """Store skills in the seed's envelope, all or none; one whose type is there gets a new version."""
        given = SkillImportSerializer(data=request.data, context=self.get_serializer_context())
        given.is_valid(raise_exception=True)
        project, rows = given.validated_data["project"], given.validated_data["skills"]
        self.require_role(project)
        stored = skill_exchange.import_rows(project=project, given=rows, actor=request.user)
        return Response(self.get_serializer(stored, many=True).data, status.HTTP_201_CREATED)


class FieldMappingSerializer(StrictModelSerializer):
    """An alias and the REDCap field it means."""

    project = ProjectField()

    class Meta:
        model = FieldMapping
        fields = ("id", "project", "alias_name", "actual_name", "created_at")


class FieldMappingViewSet(StoredViewSet):
    """Field mappings."""

    queryset = FieldMapping.objects.none()
    serializer_class = FieldMappingSerializer
    filterset_fields = ("project__code", "alias_name", "actual_name")

    def store(self, row: FieldMapping, given: dict[str, Any]) -> FieldMapping:
        """Audited."""
        return services.save_mapping(mapping=row, actor=self.request.user)


class FormTemplateSerializer(StrictModelSerializer):
    """The structure of a form."""

    project = ProjectField()

    class Meta:
        model = FormTemplate
        fields = (
            "id",
            "project",
            "form_name",
            "field_schema",
            "keywords",
            "version",
            "created_at",
        )
        read_only_fields = ("version",)


class FormTemplateViewSet(StoredViewSet):
    """Form templates."""

    queryset = FormTemplate.objects.none()
    serializer_class = FormTemplateSerializer
    filterset_fields = ("project__code", "form_name")

    def store(self, row: FormTemplate, given: dict[str, Any]) -> FormTemplate:
        """As a new version."""
        return form_templates.save_template(template=row, actor=self.request.user)

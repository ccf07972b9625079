"""Skills, field mappings and form templates in the API."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from house.api_fields import StrictModelSerializer
from projects.api import EditViewSet, ProjectField
from projects.models import TokenScope
from skills import envelope, form_templates, services
from skills.models import FieldMapping, FormTemplate, Skill


class SkillSerializer(StrictModelSerializer):
    """A workflow with its configuration."""

    project = ProjectField()

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
        read_only_fields = ("version",)


class SkillImportSerializer(serializers.Serializer):
    """What an import takes: a study, and one skill or a list of them as seed 002 prints them."""

    project = ProjectField()
    skills = serializers.JSONField()


class SkillViewSet(EditViewSet):
    """Workflows; saving validates the graph and makes a new version."""

    queryset = Skill.objects.none()
    serializer_class = SkillSerializer
    write_scope = TokenScope.SKILLS
    filterset_fields = ("project__code", "skill_type", "trigger_type", "is_active")

    def perform_create(self, serializer: serializers.BaseSerializer[Any]) -> None:
        """Through the service."""
        data = serializer.validated_data
        self.require_role(data["project"])
        serializer.instance = services.save_skill(skill=Skill(**data), actor=self.request.user)

    def perform_update(self, serializer: serializers.BaseSerializer[Any]) -> None:
        """Through the service; the project stays."""
        skill: Skill = serializer.instance  # type: ignore[assignment]
        self.require_role(skill.project)
        for name, value in serializer.validated_data.items():
            if name != "project":
                setattr(skill, name, value)
        services.save_skill(skill=skill, actor=self.request.user)

    @extend_schema(request=SkillImportSerializer, responses={201: SkillSerializer(many=True)})
    @action(detail=False, methods=["post"], url_path="import", pagination_class=None)
    def take(self, request: Request) -> Response:
        """Store skills in the seed's envelope, all or none; one whose type is there gets a new version."""
        given = SkillImportSerializer(data=request.data, context=self.get_serializer_context())
        given.is_valid(raise_exception=True)
        project, rows = given.validated_data["project"], given.validated_data["skills"]
        self.require_role(project)
        stored = envelope.take_all(project=project, given=rows, actor=request.user)
        return Response(self.get_serializer(stored, many=True).data, status.HTTP_201_CREATED)


class FieldMappingSerializer(StrictModelSerializer):
    """An alias and the REDCap field it means."""

    project = ProjectField()

    class Meta:
        model = FieldMapping
        fields = ("id", "project", "alias_name", "actual_name", "created_at")


class FieldMappingViewSet(EditViewSet):
    """Field mappings."""

    queryset = FieldMapping.objects.none()
    serializer_class = FieldMappingSerializer
    write_scope = TokenScope.SKILLS
    filterset_fields = ("project__code", "alias_name", "actual_name")

    def perform_create(self, serializer: serializers.BaseSerializer[Any]) -> None:
        """Through the service."""
        self.require_role(serializer.validated_data["project"])
        mapping = FieldMapping(**serializer.validated_data)
        serializer.instance = services.save_mapping(mapping=mapping, actor=self.request.user)

    def perform_update(self, serializer: serializers.BaseSerializer[Any]) -> None:
        """Through the service; the project stays."""
        mapping: FieldMapping = serializer.instance  # type: ignore[assignment]
        self.require_role(mapping.project)
        data = serializer.validated_data
        mapping.alias_name = data.get("alias_name", mapping.alias_name)
        mapping.actual_name = data.get("actual_name", mapping.actual_name)
        services.save_mapping(mapping=mapping, actor=self.request.user)


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


class FormTemplateViewSet(EditViewSet):
    """Form templates."""

    queryset = FormTemplate.objects.none()
    serializer_class = FormTemplateSerializer
    write_scope = TokenScope.SKILLS
    filterset_fields = ("project__code", "form_name")

    def perform_create(self, serializer: serializers.BaseSerializer[Any]) -> None:
        """Through the service."""
        self.require_role(serializer.validated_data["project"])
        template = FormTemplate(**serializer.validated_data)
        serializer.instance = form_templates.save(template=template, actor=self.request.user)

    def perform_update(self, serializer: serializers.BaseSerializer[Any]) -> None:
        """Through the service; the project stays."""
        template: FormTemplate = serializer.instance  # type: ignore[assignment]
        self.require_role(template.project)
        for name, value in serializer.validated_data.items():
            if name != "project":
                setattr(template, name, value)
        form_templates.save(template=template, actor=self.request.user)

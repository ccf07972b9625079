"""The study's documents in the API (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, QuerySet
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser

from house.api_fields import StrictModelSerializer, Text
from house.parsers import DeepJSONParser
from projects.api import EditViewSet, ProjectField
from projects.models import TokenScope
from study.models import ProtocolDocument
from study.protocol import documents
from study.protocol.index import DocumentError


class DocumentSerializer(StrictModelSerializer):
    """A version of a document; sent with its `text`, or as a form with a `file`."""

    id = serializers.CharField(read_only=True)
    project = ProjectField()
    text = Text(required=False, trim_whitespace=False, max_length=documents.MAX_BYTES)
    file = serializers.FileField(required=False, write_only=True)
    sections = serializers.IntegerField(read_only=True)

    class Meta:
        model = ProtocolDocument
        fields = (
            "id",
            "project",
            "name",
            "version",
            "is_active",
            "sections",
            "text",
            "file",
            "updated_at",
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
                attrs["text"] = documents.decoded(file.read(documents.MAX_BYTES + 1))
            documents.checked(attrs["text"])
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
        stored = documents.add_document(**serializer.validated_data, actor=self.request.user)
        serializer.instance = self.get_queryset().get(pk=stored.pk)

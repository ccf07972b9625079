"""Orders and their answers as the API takes and gives them (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers


class StartSerializer(serializers.Serializer):
    """An order: which workflow on which subject."""

    project = serializers.CharField()
    skill_type = serializers.CharField(default="qc_process")
    record_id = serializers.CharField(max_length=100)


class DryRunSerializer(serializers.Serializer):
    """A rehearsal: a saved workflow, or a configuration that is not saved yet (ADMIN)."""

    project = serializers.CharField()
    skill_type = serializers.CharField(required=False)
    config = serializers.JSONField(required=False)
    record_id = serializers.CharField(max_length=100)
    ask_llm = serializers.BooleanField(default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly one of the two."""
        if ("skill_type" in attrs) == ("config" in attrs):
            raise serializers.ValidationError(_("Give skill_type or config, one of them."))
        return attrs


class ObservationSerializer(serializers.Serializer):
    """What a rule or the language model said about one place of the data."""

    rule = serializers.CharField(source="rule_key")
    outcome = serializers.CharField()
    field = serializers.CharField()
    event = serializers.CharField()
    instrument = serializers.CharField()
    instance = serializers.CharField()
    value = serializers.CharField(allow_null=True)
    reason = serializers.CharField()
    message = serializers.CharField()
    severity = serializers.CharField()


class DryStepSerializer(serializers.Serializer):
    """One node of a rehearsal and where it led; no target: it stops here."""

    node = serializers.CharField()
    kind = serializers.CharField()
    outcome = serializers.CharField()
    message = serializers.CharField()
    target = serializers.CharField()
    observations = ObservationSerializer(many=True)


class DriedSerializer(serializers.Serializer):
    """What a run would do; `end` is empty where it would stop before an end."""

    end = serializers.CharField()
    message = serializers.CharField()
    would_suspend = serializers.BooleanField()
    is_complete = serializers.BooleanField()
    steps = DryStepSerializer(many=True)


class StartedSerializer(serializers.Serializer):
    """The run that was started."""

    id = serializers.UUIDField()
    status = serializers.CharField()

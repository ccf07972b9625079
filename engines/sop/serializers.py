"""Orders and their answers as the API takes and gives them (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from core.house.api_fields import (
    Flag,
    Json,
    Number,
    Text,
)
from engines.sop.batches import CAP, MAX_CAP
from engines.sop.finding_life import STEPS
from projects.models import Project
from skills.validation import validate


class RecordId(Text):
    """A subject's number, as an order names it."""

    def __init__(self, **kwargs: Any) -> None:
        """Of at most 100 characters, as the tables keep it."""
        super().__init__(**{"max_length": 100} | kwargs)


class StartSerializer(serializers.Serializer):
    """An order: which workflow on which subject."""

    project = Text()
    skill_type = Text(default="qc_process")
    record_id = RecordId()


class DryRunSerializer(serializers.Serializer):
    """A rehearsal: a saved workflow, or a configuration that is not saved yet (ADMIN)."""

    project = Text()
    skill_type = Text(required=False)
    config = Json(required=False)
    record_id = RecordId()
    ask_llm = Flag(default=False)

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


class StartBatchSerializer(serializers.Serializer):
    """An order for many subjects: named, or all that the person may see."""

    project = Text()
    skill_type = Text(default="qc_process")
    record_ids = serializers.ListField(
        child=RecordId(), required=False, min_length=1, max_length=10_000
    )
    all = Flag(default=False)
    cap = Number(default=CAP, min_value=1, max_value=MAX_CAP)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Exactly one of the two."""
        if ("record_ids" in attrs) == attrs["all"]:
            raise serializers.ValidationError(_("Give record_ids or all, one of them."))
        return attrs


class DecisionSerializer(serializers.Serializer):
    """A decision: the hash of what was shown, why, and the password where the project wants a signature."""

    reason = Text(allow_blank=True, default="", max_length=2000)
    seen = Text()
    password = Text(
        allow_blank=True,
        default="",
        max_length=4096,
        trim_whitespace=False,
        write_only=True,
        style={"input_type": "password"},
    )


class ReasonSerializer(serializers.Serializer):
    """Why."""

    reason = Text(allow_blank=True, default="", max_length=2000)


class ResolutionSerializer(serializers.Serializer):
    """What was done about a finding."""

    resolution = Text(max_length=2000)


class MoveSerializer(serializers.Serializer):
    """A step of a finding's life, and why."""

    step = serializers.ChoiceField(choices=[*STEPS])
    reason = Text(allow_blank=True, default="", max_length=2000)


class AssignSerializer(serializers.Serializer):
    """Who is to see to a finding ("": nobody), and by when."""

    assignee = Text(allow_blank=True, max_length=150)
    due_on = serializers.DateField(allow_null=True, default=None)


class CommentSerializer(serializers.Serializer):
    """What is said about a finding."""

    text = Text(max_length=2000)


class BatchStartedSerializer(serializers.Serializer):
    """The batch that was started."""

    id = serializers.UUIDField()
    total = serializers.IntegerField()


class ProgressSerializer(serializers.Serializer):
    """How far a batch is, over the subjects the person may see; the last six add up to `total`."""

    id = serializers.UUIDField()
    total = serializers.IntegerField()
    running = serializers.IntegerField()
    suspended = serializers.IntegerField()
    completed = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    waiting = serializers.IntegerField()


def valid_config(config: Any, project: Project) -> dict[str, Any]:
    """The configuration, fit to run. Raises ValidationError with everything that is wrong with it."""
    problems = [row for row in validate(config, project) if not row.is_warning]
    if problems:
        texts = [f"{row.path}: {row.message}" for row in problems]
        raise serializers.ValidationError({"config": texts})
    valid: dict[str, Any] = config
    return valid

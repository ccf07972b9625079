"""Fields of the API that take a value as it is, and never turn one type into another.

DRF reads 5 as the text "5" and "yes" as true: then a decision with a reason of 5 counts. A form can send
nothing but text, so only there a number or a truth value may be written as one.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers
from rest_framework.utils import html


def _is_written(field: serializers.Field, data: Any) -> bool:
    """Whether the value is text because a form has nothing else."""
    sent = getattr(field.root, "initial_data", None)
    return isinstance(data, str) and html.is_html_input(sent)


class Text(serializers.CharField):
    """A JSON string."""

    def to_internal_value(self, data: Any) -> str:
        """Raises ValidationError for a number."""
        if not isinstance(data, str):
            self.fail("invalid")
        text: str = super().to_internal_value(data)
        return text


class Choice(serializers.ChoiceField):
    """One of some strings."""

    def to_internal_value(self, data: Any) -> Any:
        """Raises ValidationError."""
        if not isinstance(data, str):
            self.fail("invalid_choice", input=data)
        return super().to_internal_value(data)


class Number(serializers.IntegerField):
    """A JSON integer."""

    def to_internal_value(self, data: Any) -> int:
        """Raises ValidationError for a string, a fraction or a truth value."""
        if type(data) is not int and not _is_written(self, data):
            self.fail("invalid")
        number: int = super().to_internal_value(data)
        return number


class Flag(serializers.BooleanField):
    """true or false."""

    def to_internal_value(self, data: Any) -> bool:
        """Raises ValidationError for 1, "yes" and their like."""
        if not isinstance(data, bool) and not _is_written(self, data):
            self.fail("invalid", input=data)
        flag: bool = super().to_internal_value(data)
        return flag


class Json(serializers.JSONField):
    """JSON that every database can store: no NUL, no half characters, not too deep."""

    default_error_messages = {
        "unstorable": _("The text holds characters that cannot be stored."),
        "too_deep": _("The content is nested too deeply."),
    }

    def to_internal_value(self, data: Any) -> Any:
        """Raises ValidationError."""
        value: Any = super().to_internal_value(data)
        if value is None and not self.allow_null:  # a form's "null" is known only when it is read
            self.fail("null")
        try:
            text = json.dumps(value, ensure_ascii=False)
            text.encode()
        except RecursionError:
            self.fail("too_deep")
        except UnicodeEncodeError:
            self.fail("unstorable")
        if r"\u0000" in text.replace(r"\\", ""):
            self.fail("unstorable")
        return value


class StrictModelSerializer(serializers.ModelSerializer):
    """A serializer of a model whose columns are read by these fields."""

    serializer_choice_field = Choice
    serializer_field_mapping = serializers.ModelSerializer.serializer_field_mapping | {
        models.CharField: Text,
        models.TextField: Text,
        models.PositiveIntegerField: Number,
        models.BooleanField: Flag,
        models.JSONField: Json,
    }

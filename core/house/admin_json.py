"""JSON in the console: readable where it is shown, with line and column where it is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.forms.fields import InvalidJSONInput
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext as _
from unfold.widgets import TEXTAREA_CLASSES

# What Python's parser says; it speaks English only.
PARSER = (
    gettext_noop("Expecting value"),
    gettext_noop("Expecting property name enclosed in double quotes"),
    gettext_noop("Expecting ',' delimiter"),
    gettext_noop("Expecting ':' delimiter"),
    gettext_noop("Illegal trailing comma before end of array"),
    gettext_noop("Illegal trailing comma before end of object"),
    gettext_noop("Unterminated string starting at"),
    gettext_noop("Invalid control character at"),
    gettext_noop("Invalid \\escape"),
    gettext_noop("Invalid \\uXXXX escape"),
    gettext_noop("Extra data"),
)


def pretty(value: Any) -> str:
    """Indented JSON that keeps Chinese as it is."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def render_json(value: Any) -> SafeString | str:
    """`value` for a read-only field; a dash where there is nothing."""
    if value in (None, "", [], {}):
        return "-"
    return format_html('<pre class="iit-json" tabindex="0">{}</pre>', pretty(value))


def folded(title: Any, value: Any) -> SafeString:
    """`value` behind a title that opens it: long JSON in a table."""
    return format_html(
        '<details class="iit-folded"><summary>{}</summary>'
        '<pre class="iit-json" tabindex="0">{}</pre></details>',
        title,
        pretty(value),
    )


@cache
def readable(name: str, label: str) -> Callable[[Model], SafeString | str]:
    """A read-only admin field that shows the JSON column `name`."""

    def show(obj: Model) -> SafeString | str:
        return render_json(getattr(obj, name))

    show.__name__ = f"show_{name}"
    show.short_description = label  # type: ignore[attr-defined]
    return show


class JsonTextarea(forms.Textarea):
    """A large monospaced box."""

    class Media:
        js = ("iit/json.js",)

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        classes = " ".join([*TEXTAREA_CLASSES, "iit-code"])
        own = {
            "class": classes,
            "rows": 8,
            "spellcheck": "false",
            "data-iit-json": "1",
            "title": _("While you type, Tab indents; Escape, then Tab leaves the box."),
        }
        super().__init__({**own, **(attrs or {})})


class PrettyJsonField(forms.JSONField):
    """A JSON form field that opens indented and says where a text stops being JSON."""

    def prepare_value(self, value: Any) -> Any:
        """The text of the box; what could not be parsed is given back untouched."""
        if value is None or isinstance(value, InvalidJSONInput):
            return value
        return pretty(value)

    def bound_data(self, data: Any, initial: Any) -> Any:
        """What was typed, also where it is nested too deeply to be parsed."""
        try:
            return super().bound_data(data, initial)
        except RecursionError:
            return InvalidJSONInput(data)

    def to_python(self, value: Any) -> Any:
        """Parse. Raises ValidationError with line and column."""
        try:
            return super().to_python(value)
        except ValidationError as error:
            raise ValidationError(_where(str(value)) or error.messages, code="invalid") from error
        except RecursionError as error:
            raise ValidationError(_("The text is nested too deeply."), code="invalid") from error


def _where(text: str) -> str:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        place = {"line": error.lineno, "column": error.colno, "why": gettext(error.msg)}
        return _("Not JSON at line %(line)d, column %(column)d: %(why)s") % place
    except RecursionError:
        return _("The text is nested too deeply.")
    return ""

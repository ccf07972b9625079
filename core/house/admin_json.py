"""JSON in the console: readable where it is shown, with line and column where it is wrong."""

from __future__ import annotations

import json
import math
import re
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


MOST_DIGITS = 100
"""Of a whole number: more is no reading, and no database column takes any number of them."""
_UNFIT_TEXT = re.compile("[\x00\ud800-\udfff]")


class UnfitJsonError(ValueError):
    """JSON of a kind that can't be stored, in words for its writer."""


def _number(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise UnfitJsonError(
            _("A number has more than %(most)d digits: %(start)s…")
            % {"most": MOST_DIGITS, "start": text[:20]}
        )
    return int(text)


def _fraction(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise UnfitJsonError(_("A number is too large: %s") % text[:40])
    return value


def _no_number(text: str) -> Any:
    raise UnfitJsonError(_("%s is no number of JSON.") % text)


def _pairs(given: list[tuple[str, Any]]) -> dict[str, Any]:
    for name, value in given:
        _check_text(name)
        _check_text(value)
    return dict(given)


def _check_text(value: Any) -> None:
    """Lists are looked through, objects were when they were read."""
    if isinstance(value, list):
        for one in value:
            _check_text(one)
    elif isinstance(value, str) and (found := _UNFIT_TEXT.search(value)):
        told = _("A text holds a character that cannot be stored: \\u%04x")
        raise UnfitJsonError(told % ord(found[0]))


class StrictDecoder(json.JSONDecoder):
    """Refuses what Python's parser takes and the database does not. Raises UnfitJsonError."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            **options
            | {
                "parse_int": _number,
                "parse_float": _fraction,
                "parse_constant": _no_number,
                "object_pairs_hook": _pairs,
            }
        )

    def decode(self, s: str, *args: Any) -> Any:
        """What `s` says."""
        value = super().decode(s, *args)
        _check_text(value)
        return value


def strict_loads(text: str) -> Any:
    """What a JSON text says. Raises UnfitJsonError, and what json.loads raises."""
    return json.loads(text, cls=StrictDecoder)


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
    """A JSON form field that opens indented and says where a text stops being JSON.

    What could not be stored (NaN, numbers without end, half characters) is refused in words, too.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"decoder": StrictDecoder})

    def prepare_value(self, value: Any) -> Any:
        """The text of the box; what could not be parsed is given back untouched."""
        if value is None or isinstance(value, InvalidJSONInput):
            return value
        return pretty(value)

    def bound_data(self, data: Any, initial: Any) -> Any:
        """What was typed, also where it is nested too deeply to be parsed."""
        try:
            return super().bound_data(data, initial)
        except (RecursionError, UnfitJsonError):
            return InvalidJSONInput(data)

    def to_python(self, value: Any) -> Any:
        """Parse. Raises ValidationError with line and column."""
        try:
            return super().to_python(value)
        except ValidationError as error:
            raise ValidationError(_where(str(value)) or error.messages, code="invalid") from error
        except UnfitJsonError as error:
            raise ValidationError(str(error), code="invalid") from error
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

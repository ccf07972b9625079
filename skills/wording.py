"""What the JSON Schema of a workflow complains of, in the reader's language: jsonschema speaks English only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _
from jsonschema import ValidationError

MOST = 300
# Names of JSON's own types.
_TYPES: dict[str, Callable[[], str]] = {
    "object": lambda: _("an object {…}"),
    "array": lambda: _("a list […]"),
    "string": lambda: _("a text"),
    "number": lambda: _("a number"),
    "integer": lambda: _("a whole number"),
    "boolean": lambda: _("true or false"),
    "null": lambda: _("null"),
}


def told(error: ValidationError) -> str:
    """The message for one error; jsonschema's own where the schema learns a keyword that has no text here."""
    word = _WORDS.get(str(error.validator))
    return (word(error) if word else error.message)[:MOST]


def _missing(error: ValidationError) -> str:
    given: Any = error.instance
    needed: Any = error.validator_value
    # One error for each missing name; which one it is stands only in the English text.
    names = [name for name in needed if name not in given]
    name = next((name for name in names if repr(name) in error.message), "")
    return _("“%(name)s” is missing.") % {"name": name}


def _unknown(error: ValidationError) -> str:
    given: Any = error.instance
    known: Any = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
    names = ", ".join(f"“{name}”" for name in given if name not in known)
    return _("Not known here: %(names)s") % {"names": names}


def _type(error: ValidationError) -> str:
    wanted: Any = error.validator_value
    kinds = [wanted] if isinstance(wanted, str) else list(wanted)
    names = [_TYPES[kind]() for kind in kinds if kind in _TYPES]
    return _("Must be %(kind)s.") % {"kind": _(" or ").join(names)}


def _choice(error: ValidationError) -> str:
    choices: Any = error.validator_value
    names = ", ".join(f"“{value}”" for value in choices)
    return _("Must be one of %(names)s.") % {"names": names}


def _short(error: ValidationError) -> str:
    return _("Must not be empty.") if error.validator_value == 1 else _("Is too short.")


_WORDS: dict[str, Callable[[ValidationError], str]] = {
    "required": _missing,
    "additionalProperties": _unknown,
    "type": _type,
    "enum": _choice,
    "const": lambda error: _("Must be “%(value)s”.") % {"value": error.validator_value},
    "minLength": _short,
    "minItems": _short,
    "minProperties": _short,
    "maxLength": lambda error: (
        _("Is too long: at most %(most)s.") % {"most": error.validator_value}
    ),
    "maxItems": lambda error: _("Is too long: at most %(most)s.") % {"most": error.validator_value},
    "maxProperties": lambda error: (
        _("Is too long: at most %(most)s.") % {"most": error.validator_value}
    ),
    "minimum": lambda error: _("Must be %(least)s or more.") % {"least": error.validator_value},
    "maximum": lambda error: _("Must be %(most)s or less.") % {"most": error.validator_value},
    "exclusiveMinimum": lambda error: (
        _("Must be more than %(least)s.") % {"least": error.validator_value}
    ),
    "uniqueItems": lambda error: _("Something stands twice in the list."),
}

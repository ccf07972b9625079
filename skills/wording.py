"""What a model of pydantic complains of, in the reader's language: pydantic speaks English only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _

MOST = 300
# Names of JSON's own types, as they begin the names of errors.
_TYPES: dict[str, Callable[[], str]] = {
    "model": lambda: _("an object {…}"),
    "dict": lambda: _("an object {…}"),
    "list": lambda: _("a list […]"),
    "string": lambda: _("a text"),
    "float": lambda: _("a number"),
    "int": lambda: _("a whole number"),
    "bool": lambda: _("true or false"),
}
_TEXTS: dict[str, Callable[[], str]] = {
    "missing": lambda: _("“%(name)s” is missing."),
    "extra_forbidden": lambda: _("Not known here: %(names)s"),
    "literal_error": lambda: _("Must be one of %(names)s."),
    "greater_than_equal": lambda: _("Must be %(least)s or more."),
    "less_than_equal": lambda: _("Must be %(most)s or less."),
    "greater_than": lambda: _("Must be more than %(least)s."),
    "too_long": lambda: _("Is too long: at most %(most)s."),
    "string_too_long": lambda: _("Is too long: at most %(most)s."),
    "too_short": lambda: _("Must not be empty."),
    "string_too_short": lambda: _("Must not be empty."),
    "doubled": lambda: _("Something stands twice in the list."),
}


def error_text(error: Mapping[str, Any]) -> str:
    """The message for one of `ValidationError.errors()`; pydantic's own where there is no text here."""
    kind, limits = error["type"], error.get("ctx", {})
    if kind in _TEXTS:
        name = str(error["loc"][-1])
        choices = str(limits.get("expected", "")).replace(" or ", ", ")
        names = choices.replace("'", "").split(", ") if kind == "literal_error" else [name]
        values = {
            "name": name,
            "names": ", ".join(f"“{one}”" for one in names),
            "least": limits.get("ge", limits.get("gt")),
            "most": limits.get("le", limits.get("max_length")),
        }
        return (_TEXTS[kind]() % values)[:MOST]
    wanted = _TYPES.get(kind.partition("_")[0])
    if wanted is None or not kind.endswith(("_type", "_from_float")):
        return str(error["msg"])[:MOST]
    return _("Must be %(kind)s.") % {"kind": wanted()}

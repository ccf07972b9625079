"""Validators of study settings."""

from __future__ import annotations

import zoneinfo
from collections.abc import Collection
from difflib import get_close_matches

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from core.rules.limits import RuleError
from core.rules.pattern import compile_pattern

MOST, CLOSE = 3, 0.6


def validate_timezone(value: str) -> None:
    """An IANA name. Raises ValidationError that names the nearest ones."""
    known = zoneinfo.available_timezones()
    if value not in known:
        told = _("%(value)s is not a time zone. Nearest: %(near)s")
        raise ValidationError(
            told, params={"value": value, "near": "、".join(_nearest(value, known))}
        )


def _nearest(value: str, known: Collection[str]) -> list[str]:
    """Names spelled like it, whatever their case and continent; the country's own is always among them."""
    # "Etc/GMT+8" is eight hours *behind* Greenwich: nobody who types UTC+8 means it.
    known = {name for name in known if not name.startswith("Etc/")}
    spelled = {name.lower(): name for name in known}
    places = {name.lower().rpartition("/")[2]: name for name in sorted(known)}
    place = value.lower().replace(" ", "_").rpartition("/")[2]
    near = [places[one] for one in get_close_matches(place, places, MOST, CLOSE)]
    whole = [spelled[one] for one in get_close_matches(value.lower(), spelled, MOST, CLOSE)]
    return [*dict.fromkeys([*[*dict.fromkeys([*near, *whole])][: MOST - 1], settings.TIME_ZONE])]


def validate_pattern(value: str) -> None:
    """A regular expression that cannot hang. Raises ValidationError."""
    try:
        compile_pattern(value)
    except RuleError as error:
        raise ValidationError(str(error)) from error

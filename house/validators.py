"""Validators of study settings."""

from __future__ import annotations

import re
import zoneinfo

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _


def validate_timezone(value: str) -> None:
    """An IANA name. Raises ValidationError."""
    if value not in zoneinfo.available_timezones():
        raise ValidationError(_("%(value)s is not a time zone."), params={"value": value})


def validate_pattern(value: str) -> None:
    """A regular expression that compiles. Raises ValidationError."""
    try:
        re.compile(value)
    except re.error as error:
        raise ValidationError(
            _("Not a regular expression: %(error)s"), params={"error": str(error)}
        ) from error

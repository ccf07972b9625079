"""Texts for people, also where Django is not set up (a plain script that imports the engine)."""

from __future__ import annotations

from django.core.exceptions import AppRegistryNotReady, ImproperlyConfigured
from django.utils.translation import gettext


def translate(message: str) -> str:
    """`message` in the reader's language; the English original without configured settings."""
    try:
        return gettext(message)
    except (AppRegistryNotReady, ImproperlyConfigured):
        return message


def gettext_noop(message: str) -> str:
    """`message` itself, collected for the catalog: it is translated where it is shown."""
    return message

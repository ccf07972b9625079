"""Stored words by their names."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise


def name(names: Mapping[str, Promise], word: str | None) -> str:
    """The name of a word; the word itself where the study made it up."""
    return str(names.get(word or "", word or ""))

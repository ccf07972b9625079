"""How much of a profile is known (decisions.md, "004 scenarios' figures")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory.people.results import Completeness
from memory.people.schemas import Schema


def completeness(schema: Schema, known: Mapping[str, Any]) -> Completeness:
    """score = round(100 · filled / (filled + missing)), over the fields that the schema counts."""
    counted = [slot for slot in schema.fields if slot.counted]
    filled = [slot.counted for slot in counted if known.get(slot.name) is not None]
    missing = [slot.counted for slot in counted if known.get(slot.name) is None]
    score = round(100 * len(filled) / len(counted)) if counted else 0
    return Completeness(score=score, filled_fields=filled, missing_fields=missing)

"""A user's memories as a profile and as one paragraph, without a model: only what is kept is said.

A worded summary would be kept and read back as if the user had said it, so nobody words it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory.models import UserMemory
from memory.people import fact_store
from memory.people.schemas import Schema

ENOUGH = 3
_OPENING = "用户"


def profile(
    schema: Schema, rows: Sequence[UserMemory], feedback: str | None = None
) -> dict[str, dict[str, Any]]:
    """The values by groups of the schema as they are said ("32岁"); unknown = null."""
    said = _said(schema, rows)
    found: dict[str, dict[str, Any]] = {}
    for slot in schema.fields:
        group, _dot, name = slot.out.partition(".")
        if slot.out:
            found.setdefault(group, {})[name] = (
                feedback if slot.source == "feedback" else said.get(slot.name)
            )
    return found


def _said(schema: Schema, rows: Sequence[UserMemory]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for row in rows:
        for name, detail in fact_store.details(row).items():
            slot = schema.slot(name)
            if slot is None:
                continue
            coded = slot.kind in ("boolean", "choice")
            value = detail["value"] if coded else detail["said"]
            if slot.many:
                found.setdefault(name, []).append(value)
            else:
                found.setdefault(name, value)
    return found


def narrate(schema: Schema, rows: Sequence[UserMemory], missing: Sequence[str]) -> str:
    """One paragraph: what is known, in the order of the schema, and what is not; "" for nothing."""
    if not rows:
        return ""
    order = {slot.name: at for at, slot in enumerate(schema.fields)}
    ranked = sorted(rows, key=lambda row: order.get(row.field.split("+")[0], len(order)))
    known = ",".join(dict.fromkeys(_clause(schema, row) for row in ranked))
    labels = [slot.label for slot in schema.fields if slot.counted in missing and slot.counted]
    unknown = f"尚未了解:{'、'.join(labels)}。" if labels else ""
    return f"{_OPENING}{known}。{unknown}"


def _clause(schema: Schema, row: UserMemory) -> str:
    slot = schema.slot(row.field)
    plain = row.content.removeprefix(_OPENING).rstrip("。.")
    # Kept before its memory had a wording: the value alone.
    is_value = row.content in (str(row.value), row.details.get(row.field, {}).get("said"))
    is_bare = slot is not None and (is_value or not schema.row(slot.name).parts)
    return f"{slot.label}:{plain}" if slot and is_bare else plain

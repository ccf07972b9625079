"""Questions of what was changed in the data: 昨天以来改了什么, 上次复核以来有什么变化."""

from __future__ import annotations

from dataclasses import replace

from engines.assistant.understand.clause import Clause
from engines.assistant.understand.tokens import Kind
from engines.assistant.understand.types import Query, Shape, Slots

COLUMNS = ("@changes.field", "@changes.from", "@changes.to", "@changes.at")
MOST = 50
"""The newest are listed, the others counted."""


def asks_changes(clause: Clause, of_data: bool) -> bool:
    """Whether what was changed is asked for; 变化 alone asks so only where it is said of nothing else."""
    if clause.has(Kind.CHANGED):
        return True
    varies = any(token.said == "变化" for token in clause.all(Kind.ROWS))
    return varies and clause.has(Kind.WHAT) and not of_data


def of_changes(clause: Clause, slots: Slots) -> Slots:
    """The slots of such a question; a field or form that is named narrows it."""
    names = [token.name for token in clause.all(Kind.FIELD, Kind.FORM)]
    since = "review" if clause.has(Kind.CHANGED, value="review") else ""
    return replace(
        slots,
        shape=Shape.CHANGES,
        named=tuple(dict.fromkeys(names)),
        aspect=since,
        order="-@changes.at",
        limit=MOST,
    )


def conditions(slots: Slots, columns: list[str], reviewed: str) -> list[Query]:
    """What holds of the changes that are asked for; `columns`: of the named fields, `reviewed`: ISO time."""
    found: list[Query] = []
    first, last = slots.period or (None, None)
    if slots.aspect == "review" and reviewed:
        found.append({"field": "@changes.at", "op": ">=", "value": reviewed})
    if first:
        found.append({"field": "@changes.at", "op": ">=", "value": first})
    if last:
        found.append({"field": "@changes.at", "op": "<=", "value": f"{last}T23:59:59"})
    if slots.named:
        found.append({"field": "@changes.field", "op": "in", "value": columns})
    return found

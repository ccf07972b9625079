"""Is a field shown on its form? Decided by its branching logic, three-valued (E06-E08)."""

from __future__ import annotations

from typing import TypeAlias

from core.rules.limits import RuleError
from core.rules.record import Cause, Row
from core.rules.redcap.nodes import HERE, Open, truth
from core.rules.redcap.parser import parse_logic
from core.rules.redcap.rows import RowView

Visibility: TypeAlias = tuple[bool | None, Cause]
_NONE: Cause = ("", None)


def logic_names(text: str) -> list[tuple[str, str | None]]:
    """The (column, event) pairs a logic mentions, for a result's `detail`; none where it can't be read."""
    try:
        refs = parse_logic(text).refs
    except RuleError:
        return []
    names: dict[tuple[str, str | None], None] = {}
    for ref in refs:
        names[ref.column, None if ref.event in {"", HERE} else ref.event] = None
    return list(names)


def visibility(row: Row, field_name: str) -> Visibility:
    """(True shown / False hidden / None undecided, the field that leaves it undecided and its event).

    Logic outside the known subset, or about a smart variable that is not known, leaves the field
    itself undecided, whatever it holds.
    """
    known = row.visibility.get(field_name)
    if known is None:
        row.visibility[field_name] = (True, _NONE)  # a field that depends on itself counts as shown
        known = row.visibility[field_name] = _decide(row, field_name)
    return known


def _decide(row: Row, field_name: str) -> Visibility:
    column = row.record.context.columns.get(field_name)
    if column is None or not column.branching:
        return True, _NONE
    try:
        logic = parse_logic(column.branching)
    except RuleError:
        return None, (field_name, None)
    shown = truth(logic.node(RowView(row, visibility)))
    if not isinstance(shown, Open):
        return shown, _NONE
    cause = shown.cause, shown.event
    is_shown_by_itself = cause == (field_name, None) and row.read(field_name).is_blank is False
    if is_shown_by_itself:
        return True, _NONE
    is_to_fill_in = shown.cause and "-" not in shown.cause  # [current-instance] is not
    return None, cause if is_to_fill_in else (field_name, None)

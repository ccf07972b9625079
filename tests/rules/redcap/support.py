"""A view of written cells, for logic that stands nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from core.rules.redcap.nodes import Operand, Ref, truth
from core.rules.redcap.parser import parse_logic


class Cells:
    """`{"field": …, "box(3)": …, "event/field": …}` on one day."""

    codes = frozenset({"NA", "UNK"})

    def __init__(self, cells: Mapping[str, Operand], today: date | None = date(2024, 6, 1)) -> None:
        self._cells = cells
        self.today = today

    def read(self, ref: Ref) -> Operand:
        name = f"{ref.name}({ref.code})" if ref.code else ref.name
        name = f"{ref.event}/{name}" if ref.event else name
        return self._cells[f"{name}/{ref.instance}" if ref.instance else name]

    def refuse(self, error: Exception) -> None:
        """As REDCap has it."""


def value(
    text: str, cells: Mapping[str, Operand], today: date | None = date(2024, 6, 1)
) -> Operand:
    """What a logic is worth over these cells."""
    return parse_logic(text).node(Cells(cells, today))


def shown(text: str, cells: Mapping[str, Operand]) -> Operand:
    """Its truth."""
    return truth(value(text, cells))

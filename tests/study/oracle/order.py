"""The order of an answer's rows, and what `limit` leaves out."""

from __future__ import annotations

from typing import Any

from tests.study.oracle import cells
from tests.study.oracle.cells import Cell


def natural(study, row) -> tuple:
    """By subject, event order, instance."""
    place = study.event_place(row.event) if row.event else -1
    return row.subject.number, place, row.instance or 0


def cut(study, query: dict[str, Any], rows: list) -> tuple[list, int]:
    """Rows in order, cut after `limit`; ties with the last are kept."""
    rows = sorted(rows, key=lambda row: natural(study, row))
    wanted = query.get("order")
    keys = [sort_key(row, wanted, item_of(query)) for row in rows] if wanted else None
    if wanted:
        pairs = sorted(
            zip(keys, range(len(rows)), strict=True),
            key=lambda pair: (pair[0][0], pair[0][1], pair[1]),
        )
        rows, keys = [rows[i] for _key, i in pairs], [key for key, _i in pairs]
    limit = query.get("limit")
    if limit is None or len(rows) <= limit:
        return rows, 0
    end = limit
    while keys and end < len(rows) and keys[end] == keys[limit - 1]:
        end += 1
    return rows[:end], len(rows) - end


def sort_key(row, wanted: dict[str, Any], index: int) -> tuple:
    """Absent values last, whichever way."""
    value = of_cell(row.cells.get(index, Cell("absent")))
    if value is None:
        return 1, 0
    return 0, Reverse(value) if wanted.get("desc") else value


def item_of(query: dict[str, Any]) -> int:
    """Which entry of `select` orders; "value" is the first."""
    names = [
        item["field"] if isinstance(item, dict) else item for item in query.get("select") or []
    ]
    return 0 if query["order"]["by"] == "value" else names.index(query["order"]["by"])


class Reverse:
    """The other way round."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Reverse) -> bool:
        return other.value < self.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reverse) and other.value == self.value

    def __hash__(self) -> int:
        return hash(self.value)


def of_cell(cell: Cell) -> Any:
    """What a cell is ordered by: a span by its lower end, codes and texts by their number."""
    if cell.state != "value" or cell.unit == "?":
        return None
    if cell.type in (cells.TEXT, cells.CHOICE):
        text = cell.code or cell.raw
        found = cells.number(text) or cells.moment(text, cells.DATE)
        return (0, found.low) if found is not None and found.low is not None else (1, text)
    if cell.type == cells.TICKS:
        return 0, len(cell.ticks)
    return 0, cell.low if cell.low is not None else cell.high

"""The grids of tables, from the straight lines that a page draws."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

NEAR = 2.5
"""Points within which two lines are the same, or meet."""
MOST = 3000
"""Lines of a page; with more it is a drawing."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A line, or a thin box, from its lower left to its upper right end."""

    left: float
    low: float
    right: float
    high: float

    @property
    def is_flat(self) -> bool:
        """Horizontal, and long enough to part two rows."""
        return self.high - self.low <= NEAR < self.right - self.left

    @property
    def is_upright(self) -> bool:
        """Vertical, and long enough to part two columns."""
        return self.right - self.left <= NEAR < self.high - self.low

    def meets(self, other: Segment) -> bool:
        """Whether two lines touch."""
        return (
            self.left <= other.right + NEAR
            and other.left <= self.right + NEAR
            and self.low <= other.high + NEAR
            and other.low <= self.high + NEAR
        )


@dataclass(frozen=True)
class Grid:
    """Edges of a table: `columns` from the left, `rows` from the top."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]

    def holds(self, x: float, y: float) -> bool:
        """Whether a point is in the table."""
        across = self.columns[0] - NEAR <= x <= self.columns[-1] + NEAR
        return across and self.rows[-1] - NEAR <= y <= self.rows[0] + NEAR

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """(row, column) of a point in the table."""
        column = bisect_right(self.columns, x) - 1
        row = bisect_right([-edge for edge in self.rows], -y) - 1
        most = len(self.rows) - 2, len(self.columns) - 2
        return min(max(row, 0), most[0]), min(max(column, 0), most[1])


def grids(segments: Iterable[Segment]) -> list[Grid]:
    """The tables of a page, from the top: at least two columns and one row with lines around them."""
    drawn = list(dict.fromkeys(one for one in segments if one.is_flat or one.is_upright))
    if len(drawn) > MOST:
        return []
    found = [grid for group in _groups(drawn) if (grid := _grid(group))]
    return sorted(found, key=lambda grid: -grid.rows[0])


def _groups(drawn: Sequence[Segment]) -> list[list[Segment]]:
    """Lines that hang together, looked for from the top down."""
    groups: list[list[Segment]] = []
    for one in sorted(drawn, key=attrgetter("high"), reverse=True):
        met = [group for group in groups if any(one.meets(other) for other in group)]
        rest = [group for group in groups if group not in met]
        groups = [*rest, [*(other for group in met for other in group), one]]
    return groups


def _grid(group: Sequence[Segment]) -> Grid | None:
    columns = _edges(one.left for one in group if one.is_upright)
    rows = _edges(one.low for one in group if one.is_flat)
    if len(columns) < 3 or len(rows) < 2:
        return None
    return Grid(tuple(columns), tuple(reversed(rows)))


def _edges(places: Iterable[float]) -> list[float]:
    """Places in order, those that are near each other once."""
    made: list[float] = []
    for place in sorted(places):
        if not made or place - made[-1] > NEAR:
            made.append(place)
    return made

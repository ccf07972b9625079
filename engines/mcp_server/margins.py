"""Whether what is told of a table narrows one of its small cells or margins (`small_cells`, docs/mcp.md).

Other tables tell the margins, too: a table that narrows them narrows the small cells of those.

A table is a circulation all -> rows -> columns -> all of its subjects, and what is told bounds each edge.
Another number of a cell is possible where the difference can go round by other edges within their bounds.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, combinations

Cell = tuple[str | None, ...]
Table = Mapping[Cell, int]
Node = tuple[int, str | None]
ALL, END = (-1, None), (-2, None)
BOTH = 2
MOST_CELLS = 1000
"""A larger table is kept back unseen: to look at each of its cells would take seconds."""


def told_count(count: int, least: int) -> str:
    """A count as its interval: `<5`, `10-14`; with a limit of 1 as it is."""
    if least == 1:
        return str(count)
    floor = count - count % least
    return f"{floor}-{floor + least - 1}" if floor else f"<{least}"


def is_kept_back(table: Table, total: int, least: int, filled: Collection[int] = ()) -> bool:
    """Whether what is told of a table leaves a small cell, a line or the total not each number of its interval.

    `table`: the subjects of every combination of choices, also of those that nobody has. `filled`: the places
    of keys of which a reader may know, of all of them or of some, that nobody is blank there.
    """
    if len(table) > MOST_CELLS:
        return True
    known = chain.from_iterable(combinations(filled, some) for some in range(len(filled) + 1))
    return any(_is_narrowed(table, total, least, places) for places in known)


def _is_narrowed(table: Table, total: int, least: int, places: Collection[int]) -> bool:
    """For a reader who knows the small cells that are blank in `places`."""
    flow = Flow(least)
    lines: dict[tuple[Node, Node], int] = {(END, ALL): total}
    open_lines = set[tuple[Node, Node]]()
    for cell, count in table.items():
        is_known = count < least and any(cell[at] is None for at in places)
        if len(cell) == BOTH:
            start, end = (0, cell[0]), (1, cell[1])
            for line in ((ALL, start), (end, END)):
                lines[line] = lines.get(line, 0) + count
        else:
            start, end = ALL, END
        if not is_known:
            open_lines |= {(END, ALL), (ALL, start), (end, END)}
        flow.add(start, end, count, is_known=is_known)
    small = [one for one in flow.edges if one.value < least]
    margins = [
        flow.add(*line, count, is_known=line not in open_lines) for line, count in lines.items()
    ]
    return any(not one.is_known and not flow.is_free(one) for one in (*small, *margins))


@dataclass(eq=False)
class Edge:
    """Subjects between two nodes; what is told of them leaves `low` to `high`."""

    start: Node
    end: Node
    value: int
    low: int
    high: int
    is_known: bool

    def room(self, step: int) -> int:
        """How many more (1) or fewer (-1) it can have."""
        return self.high - self.value if step > 0 else self.value - self.low


@dataclass
class Flow:
    """The edges of a table and its margins, all told by intervals `least` wide."""

    least: int
    edges: list[Edge] = field(default_factory=list)
    _at: dict[Node, list[Edge]] = field(default_factory=lambda: defaultdict(list))

    def add(self, start: Node, end: Node, value: int, *, is_known: bool = False) -> Edge:
        """Another edge; one that is known is the value itself to the reader."""
        floor = value - value % self.least
        bounds = (value, value) if is_known else (floor, floor + self.least - 1)
        one = Edge(start, end, value, *bounds, is_known)
        self.edges.append(one)
        self._at[start].append(one)
        self._at[end].append(one)
        return one

    def is_free(self, edge: Edge) -> bool:
        """Whether each number within the bounds of an edge is possible."""
        return self._reaches(edge, edge.low, edge.start, edge.end) and self._reaches(
            edge, edge.high, edge.end, edge.start
        )

    def _reaches(self, edge: Edge, to: int, source: Node, target: Node) -> bool:
        """Whether an edge can come to a number, the difference going round by other ways."""
        left = abs(to - edge.value)
        gone: list[tuple[Edge, int]] = []
        while left and (way := self._way(source, target, edge)):
            many = min(left, *(one.room(step) for one, step in way))
            left -= many
            for one, step in way:
                gone.append((one, step * many))
                one.value += step * many
        for one, step in gone:
            one.value -= step
        return not left

    def _way(self, source: Node, target: Node, but: Edge) -> list[tuple[Edge, int]]:
        """Edges on which more (1) or fewer (-1) can go from `source` to `target`; none where no way is left."""
        came: dict[Node, tuple[Edge, int, Node] | None] = {source: None}
        waiting = deque([source])
        while waiting and target not in came:
            node = waiting.popleft()
            for one, step, there in self._open(node):
                if one is not but and there not in came:
                    came[there] = one, step, node
                    waiting.append(there)
        way, last = list[tuple[Edge, int]](), came.get(target)
        while last is not None:
            way.append(last[:2])
            last = came[last[2]]
        return way

    def _open(self, node: Node) -> Iterator[tuple[Edge, int, Node]]:
        for one in self._at[node]:
            if one.start == node and one.value < one.high:
                yield one, 1, one.end
            elif one.end == node and one.value > one.low:
                yield one, -1, one.start

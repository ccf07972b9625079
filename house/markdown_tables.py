"""A table fills up its short rows: two characters may come to any number of cells, so cells are counted."""

from __future__ import annotations

from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import table as markdown_table

MOST_CELLS = 20_000
"""Of all tables of a text; from the one that comes to more, tables stay as they were typed."""
_LEFT = "cells left"


def table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """markdown-it's rule, for as many cells as a text may have."""
    left = state.env.setdefault(_LEFT, MOST_CELLS)
    if left < 0 or not markdown_table(state, start, end, silent=True):
        return False
    if silent:
        return True
    state.env[_LEFT] = left = left - _cells(state, start, end, left)
    return left >= 0 and markdown_table(state, start, end, silent)


def _cells(state: StateBlock, start: int, end: int, enough: int) -> int:
    """How many cells the lines up to the next blank one may come to; counted no further than past `enough`."""
    columns = state.src.count("|", state.bMarks[start], state.eMarks[start]) + 1
    count = 0
    for line in range(start, end):
        if count > enough or state.isEmpty(line):
            break
        count += columns
    return count

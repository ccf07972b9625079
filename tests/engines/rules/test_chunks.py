"""Columns of a batch: every row gets the answer for its own cell, whatever the column holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.rules import fast, fused
from engines.rules.chunks import Cells, Comparable, Index, chunks, columns, compared
from engines.rules.leaves import ABSENT, Memo

CELLS = st.lists(st.sampled_from([None, "", "1", "é", 1, 0, 1.0, 2.5, True, False]), max_size=30)


def standard() -> Index:
    return Index(fused.boxed, fused.PLAIN)


@given(st.lists(CELLS, min_size=1, max_size=4))
def test_each_row_gets_the_answer_for_its_cell(batches: list[list[Any]]) -> None:
    index = standard()
    kinds = Memo(lambda key: type(getattr(key, "raw", key)).__name__)
    numbers = Memo(lambda key: len(str(getattr(key, "raw", key))))
    for batch in batches:
        cells = Cells(index, batch)
        names = cells.values(kinds)
        assert [n == "bool" for n in names] == [isinstance(cell, bool) for cell in batch]
        assert [n == "str" for n in names] == [isinstance(cell, str) for cell in batch]
        assert len(cells.states(numbers)) == len(batch)


@pytest.mark.parametrize("count", [1, 255, 256, 257, 600])
def test_a_column_of_any_number_of_values(count: int) -> None:
    index, lengths = standard(), Memo(len)
    for _batch in range(3):
        column = [str(n) for n in range(count)]
        cells = Cells(index, column)
        assert list(cells.states(lengths)) == [len(cell) for cell in column]
        assert cells.values(Memo(int)) == list(range(count))
    assert index.is_wide is (count > 256)


def test_values_that_only_pile_up_over_batches_start_afresh() -> None:
    index, lengths = standard(), Memo(len)
    for start in range(0, 2000, 200):
        column = [str(n) for n in range(start, start + 200)]
        assert list(Cells(index, column).states(lengths)) == [len(cell) for cell in column]
    assert not index.is_wide


@pytest.mark.parametrize("cell", [[1], {"a": 1}, (1,), b"x"])
def test_what_is_no_scalar_is_refused(cell: Any) -> None:
    for column in (["a", cell], [1, cell]):
        with pytest.raises((fused.SlowRecordError, TypeError)):
            Cells(standard(), column)
        with pytest.raises((fast.SlowRowError, TypeError)):
            Cells(Index(fast.as_texts, fast.TEXT), column)


def test_clinical_cells_are_texts() -> None:
    cells = Cells(Index(fast.as_texts, fast.TEXT), ["5", 5, 5.0, True, None, ABSENT])
    assert list(cells.cells) == ["5", "5", "5", "1", None, ABSENT]


def test_absent_columns_and_no_columns() -> None:
    indices = {"a": standard(), "b": standard()}
    found = columns(indices, [{"a": 1, "b": 2}, {"b": 3}], None)
    assert [list(found[name].cells) for name in indices] == [[1, None], [2, 3]]
    assert columns({}, [{}], None) == {}


def test_gaps_are_answered_one_by_one() -> None:
    index, values = standard(), {"1": 1, "2": 2, "?": None}
    first = Comparable(Cells(index, ["1", "?", "2", "?"]), values, 0)
    second = Comparable(Cells(index, ["2", "2", "?", "?"]), values, 0)
    assert (first.gaps, second.gaps) == ([1, 3], [2, 3])
    found = compared(lambda a, b: bool(a < b), first, second, lambda row: 100 + row)
    assert list(found) == [1, 101, 102, 103]


def test_chunks_hold_everything_in_order() -> None:
    assert list(chunks(range(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(chunks([], 3)) == []

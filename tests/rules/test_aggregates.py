"""Blanks in the aggregate functions of REDCap's logic (redcap_dify.md, *Functions*).

`sum`, `mean`, `median`, `stdev`, `min` and `max` leave blanks out; all blank gives blank. What they can't
tell leaves the field open: it is never called hidden for that.
"""

from __future__ import annotations

import statistics
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rules.redcap.nodes import Open, Operand
from tests.rules.redcap import support
from tests.rules.test_branching import outcome

AGGREGATES = {
    "sum": sum,
    "mean": statistics.mean,
    "median": statistics.median,
    "stdev": statistics.stdev,
    "min": min,
    "max": max,
}
CELLS: dict[str, Operand] = {
    "two": "2",
    "eight": Decimal(8),
    "none": "",  # hidden or never asked: a blank for ever
    "blank": Open("blank", is_blank=True),
    "coded": Open("coded", missing_code="NA", codes=frozenset({"NA"})),
    "gone": Open("gone"),
    "text": "unremarkable",
}
VALUES = {"sum": "10", "mean": "5", "median": "5", "stdev": "4.2426", "min": "2", "max": "8"}
HARMLESS = ["[blank]", "[none]", "''", "sum([blank])", "mean([none], [blank])"]


def shown(text: str, cells: dict[str, Operand] | None = None) -> Operand:
    return support.shown(text, cells or CELLS)


@pytest.mark.parametrize("name", AGGREGATES)
@pytest.mark.parametrize("skipped", HARMLESS)
def test_blanks_are_left_out(name: str, skipped: str) -> None:
    for call in (
        f"{name}([two], {skipped}, [eight])",
        f"{name}({skipped}, [two], [eight], {skipped})",
        f"{name.upper()}([two], [eight])",
    ):
        assert shown(f"round({call}, 4) = {VALUES[name]}") is True
        assert shown(f"round({call}, 4) <> {VALUES[name]}") is False
        assert shown(f"{call} > 1 and not ({call} > 11)") is True


@pytest.mark.parametrize("name", AGGREGATES)
def test_all_blank_is_blank(name: str) -> None:
    assert shown(f"{name}([none], '') = ''") is True
    assert shown(f"{name}([none], [blank]) = ''") is True
    assert shown(f"{name}([none]) > 1") is False
    found = shown(f"{name}([none], [blank]) > 1")
    assert isinstance(found, Open)
    assert found.cause == "blank"


@pytest.mark.parametrize("name", AGGREGATES)
@pytest.mark.parametrize(
    ("doubt", "cause"), [("[coded]", "coded"), ("[gone]", "gone"), ("[text]", ""), ("'x'", "")]
)
def test_what_is_no_number_leaves_the_result_open(name: str, doubt: str, cause: str) -> None:
    for text in (f"{name}([two], {doubt}, [blank]) > 1", f"not ({name}({doubt}) > 1)"):
        found = shown(text)
        assert isinstance(found, Open)
        assert found.cause == cause


def test_a_deviation_of_one_number_is_blank() -> None:
    assert shown("stdev([two], [blank]) = ''") is True


@given(st.sampled_from(sorted(AGGREGATES)), st.lists(st.integers(-99, 99) | st.none(), min_size=1))
def test_an_aggregate_is_that_of_its_numbers(name: str, cells: list[int | None]) -> None:
    present = [Decimal(cell) for cell in cells if cell is not None]
    known: dict[str, Operand] = {
        f"c{i}": Open("c", is_blank=True) if cell is None else str(cell)
        for i, cell in enumerate(cells)
    }
    call = f"{name}({', '.join(f'[{key}]' for key in known)})"
    if len(present) <= (name == "stdev"):
        assert shown(f"{call} = ''", known) is True
        return
    expected = AGGREGATES[name](present)
    low, high = expected - Decimal("1e-9"), expected + Decimal("1e-9")
    near = f"{call} >= {_written(low)} and {call} <= {_written(high)}"
    assert shown(near, known) is True


def _written(value: Decimal) -> str:
    return f"(0 - {-value:f})" if value < 0 else f"{value:f}"


@pytest.mark.parametrize("name", AGGREGATES)
@pytest.mark.parametrize("cells", [{}, {"preg": "", "sex": "1"}, {"age": ""}])
def test_a_field_with_an_aggregate_is_shown_whatever_is_blank(
    name: str, cells: dict[str, str]
) -> None:
    """A blank field, one that is hidden, one of another form: the same."""
    logic = f"{name}([weight], [height], [preg], [age]) > 1"
    row = {"weight": "9", "height": "3", "preg": "", "sex": "1", "age": "", **cells}
    assert outcome(logic, row) == "PASS"
    assert outcome(logic, row, value="") == "UNKNOWN missing"


@pytest.mark.parametrize(
    ("logic", "row", "cause"),
    [
        ("max([weight], 3) > 1", {"weight": "UNK"}, "weight"),
        ("max([weight], 3) > 1", {}, "weight"),
        ("max([weight], 3) > 1", {"weight": "ND"}, "weight"),
        ("max([weight], [height]) > 1", {"weight": "", "height": ""}, "weight"),
        ("sum([text], 3) > 1", {"text": "a few"}, "target"),
        ("range([weight], 3) > 1", {"weight": "2"}, "target"),
    ],
)
def test_what_an_aggregate_leaves_open_is_never_hidden(
    logic: str, row: dict[str, str], cause: str
) -> None:
    for value in ("", "5"):
        assert outcome(logic, row, value=value) == f"UNKNOWN applicability_unknown {cause}"


@pytest.mark.parametrize("logic", ["[preg] < 3", "[preg] <= 3", "3 > [preg]", "3 >= [preg]"])
def test_an_order_of_a_blank_for_ever_and_a_number_is_open(logic: str) -> None:
    """REDCap's servers and browsers order a blank before the numbers or nowhere."""
    assert outcome(logic, {"sex": "1", "preg": ""}) == "UNKNOWN applicability_unknown target"

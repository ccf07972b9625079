"""Files for spreadsheets: one odd character spoils none, and no cell is a formula."""

from __future__ import annotations

import csv
import io

import pytest
from openpyxl import load_workbook

from core.house.spreadsheet import csv_lines, workbook

ODD = ["a\x00b", "tab\x0bvertical", "\x1b[31m", "\ufffe", "lone \ud800", "fine\tline\nbreak"]


def test_a_character_that_no_file_holds_spoils_no_other_cell() -> None:
    rows = [[text, "next"] for text in ODD]
    book = load_workbook(io.BytesIO(workbook("title\x00/x", ["a\x01", "b"], rows)))
    read = [[cell.value for cell in row] for row in book.active.iter_rows()]  # type: ignore[union-attr]
    assert read[0] == ["a\ufffd", "b"]
    assert [row[1] for row in read[1:]] == ["next"] * len(ODD)
    assert read[1][0] == "a\ufffdb"
    content = "".join(csv_lines([["x"], *rows])).encode()
    told = [*csv.reader(io.StringIO(content.decode("utf-8-sig")))]
    assert [row[1] for row in told[1:]] == ["next"] * len(ODD)


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", " =1+1", "\u3000=1+1", "\u200b=1+1", "\ufeff@SUM(A1)", "+cmd", "-2+3", "＝1"),
        *("a;=1+1", "a; =1+1", "a\t=1+1", "a\r\n=1+1", "a;b;\u00a0@x", ";=1", "\t=1", "1;-2+3"),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_is_a_formula_whatever_the_reader_takes_for_the_separator(
    text: str, separator: str
) -> None:
    content = "".join(csv_lines([["id", "text"], ["P001", text]])).removeprefix("\ufeff")
    cells = [cell for row in csv.reader(io.StringIO(content), delimiter=separator) for cell in row]
    marks = " \u3000\u200b\ufeff\u00a0\t\r\n"
    assert not [cell for cell in cells if cell.strip(marks)[:1] in {*"=+-@＝＋－＠"} - {""}]


@pytest.mark.parametrize("text", ["-", "-1.5", "+2", "2026-01-01", "a;b", "3;-2", "x = y", "a-b"])
def test_what_is_no_formula_stays_as_it_is(text: str) -> None:
    assert [*csv.reader("".join(csv_lines([[text]])).removeprefix("\ufeff").splitlines())] == [
        [text]
    ]

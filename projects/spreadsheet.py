"""Rows as an XLSX file."""

from __future__ import annotations

import io
from collections.abc import Sequence

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_WIDEST, _TITLE = 60, 31


def workbook(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    """A file with one sheet: the header stays in sight, every cell is text, so that none is a formula."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet(_named(title))
    sheet.freeze_panes = "A2"
    for number, column in enumerate(zip(header, *rows, strict=True), 1):
        width = max(sum(2 if ord(char) > 255 else 1 for char in text) for text in column)
        sheet.column_dimensions[get_column_letter(number)].width = min(width, _WIDEST) + 2
    sheet.append([_cell(sheet, text, bold=True) for text in header])
    for row in rows:
        sheet.append([_cell(sheet, text) for text in row])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _cell(sheet: object, text: str, *, bold: bool = False) -> WriteOnlyCell:
    cell = WriteOnlyCell(sheet, value=text)
    cell.data_type = "s"
    if bold:
        cell.font = Font(bold=True)
    return cell


def _named(title: str) -> str:
    """Excel takes 31 characters and none of these."""
    return "".join("_" if char in r"[]:*?/\'" else char for char in title)[:_TITLE] or "Sheet"

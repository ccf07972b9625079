"""Rows as an XLSX file."""

from __future__ import annotations

import io
from collections.abc import Sequence

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_WIDEST, _TITLE = 60, 31


def workbook(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    """A file with one sheet: the header stays in sight, every cell is text, so that none is a formula."""
    # Brings numpy: a tenth of what each process of the house takes to start, for a file few ask for.
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    def cell(text: str, *, bold: bool = False) -> WriteOnlyCell:
        made = WriteOnlyCell(sheet, value=text)
        made.data_type = "s"
        if bold:
            made.font = Font(bold=True)
        return made

    book = Workbook(write_only=True)
    sheet = book.create_sheet(_named(title))
    sheet.freeze_panes = "A2"
    for number, column in enumerate(zip(header, *rows, strict=True), 1):
        width = max(sum(2 if ord(char) > 255 else 1 for char in text) for text in column)
        sheet.column_dimensions[get_column_letter(number)].width = min(width, _WIDEST) + 2
    sheet.append([cell(text, bold=True) for text in header])
    for row in rows:
        sheet.append([cell(text) for text in row])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _named(title: str) -> str:
    """Excel takes 31 characters and none of these."""
    return "".join("_" if char in r"[]:*?/\'" else char for char in title)[:_TITLE] or "Sheet"

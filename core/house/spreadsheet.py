"""Rows as files for a spreadsheet, XLSX and CSV: what a cell may hold, and what would run as a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

_BOM = "\ufeff"
# No XML holds these (XML 1.0, 2.2): one of them would make the whole file unreadable.
_NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# What a spreadsheet takes for the start of a formula (OWASP, "CSV injection"), wide forms too: where a cell
# begins, also behind what parts cells where the reader's list separator is another one.
_SEPARATOR = re.compile(r"([;\t\r\n])")
_FORMULA = re.compile(r"[\s\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]")
# A lone dash is how lists show that there is nothing.
_PLAIN = re.compile(r"-|[+-]?\d+(?:\.\d+)?")
CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_WIDEST, _TITLE = 60, 31


def workbook(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], mark: str = ""
) -> bytes:
    """A file with one sheet: the header stays in sight, every cell is text, so that none is a formula.

    `mark`: of its properties, says to machines that a model wrote a part (`paper.value.ai_mark`).
    """
    # Brings numpy: a tenth of what each process of the house takes to start, for a file few ask for.
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.packaging.custom import StringProperty
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    def cell(text: str, *, bold: bool = False) -> WriteOnlyCell:
        made = WriteOnlyCell(sheet, value=readable(text))
        made.data_type = "s"
        if bold:
            made.font = Font(bold=True)
        return made

    book = Workbook(write_only=True)
    if mark:
        book.custom_doc_props.append(StringProperty(name="AIGC", value=mark))
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
    plain = readable(title)
    return "".join("_" if char in r"[]:*?/\'" else char for char in plain)[:_TITLE] or "Sheet"


def csv_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A CSV file in UTF-8 with its mark, line by line; no cell is a formula in any spreadsheet."""
    writer = csv.writer(_Line())
    mark = _BOM
    for row in rows:
        line: str = writer.writerow([harmless(readable(cell)) for cell in row])
        yield mark + line
        mark = ""


def readable(text: str) -> str:
    """The text with a mark for each character that no file can hold."""
    return _NO_TEXT.sub("\ufffd", text)


def harmless(text: str) -> str:
    """The text as a spreadsheet shows it: what would be a formula gets an apostrophe; numbers stay."""
    parts = _SEPARATOR.split(text)
    made = "".join(f"'{part}" if _is_formula(part) else part for part in parts)
    return f"'{made}" if len(parts) > 1 and not parts[0] else made


def _is_formula(part: str) -> bool:
    return bool(_FORMULA.match(part)) and not _PLAIN.fullmatch(part.strip())


class _Line:
    """A file for `csv.writer` that gives each line back instead of keeping it."""

    def write(self, line: str) -> str:
        return line

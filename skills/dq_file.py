"""The CSV of three columns that REDCap's Data Quality page exports (redcap_dify.md, *Functions*)."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

COLUMNS = ("rule_name", "rule_logic", "real_time_execution")
MOST_BYTES = 2 * 1024 * 1024
MOST_RULES = 1000
LONGEST_NAME = 500
_TRUE = {"y", "yes", "1", "true"}


@dataclass(frozen=True, slots=True)
class Line:
    """One rule of the file as it stands there; `number` counts from 1 without the head."""

    number: int
    name: str
    logic: str
    real_time: bool


def read(content: bytes) -> list[Line]:
    """The rules of a file, blank lines left out. Raises ValidationError for what is no such file."""
    if len(content) > MOST_BYTES:
        raise ValidationError(_("The file is larger than %d MB.") % (MOST_BYTES // 1024 // 1024))
    rows = _rows(_text(content))
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    if missing := [name for name in COLUMNS[:2] if name not in head]:
        told = _("The first line of the file names no column “%s”.")
        raise ValidationError(told % "”, “".join(missing))
    places = {name: head.index(name) for name in COLUMNS if name in head}
    lines: list[Line] = []
    for row in rows[1:]:
        cell = {name: row[at].strip() if at < len(row) else "" for name, at in places.items()}
        if not any(part.strip() for part in row):
            continue
        is_at_once = cell.get(COLUMNS[2], "").lower() in _TRUE
        lines.append(Line(len(lines) + 1, cell[COLUMNS[0]], cell[COLUMNS[1]], is_at_once))
    if not lines:
        raise ValidationError(_("The file holds no rule."))
    if len(lines) > MOST_RULES:
        raise ValidationError(_("The file holds more than %d rules.") % MOST_RULES)
    return lines


def _text(content: bytes) -> str:
    """UTF-8, else as a Chinese spreadsheet saves it."""
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise ValidationError(_("The file is no text."))


def _rows(text: str) -> list[list[str]]:
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        return list(
            csv.reader(io.StringIO(text.replace("\0", ""), newline=""), delimiter=delimiter)
        )
    except csv.Error as error:
        raise ValidationError(_("The file is no CSV: %s") % error) from error

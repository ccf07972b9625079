"""One cell of an export, read as the dictionary types it (contracts.md, check_rules)."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, time, timedelta
from fractions import Fraction
from typing import Any

NUMBER, DATE, MOMENT, CHOICE, TICKS, TEXT = "number", "date", "moment", "choice", "ticks", "text"
ORDERED = (NUMBER, DATE, MOMENT)
PLAIN_NUMBER = re.compile(r"[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]{1,3})?")
BOUND = re.compile(r"(<=|>=|<|>|≤|≥)\s*(.+)")
PARTS = re.compile(
    r"([0-9]{4})(?:-([0-9]{1,2}|UNK|UN))?(?:-([0-9]{1,2}|UNK|UN))?(?:[ T]([0-9]{1,2}):([0-9]{2}))?"
)


@dataclass(frozen=True)
class Cell:
    """What is in one place.

    `state`: value, blank, hidden (a blank nobody is asked for), maybe (a blank that may be hidden),
    code (missing code), bad (`why` says how), absent (no such column or row). Numbers and days are spans
    from `low` to `high`; a single point has both alike. `ticks` are the ticked codes.
    """

    state: str
    type: str = TEXT
    raw: str = ""
    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = False
    high_open: bool = False
    code: str = ""
    ticks: tuple[str, ...] = ()
    why: str = ""
    unit: str = ""

    @property
    def point(self) -> bool:
        """Whether the span is one single number or day."""
        return self.low is not None and self.low == self.high


def blank(type_: str) -> Cell:
    """An empty cell."""
    return Cell("blank", type_, why="missing")


def absent(why: str = "not_exported") -> Cell:
    """Nothing to read."""
    return Cell("absent", why=why)


def point(value: Fraction, type_: str = NUMBER, raw: str = "") -> Cell:
    """A complete number or day."""
    return Cell("value", type_, raw, value, value)


def of_day(day: date) -> Cell:
    """A complete date."""
    return point(Fraction(day.toordinal()), DATE, day.isoformat())


def type_of(row: dict[str, str]) -> str:
    """The type of a dictionary row."""
    kind = row["field_type"]
    check = row.get("text_validation_type_or_show_slider_number") or ""
    if kind in ("radio", "dropdown", "yesno", "truefalse"):
        return CHOICE
    if kind == "checkbox":
        return TICKS
    if kind in ("calc", "slider"):
        return NUMBER
    if kind != "text":
        return TEXT
    if check.startswith("datetime"):
        return MOMENT
    if check.startswith("date"):
        return DATE
    if check.startswith("number") or check.startswith("integer"):
        return NUMBER
    return TEXT


def is_integer(row: dict[str, str]) -> bool:
    """Whether only whole numbers fit the field."""
    check = row.get("text_validation_type_or_show_slider_number") or ""
    return row["field_type"] == "text" and check.startswith("integer")


def choices_of(row: dict[str, str]) -> dict[str, str]:
    """Code -> label of a coded field."""
    if row["field_type"] == "yesno":
        return {"1": "Yes", "0": "No"}
    if row["field_type"] == "truefalse":
        return {"1": "True", "0": "False"}
    if row["field_type"] in ("radio", "dropdown", "checkbox"):
        return split_choices(row["select_choices_or_calculations"])
    return {}


def split_choices(text: str) -> dict[str, str]:
    """`0, Female | 1, Male` as code -> label."""
    found = {}
    for part in text.split("|"):
        code, _comma, label = part.partition(",")
        if code.strip():
            found[code.strip()] = label.strip()
    return found


def number(text: str) -> Cell | None:
    """A number or a censored one."""
    bound = BOUND.fullmatch(text)
    plain = bound[2].strip() if bound else text
    if not PLAIN_NUMBER.fullmatch(plain):
        return None
    value = Fraction(plain)
    if not bound:
        return point(value, NUMBER, text)
    is_open = bound[1] in "<>"
    if bound[1] in ("<", "<=", "≤"):
        return Cell("value", NUMBER, text, None, value, high_open=is_open, why="censored")
    return Cell("value", NUMBER, text, value, None, low_open=is_open, why="censored")


def moment(text: str, type_: str) -> Cell | None:
    """A date (days) or a time (minutes), partial ones as all they can be."""
    parts = PARTS.fullmatch(text)
    if not parts:
        return None
    year, month, day, hour, minute = parts.groups()
    months = [int(month)] if month and month.isdigit() else [1, 12]
    try:
        first = date(int(year), months[0], int(day) if day and day.isdigit() else 1)
        end = int(day) if day and day.isdigit() else calendar.monthrange(int(year), months[-1])[1]
        last = date(int(year), months[-1], end)
        if hour is not None:
            time(int(hour), int(minute))
    except ValueError:
        return None
    partial = "partial_date" if first != last else ""
    if type_ == DATE:
        if hour is not None:
            return None
        return Cell(
            "value",
            DATE,
            text,
            Fraction(first.toordinal()),
            Fraction(last.toordinal()),
            why=partial,
        )
    low, high = first.toordinal() * 1440, last.toordinal() * 1440 + 1439
    if hour is not None and first == last:
        low = high = first.toordinal() * 1440 + int(hour) * 60 + int(minute)
    why = "partial_date" if low != high else ""
    return Cell("value", MOMENT, text, Fraction(low), Fraction(high), why=why)


def read(row: dict[str, str], raw: str, missing: dict[str, str]) -> Cell:
    """The cell of a field that is no checkbox."""
    type_ = type_of(row)
    text = raw.strip()
    if text == "":
        return blank(type_)
    if text in missing:
        return Cell("code", type_, text, why="missing_code")
    if type_ == CHOICE:
        if text not in choices_of(row):
            return Cell("bad", CHOICE, text, why="invalid_choice")
        return Cell("value", CHOICE, text, code=text)
    if type_ == TEXT:
        return Cell("value", TEXT, text)
    found = number(text) if type_ == NUMBER else moment(text, type_)
    if found is not None and is_integer(row) and found.point and found.low.denominator != 1:
        found = None
    return found or Cell("bad", type_, text, why="type_mismatch")


def read_ticks(row: dict[str, str], line: dict[str, Any], missing: dict[str, str]) -> Cell:
    """A checkbox as a whole: its ticked codes; unticked boxes of a form never opened are missing."""
    name = row["field_name"]
    codes = choices_of(row)
    ticked = tuple(code for code in codes if str(line.get(column(name, code), "")) == "1")
    if ticked:
        return Cell("value", TICKS, ", ".join(ticked), ticks=ticked)
    for code in missing:
        if str(line.get(column(name, code), "")) == "1":
            return Cell("code", TICKS, code, why="missing_code")
    opened = str(line.get(row["form_name"] + "_complete", "")).strip() != ""
    return Cell("blank", TICKS, why="missing", code="opened" if opened else "")


def column(name: str, code: str) -> str:
    """The export column of one choice."""
    return f"{name}___{re.sub('[^a-z0-9]', '_', code.lower())}"


def as_json(value: Fraction) -> int | float:
    """An exact number as JSON."""
    return int(value) if value.denominator == 1 else float(value)


def iso(ordinal: Fraction) -> str:
    """A day number as an ISO date."""
    return (date(1, 1, 1) + timedelta(days=int(ordinal) - 1)).isoformat()

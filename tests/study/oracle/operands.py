"""What an operand of a query is worth for one row of one subject."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import Any

from tests.study.oracle import cells, compare
from tests.study.oracle.cells import DATE, MOMENT, NUMBER, TEXT, Cell
from tests.study.oracle.study import Line, Study, Subject

GLUCOSE = Fraction("18.016")


def plain_name(study: Study, name: str) -> str:
    """A field by its own name or a mapped one."""
    return study.settings["mapped"].get(name, name)


def form_of(study: Study, name: str) -> str:
    """The form of a field; for columns the pseudo form they are rows of."""
    if name.startswith("@"):
        return name.partition(".")[0] if "." in name else "@subject"
    return study.fields[plain_name(study, name)]["form_name"]


def events_of(study: Study, place: Any) -> set[str]:
    """The events of a place: a visit of the plan, a unique name, or a list of them."""
    if isinstance(place, list):
        return {event for one in place for event in events_of(study, one)}
    if place in study.events:
        return {place}
    found = set()
    for spec in study.settings["plan"]["visits"]:
        if spec["visit"] == place:
            arm = spec.get("arm", "").removeprefix("arm_")
            arms = {arm} if arm else {event.rpartition("_arm_")[2] for event in study.events}
            found |= {spec["event"]} if spec.get("event") else {study.event_of_visit(spec, arms)}
    return found


def with_unit(study: Study, name: str, cell: Cell) -> Cell:
    """A lab in the unit of its range."""
    if cell.unit in ("", "?") or cell.state != "value" or cell.type != NUMBER:
        return cell
    unit = study.settings["ranges"][name][0]["unit"]
    if cell.unit == unit:
        return cell
    factor = {("mg/dL", "mmol/L"): 1 / GLUCOSE, ("mmol/L", "mg/dL"): GLUCOSE}[cell.unit, unit]
    low = None if cell.low is None else cell.low * factor
    high = None if cell.high is None else cell.high * factor
    return Cell(**{**cell.__dict__, "low": low, "high": high, "unit": unit})


def of_column(study: Study, subject: Subject, name: str) -> Cell:
    """@site, @status, @enrolled and @age of a subject."""
    if name == "@site":
        return Cell("value", TEXT, subject.site) if subject.site else cells.blank(TEXT)
    if name == "@status":
        return last_value(study, subject, study.settings["status_field"])
    if name == "@enrolled":
        return last_value(study, subject, study.settings["enrolment_field"])
    if name == "@age":
        return cells.number(subject.rows[0]["@age"]) or cells.blank(NUMBER)
    raise KeyError(name)


def last_value(study: Study, subject: Subject, name: str) -> Cell:
    """The subject's last reading of a field; where there is none, what its last row says of it."""
    found = [
        study.cell(line, name)
        for line in ordered(study, subject.lines[study.fields[name]["form_name"]])
    ]
    told = [cell for cell in found if cell.state not in ("blank", "hidden", "maybe")]
    return (told or found or [cells.blank(study.type_of(name))])[-1]


def ordered(study: Study, lines: list[Line]) -> list[Line]:
    """Lines from the first to the latest: by event, repeating forms by date, then instance."""
    if len(lines) < 2:
        return list(lines)

    def key(line: Line):
        day = row_date(study, line) if study.repeats(line.form) else None
        return study.event_place(line.event), day.low if day is not None else -1, line.instance or 0

    return sorted(lines, key=key)


def row_date(study: Study, line: Line) -> Cell | None:
    """The date of a row: its form's date field, else the date of the visit at that event."""
    if not line.dates:
        line.dates.append(_row_date(study, line))
    return line.dates[0]


def _row_date(study: Study, line: Line) -> Cell | None:
    field = study.settings["form_dates"].get(line.form)
    if field is not None and line.data is not None:
        cell = compare.as_type(study.cell(line, field), DATE)
        if cell.state == "value":
            return compare._days(cell)
    for visit in line.subject.visits:
        if visit.event == line.event and visit.planned is not None:
            return cells.of_day(visit.planned)
    return None


def value(
    study: Study, subject: Subject, line: Line | None, operand: Any, against: str = ""
) -> Cell:
    """An operand for a row; `against`: the field on the left, for the reference range."""
    if isinstance(operand, str) and operand.startswith("today"):
        shift = operand.removeprefix("today").replace(" ", "")
        return cells.of_day(study.today + timedelta(days=int(shift or 0)))
    if not isinstance(operand, dict):
        return compare.literal(operand)
    if "ref" in operand:
        return limit(study, subject, line, operand, against)
    name = plain_name(study, operand["field"])
    if name.startswith("@"):
        return of_column(study, subject, name)
    own = other_line(study, subject, line, operand)
    return cells.absent("missing") if own is None else own_value(study, subject, own, operand)


def own_value(study: Study, subject: Subject, line: Any, operand: dict[str, Any]) -> Cell:
    """An operand read in a row of its own form, less its `minus`."""
    name = plain_name(study, operand["field"])
    found = (
        of_column(study, subject, name)
        if name.startswith("@")
        else with_unit(study, name, study.cell(line, name))
    )
    if "minus" not in operand:
        return found
    return computed(found, value(study, subject, line, operand["minus"], name), operand.get("as"))


def other_line(
    study: Study, subject: Subject, line: Line | None, operand: dict[str, Any]
) -> Line | None:
    """The row that an operand reads: at its place, picked by its `rows`, else the one beside `line`."""
    name = plain_name(study, operand["field"])
    form = study.fields[name]["form_name"]
    if operand.get("place") is None and "rows" not in operand:
        return beside(study, subject, line, form)
    lines = ordered(study, subject.lines[form])
    if operand.get("place") is not None:
        events = events_of(study, operand["place"])
        lines = [one for one in lines if one.event in events]
    rows = operand.get("rows") or "latest"
    rows = "latest" if rows == "all" else rows
    kept = pick(study, lines, name, rows) + uncomparable(study, lines, name, rows)
    return kept[-1] if kept else None


def some_of(lines: list[Any], rows: Any) -> list[Any]:
    """`rows` of a whole form, whose blanks count."""
    if isinstance(rows, dict):
        word, count = next(iter(rows.items()))
    else:
        word, count = rows, 1
    if word == "latest":
        return lines[-count:]
    return lines[:count] if word == "first" else lines


def uncomparable(
    study: Study, lines: list[Line], name: str, rows: Any, worth: Any = None
) -> list[Line]:
    """Rows with something in them that might be the highest or lowest, and that cannot be compared."""
    if rows not in ("highest", "lowest"):
        return []
    worth = worth or (lambda line: with_unit(study, name, study.cell(line, name)))
    held = [line for line in lines if study.cell(line, name).state in ("value", "bad")]
    return [line for line in held if is_unusable(worth(line))]


def is_unusable(cell: Cell) -> bool:
    """Whether something stands there that is no value to compare with."""
    nothing = ("missing", "missing_code", "applicability_unknown")
    return cell.unit == "?" or (cell.state != "value" and cell.why not in nothing)


def pick(study: Study, lines: list[Line], name: str, rows: Any, worth: Any = None) -> list[Line]:
    """`rows` by one field; blanks are skipped by all but "all".

    The highest are those that no other surely exceeds: ties, and what bounds leave open.
    """
    if rows == "all":
        return lines
    filled = [
        line for line in lines if study.cell(line, name).state not in ("blank", "hidden", "maybe")
    ]
    word, count = (rows, 1) if isinstance(rows, str) else next(iter(rows.items()))
    if word == "first":
        return filled[:count]
    if word == "latest":
        return filled[-count:]
    worth = worth or (lambda line: with_unit(study, name, study.cell(line, name)))
    sure = [(line, worth(line)) for line in filled]
    known = [(line, cell) for line, cell in sure if cell.state == "value" and cell.unit != "?"]
    op = ">" if word == "highest" else "<"
    return [
        line
        for line, cell in known
        if not any(compare.compare(other, op, cell, {})[0] is True for _line, other in known)
    ]


def beside(study: Study, subject: Subject, line: Any, form: str) -> Any:
    """The row of a form that belongs to a row: the same, else one of the same event, else the last."""
    if line is not None and line.form == form:
        return line
    lines = ordered(study, subject.lines[form]) if form in study.forms else subject.visits
    here = [one for one in lines if line is not None and one.event == line.event]
    return (here or lines or [None])[-1]


def limit(
    study: Study, subject: Subject, line: Line | None, operand: dict[str, Any], name: str
) -> Cell:
    """{"ref": …} of a field: its reference range by unit and sex, else the limit in its note."""
    name = plain_name(study, name)
    times = Fraction(str(operand.get("times", 1)))
    sex = last_value(study, subject, study.settings["sex_field"])
    for entry in study.settings["ranges"].get(name, []):
        if entry["sex"] and entry["sex"] != sex.code:
            continue
        bound = entry[operand["ref"]]
        if bound is None:
            return cells.absent("missing")
        if bound in study.fields:
            own = (
                beside(study, subject, line, study.fields[bound]["form_name"])
                if line is not None
                else None
            )
            if own is None:
                return cells.absent("missing")
            cell = study.cell(own, bound)
            if cell.state != "value" or not cell.point:
                return cell
            return cells.point(cell.low * times)
        return cells.point(Fraction(bound) * times)
    if name not in study.settings["ranges"]:
        return _note(study, name, operand["ref"], times)
    return cells.absent("missing")


def _note(study: Study, name: str, side: str, times: Fraction) -> Cell:
    word = {"high": "上限", "low": "下限"}[side]
    note = study.fields[name].get("field_note") or ""
    _before, found, after = note.partition(word)
    number = after.strip().split(" ")[0] if found else ""
    return cells.point(Fraction(number) * times) if number else cells.absent("missing")


def computed(a: Cell, b: Cell, as_: str | None) -> Cell:
    """field - minus, in days, percent or as a ratio; spans stay spans."""
    for one in (a, b):
        if one.state == "hidden":
            return one
    for one in (a, b):
        if one.state != "value":
            return Cell("absent", NUMBER, why=one.why)
        if one.unit == "?":
            return cells.absent("unit_missing")
    if DATE in (a.type, b.type) or MOMENT in (a.type, b.type):
        a, b = compare.as_type(a, DATE), compare.as_type(b, DATE)
        for one in (a, b):
            if one.state != "value":
                return one
        a, b = compare._days(a), compare._days(b)
    if (a.low is None and a.high is None) or (b.low is None and b.high is None):
        return cells.absent("type_mismatch")
    why = a.why or b.why
    if as_ in (None, "diff", "days"):
        low = None if a.low is None or b.high is None else a.low - b.high
        high = None if a.high is None or b.low is None else a.high - b.low
        opens = {"low_open": a.low_open or b.high_open, "high_open": a.high_open or b.low_open}
        return Cell("value", NUMBER, "", low, high, **opens, why=why)
    ratio = divided(a, b)
    if ratio is None or as_ == "ratio":
        return ratio or Cell("absent", NUMBER, why=why or "null")
    ends = [None if end is None else 100 * (end - 1) for end in (ratio.low, ratio.high)]
    return Cell(
        "value", NUMBER, "", *ends, low_open=ratio.low_open, high_open=ratio.high_open, why=why
    )


def divided(a: Cell, b: Cell) -> Cell | None:
    """All that a / b can be; None where b may be zero or of either sign."""
    if b.high is not None and b.high < 0:
        return divided(negative(a), negative(b))
    if b.low is None or b.low < 0 or (b.low == 0 and not b.low_open):
        return None
    low = quotient(a.low, a.low_open, b, least=True)
    high = quotient(a.high, a.high_open, b, least=False)
    return Cell(
        "value", NUMBER, "", low[0], high[0], low_open=low[1], high_open=high[1], why=a.why or b.why
    )


def quotient(
    end: Fraction | None, is_open: bool, b: Cell, *, least: bool
) -> tuple[Fraction | None, bool]:
    """One end of a / b for a positive b, and whether it is left out."""
    if end is None:
        return None, False
    divide_by_low = (end < 0) if least else (end > 0)
    if end == 0:
        return end, is_open
    if divide_by_low:
        return (None, False) if b.low == 0 else (end / b.low, is_open or b.low_open)
    return (Fraction(0), True) if b.high is None else (end / b.high, is_open or b.high_open)


def negative(a: Cell) -> Cell:
    """-a."""
    low, high = (None if end is None else -end for end in (a.high, a.low))
    return Cell(
        "value", NUMBER, "", low, high, low_open=a.high_open, high_open=a.low_open, why=a.why
    )

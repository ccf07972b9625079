"""Aggregates and groups (contracts.md, StudyQuery: aggregate, of, by)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from tests.study.oracle import answer as plain
from tests.study.oracle import cells, compare, operands
from tests.study.oracle.cells import DATE, MOMENT, NUMBER, Cell
from tests.study.oracle.conditions import Scope, Where, in_scope, scope_of
from tests.study.oracle.study import EVENT, Line, Study, Subject, natural


@dataclass
class Entry:
    """A row that an aggregate is made of; `hit`: of a share, whether the conditions hold."""

    subject: Subject
    line: Any = None
    cell: Cell | None = None
    hit: bool = True


def answer(study: Study, query: dict[str, Any], chosen: plain.Chosen) -> dict[str, Any]:
    """A fact for each total; with `by` groups, and a fact for each."""
    made = entries(study, query, chosen)
    told = {entry.subject.id for entry in made[0]}
    missing = (
        0
        if query["aggregate"] == "share"
        else sum(s.id not in told | chosen.open for s in chosen.subjects)
    )
    basis = {"subjects": len(chosen.asked), "rows": len(made[0]), "missing": missing}
    rest = {"basis": basis, "left_out": 0, "groups": []}
    if not query.get("by"):
        names = names_of(study, query)
        facts = [
            plain._fact("aggregate", "", names[n], "", "", None, total(query, own))
            for n, own in enumerate(made)
        ]
        return {"facts": facts, **rest, "undecided": chosen.told_undecided()}
    groups, left_out = cut(query, grouped(study, query, made[0], chosen))
    facts = []
    for group in groups:
        keys = dict(zip(query["by"], group["by"], strict=True))
        facts.append(
            plain._fact(
                "aggregate",
                keys.get("@subject") or "",
                names_of(study, query)[0],
                keys.get("event") or "",
                "",
                None,
                group["value"],
            )
        )
    return {
        "facts": facts,
        **rest,
        "groups": groups,
        "left_out": left_out,
        "undecided": chosen.told_undecided(),
    }


def names_of(study: Study, query: dict[str, Any]) -> list[str]:
    """The fields or forms of `select`."""
    items = [
        item["field"] if isinstance(item, dict) else item for item in query.get("select") or [""]
    ]
    return [operands.plain_name(study, item) for item in items]


def entries(study: Study, query: dict[str, Any], chosen: plain.Chosen) -> list[list[Entry]]:
    """The rows of each selected field that the aggregate is made of."""
    if query["aggregate"] == "share":
        return [shared(study, query, chosen)]
    if query["aggregate"] == "count":
        return [
            [Entry(s, line) for s in chosen.subjects for line in counted(study, query, s, chosen)]
        ]
    made = []
    for item in query["select"]:
        own: list[Entry] = []
        for subject in chosen.subjects:
            for line in plain.selected(study, query, subject, chosen, item, None):
                add_exact(study, subject, line, item, own, chosen)
        made.append(own)
    return made


def add_exact(
    study: Study, subject: Subject, line: Any, item: Any, own: list[Entry], chosen: plain.Chosen
) -> None:
    """An exact value is an entry; nothing or a missing code is none; all else is undecided."""
    wanted = item if isinstance(item, dict) else {"field": item}
    cell = operands.own_value(study, subject, line, wanted)
    if cell.type == cells.TEXT and cell.state == "value":
        cell = compare.as_type(cell, NUMBER)
    if cell.type == cells.CHOICE and cell.state == "value":
        cell = cells.point(Fraction(cell.code))
    if cell.state == "value" and cell.point and cell.unit != "?":
        own.append(Entry(subject, line, cell))
    elif cell.why not in ("missing", "missing_code") and cell.state not in (
        "blank",
        "hidden",
        "maybe",
    ):
        chosen.undecided.add(subject.id)


def shared(study: Study, query: dict[str, Any], chosen: plain.Chosen) -> list[Entry]:
    """Of those for whom `of` holds and `where` is decided, who fulfils it; others are undecided."""
    hits = {subject.id for subject in chosen.subjects}
    open_ = set(chosen.undecided)
    chosen.undecided.clear()
    found = []
    for subject in chosen.asked:
        among = Where(study, subject, scope_of(study, query)).decide(query.get("of") or [])
        if among[0] is None or (among[0] and subject.id in open_):
            chosen.undecided.add(subject.id)
        elif among[0]:
            found.append(Entry(subject, hit=subject.id in hits))
    return found


def counted(
    study: Study, query: dict[str, Any], subject: Subject, chosen: plain.Chosen
) -> list[Any]:
    """The rows of a subject that are counted: of what is selected, else of the form that is asked about."""
    where = chosen.wheres[subject.id]
    if query.get("select"):
        item = query["select"][0]
        lines = plain.selected(study, query, subject, chosen, item, None)
        name = names_of(study, query)[0]
        if name in study.forms or operands.form_of(study, name) in where.matched:
            return lines
        return [line for line in lines if plain.says_something(study, subject, line, item)]
    form = counted_form(study, query, where)
    if form == "@subject":
        return [None]
    if form:
        return plain.form_lines(study, subject, chosen, form)
    return any_rows(study, subject, chosen)


def counted_form(study: Study, query: dict[str, Any], where: Where) -> str:
    """A form that conditions or `by` name, first one with several rows; "" for rows of any form."""
    asked = [
        form for form in map(where.joins, where.flat(plain.conditions(query))) if form is not None
    ]
    grouped_by = []
    for key in query.get("by") or []:
        name = key.partition(":")[2] or key
        if name not in ("event", "@subject"):
            grouped_by.append(operands.form_of(study, name))
    forms = [*asked, *grouped_by]
    several = [form for form in forms if form == "@visits" or study.has_many(form)]
    if forms:
        return [*several, *forms][0]
    any_row = "event" in (query.get("by") or []) or query.get("place") is not None
    return "" if any_row or where.scope.has_period else "@subject"


def any_rows(study: Study, subject: Subject, chosen: plain.Chosen) -> list[Any]:
    """Every row of the export, in place and period."""
    scope = chosen.wheres[subject.id].scope
    found = []
    for row in subject.rows:
        line = Line(subject, "", row[EVENT], None, row)
        if scope.events is not None and line.event not in scope.events:
            continue
        verdict = in_scope(study, subject, line, Scope(None, scope.first, scope.last))
        if verdict[0]:
            found.append(line)
    return found


def total(query: dict[str, Any], own: list[Entry]) -> Any:
    """The value of an aggregate over some entries."""
    kind = query["aggregate"]
    if kind == "count":
        return (
            len(own)
            if "@subject" in (query.get("by") or [])
            else len({entry.subject.id for entry in own})
        )
    if kind == "share":
        return cells.as_json(Fraction(sum(entry.hit for entry in own), len(own))) if own else None
    numbers = sorted(entry.cell.low for entry in own)
    if not numbers:
        return None
    half = len(numbers) // 2
    found = {
        "mean": sum(numbers) / len(numbers),
        "sum": sum(numbers),
        "min": numbers[0],
        "max": numbers[-1],
        "median": numbers[half] if len(numbers) % 2 else (numbers[half - 1] + numbers[half]) / 2,
    }[kind]
    if own[0].cell.type in (DATE, MOMENT):
        return cells.iso(found if own[0].cell.type == DATE else found // 1440)
    return cells.as_json(Fraction(found))


def grouped(
    study: Study, query: dict[str, Any], own: list[Entry], chosen: plain.Chosen
) -> list[dict[str, Any]]:
    """One group for each combination of values, in the order of the keys; empty periods too."""
    found: dict[tuple[Any, ...], list[Entry]] = {}
    for entry in own:
        keys = [keys_of(study, key, entry) for key in query["by"]]
        if any(key is None for key in keys):
            chosen.undecided.add(entry.subject.id)
            continue
        for combined in itertools.product(*keys):
            found.setdefault(combined, []).append(entry)
    fill_periods(study, query, found)
    groups = []
    for keys in sorted(found):
        members = found[keys]
        subjects = list(dict.fromkeys(entry.subject.id for entry in members))
        groups.append(
            {
                "by": [key[2] for key in keys],
                "subjects": subjects,
                "count": len(subjects),
                "rows": len(members),
                "value": total(query, members),
            }
        )
    return groups


BLANK = (1, 0, None)
"""The key of those in whom the field is not filled; it comes last."""


def keys_of(study: Study, key: str, entry: Entry) -> list[tuple[int, Any, Any]] | None:
    """[(whether blank, place in the order, shown value)]; None where it cannot be told."""
    subject, line = entry.subject, entry.line
    if key == "@subject":
        return [(0, subject.number, subject.id)]
    if key == "event":
        return [(0, study.event_place(line.event), line.event)] if line is not None else [BLANK]
    word, _colon, name = key.partition(":")
    field = operands.plain_name(study, name or key)
    cell = cell_beside(study, subject, line, field)
    if cell is None or cell.state in ("blank", "hidden", "maybe", "code"):
        return [BLANK]
    if cell.state != "value":
        return None
    if field == "@site":
        return [(0, natural(cell.raw), cell.raw)]
    if not name:
        real = study.settings["status_field"] if key == "@status" else field
        codes = list(cells.choices_of(study.fields[real]))
        return [(0, codes.index(code), code) for code in cell.ticks or [cell.code]]
    cell = compare.as_type(cell, DATE)
    if cell.state != "value":
        return None
    days = compare._days(cell)
    ends = {period_of(study, word, date.fromordinal(int(day))) for day in (days.low, days.high)}
    return [(0, *ends.pop())] if len(ends) == 1 else None


def cell_beside(study: Study, subject: Subject, line: Any, field: str) -> Cell | None:
    """A field in the row that belongs to an entry's row."""
    if field.startswith("@"):
        return operands.of_column(study, subject, field)
    own = operands.beside(study, subject, line, study.fields[field]["form_name"])
    return None if own is None else study.cell(own, field)


def fill_periods(
    study: Study, query: dict[str, Any], found: dict[tuple[Any, ...], list[Entry]]
) -> None:
    """Periods without rows, from the first to the last, or across `period`."""
    for at, key in enumerate(query["by"]):
        word, colon, _name = key.partition(":")
        if not colon:
            continue
        numbers = [keys[at][1] for keys in found if keys[at] != BLANK]
        for end in ("from", "to"):
            text = (query.get("period") or {}).get(end)
            if text is not None:
                numbers.append(period_of(study, word, date.fromisoformat(text))[0])
        others = {keys[:at] + keys[at + 1 :] for keys in found}
        if not others and len(query["by"]) == 1:
            others = {()}
        for number in range(min(numbers), max(numbers) + 1) if numbers else []:
            for rest in others:
                combined = (*rest[:at], (0, number, name_of(word, number)), *rest[at:])
                found.setdefault(combined, [])


def name_of(word: str, number: int) -> str:
    """2026-09, 2026-Q3, or the study's week W12."""
    if word == "month":
        return f"{number // 12}-{number % 12 + 1:02d}"
    return f"{number // 4}-Q{number % 4 + 1}" if word == "quarter" else f"W{number}"


def period_of(study: Study, word: str, day: date) -> tuple[int, str]:
    """The running number of a day's period, and its name."""
    if word == "month":
        number = day.year * 12 + day.month - 1
    elif word == "quarter":
        number = day.year * 4 + (day.month - 1) // 3
    else:
        number = (day - date.fromisoformat(study.settings["start"])).days // 7 + 1
    return number, name_of(word, number)


def cut(query, groups):
    """`limit` counts groups."""
    limit = query.get("limit")
    if query.get("order"):
        desc = query["order"].get("desc", False)
        present = [g for g in groups if g["value"] is not None]
        present.sort(key=lambda g: g["value"], reverse=desc)
        groups = present + [g for g in groups if g["value"] is None]
    if limit is None or len(groups) <= limit:
        return groups, 0
    end = limit
    while (
        query.get("order")
        and end < len(groups)
        and groups[end]["value"] == groups[limit - 1]["value"]
    ):
        end += 1
    return groups[:end], len(groups) - end

"""The Answer to a StudyQuery: who, which rows, in which order (contracts.md, StudyQuery and facts)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.study.oracle import aggregate, cells, compare, operands, order
from tests.study.oracle.cells import CHOICE, DATE, MOMENT, NUMBER, TICKS, Cell
from tests.study.oracle.conditions import Scope, Where, in_scope, scope_of, visit_cell
from tests.study.oracle.study import Study, Subject


@dataclass
class Row:
    """One row of the export with the facts that stand or fall together."""

    subject: Subject
    event: str
    instance: int | None
    facts: list[dict[str, Any]] = field(default_factory=list)
    cells: dict[int, Cell] = field(default_factory=dict)


@dataclass
class Chosen:
    """The subjects an answer is about, with the rows that matched; who is undecided; who was looked at."""

    subjects: list[Subject]
    wheres: dict[str, Where]
    undecided: set[str]
    asked: list[Subject]
    open: set[str] = field(default_factory=set)

    def told_undecided(self) -> list[dict[str, str]]:
        """In the order of the subjects; the contract does not say which reason of several is told."""
        return [{"subject": subject.id} for subject in self.asked if subject.id in self.undecided]


def answer(study: Study, query: dict[str, Any]) -> dict[str, Any]:
    """The Answer as plain JSON, with the keys of a fact that the contract fixes."""
    chosen = choose(study, query)
    if query.get("aggregate"):
        return aggregate.answer(study, query, chosen)
    if not query.get("select"):
        facts = [
            _fact("subjects", subject.id, "", "", "", None, None) for subject in chosen.subjects
        ]
        kept = facts[: query.get("limit") or len(facts)]
        basis = {"subjects": len(chosen.asked), "rows": len(facts), "missing": 0}
        return {
            "facts": kept,
            "groups": [],
            "undecided": chosen.told_undecided(),
            "basis": basis,
            "left_out": len(facts) - len(kept),
        }
    rows: list[Row] = []
    own: dict[str, list[dict[str, Any]]] = {}
    missing = 0
    for subject in chosen.subjects:
        found, is_told = subject_rows(study, query, subject, chosen, own)
        rows += found
        missing += not is_told and subject.id not in chosen.open
    kept_rows, left_out = order.cut(study, query, rows)
    facts = []
    for row in kept_rows:
        facts += own.pop(row.subject.id, []) + row.facts
    basis = {"subjects": len(chosen.asked), "rows": len(rows), "missing": missing}
    return {
        "facts": facts,
        "groups": [],
        "undecided": chosen.told_undecided(),
        "basis": basis,
        "left_out": left_out,
    }


def choose(study: Study, query: dict[str, Any]) -> Chosen:
    """Everyone of whom all conditions hold."""
    wanted = query.get("subjects")
    scope = scope_of(study, query)
    found = Chosen([], {}, set(), [s for s in study.subjects if wanted is None or s.id in wanted])
    for subject in found.asked:
        where = Where(study, subject, scope)
        verdict = where.decide(conditions(query))
        found.wheres[subject.id] = where
        if verdict[0] is True:
            found.subjects.append(subject)
        elif verdict[0] is None:
            found.undecided.add(subject.id)
    return found


def conditions(query: dict[str, Any]) -> list[dict[str, Any]]:
    """`where`, with a period on a field as a condition on that field."""
    found = list(query.get("where") or [])
    period = query.get("period") or {}
    if "field" in period:
        for key, op in (("from", ">="), ("to", "<=")):
            if period.get(key) is not None:
                found.append({"field": period["field"], "op": op, "value": period[key]})
    return found


def subject_rows(
    study: Study,
    query: dict[str, Any],
    subject: Subject,
    chosen: Chosen,
    own: dict[str, list[dict[str, Any]]],
) -> tuple[list[Row], bool]:
    """The rows of one subject, and whether the first thing asked for is told.

    What is no row (@site …) goes to `own`: it is told with the subject's first row.
    """
    rows: dict[Any, Row] = {}
    columns: dict[int, Cell] = {}
    led: list[Any] = []
    is_told = False
    for number, item in enumerate(query["select"]):
        lines = selected(study, query, subject, chosen, item, led if number else None)
        led = led if number else lines
        for line in lines:
            row = None
            if line is not None:
                row = rows.setdefault(line.row_key, Row(subject, line.event, line.instance))
            is_told = is_told or (number == 0 and says_something(study, subject, line, item))
            for found, cell in facts_of(study, subject, line, item):
                if row is None:
                    own.setdefault(subject.id, []).append(found)
                    columns.setdefault(number, cell)
                else:
                    row.facts.append(found)
                    row.cells.setdefault(number, cell)
    shown = [row for row in rows.values() if row.facts]
    if not shown and subject.id in own:
        shown = [Row(subject, "", None)]
    for row in shown:
        row.cells |= columns
    return shown, is_told


def says_something(study: Study, subject: Subject, line: Any, item: Any) -> bool:
    """Whether a line holds a value of an entry of `select`; of a form any line does."""
    name = operands.plain_name(study, item["field"] if isinstance(item, dict) else item)
    if name in study.forms:
        return True
    if name.startswith("@visits."):
        return visit_cell(line, name.partition(".")[2]).state == "value"
    cell = (
        operands.of_column(study, subject, name) if name.startswith("@") else study.cell(line, name)
    )
    return cell.state in ("value", "bad")


def selected(
    study: Study,
    query: dict[str, Any],
    subject: Subject,
    chosen: Chosen,
    item: Any,
    led: list[Any] | None,
) -> list[Any]:
    """The lines that one entry of `select` shows; `led`: those of the first entry, which may lead."""
    own = item if isinstance(item, dict) else {"field": item}
    name = operands.plain_name(study, own["field"])
    form = name if name in study.forms else operands.form_of(study, name)
    rows = own.get("rows") or query.get("rows") or default_rows(query, own)
    if (
        led is not None
        and "rows" not in own
        and (isinstance(rows, dict) or rows in ("highest", "lowest"))
    ):
        beside = [operands.beside(study, subject, line, form) for line in led]
        return list(dict.fromkeys(beside))
    if form == "@subject":
        return [None]
    lines = form_lines(study, subject, chosen, form, own.get("place"))
    if form == "@visits" or name in study.forms:
        return operands.some_of(lines, rows)
    worth = None
    if "minus" in own:
        worth = lambda line: operands.own_value(study, subject, line, own)  # noqa: E731
    if operands.uncomparable(study, lines, name, rows, worth):
        chosen.undecided.add(subject.id)
        chosen.open.add(subject.id)
    return operands.pick(study, lines, name, rows, worth)


def default_rows(query: dict[str, Any], own: dict[str, Any]) -> str:
    """Aggregates of a field take each subject's latest reading, except at a place."""
    if query.get("aggregate") in (None, "count", "share"):
        return "all"
    return "latest" if query.get("place") is None and own.get("place") is None else "all"


def facts_of(
    study: Study, subject: Subject, line: Any, item: Any
) -> Iterator[tuple[dict[str, Any], Cell]]:
    """What a line says of one entry of `select`."""
    if isinstance(item, dict) and "minus" in item:
        cell = operands.own_value(study, subject, line, item)
        if cell.state == "value":
            name = operands.plain_name(study, item["field"])
            where = ("", "", None) if line is None else (line.event, line.form, line.instance)
            yield (
                _fact(
                    "value",
                    subject.id,
                    name,
                    *where,
                    value_of(cell),
                    [] if cell.point else ["partial"],
                ),
                cell,
            )
        return
    name = operands.plain_name(study, item["field"] if isinstance(item, dict) else item)
    for one in form_fields(study, name) if name in study.forms else [name]:
        if one.startswith("@visits."):
            cell = visit_cell(line, one.partition(".")[2])
        elif one.startswith("@"):
            cell = operands.of_column(study, subject, one)
        else:
            cell = study.cell(line, one)
        found = fact(study, subject, line, one, cell)
        if found is not None:
            yield found, operands.with_unit(study, one, cell)


def form_fields(study: Study, form: str) -> list[str]:
    """What a selected form shows: no identifiers, no record id, no status."""
    return [
        name
        for name, row in study.fields.items()
        if row["form_name"] == form
        and name not in study.hidden
        and name != study.record_id
        and name != f"{form}_complete"
    ]


def form_lines(
    study: Study, subject: Subject, chosen: Chosen, form: str, place: Any = None
) -> list[Any]:
    """The rows of a form that an answer is about: those that matched, in place and period.

    Whose row may or may not lie in the period is undecided.
    """
    where = chosen.wheres[subject.id]
    lines: list[Any] | None = where.matched.get(form)
    if lines is None:
        lines = (
            subject.visits if form == "@visits" else operands.ordered(study, subject.lines[form])
        )
    scope = where.scope
    if place is not None:
        events = operands.events_of(study, place)
        lines = [line for line in lines if line.event in events]
        scope = Scope(None, scope.first, scope.last)
    elif scope.events is not None and not form.startswith("@") and study.has_many(form):
        lines = [line for line in lines if line.event in scope.events]
    verdicts = [(line, in_scope(study, subject, line, scope)[0]) for line in lines]
    if any(verdict is None for _line, verdict in verdicts):
        chosen.undecided.add(subject.id)
    return [line for line, verdict in verdicts if verdict]


def fact(study: Study, subject: Subject, line: Any, name: str, cell: Cell) -> dict[str, Any] | None:
    """A cell as a fact; a hidden blank is none."""
    if cell.state in ("hidden", "absent"):
        return None
    if name.startswith("@visits."):
        told = [line.state] if line.state in ("late", "early", "overdue") else []
        told += ["planned"] if line.planned and line.planned > study.today else []
        return _fact("window", subject.id, name, line.event, "", None, value_of(cell), told)
    kind = "blank" if cell.state in ("blank", "maybe") else "value"
    where = ("", "", None) if line is None else (line.event, line.form, line.instance)
    value = (
        [] if cell.type == TICKS and kind == "blank" and cell.code == "opened" else value_of(cell)
    )
    return _fact(kind, subject.id, name, *where, value, flags(study, subject, line, name, cell))


def value_of(cell: Cell) -> Any:
    """Number, ISO date, code, list of codes, text or null."""
    if cell.state != "value":
        return None
    if cell.type == NUMBER:
        return cells.as_json(cell.low) if cell.point else None
    if cell.type == DATE:
        return cells.iso(cell.low) if cell.point else None
    if cell.type == MOMENT:
        day, minute = divmod(int(cell.low or 0), 1440)
        return f"{cells.iso(day)} {minute // 60:02d}:{minute % 60:02d}" if cell.point else None
    if cell.type == CHOICE:
        return cell.code
    if cell.type == TICKS:
        return list(cell.ticks)
    return cell.raw


def flags(study: Study, subject: Subject, line: Any, name: str, cell: Cell) -> list[str]:
    """high and low by the range, missing_code, partial."""
    found = []
    if cell.state == "code":
        found.append("missing_code")
    if cell.state == "value" and cell.type in (DATE, MOMENT):
        if cell.why == "partial_date":
            found.append("partial")
        if compare._days(cell).low > study.today.toordinal():
            found.append("future")
    if cell.state == "value" and cell.type == NUMBER and not name.startswith("@"):
        own = operands.with_unit(study, name, cell)
        for flag, op in (("high", ">"), ("low", "<")):
            bound = operands.limit(study, subject, line, {"ref": flag}, name)
            if compare.compare(own, op, bound, {})[0] is True:
                found.append(flag)
    return found


def _fact(kind, subject, name, event, instrument, instance, value, flags=()) -> dict[str, Any]:
    return {
        "kind": kind,
        "subject": subject,
        "field": name,
        "event": event,
        "instrument": instrument,
        "instance": instance,
        "value": value,
        "flags": sorted(flags),
    }

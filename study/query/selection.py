"""The rows that each selected field or form shows of one subject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rules.values import Unknown
from study.query.cells import MISSING, Line
from study.query.chosen import ValueOf, chosen
from study.query.conditions import Match
from study.query.operands import value_of
from study.query.related import related
from study.query.schema import Rows
from study.query.scope import Scope
from study.query.subject import Subject
from study.query.tree import PROJECT, FormItem, Item, Plan, Read


@dataclass
class Shown:
    """Rows by item of `select`; `doubt`: why a row may or may not belong to them."""

    rows: list[list[Line]] = field(default_factory=list)
    doubt: Unknown | None = None


def form_of(item: Item) -> str:
    """The form whose rows an item shows."""
    return item.form if isinstance(item, FormItem) else item.source.form


def select(subject: Subject, plan: Plan, scope: Scope, found: Match) -> Shown:
    """The rows of every item: those that matched, in place and period, as `rows` chooses."""
    shown = Shown()
    led: list[Line] = []
    for number, item in enumerate(plan.items):
        own = _rows_of(item, plan)
        leads = number == 0 or own is not plan.rows
        if form_of(item) == PROJECT:
            shown.rows.append([])
            continue
        if number and not leads and _is_led(plan.rows):
            shown.rows.append(_beside(led, form_of(item)))
            continue
        lines = _in_reach(subject, item, scope, found, shown)
        source = item.source if isinstance(item, Read) else None
        picked = chosen(lines, own, source, _measured(item, subject))
        led = picked if number == 0 else led
        shown.rows.append(picked)
    return shown


def _rows_of(item: Item, plan: Plan) -> Rows | None:
    own = item.rows if isinstance(item, Read) else None
    rows = own if own is not None else plan.rows
    place = item.place if isinstance(item, Read) else None
    if rows is None and plan.aggregate not in {None, "count", "share"}:
        return None if plan.place or place else "latest"
    return rows


def _is_led(rows: Rows | None) -> bool:
    """Whether the first selected field chooses the rows of all others."""
    return rows in {"highest", "lowest"} or not isinstance(rows, str | None)


def _beside(led: Sequence[Line], form: str) -> list[Line]:
    """The rows of `form` that belong to the chosen ones, each once."""
    lines = (related(line, form) for line in led)
    return list({id(line): line for line in lines if line is not None}.values())


def _in_reach(subject: Subject, item: Item, scope: Scope, found: Match, shown: Shown) -> list[Line]:
    form = form_of(item)
    place = item.place if isinstance(item, Read) else None
    matched = found.rows.get(form)
    lines = subject.lines(form) if matched is None else matched
    rows = scope.at(place).rows(lines, own_place=place is not None)
    if shown.doubt is None:
        shown.doubt = next((inside for _line, inside in rows if isinstance(inside, Unknown)), None)
    return [line for line, inside in rows if inside is True]


def _measured(item: Item, subject: Subject) -> ValueOf:
    """What `highest` and `lowest` compare: a form goes by its date."""
    if isinstance(item, FormItem):
        return lambda line: subject.date_of(line) or MISSING
    return lambda line: value_of(item, line, line.cell(item.source))

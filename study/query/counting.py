"""Which rows `count` counts, and who belongs to `share`."""

from __future__ import annotations

from rules.values import Unknown
from study.query.cells import Holder, Line, State
from study.query.conditions import Match, forms_of
from study.query.found import Doubts, Hit
from study.query.names import Names
from study.query.scope import Scope
from study.query.tree import SUBJECT, Plan, Read


def counted_form(plan: Plan, names: Names) -> str:
    """The form whose rows are counted where nothing is selected; "": rows of any form.

    A form that conditions join on, first one with several rows a subject; else one of `by`.
    """
    asked = forms_of(plan.where)
    grouped = [key.source.form for key in plan.by if key.source is not None]
    several = [form for form in (*asked, *grouped) if names.repeats(form)]
    forms = [*several, *asked, *grouped]
    if forms:
        return forms[0]
    by_event = any(key.kind == "event" for key in plan.by)
    return "" if by_event or plan.place or plan.period else SUBJECT


def counted(subject: Holder, form: str, scope: Scope, found: Match, doubts: Doubts) -> list[Line]:
    """The rows of one subject that are counted where nothing is selected, of the `counted_form`."""
    lines = found.rows.get(form, subject.lines(form))
    rows = scope.rows(lines)
    for _line, inside in rows:
        doubts.add(subject, inside if isinstance(inside, Unknown) else None)
    return [line for line, inside in rows if inside is True]


def filled_rows(hit: Hit, plan: Plan, found: Match) -> list[Line]:
    """The rows of the first item that are counted: those that matched, else those that say something."""
    item, lines = plan.items[0], hit.rows[0]
    if not isinstance(item, Read) or item.source.form in found.rows:
        return lines
    return [line for line in lines if line.cell(item.source).state is State.VALUE]

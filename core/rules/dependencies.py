"""Which columns of its own row decide a rule: what compiled rules look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from core.rules.context import Column, Kind, StudyContext, checkbox_column
from core.rules.limits import RuleError, parts
from core.rules.redcap.parser import parse_logic
from core.rules.rule import Rule
from core.rules.visibility import logic_names

Columns = dict[str, Column]
_REPEATING_VALUES = frozenset({Kind.CODE, Kind.FLAG, Kind.TICK, Kind.TICKS})
_FIELD = re.compile(r"(\[[^\[\]]+\])(?:\s*(\[[^\[\]]+\]))?")


def of_rule(context: StudyContext, rule: Rule) -> Columns | None:
    """All columns that its verdict depends on; None where other rows matter, or it can't be told."""
    shown, read = _of_branching(context, rule.column.field), of_logic(context, rule)
    own = _of_names(context, [rule.field] if rule.column.branching else [])
    return None if shown is None or read is None or own is None else {**own, **read, **shown}


def of_logic(context: StudyContext, rule: Rule) -> Columns | None:
    """All columns that its logic depends on."""
    if any(event is not None for _name, event in rule.reads) or _looks_around(rule.logic):
        return None
    return _of_names(context, [name for name, _event in rule.reads])


def varied(columns: Columns) -> int:
    """How many of the columns take so many values that combinations would not repeat."""
    return sum(column.kind not in _REPEATING_VALUES for column in columns.values())


def _looks_around(logic: Any) -> bool:
    """Whether some part of a rule speaks of another event, with or without a field of it."""
    return any(
        "across_events" in part or "redcap" in part
        for part in parts(logic)
        if isinstance(part, Mapping)
    )


def _of_names(context: StudyContext, names: Iterable[str]) -> Columns | None:
    """All columns that the reading of `names` looks at.

    A tick also depends on its form's status and on ticked missing codes.
    """
    found: Columns = {}
    for name in names:
        column = context.columns.get(name)
        if column is None:
            return None
        if column.kind not in {Kind.TICK, Kind.TICKS}:
            found[name] = column
            continue
        codes = [*context.missing_codes, *(column.choices if column.kind is Kind.TICKS else ())]
        related = [checkbox_column(column.field, code) for code in codes]
        related += [f"{column.form}_complete", name]
        found |= {n: context.columns[n] for n in related if n in context.columns}
    return {name: column for name, column in found.items() if column.kind is not Kind.TICKS}


def _of_branching(context: StudyContext, field_name: str) -> Columns | None:
    """All columns that decide whether a field is shown, through every level."""
    found: Columns = {}
    todo, seen = [field_name], set[str]()
    while todo:
        name = todo.pop()
        column = context.columns.get(name)
        if name in seen or column is None or not column.branching:
            continue
        seen.add(name)
        stems: list[str] = []
        for first, second in _FIELD.findall(column.branching):
            stem, _parenthesis, code = first[1:-1].partition("(")
            stems.append(stem.strip())
            named = checkbox_column(stem.strip(), code.rstrip(") ")) if code else stem.strip()
            columns = None if second else _of_names(context, [named, stem.strip()])
            if columns is None:
                return None
            found |= columns
        todo += stems
    return found


def fields_of(context: StudyContext, rule: Rule) -> frozenset[str]:
    """All fields, of whatever row or event, whose change can change the rule's verdict."""
    todo = [rule.column.name, *(name for name, _event in rule.reads)]
    todo += [ref.column for ref, _event in rule.looks_for]
    found: set[str] = set()
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        column = context.columns.get(name)
        if name in seen:
            continue
        seen.add(name)
        found.add(column.field if column else name)
        if column is None:
            continue
        if column.kind in {Kind.TICK, Kind.TICKS}:
            found.add(f"{column.form}_complete")
        todo += [named for named, _event in logic_names(column.branching)]
    return frozenset(found)


def is_dated(context: StudyContext, rule: Rule) -> bool:
    """Whether its verdict can become another because a day has passed, with the same data.

    It names the day, or the branching logic of a field that it reads does.
    """
    inside = [part for part in parts(rule.logic) if isinstance(part, Mapping)]
    if any("today" in part for part in inside):
        return True
    texts = [text for part in inside if "redcap" in part for text in parts(part["redcap"])]
    columns = (context.columns.get(name) for name in fields_of(context, rule))
    texts += [column.branching for column in columns if column]
    return any(_is_dated(text) for text in texts if isinstance(text, str) and text)


def _is_dated(logic: str) -> bool:
    try:
        return parse_logic(logic).is_dated
    except RuleError:
        return False

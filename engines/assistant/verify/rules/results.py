"""The results that a clause speaks of, and their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engines.assistant.lines.types import Scope
from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import evidence
from engines.assistant.verify.clause import Clause
from engines.assistant.verify.lexer import Token
from rules.context import Kind as Column

Row = tuple[str, str, str, int | None]
"""Subject, event, form and instance."""


def results_for(clause: Clause, form: str = "") -> Iterator[Scope]:
    """The results of the cited lines, else of any line on a form and the subject spoken of."""
    subjects = set(clause.about.subjects)
    for line in clause.lines:
        if line.scope is not None and (not form or _is_on(clause, line.scope, form)):
            yield line.scope
    for line in clause.sheet.lines if form else ():
        fits = (
            line.scope and _is_on(clause, line.scope, form) and subjects <= set(line.scope.subjects)
        )
        if line.scope is not None and fits:
            yield line.scope


def _is_on(clause: Clause, scope: Scope, form: str) -> bool:
    items = [item for item in scope.query.get("select") or () if isinstance(item, str)]
    return any(clause.sheet.design.form_of(item) == form or item == form for item in items)


def rows_of(clause: Clause, scope: Scope, form: str = "") -> set[Row]:
    """The rows of a result, of the subjects spoken of where there are any, of one form where it is given."""
    subjects = set(clause.about.subjects) if clause.about.subjects else None
    facts = evidence.result(clause.sheet, scope)
    return {
        evidence.row_of(f) for f in facts
        if (not form or f.instrument == form) and (subjects is None or f.subject in subjects) and f.subject
    }  # fmt: skip


def flags_of(clause: Clause) -> list[Token]:
    """Words for fields that are a yes or a no: SAE."""
    columns = clause.sheet.design.context.columns
    return [
        t for t in clause.tokens
        if t.is_a is Meant.FIELD and any(n in columns and columns[n].kind is Column.FLAG for n in t.names())
    ]  # fmt: skip


def holding(clause: Clause, scope: Scope, rows: Iterable[Row], tokens: Iterable[Token]) -> set[Row]:
    """The rows of a result in which each of the choices, or yes of each of the flags, stands."""
    left = set(rows)
    for token in tokens:
        if is_condition(scope, token):
            continue
        codes = {(r.name, r.code or "1") for r in token.readings}
        left &= {
            evidence.row_of(f)
            for f in evidence.facts_of(clause.sheet)
            if (f.field, str(f.value)) in codes
        }
    return left


def is_condition(scope: Scope, token: Token) -> bool:
    """Whether a result holds only what has this choice or flag."""
    asked = {
        (c.get("field"), str(c.get("value")))
        for c in scope.query.get("where") or ()
        if c.get("op") == "="
    }
    return any((r.name, r.code or "1") in asked for r in token.readings)

"""Whether a result is the whole of what a claim speaks of."""

from __future__ import annotations

from engines.assistant.lines.types import Scope
from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify.clause import Clause
from engines.assistant.verify.lexer import Kind, Lexer


def is_whole(scope: Scope, clause: Clause) -> bool:
    """Complete, and narrowed by nothing that neither the sentence nor the question says."""
    query = scope.query
    if not scope.is_complete:
        return False
    tokens = [*Lexer(clause.sheet).read(clause.sheet.question), *clause.tokens]
    for earlier in clause.before:
        tokens += earlier.tokens
    if query.get("rows") not in (None, "all") and not any(
        t.claims & {"latest", "max", "min", "worst", "best"} for t in tokens
    ):
        return False
    if query.get("place") and not any(t.is_a is Meant.PLACE for t in tokens):
        return False
    if query.get("period") and not any(t.kind in (Kind.DAY, Kind.SPAN) for t in tokens):
        return False
    names = {name for t in tokens for name in t.names()}
    return all(_voiced(condition, names) for condition in query.get("where") or ())


def _voiced(condition: object, names: set[str]) -> bool:
    if not isinstance(condition, dict):
        return False
    if "field" not in condition:
        return all(_voiced(part, names) for parts in condition.values() for part in parts)
    field = condition["field"]
    return (field if isinstance(field, str) else field.get("field")) in names or str(
        field
    ).startswith("@")

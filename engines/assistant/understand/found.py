"""What the words of a clause say of its subjects and rows, as it is gathered."""

from __future__ import annotations

from dataclasses import dataclass, field

from engines.assistant.understand.clause import Clause
from engines.assistant.understand.tokens import Kind
from engines.assistant.understand.types import Query
from rules.context import Kind as ColumnKind


@dataclass
class Conditions:
    """What was found. `used`: the places of tokens that are spent; `fields`: what the conditions are about.

    `every`: the conditions are what must hold of no row. `unlimited`: 正常 is asked of what has no limits.
    `blanks`: what is not filled in is itself asked for.
    """

    where: list[Query] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    fields: list[str] = field(default_factory=list)
    needs_field: bool = False
    every: bool = False
    unlimited: bool = False
    blanks: bool = False

    def add(self, condition: Query, place: int, spent: set[int], name: str = "") -> None:
        """One more; `place`: of its first token, so that 里 can part base and part."""
        self.where.append(condition)
        self.at.append(place)
        self.used |= spent
        if name and name not in self.fields:
            self.fields.append(name)


def is_flag(clause: Clause, name: str) -> bool:
    """Whether a field is a yes or a no."""
    return clause.setting.column_kind(name) is ColumnKind.FLAG


def negated(clause: Clause, place: int) -> bool:
    """Whether a no stands right before a token (fillers between); one at the end is a question."""
    for before in range(place - 1, -1, -1):
        token = clause.tokens[before]
        if token.kind is Kind.NOT:
            return True
        if token.kind not in (Kind.FILL, Kind.HAD, Kind.TOOK):
            return False
    return False

"""Whether a fact says what a token says; what else the sheet knows of its row and its series."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from engines.assistant.lines.types import Line, Scope, Sheet
from engines.assistant.verify.lexer import Kind, Token
from language.answer_forms import YEAR
from language.claims import COUNTERS
from language.folding import folded
from study.facts import Fact, Role
from study.facts import Kind as Of

_LEVELS = frozenset("分级度")
"""What stands behind the figure of a choice that counts as one: 2分, 3级."""
_BARE = {"", "分", "级", "岁", "天", "期", "度", "%"}


@dataclass(frozen=True)
class Evidence:
    """The facts of some lines, and the sheet they stand in."""

    sheet: Sheet
    lines: tuple[Line, ...]

    @property
    def facts(self) -> list[tuple[Fact, Line]]:
        """What is cited."""
        return [(fact, line) for line in self.lines for fact in line.facts]

    def row(self, fact: Fact) -> Iterator[Fact]:
        """All facts of the sheet in the row that a fact is of."""
        yield from (f for f in facts_of(self.sheet) if row_of(f) == row_of(fact))

    def series(self, fact: Fact, scope: Scope | None) -> list[Fact]:
        """All readings that a fact is one of, in their order: of its subject, else of its result."""
        if fact.subject:
            found = (
                f for f in facts_of(self.sheet)
                if f.field == fact.field and f.subject == fact.subject and f.label == fact.label
            )  # fmt: skip
            order = self.sheet.design.event_order
            unique = {row_of(f): f for f in found}
            return sorted(
                unique.values(),
                key=lambda f: (order.get(f.event, 0), f.date or "", f.instance or 0),
            )
        return [f for f in result(self.sheet, scope) if f.kind is fact.kind]


def facts_of(sheet: Sheet) -> Iterator[Fact]:
    """Everything the sheet knows, typed."""
    return (fact for line in sheet.lines for fact in line.facts)


def result(sheet: Sheet, scope: Scope | None) -> list[Fact]:
    """All facts of the result that a scope is of."""
    lines = (ln for ln in sheet.lines if scope and ln.scope and ln.scope.query == scope.query)
    return [fact for line in lines for fact in line.facts]


def row_of(fact: Fact) -> tuple[str, str, str, int | None]:
    """What tells one row from another."""
    return fact.subject, fact.event, fact.instrument, fact.instance


def decimal(fact: Fact) -> Decimal | None:
    """The number of a fact, None for what is none."""
    if isinstance(fact.value, int | float | Decimal):
        return Decimal(str(fact.value))
    if fact.kind is Of.PROJECT and str(fact.value).isdecimal():
        return Decimal(str(fact.value))
    head = fact.text[:-1]
    return Decimal(head) if fact.text[-1:] in _LEVELS and head.isdecimal() else None


def day(fact: Fact) -> date | None:
    """The day of a fact, None for what is none or partial."""
    try:
        return date.fromisoformat(str(fact.value)) if len(str(fact.value)) == 10 else None
    except ValueError:
        return None


def is_filled(fact: Fact) -> bool:
    """Whether something stands there."""
    return fact.kind is not Of.BLANK and fact.value not in (None, ())


def says(fact: Fact, token: Token, about: bool) -> bool:
    """Whether the value of a fact is that of a token. `about`: the token is told as a round figure."""
    if token.kind is Kind.NUMBER and token.number is not None:
        return _number_fits(fact, token, about)
    if token.kind is Kind.UNIT:
        return folded(fact.text) == token.unit
    if token.kind is Kind.DAY and token.days:
        return is_day(fact, token) or token.days[0].isoformat() == fact.date
    codes = fact.value if isinstance(fact.value, tuple) else (fact.value,)
    return any(r.name == fact.field and r.code in map(str, codes) for r in token.readings)


def is_day(fact: Fact, token: Token) -> bool:
    """Whether the value of a fact is a day; said without a year, it is that of the fact."""
    said, own = token.days[0].isoformat() if token.days else "", str(fact.value)
    return own == said or (len(own) == 10 and not YEAR.search(token.text) and own[4:] == said[4:])


def _number_fits(fact: Fact, token: Token, about: bool) -> bool:
    value, said = decimal(fact), token.number or Decimal(0)
    if value is None or (isinstance(fact.value, str) and fact.kind is not Of.PROJECT):
        head = folded(fact.text).removesuffix(token.unit)
        return token.unit in _BARE and not isinstance(fact.value, tuple) and head == str(said)
    if (
        token.unit == "%"
        and fact.kind is Of.AGGREGATE
        and "%" not in f"{fact.unit}{folded(fact.label)}"
    ):
        if value > 1:
            return False  # a number of subjects is no share
        value *= 100
    is_raw = fact.kind is Of.VALUE and not any(c in fact.label for c in ":：")
    return rounds_to(value, said, about or not is_raw or said != said.to_integral_value())


def rounds_to(value: Decimal, said: Decimal, loosely: bool) -> bool:
    """Whether a number is another one, rounded to the digits that are shown."""
    if value == said or not loosely:
        return value == said
    try:
        return value.quantize(said, ROUND_HALF_UP) == said
    except InvalidOperation:
        return False


def unit_fits(fact: Fact, token: Token) -> bool:
    """Whether a number may be said with its unit of this fact."""
    said, own = token.unit, folded(fact.unit)
    if not said or said == own:
        return True
    if own:
        return {said, own} <= {"μmol/l", "umol/l"} or {said, own} <= {"天", "days"}
    if fact.kind in (Of.AGGREGATE, Of.PROJECT) and (
        said in COUNTERS or (said == "%" and fact.kind is Of.AGGREGATE)
    ):
        return True
    if fact.kind is Of.WINDOW:
        return said == "天"
    label = folded(fact.label)
    named = {"岁": "年龄", "分": "评分", "%": "%"}.get(said)
    return said in folded(fact.text) or (
        named is not None and (named in label or f"({said})" in label)
    )


def role_fits(fact: Fact, words: Iterable[tuple[str, ...]]) -> bool:
    """Whether the date of a fact is one of these: names of roles, or words of its label."""
    label = folded(fact.label)
    role = fact.role.value if isinstance(fact.role, Role) else ""
    return any(
        word == role or (not word.isascii() and folded(word) in label)
        for group in words
        for word in group
    )

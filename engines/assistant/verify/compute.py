"""Arithmetic done again: which operation a clause names, over the facts of its own lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import permutations

from engines.assistant.lines.types import Line
from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import evidence
from engines.assistant.verify.clause import Clause, events_of
from engines.assistant.verify.lexer import Kind, Token
from language.claims import COUNTERS, ROLES
from language.folding import folded
from study.facts import Fact
from study.facts import Kind as Of

_LOSS = ("down", "less", "early")
_GAIN = ("up", "more")
_APART = ("difference", *_LOSS, *_GAIN, "than")


def is_computed(clause: Clause, token: Token) -> bool:
    """Whether a clause says that this number came of reckoning."""
    if token.unit != "%" and clause.is_reached(token):
        return False
    if token.unit in ("倍", "个百分点", "天"):
        return True
    return clause.has("share", "sum", "mean", *_APART) or token.unit == "%"


def is_right(clause: Clause, token: Token) -> bool:
    """Whether the operation that its words name gives the number: over its own lines, else the sentence's."""
    return any(_is_right(clause, token, lines) for lines in (clause.lines_of(token), clause.around))


def _is_right(clause: Clause, token: Token, lines: tuple[Line, ...]) -> bool:
    facts = [f for f, _line in evidence.Evidence(clause.sheet, lines).facts]
    said = token.number
    measures = [f for f in facts if f.kind is Of.VALUE and evidence.decimal(f) is not None]
    own = token.unit not in ("", "%", "倍", "天", "个百分点") and not is_count(token)
    if own and measures and not any(evidence.unit_fits(f, token) for f in measures):
        return False
    about = clause.has("about")
    return said is not None and any(
        evidence.rounds_to(value, said, about or value != value.to_integral_value())
        for value in _results(clause, token, facts)
    )


def _results(clause: Clause, token: Token, facts: list[Fact]) -> Iterator[Decimal]:
    numbers = _numbers(facts)
    values = [value for _fact, value in numbers]
    if clause.has("sum") and len(values) > 1:
        yield sum(values, Decimal(0))
    if clause.has("mean") and values:
        yield sum(values, Decimal(0)) / len(values)
    if token.unit == "天":
        yield from _after(clause, token, facts) or _days(clause, facts)
    if token.unit == "%":
        yield from _shares(clause, numbers)
    elif token.unit == "倍":
        yield from (a / b for (_f, a), (_g, b) in permutations(numbers, 2) if b)
        limits = (f.limit.high for f in facts if f.limit and f.limit.high)
        yield from (value / limit for limit in limits for value in values)
    elif clause.has(*_APART):
        yield from _differences(clause, numbers)
        others = [t for t in clause.tokens if t.number is not None and t is not token]
        if clause.has("difference"):
            yield from (abs(value - t.number) for t in others for value in values if t.number)


def _numbers(facts: list[Fact]) -> list[tuple[Fact, Decimal]]:
    """Numbers once each; a choice such as 2分 counts as its figure."""
    found: dict[tuple[object, ...], tuple[Fact, Decimal]] = {}
    for fact in facts:
        value = evidence.decimal(fact)
        if value is not None and fact.kind is not Of.WINDOW:
            found[(*evidence.row_of(fact), fact.field, fact.label, str(value))] = fact, value
    return list(found.values())


def _same(one: Fact, other: Fact) -> bool:
    figures = (Of.AGGREGATE, Of.PROJECT)
    return one.field == other.field or (one.kind in figures and other.kind in figures)


def _differences(clause: Clause, numbers: list[tuple[Fact, Decimal]]) -> Iterator[Decimal]:
    """Of what is compared and what it is compared with, of later and earlier, of more and less."""
    order = clause.sheet.design.event_order
    values = {id(fact): value for fact, value in numbers}
    if clause.has("than"):
        mine, others = sides(clause, [fact for fact, _value in numbers])
        yield from (
            change
            for one in mine
            for other in others
            for change in _signed(clause, values[id(one)] - values[id(other)])
        )
        if mine and others:
            return
    end = len(clause.text)
    named = _subjects_named(clause, 0, end) | figures_named(clause, 0, end)
    for (one, a), (other, b) in permutations(numbers, 2):
        if not _same(one, other):
            continue
        if one.subject and one.subject == other.subject:
            if order.get(one.event, 0) < order.get(other.event, 0):
                yield from _signed(clause, b - a)
        elif len(named) == 1:
            if one.subject in named or head_of(one) in named:
                yield from _signed(clause, a - b)
        elif a > b:
            yield a - b


def _signed(clause: Clause, change: Decimal) -> Iterator[Decimal]:
    if clause.has(*_LOSS) and not clause.has(*_GAIN):
        change = -change
    elif not clause.has(*_LOSS, *_GAIN):
        change = abs(change)
    if change >= 0:
        yield change


def _shares(clause: Clause, numbers: list[tuple[Fact, Decimal]]) -> Iterator[Decimal]:
    order = clause.sheet.design.event_order
    words = (*clause.before[-1:], clause)
    down = any(c.has(*_LOSS) for c in words)
    up = any(c.has(*_GAIN) for c in words)
    for (one, a), (other, b) in permutations(numbers, 2):
        if not b or not _same(one, other):
            continue
        if one.subject and one.subject == other.subject:
            if order.get(other.event, 0) < order.get(one.event, 0) and (down or up):
                change = (b - a if down else a - b) / b * 100
                if change >= 0:
                    yield change
        elif a <= b:
            yield a / b * 100


def _days(clause: Clause, facts: list[Fact]) -> Iterator[Decimal]:
    """Between two days of the lines, or a day and today."""
    roles = [ROLES[c] for o in clause.whole for t in o.tokens for c in t.claims if c in ROLES]
    windows = [f for f in facts if f.kind is Of.WINDOW]
    told = {id(s.best[0]) for c in clause.whole for s in c.said if s.best}
    named = [f for f in windows if evidence.role_fits(f, roles) or id(f) in told]
    apart = list(_off(clause, windows)) if clause.has("early", "late") else []
    if apart or (windows and clause.has("early")):
        yield from apart
        return
    today: date = clause.sheet.today
    ahead = [d for f in (*named, *(f for f in facts if f not in windows)) if (d := evidence.day(f))]
    days = list(dict.fromkeys(ahead))
    said = [s for c in clause.whole for s in c.said if s.token.kind is Kind.DAY and s.fits]
    stated = list(dict.fromkeys(s.token.days[0] for s in said if s.token.days))
    days = stated if len(stated) > 1 else days
    pairs = [(a, b) for a, b in permutations(days, 2) if a > b] + [
        (a, today) for a in days if a > today
    ]
    pairs += [(today, a) for a in days if a < today]
    yield from (Decimal((a - b).days) for a, b in pairs)


def _after(clause: Clause, token: Token, facts: list[Fact]) -> list[Decimal]:
    """三天后入组: from every other day of the lines to that of what is named."""
    later = clause.text[token.end :]
    dated = [(f, d) for f in facts if (d := evidence.day(f))]
    named = [
        d for f, d in dated if later[:1] == "后" and later[1:3] and later[1:3] in folded(f.label)
    ]
    return [Decimal((a - b).days) for a in named for _fact, b in dated]


def _off(clause: Clause, windows: list[Fact]) -> Iterator[Decimal]:
    """By how many days visits were early or late: against the target, or the window's end."""
    for fact in windows:
        if (own := evidence.day(fact)) and fact.role == "actual":
            in_window = any(f.value == "in_window" and f.event == fact.event for f in windows)
            aimed = in_window or any(c.has("aim") for c in clause.whole)
            for other in (f for f in windows if aimed or f.role != "target"):
                if (day := evidence.day(other)) and other.event == fact.event:
                    early = (day - own).days if clause.has("early") else 0
                    late = (own - day).days if clause.has("late") else 0
                    yield Decimal(max(early, late, -1))


def is_count(token: Token) -> bool:
    """Whether a number counts people or rows."""
    return token.unit in COUNTERS


def sides(clause: Clause, facts: Sequence[Fact]) -> tuple[list[Fact], list[Fact]]:
    """The facts of what is compared and of what it is compared with, by subject, visit, site or month."""
    than = next((t.at for t in clause.claims("than")), None)
    for named, of in (
        (_subjects_named, lambda f: f.subject),
        (events_named, lambda f: f.event),
        (figures_named, head_of),
    ):
        keys = {of(f) for f in facts} - {""}
        if len(keys) < 2:
            continue
        facts = [f for f in facts if of(f)]
        before = named(clause, 0, than if than is not None else len(clause.text))
        after = named(clause, than, len(clause.text)) if than is not None else set()
        last = [s.best[0] for c in clause.before for s in c.said if s.best and not s.best[1]][-1:]
        mine = (
            [f for f in facts if of(f) in before - after]
            or [f for f in facts if f in last and after and of(f) not in after]
            or [f for f in facts if after and of(f) not in after]
        )
        others = [f for f in facts if f not in mine and (not after or of(f) in after)]
        if mine and others:
            return mine, others
    return [], []


def head_of(fact: Fact) -> str:
    """The site or month that a figure is of."""
    return fact.label.split()[0] if fact.label else ""


def _subjects_named(clause: Clause, start: int, end: int) -> set[str]:
    return {t.name for t in clause.tokens if t.kind is Kind.SUBJECT and start <= t.at < end}


def events_named(clause: Clause, start: int, end: int) -> set[str]:
    """The events of the visits named in a stretch."""
    visits = events_of(clause.sheet)
    places = [t for t in clause.tokens if t.is_a is Meant.PLACE and start <= t.at < end]
    return {visits.get(name, name) for t in places for name in t.names()}


def figures_named(clause: Clause, start: int, end: int) -> set[str]:
    """The sites and months named in a stretch."""
    named = {
        n for t in clause.tokens if t.is_a is Meant.SITE and start <= t.at < end for n in t.names()
    }
    return named | {
        t.days[0].isoformat()[:7]
        for t in clause.tokens
        if t.kind is Kind.SPAN and t.days and start <= t.at < end
    }

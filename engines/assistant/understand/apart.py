"""One clause that asks several questions: 最高和最低, 第一次和最后一次, 10月和11月, 几个占多少."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from engines.assistant.understand.clause import Clause
from engines.assistant.understand.tokens import Kind, Token
from engines.assistant.understand.types import Shape, Slots

_ENDS = ({"highest", "lowest"}, {"first", "latest"}, {"longest", "shortest"}, {"most", "fewest"})


def apart(clause: Clause) -> list[Clause]:
    """The questions of a clause, each without the words that only another one has."""
    differing = list(_differing(clause))
    if len(differing) < 2:
        return [clause]
    others = [token for tokens in differing for token in tokens]
    return [
        Clause([t for t in clause.tokens if t in own or t not in others], clause.setting)
        for own in differing
    ]


def _differing(clause: Clause) -> Iterator[list[Token]]:
    """For each question the words that tell it from the others."""
    rows = clause.all(Kind.ROWS)
    ends = next((e for e in _ENDS if e <= {token.value for token in rows}), None)
    if ends:
        for end in dict.fromkeys(token.value for token in rows if token.value in ends):
            yield [token for token in rows if token.value == end]
        if figures := clause.all(Kind.AGGREGATE):
            yield figures
        return
    named = clause.all(Kind.TERM)
    alike = len({(token.value, token.readings) for token in named}) == 1
    if len(named) > 1 and alike and clause.has(Kind.EACH, Kind.COUNT):
        yield from ([token] for token in named)
        return
    periods = sorted(set(clause.all(Kind.PERIOD)), key=lambda t: str(t.days[0]))
    closed = all(None not in token.days for token in periods)
    if closed and all(str(a.days[1]) < str(b.days[0]) for a, b in pairwise(periods)):
        yield from ([token] for token in periods)


def numbers_apart(slots: Slots) -> tuple[Slots, ...]:
    """有几个,占多少: the number and the share, each a question of its own."""
    if slots.aggregate != "count,share":
        return (slots,)
    whole = slots.of + slots.where
    count = replace(slots, aggregate="count", shape=Shape.COUNT, where=whole, of=())
    return count, replace(slots, aggregate="share", shape=Shape.SHARE)

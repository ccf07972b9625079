"""The rows of an answer in order, cut at `limit`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from study.facts import Fact
from study.query.cells import Line
from study.query.found import Hit
from study.query.operands import value_of
from study.query.sorting import rank
from study.query.telling import Teller
from study.query.tree import SUBJECT, WORK, FormItem, Item, Plan

Ranked = tuple[int, object]


@dataclass
class Unit:
    """What `limit` counts as one: a row with all items that it shows."""

    at: tuple[int, int, int, int]
    subject: str
    shown: list[tuple[int, Line]] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)


def units(hits: Sequence[Hit], plan: Plan, teller: Teller) -> tuple[list[Unit], int]:
    """The rows of all subjects that say something, and how many of them were left out.

    Columns of the subject itself go with the subject's first row.
    """
    found: list[Unit] = []
    own: dict[str, Unit] = {}
    for number, hit in enumerate(hits):
        rows: dict[object, Unit] = {}
        mine = own[hit.subject.id] = Unit((number, -1, 0, 0), hit.subject.id)
        for item, lines in enumerate(hit.rows):
            for line in lines:
                told = teller.facts(plan.items[item], line)
                if not told:
                    continue
                unit = mine
                if line.form != SUBJECT:
                    at = _at(number, line)
                    unit = rows.setdefault(_identity(line), Unit(at, hit.subject.id))
                unit.shown.append((item, line))
                unit.facts += told
        found.extend(rows.values())
        if not rows and mine.facts:
            found.append(Unit(mine.at, hit.subject.id))
    found.sort(key=lambda unit: unit.at)
    kept, left_out = _cut(*_ordered(found, own, plan), plan)
    for unit in kept:
        first = own.pop(unit.subject, None)
        unit.facts[:0] = first.facts if first is not None else []
    return kept, left_out


def _identity(line: Line) -> object:
    if line.form in WORK:
        return id(line)
    if line.form.startswith("@"):
        return line.form, line.values["@visits.visit"]
    repeated = line.row.place.instrument if line.row else None
    return line.event, repeated, line.instance


def _at(number: int, line: Line) -> tuple[int, int, int, int]:
    lines = line.subject.lines(line.form) if line.form.startswith("@") else ()
    within = lines.index(line) if lines else 0
    return number, line.subject.event_rank(line.event), line.instance or 0, within


def _ordered(
    found: list[Unit], own: dict[str, Unit], plan: Plan
) -> tuple[list[Unit], list[Ranked | None]]:
    """The rows with what they are ordered by; what has nothing to be ordered by comes last."""
    if plan.order is None or plan.order_item is None:
        return found, [None] * len(found)
    item = plan.order_item
    ranks = [
        _rank((*unit.shown, *own[unit.subject].shown), item, plan.items[item]) for unit in found
    ]
    pairs = list(zip(found, ranks, strict=True))
    known = [(unit, told) for unit, told in pairs if told is not None]
    known.sort(key=lambda pair: pair[1], reverse=plan.order.desc)
    pairs = [*known, *((unit, told) for unit, told in pairs if told is None)]
    return [unit for unit, _rank in pairs], [told for _unit, told in pairs]


def _rank(shown: Iterable[tuple[int, Line]], at: int, item: Item) -> Ranked | None:
    line = next((line for n, line in shown if n == at), None)
    if line is None:
        return None
    if isinstance(item, FormItem):
        return rank(line.subject.date_of(line))
    return rank(value_of(item, line, line.cell(item.source)))


def _cut(found: list[Unit], ranks: list[Ranked | None], plan: Plan) -> tuple[list[Unit], int]:
    if plan.limit is None or len(found) <= plan.limit:
        return found, 0
    at = plan.limit
    if plan.order is not None:
        while at < len(found) and ranks[at] == ranks[plan.limit - 1]:
            at += 1
    return found[:at], len(found) - at

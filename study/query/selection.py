"""The rows that each selected field or form shows of one subject."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from core.rules.values import Unknown
from study.facts import Fact
from study.query.conditions import Hit, Match, Scope, has_places
from study.query.operands import ValueOf, pick_lines, unusable, value_of
from study.query.schema import Rows
from study.query.subject import MISSING, NOT_EXPORTED, Line, Subject, related
from study.query.telling import Teller
from study.query.tree import PROJECT, SUBJECT, WORK, FormItem, Item, Plan, Read, cut, rank


@dataclass
class Shown:
    """Rows by item of `select`; `doubt`: why a row may or may not belong to them.

    `is_open`: what is asked for may be in a row that nobody can read or compare.
    """

    rows: list[list[Line]] = field(default_factory=list)
    doubt: Unknown | None = None
    is_open: bool = False

    def note(self, doubt: Unknown | None) -> None:
        """Keep the first doubt."""
        self.doubt = doubt if self.doubt is None else self.doubt


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
        # Whether the first selected field chooses the rows of all others.
        is_led = plan.rows in {"highest", "lowest"} or not isinstance(plan.rows, str | None)
        if not leads and is_led:
            beside = (related(line, form_of(item)) for line in led)
            shown.rows.append([*{id(line): line for line in beside if line is not None}.values()])
            continue
        lines = _in_reach(subject, item, scope, found, shown)
        source = item.source if isinstance(item, Read) else None
        picked = pick_lines(lines, own, source, _measured(item, subject))
        for doubt in _doubts(item, subject, lines, plan, found):
            shown.is_open = True
            shown.note(doubt)
        led = picked if number == 0 else led
        shown.rows.append(picked)
    return shown


def _doubts(
    item: Item, subject: Subject, lines: list[Line], plan: Plan, found: Match
) -> Iterator[Unknown]:
    """Why nothing may be said to be absent of an item, nor to be its highest or lowest."""
    source = item.source if isinstance(item, Read) else None
    measured = _measured(item, subject)
    for line in unusable(lines, _rows_of(item, plan), source, measured):
        value = measured(line)
        yield value if isinstance(value, Unknown) else NOT_EXPORTED
    if not subject.data.missing_columns:
        return
    form = form_of(item)
    if isinstance(item, FormItem):
        # Where a row would be seen and none is, nothing is hidden.
        is_open = bool(lines) and any(map(subject.is_unread, item.sources))
        is_counted = plan.aggregate == "count"
    else:
        is_open = subject.is_unread(item.source)
        is_counted = plan.aggregate == "count" and form in found.rows
    # Rows are counted whatever they hold.
    if (is_open and not is_counted) or form in subject.unread:
        yield NOT_EXPORTED


def _rows_of(item: Item, plan: Plan) -> Rows | None:
    own = item.rows if isinstance(item, Read) else None
    rows = own if own is not None else plan.rows
    place = item.place if isinstance(item, Read) else None
    if rows is None and plan.aggregate not in {None, "count", "share"}:
        return None if plan.place or place else "latest"
    return rows


def _in_reach(subject: Subject, item: Item, scope: Scope, found: Match, shown: Shown) -> list[Line]:
    form = form_of(item)
    place = item.place if isinstance(item, Read) else None
    matched = found.rows.get(form)
    lines = subject.lines(form) if matched is None else matched
    is_placed = place is not None or has_places(subject.names, form)
    rows = scope.at(place).rows(lines, own_place=is_placed)
    shown.note(next((inside for _line, inside in rows if isinstance(inside, Unknown)), None))
    return [line for line, inside in rows if inside is True]


def _measured(item: Item, subject: Subject) -> ValueOf:
    """What `highest` and `lowest` compare: a form goes by its date."""
    if isinstance(item, FormItem):
        return lambda line: subject.date_of(line) or MISSING
    return lambda line: value_of(item, line, line.cell(item.source))


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
                    within = line.subject.lines(line.form).index(line) if line.form[0] == "@" else 0
                    rank_of_event = line.subject.event_rank(line.event)
                    at = (number, rank_of_event, line.instance or 0, within)
                    unit = rows.setdefault(_identity(line), Unit(at, hit.subject.id))
                unit.shown.append((item, line))
                unit.facts += told
        found.extend(rows.values())
        if not rows and mine.facts:
            found.append(Unit(mine.at, hit.subject.id))
    found.sort(key=lambda unit: unit.at)
    kept, left_out = cut(*_ordered(found, own, plan), plan)
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

"""The highest and the lowest: the figure alone, with its place, and all who share it."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from engines.assistant.answer import conditions, forms, values, words
from engines.assistant.answer.fitting import Told, colon
from engines.assistant.answer.limits import times_over
from engines.assistant.answer.reader import Reader
from engines.assistant.answer.rows import Row, rows_of
from engines.assistant.understand.types import Asked
from study.facts import Answer, Fact


def told(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """P001 血红蛋白最低 106 g/L(V3,2026-04-03); over several subjects first what, then who."""
    rows = [row for row in rows_of(answer.facts) if not words.is_blank(_measured(row, asked))]
    if not rows:
        return [values.nothing(asked, answer, reader)]
    end = _end(asked, _measured(rows[0], asked))
    label = words.label(_measured(rows[0], asked), reader)
    if len(asked.query.get("subjects") or ()) == 1:
        entries = tuple(_entry(row, asked, reader) for row in rows)
        return [Told(f"{rows[0].subject} {label}{end} ", entries)]
    scope = conditions.scope(asked, reader)
    head = f"{scope} {label}{end}" if scope else f"{label}{end}"
    missing = answer.basis.missing
    notes = (_("%(count)s subjects have no value") % {"count": missing},) if missing else ()
    entries = tuple(f"{row.subject} {_entry(row, asked, reader)}" for row in rows)
    return [Told(head + colon(), entries, notes, shorter=_brief(head, rows, asked, reader, notes))]


def _brief(
    head: str, rows: Sequence[Row], asked: Asked, reader: Reader, notes: tuple[str, ...]
) -> Told:
    """The same without days; a value that all share is told once, of others at last only the value."""
    values = [words.value(_measured(row, asked), reader) for row in rows]
    if len(rows) > 1 and len({*values}) == 1:
        places = (words.place(_measured(row, asked), reader, dated=False) for row in rows)
        who = (row.subject + words.bracketed(p) for row, p in zip(rows, places, strict=True))
        return Told(f"{head} {values[0]}{colon()}", tuple(who), notes)
    undated = tuple(f"{row.subject} {_entry(row, asked, reader, dated=False)}" for row in rows)
    least = tuple(f"{row.subject} {value}" for row, value in zip(rows, values, strict=True))
    only = Told(head + colon(), least, notes) if len(rows) > 1 else None
    return Told(head + colon(), undated, notes, shorter=only)


def _measured(row: Row, asked: Asked) -> Fact:
    """The fact that the rows were chosen by."""
    chosen = asked.query.get("select") or ("",)
    return row.of(str(asked.query.get("order", {}).get("by") or chosen[0])) or row.first


def _entry(row: Row, asked: Asked, reader: Reader, *, dated: bool = True) -> str:
    fact = _measured(row, asked)
    others = [f for f in row.facts if f is not fact and f.field in asked.query["select"]]
    naming = forms.naming_field(row, reader) if fact.instance is not None else ""
    more = [
        (f"{words.label(f, reader)} " if f.field != naming else "") + words.value(f, reader)
        for f in others
    ]
    named = row.of(naming)
    if named is not None and named is not fact and named not in others:
        more.insert(0, words.value(named, reader))
    place = words.place(fact, reader, dated=dated)
    where = words.bracketed("" if place == fact.text else place, *more)
    return words.value(fact, reader) + where + times_over(fact)


def _end(asked: Asked, fact: Fact) -> str:
    highest = asked.slots.rows == "highest" or asked.slots.order.startswith("-")
    is_date = isinstance(fact.value, str) and "-" in fact.value
    if is_date:
        return _(" latest") if highest else _(" earliest")
    return _(" highest") if highest else _(" lowest")

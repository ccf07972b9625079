"""Facts as lines: a value with whose, what, where and when; a row of a form, a visit or a finding whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from engines.assistant.answer import conditions, visits, words
from engines.assistant.answer.reader import Reader
from engines.assistant.answer.rows import Row, by_subject, rows_of
from engines.assistant.lines.types import Line, Scope, Source
from study.facts import Fact, Flag, Kind, plain

JOINT = " · "
MOST_SINGLE = 3
"""So many values of a form at one event have a line each."""
_NAMES = {Kind.FINDING: "疑点", Kind.REVIEW: "待审核", Kind.RUN: "质控", Kind.CHANGE: "数据变更"}


def lines_of(
    facts: Sequence[Fact], reader: Reader, scope: Scope | None = None, *, together: bool = False
) -> Iterator[Line]:
    """One line a value; what stands together in a row of a form that has no places is one line.

    `together`: one line for each subject, without blanks.
    """
    if together:
        for subject, rows in by_subject(rows_of(facts)).items():
            own = tuple(f for row in rows for f in row.facts if not words.is_blank(f))
            if own:
                told = "; ".join(f"{fact.label} = {value(fact, reader)}" for fact in own)
                yield Line("", Source.FACT, f"{subject}: {told}", own, scope)
        return
    for row in rows_of([fact for fact in facts if fact.subject]):
        if row.first.kind is Kind.SUBJECTS:
            continue
        if _is_whole(row, reader):
            yield Line("", Source.FACT, whole(row, reader), row.facts, scope)
        else:
            for fact in row.facts:
                yield Line("", Source.FACT, single(fact, reader), (fact,), scope)


def _is_whole(row: Row, reader: Reader) -> bool:
    """Repeating rows, visits and work are told as a whole, forms that are filled in once, and many values of
    one day."""
    first = row.first
    if first.kind in (Kind.WINDOW, *_NAMES) or first.instance is not None:
        return True
    return len(row.facts) > (1 if len(_events(first, reader)) == 1 else MOST_SINGLE)


def _events(fact: Fact, reader: Reader) -> list[str]:
    forms = reader.design.context.forms_by_event
    return [event for event, held in forms.items() if fact.instrument in held]


def single(fact: Fact, reader: Reader) -> str:
    """`P016 · 谷丙转氨酶ALT（U/L） · V2 · 2026-09-03 = 185 (高于上限 40)`"""
    where = words.event_name(fact.event, reader) if fact.event else ""
    day = fact.date if fact.date and fact.date != fact.value else ""
    head = JOINT.join(filter(None, [fact.subject, fact.label, where, day]))
    return f"{head} = {value(fact, reader)}"


def value(fact: Fact, reader: Reader) -> str:
    """As read, with the unit that the label does not say and the limit it is judged by."""
    if words.is_blank(fact) and fact.value != ():
        return "未填写"
    if fact.field == "@site":
        return f"{fact.value} {words.site_name(str(fact.value), reader)}"
    in_label = bool(fact.unit) and fact.unit in fact.label
    told = words.value(replace(fact, unit="") if in_label else fact, reader)
    return told + _noted(_limit(fact), _unit(fact, reader))


def _noted(*notes: str) -> str:
    said = ", ".join(filter(None, notes))
    return f" ({said})" if said else ""


def _limit(fact: Fact) -> str:
    """Which way the value may not go: 高于上限 40, 上限 40 (higher is worse), 低于下限 3.5."""
    if fact.limit is None or not isinstance(fact.value, Decimal):
        return ""
    low, high = fact.limit.low, fact.limit.high
    sides = (
        ("低于下限" if Flag.LOW in fact.flags else "下限", low),
        ("高于上限" if Flag.HIGH in fact.flags else "上限", high),
    )
    return ", ".join(f"{name} {plain(limit)}" for name, limit in sides if limit is not None)


def _unit(fact: Fact, reader: Reader) -> str:
    """A laboratory value whose unit is a field of its own, and blank."""
    unknown = fact.field in reader.design.unit_fields and not fact.unit
    return "单位未填写" if unknown and isinstance(fact.value, Decimal) else ""


def whole(row: Row, reader: Reader) -> str:
    """`P003 · 不良事件#1: 不良事件名称 = 乏力; CTCAE分级 = 1级; …`"""
    first = row.first
    if first.kind is Kind.WINDOW:
        return _visit(row, reader)
    name = _NAMES.get(first.kind) or reader.design.metadata.form_label(first.instrument)
    number = "" if first.instance is None else f"#{first.instance}"
    head = JOINT.join(filter(None, [first.subject, f"{name}{number}", _place(first, reader)]))
    told = "; ".join(f"{fact.label} = {value(fact, reader)}" for fact in row.facts)
    return f"{head}: {told}"


def _place(fact: Fact, reader: Reader) -> str:
    """The event, where the form can stand at several, and the day of the row."""
    if len(_events(fact, reader)) < 2:
        return ""
    return JOINT.join(filter(None, [words.event_name(fact.event, reader), fact.date]))


def _visit(row: Row, reader: Reader) -> str:
    """`P005 · V3 访视: 已超窗 13 天; 目标日期 = …; 窗口开放日 = …; 窗口截止日 = …; 访视日期 = 未填写`"""
    visit = row.text("@visits.visit") or words.event_name(row.first.event, reader)
    state = row.text("@visits.state")
    said = [_state(row, state, reader)] if state else []
    for fact in row.facts:
        if fact.field not in ("@visits.visit", "@visits.state", "@visits.days"):
            said.append(f"{fact.label.removeprefix(visit).strip()} = {value(fact, reader)}")
    return f"{row.subject}{JOINT}{visit} 访视: " + "; ".join(said)


def _state(row: Row, state: str, reader: Reader) -> str:
    """What its state is called, and by how many days."""
    label = conditions.choices("@visits.state", reader).get(state) or visits.standing(row)
    days = row.text("@visits.days").lstrip("-")
    return f"状态 = {label}" + (f" {days} 天" if days not in ("", "0") else "")

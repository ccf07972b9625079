"""Two clauses that make one question: 有几个,是谁; 多少,哪次访视; 几例,原因是什么."""

from __future__ import annotations

from dataclasses import replace

from engines.assistant.understand.clause import Clause, Setting
from engines.assistant.understand.read import Read
from engines.assistant.understand.tokens import Kind
from engines.assistant.understand.types import Shape, Slots, Topic


def joined(before: Slots, slots: Slots, read_: Read) -> Slots | None:
    """The two as one question: the same asked again in other words, more fields of the same rows."""
    if not read_.asks and slots.subjects and not before.subjects:
        return slots
    if _are_two_figures(before, slots):
        return None
    if not read_.asks:
        # The clause only changed slots (是谁, 哪次访视): what was counted is listed too.
        counted = before.shape in (Shape.COUNT, Shape.COUNT_ROWS) and slots.shape is Shape.LIST
        return (
            replace(before, aggregate="", shape=Shape.LIST)
            if counted
            else (slots if _only_asks(read_) else None)
        )
    if slots.topic is not Topic.DATA:
        same = slots.topic is before.topic and (
            slots.subjects == before.subjects or not read_.slots.subjects
        )
        same = same and (slots.topic is not Topic.TARGET or slots.shape is before.shape)
        same = same and not (slots.aggregate and slots.aspect != before.aspect)
        return before if same and slots.place in ((), before.place) else None
    if slots.change and not before.change:
        return None
    setting = read_.clause.setting
    forms = {setting.design.form_of(name) for name in slots.select}
    if of_rows := _of_the_rows(before, slots, read_, forms):
        return of_rows
    if before.topic is not Topic.DATA or read_.slots.subjects or slots.aggregate or slots.where:
        return None
    listed = before.aggregate == "count" or (before.shape is Shape.LIST and not slots.subjects)
    if listed and _same_forms(slots, before, read_.clause.setting):
        both = tuple(dict.fromkeys([*before.select, *slots.select]))
        return replace(before, aggregate="", shape=Shape.LIST, select=both)
    if set(slots.select) <= set(before.select):
        apart = slots.shape is Shape.DIFFERENCE
        return replace(before, shape=slots.shape, rows=None, limit=None) if apart else before
    inside = forms <= {
        f for n in before.select for f in (n, setting.design.form_of(n)) if setting.repeats(f)
    }
    plain = (
        slots.shape is before.shape is Shape.VALUE
        and slots.rows == before.rows
        and not before.where
    )
    if inside and set(before.select) & forms and slots.subjects == before.subjects:
        return replace(before, named=tuple(dict.fromkeys([*before.named, *slots.select])))
    if (inside or plain) and slots.subjects == before.subjects:
        return replace(before, select=tuple(dict.fromkeys([*before.select, *slots.select])))
    return None


_ONLY_ASKING = frozenset({Kind.FILL, Kind.EACH, Kind.WHAT, Kind.WHO, Kind.ROWS})


def listed(before: Slots, clause: Clause) -> Slots | None:
    """一共几条,分别是什么: the rows that were counted, where a clause asks for nothing else."""
    kinds = {token.kind for token in clause.tokens}
    counted = before.aggregate == "count" and before.topic is Topic.DATA and not before.by
    if not (counted and kinds & {Kind.WHAT, Kind.WHO} and kinds <= _ONLY_ASKING):
        return None
    shape = Shape.ROWS if before.shape is Shape.COUNT_ROWS else Shape.LIST
    return replace(before, aggregate="", shape=shape)


def grouped(before: Slots, slots: Slots) -> Slots | None:
    """平均BMI是多少,男女分开算: a clause that says by what, and counts nothing of its own."""
    only_by = slots.shape is Shape.GROUPS and slots.aggregate == "count"
    if before.by or before.aggregate in ("", "count") or not only_by or slots.select or slots.where:
        return None
    return replace(before, by=slots.by, shape=Shape.GROUPS)


def _are_two_figures(before: Slots, slots: Slots) -> bool:
    """平均年龄多少,最大的是谁: a figure and another one, or who is at its end, are two answers."""
    if before.aggregate and slots.aggregate not in ("", before.aggregate):
        return True
    return before.aggregate not in ("", "count") and slots.shape is Shape.EXTREME


def _of_the_rows(before: Slots, slots: Slots, read_: Read, forms: set[str]) -> Slots | None:
    """P003的SAE,几级,好了没: of the rows that were named what is asked of them, and more of the same rows."""
    setting = read_.clause.setting
    same = (slots.where, slots.subjects, slots.aggregate) == (before.where, before.subjects, "")
    if not same or not slots.where or read_.slots.where:
        return None
    if forms & set(before.select):
        return replace(before, select=slots.select, shape=slots.shape)
    if forms <= {setting.design.form_of(name) for name in before.select}:
        return replace(before, select=tuple(dict.fromkeys([*before.select, *slots.select])))
    return None


def _same_forms(slots: Slots, before: Slots, setting: Setting) -> bool:
    """Whether what is asked stands in the forms that the conditions before are about (几例,原因是什么)."""
    about = {setting.design.form_of(str(c.get("field", ""))) for c in before.where}
    return bool(slots.select) and {setting.design.form_of(name) for name in slots.select} <= about


def _only_asks(read_: Read) -> bool:
    slots = read_.slots
    return not (
        slots.subjects or slots.site or slots.place or slots.period or read_.clause.has(Kind.FOLLOW)
    )

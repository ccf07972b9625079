"""What a clause asks to be worked out of two values: a limit, the baseline, another visit, another day."""

from __future__ import annotations

from dataclasses import replace

from engines.assistant.understand.clause import Clause, Setting
from engines.assistant.understand.days import DATED, apart, day_of
from engines.assistant.understand.tokens import Kind, Token
from engines.assistant.understand.types import Shape, Slots


def changed(clause: Clause, slots: Slots) -> Slots:
    """The slots with what is to be worked out: 比基线高多少, 上限的几倍, V2和V3差多少, 发生后几天上报."""
    slots = _lasted(clause, slots)
    if not slots.select or slots.aggregate:
        return slots
    ratio = clause.has(Kind.TIMES)
    if clause.has(Kind.LIMIT) and ratio:
        side = next((t.value for t in clause.all(Kind.LIMIT) if t.value in ("high", "low")), "high")
        return replace(slots, change=f"limit:{side}", shape=Shape.RATIO_TO_LIMIT)
    if clause.has(Kind.BASELINE):
        how = "ratio" if ratio else "percent" if clause.has(Kind.SHARE) else "diff"
        return replace(slots, change=f"baseline:{how}", shape=Shape.CHANGE)
    if clause.has(Kind.DIFFERENCE):
        if len(slots.place) == 2:
            how = "than" if "比" in clause.said else "diff"
            return replace(slots, change=f"places:{how}", shape=Shape.CHANGE)
        return replace(slots, shape=Shape.DIFFERENCE, order=slots.order, limit=None)
    return slots


def _lasted(clause: Clause, slots: Slots) -> Slots:
    """签知情到入组几天, 发生后几天上报, 吃了多久: the days between two dates, of rows from their beginning."""
    if clause.many:
        return slots
    compared = [both for i in clause.places(Kind.COMPARE) if (both := apart(clause, i))]
    if compared:
        return replace(slots, select=compared[0], place=(), change="days", shape=Shape.LASTED)
    if not clause.has(Kind.LASTED):
        return slots
    setting = clause.setting
    told = [day_of(t, setting) for t in clause.all(*DATED)]
    if any(_is_from_enrolment(t, setting) for t in clause.all(Kind.FILL)):
        told.insert(0, setting.design.enrolment_field)
    dates = list(dict.fromkeys(name for name in told if setting.is_date(name)))
    named = [*slots.select, *(str(c.get("field", "")) for c in slots.where)]
    forms = [setting.design.form_of(name) or name for name in (dates or named)]
    onset = next((day for f in forms if (day := setting.vocabulary.onsets.get(f))), "")
    if len(dates) == 1 and onset and onset != dates[0]:
        dates.insert(0, onset)
    elif not dates and onset:
        ends = setting.vocabulary.ends
        dates = [onset, *(ends[f] for f in forms[:1] if f in ends)]
    if len(dates) == 1 and slots.subjects and not setting.repeats(setting.design.form_of(dates[0])):
        # 入组多久了: the days until today.
        return replace(slots, select=(dates[0],), place=(), change="since", shape=Shape.LASTED)
    if len(dates) != 2:
        return slots
    forms = [form for form in forms if setting.repeats(form)]
    rows = [setting.naming_field(form) for form in forms[:1]]
    select = tuple(dict.fromkeys([*rows, *dates]))
    return replace(slots, select=select, place=(), change="days", shape=Shape.LASTED)


def _is_from_enrolment(token: Token, setting: Setting) -> bool:
    """入组后多久首次用药: the days are counted from the enrolment."""
    known = setting.vocabulary.words.get(token.said.removesuffix("后"))
    return token.said.endswith("后") and known is not None and known.kind is Kind.ENROLLED

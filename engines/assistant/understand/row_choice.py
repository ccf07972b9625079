"""Which rows are asked for: the latest, the highest, each; of one subject or over all of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from engines.assistant.understand.clause import Clause
from engines.assistant.understand.found import Conditions
from engines.assistant.understand.tokens import CODED, Kind, Token
from engines.assistant.understand.types import Shape, Slots

EDGES = {"open": "first", "close": "latest"}
_PEOPLE = ("", "个", "位", "名", "例", "人")
MOST = {"most": "-", "fewest": "+"}
ENDS = (*MOST, "highest", "lowest", "top_n", "bottom_n", "worst", "best", "longest", "shortest")
_HEAVY = ("最重", "最轻")


def rows_of(clause: Clause, slots: Slots) -> Slots:
    """The slots with the row choice that a clause names (最高的一次)."""
    for token in clause.all(Kind.ROWS, Kind.VISIT):
        if token.kind is Kind.ROWS:
            slots = _row_choice(clause, slots, token)
        elif token.value == "last":
            slots = _row_choice(clause, slots, replace(token, value="latest"))
        elif token.value in EDGES and _newest(clause, slots):
            slots = _row_choice(clause, slots, replace(token, value=EDGES[token.value]))
    return slots


def _ranked(clause: Clause) -> bool:
    return any(token.value in ENDS for token in clause.all(Kind.ROWS))


def _is_now(clause: Clause, found: Conditions) -> bool:
    """P016现在ALT恢复正常了吗, 目前还高于上限的: of a value that is compared the one that holds now."""
    if clause.has(Kind.WHEN, Kind.DIFFERENCE, Kind.BASELINE) or any(
        before.said in ("到", "至") and after.value == "now"
        for before, after in pairwise(clause.tokens)
    ):
        return False
    tokens = [(i, t) for i, t in enumerate(clause.tokens) if t.kind is not Kind.FILL or t.value]
    compared = (Kind.COMPARE, Kind.LIMIT, Kind.NUMBER)
    for (_at, token), (place, after) in pairwise(tokens):
        of_value = after.kind is Kind.FIELD and clause.setting.is_number(after.name)
        if token.value == "now" and (of_value or (place in found.used and after.kind in compared)):
            return True
        if (token.value, after.value) == ("since", "normal"):
            return True
    return False


def _is_measured(clause: Clause, slots: Slots) -> bool:
    """Whether some condition is on a number."""
    parts = [part for c in slots.where for part in c.get("any", [c])]
    return any(clause.setting.is_number(str(part.get("field"))) for part in parts)


def chosen(clause: Clause, found: Conditions, slots: Slots) -> Slots:
    """The slots with the rows to show; 谁的BMI高 asks for the highest."""
    if slots.aggregate in ("count", "share") and not slots.order and _is_measured(clause, slots):
        # 最近一次血红蛋白低于110的有几个: they are counted by that reading.
        named = next((v for v in clause.values(Kind.ROWS) if v in ("latest", "first")), None)
        return replace(slots, rows=named or ("latest" if _is_now(clause, found) else None))
    if (slots.aggregate and not _ranked(clause)) or slots.order:
        return slots
    slots = rows_of(clause, slots)
    if slots.rows is None and _is_now(clause, found):
        slots = replace(slots, rows="latest")
    bare = [
        t for i, t in enumerate(clause.tokens) if t.kind is Kind.COMPARE and i not in found.used
    ]
    measured = [n for n in slots.select if clause.setting.column_kind(n) not in (None, *CODED)]
    if bare and len(measured) > 1 and any(t.said == "都" for t in clause.all(Kind.ROWS)):
        op, side = (">", "high") if bare[0].value.startswith(">") else ("<", "low")
        where = tuple({"field": n, "op": op, "value": {"ref": side}} for n in measured)
        return replace(slots, where=slots.where + where, rows=None, shape=Shape.LIST)
    if bare and clause.has(Kind.WHO) and slots.rows is None and not slots.where:
        slots = _end(clause, slots, "highest" if bare[0].value.startswith(">") else "lowest", 1)
    return slots


def _row_choice(clause: Clause, slots: Slots, token: Token) -> Slots:
    if token.value in MOST and slots.by:
        return slots
    # 最多的是哪种AE asks for the kind, 谁的AE最多 for the person.
    kinds = token.value == "most" and clause.has(Kind.WHAT) and not clause.many
    if token.value == "common" or kinds:
        rows = [clause.setting.naming_field(n) for n in slots.select if clause.setting.repeats(n)]
        return replace(slots, select=tuple(rows[:1]), shape=Shape.TALLY) if rows else slots
    if token.value in ENDS:
        end = _direction(clause, slots, token.value)
        limit = int(token.number or number_behind(clause, token))
        return _end(
            clause,
            slots,
            end,
            limit,
            graded=token.value in ("worst", "best") or token.said in _HEAVY,
        )
    if token.value in ("nth", "nth_last"):
        number = max(1, int(token.number or 1))
        return replace(
            slots, rows={"first" if token.value == "nth" else "latest": number}, nth=number
        )
    if token.value.endswith("_n"):
        return replace(slots, rows={token.value.removesuffix("_n"): int(token.number or 1)})
    if token.value in ("latest", "first") and (onset := _one_of_all(clause, slots, token)):
        named = clause.setting.naming_field(clause.setting.design.form_of(onset))
        select = tuple(dict.fromkeys([onset, named, *slots.select]))
        order = ("-" if token.value == "latest" else "+") + onset
        slots = replace(slots, select=select, order=order, limit=1, rows=token.value)
        return replace(slots, shape=Shape.EXTREME)
    if token.value in ("latest", "first") and (day := _newest(clause, slots)):
        order = ("-" if token.value == "latest" else "+") + day
        limit = number_behind(clause, token)
        return replace(slots, select=(day,), order=order, limit=limit, shape=Shape.EXTREME)
    if token.value == "since":
        # 8月份那次…后来: from then on.
        period = (slots.period[0], None) if slots.period else None
        return replace(slots, shape=Shape.SERIES, place=(), period=period)
    if token.value == "each":
        return replace(slots, shape=Shape.SERIES, place=()) if slots.rows is None else slots
    return replace(slots, rows=token.value)


def _one_of_all(clause: Clause, slots: Slots, token: Token) -> str:
    """最近一例SAE: of the rows of all subjects the one that began last, by its onset; "" for others."""
    one = token.said[-1:] in _PEOPLE[1:] or token.said.endswith("条")
    if not one or slots.subjects or slots.aggregate or clause.has(Kind.EACH, Kind.PRONOUN):
        return ""
    form_of, onsets = clause.setting.design.form_of, clause.setting.vocabulary.onsets
    named = [*slots.select, *(str(c.get("field", "")) for c in slots.where)]
    forms = {form_of(name) or name for name in named}
    return onsets.get(forms.pop(), "") if len(forms) == 1 else ""


def _newest(clause: Clause, slots: Slots) -> str:
    """最后一个入组的是谁, 最近筛选的三个人: the day by which the last of them is told; "" for others."""
    if slots.aggregate or slots.period:
        return ""
    enrolled = {"field": "@enrolled", "op": "filled"} in slots.where
    if set(slots.select) <= {"@enrolled"}:
        return "@enrolled" if enrolled else ""
    once = len(slots.select) == 1 and clause.setting.is_date(slots.select[0])
    one = once and not clause.setting.repeats(clause.setting.design.form_of(slots.select[0]))
    return slots.select[0] if one and clause.has(Kind.WHO) and not slots.subjects else ""


def _direction(clause: Clause, slots: Slots, said: str) -> str:
    """Worse is higher for grades and for what has an upper limit, lower for the rest."""
    if said not in ("worst", "best"):
        return "highest" if said in ("highest", "top_n", "longest", "most") else "lowest"
    design = clause.setting.design
    limits = [r.high for name in slots.select[:1] for r in design.ranges.get(name, ())]
    up = any(high is not None for high in limits)
    up = up or any(clause.setting.column_kind(name) in CODED for name in slots.select[:1])
    return "highest" if up is (said == "worst") else "lowest"


def number_behind(clause: Clause, token: Token) -> int:
    """最重的三个人, 最近入组的三个: how many of them; 1 where it is not said."""
    place = next(i for i, known in enumerate(clause.tokens) if known.said == token.said)
    for following in clause.tokens[place + 1 :]:
        if following.kind is Kind.NUMBER and following.value in _PEOPLE and following.number:
            return int(following.number)
        if following.kind not in (Kind.FILL, Kind.ENROLLED, Kind.FIELD, Kind.FORM, Kind.FINDING):
            break
    return 1


def _end(clause: Clause, slots: Slots, end: str, limit: int, *, graded: bool = False) -> Slots:
    """The highest or lowest: of one subject its rows, of several the subjects in order.

    `graded`: of rows without a measurement the one of the highest grade is meant.
    """
    setting = clause.setting
    valued = [n for n in slots.select if setting.column_kind(n) or n.startswith("@")]
    valued = valued or [n for form in slots.select for n in setting.numbers_of(form)][:1]
    if graded and not valued:
        grades = [n for form in slots.select for n in setting.grades_of(form)][:1]
        slots, valued = replace(slots, select=(*grades, *slots.select)), grades
    if not valued:
        return slots
    slots = replace(slots, rows=end, shape=Shape.EXTREME, aggregate="")
    others = (n for n in slots.select if n != valued[0])
    slots = replace(
        slots, select=(valued[0], *others) if valued[0] in slots.select else (valued[0],)
    )
    if len(slots.subjects) != 1 and not slots.by:
        order = f"{'-' if end == 'highest' else '+'}{valued[0]}"
        slots = replace(slots, order=order, limit=limit)
    if len(slots.subjects) == 2 and limit == 1 and not slots.by:
        # Of two who were named both values are told: a comparison of one is none.
        slots = replace(slots, shape=Shape.DIFFERENCE, limit=None)
    return slots

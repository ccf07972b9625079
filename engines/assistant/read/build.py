"""What the grammar and a model's reading leave open alike: what is shown, the days between, which row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from engines.assistant.read.clause import NotRead
from engines.assistant.read.question import (
    Query,
    Question,
    Shape,
    condition_fields,
    conditions_of,
)
from engines.assistant.read.setting import Setting
from engines.assistant.read.tokens import CODED
from study.facts import json_value

MEANS = ("mean", "median", "min", "max", "sum")
SIGN = {"highest": "-", "latest": "-", "lowest": "+", "first": "+"}

_HIGH, _LOW = (">", "high"), ("<", "low")
SIDES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "abnormal_high": (_HIGH,),
    "abnormal_low": (_LOW,),
    "abnormal": (_HIGH, _LOW),
    "normal": (_HIGH, _LOW),
}
TURNED = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "=": "!=", "!=": "="}


class Refused(NotRead):
    """What the study has no place for: the word."""


def has_limit(name: str, side: str, setting: Setting) -> bool:
    """Whether a field has an upper ("high") or a lower limit."""
    ranges = setting.design.ranges.get(name, ())
    return any(getattr(one, side) is not None for one in ranges)


def beyond(names: Iterable[str], said: str, setting: Setting) -> list[Query]:
    """The comparisons with the limits that the fields have, for a word of them."""
    return [
        {"field": name, "op": op, "value": {"ref": side}}
        for op, side in SIDES[said]
        for name in names
        if has_limit(name, side, setting)
    ]


def limit(side: str, times: Decimal | None = None) -> Query:
    """A limit, or so many times it."""
    return {"ref": side} | (
        {"times": json_value(times)} if times is not None and times != 1 else {}
    )


def fields_to_show(base: Question, setting: Setting) -> tuple[str, ...]:
    """What is asked for, and what the conditions are about; of rows that repeat their form."""
    form_of = setting.design.form_of
    found = list(base.select)
    forms = {form_of(name) for name in found if setting.column_kind(name)}
    told = conditions_of(base.where, but="none")
    others = [q["value"] for q in told if isinstance(q.get("value"), dict)]
    named = [*condition_fields(told), *(str(v["field"]) for v in others if "field" in v)]
    for name in named:
        form = form_of(name)
        if name in found or form in found or (setting.repeats(form) and form in forms):
            continue
        if name == "@enrolled" and (found or {"field": name, "op": "filled"} not in base.where):
            continue
        found.append(form if setting.repeats(form) else name)
    return tuple(dict.fromkeys(found))


def forms_of(base: Question | None, setting: Setting) -> tuple[str, ...]:
    """The forms that a question is about, in order."""
    named = [*base.select, *condition_fields(base.where)] if base else []
    return tuple(dict.fromkeys(setting.design.form_of(name) or name for name in named))


def lasted(base: Question, figure: str, setting: Setting) -> Question:
    """The days between two dates; of one date of a row from its beginning, of another until today."""
    words, form_of = setting.vocabulary, setting.design.form_of
    named = [setting.design.enrolment_field if n == "@enrolled" else n for n in base.select]
    dates = [n for n in named if setting.is_date(n)]
    form = form_of(dates[0]) if dates else next(iter(forms_of(base, setting)), "")
    rows = (setting.naming_field(form),) if setting.repeats(form) else ()
    if len(dates) < 2 and form in words.onsets:
        ends = dates or [words.ends.get(form, "")]
        dates = list(dict.fromkeys([words.onsets[form], *ends]))
    if len(dates) == 1 and (figure == "since" or not rows):
        # A visit says which row is meant; else it is an end of its own, as a form is, and not today.
        placed = len(base.place) < 2 and all(setting.stands(dates[0], p) for p in base.place)
        if not placed or any(n not in (dates[0], form) for n in named):
            raise Refused("lasted")
        return replace(base, select=(dates[0],), change="since")
    if len(dates) != 2 or not all(dates):
        raise Refused("lasted")
    if figure in MEANS:
        every = "all" if rows else None
        base = replace(base, shape=Shape.AGGREGATE, aggregate=figure, rows=every)
        return replace(base, select=tuple(dates), change="days")
    return replace(base, select=tuple(dict.fromkeys([*rows, *dates])), change="days")


def picked(base: Question, rows: str, number: int, setting: Setting) -> Question:
    """The readings that are meant: one of them, the newest, the highest."""
    number = max(1, number)
    if rows in ("highest", "lowest"):
        return _end(base, rows, number, setting)
    if rows in ("nth", "nth_last"):
        return replace(base, rows={"first" if rows == "nth" else "latest": number}, nth=number)
    if rows == "none":
        if base.shape is Shape.EXTREME:
            raise Refused("rows")
        return base
    if base.shape is not Shape.EXTREME or len(base.subjects) == 1:
        shape = Shape.VALUE if base.shape is Shape.EXTREME else base.shape
        return replace(base, rows={rows: number} if number > 1 else rows, shape=shape)
    # Of all the one whose day is the last.
    form = setting.design.form_of(next(iter(forms_of(base, setting)), ""))
    day = next((n for n in base.select if setting.is_date(n)), "")
    if setting.repeats(form):
        day = setting.vocabulary.onsets.get(form, day)
        base = replace(base, rows=rows, select=(day, setting.naming_field(form), *base.select))
    if not day:
        raise Refused(rows)
    select = tuple(dict.fromkeys([day, *base.select]))
    return replace(base, select=select, order=SIGN[rows] + day, limit=number)


def _end(base: Question, rows: str, number: int, setting: Setting) -> Question:
    """The highest or lowest: of one subject its rows, of several the subjects in order."""
    valued = [n for n in base.select if setting.column_kind(n) or n.startswith("@")]
    valued += [n for form in base.select for n in setting.numbers_of(form)]
    grades = setting.vocabulary.grades
    valued += [grades[form] for form in base.select if form in grades]
    if not valued:
        raise Refused(rows)
    order = SIGN[rows] + valued[0]
    base = replace(base, select=tuple(dict.fromkeys([valued[0], *base.select])))
    if base.shape is Shape.DIFFERENCE:
        return replace(base, order=order)
    if len(base.subjects) == 2 and number == 1:
        # Of two who were named both values are told: a comparison of one is none.
        return replace(base, shape=Shape.DIFFERENCE, rows=rows, order=order)
    base = replace(base, shape=Shape.EXTREME, rows=rows)
    return base if len(base.subjects) == 1 else replace(base, order=order, limit=number)


def grouped(base: Question, words: Sequence[str], setting: Setting) -> Question:
    """The groups: of a field the last coded one that is named."""
    by: list[str] = []
    select = list(base.select)
    wanted = list(dict.fromkeys(words))
    if base.shape is Shape.GROUPS and not wanted:
        wanted = ["field"]
    for word in wanted:
        if word == "field":
            coded = [n for n in select if setting.column_kind(n) in CODED]
            if not coded:
                raise Refused("by")
            by.append(coded[-1])
            select.remove(coded[-1])
        elif word in ("month", "week", "quarter"):
            by.append(f"{word}:{_dated(base, setting)}")
        else:
            by.append(word if word == "event" else f"@{word}")
    if len(base.site) > 1 and base.shape in (Shape.GROUPS, Shape.DIFFERENCE) and "@site" not in by:
        by.append("@site")
    return replace(base, by=tuple(by[:2]), select=tuple(select))


def _dated(base: Question, setting: Setting) -> str:
    days = {**setting.design.form_dates, **setting.vocabulary.onsets}
    own = next((n for n in base.select if setting.is_date(n) and n != "@enrolled"), "")
    dated = next((days[form] for form in forms_of(base, setting) if form in days), "")
    return own or dated or setting.design.enrolment_field

"""Follow-ups: a clause that only names other parts of the last question changes those."""

from __future__ import annotations

import re
from dataclasses import replace

from engines.assistant.understand.clause import Setting
from engines.assistant.understand.comparisons import WHICH_TIME
from engines.assistant.understand.read import Read
from engines.assistant.understand.row_choice import rows_of
from engines.assistant.understand.tokens import Kind
from engines.assistant.understand.types import Query, Shape, Slots, Topic
from engines.assistant.understand.work import HEAD

_PARTS = frozenset(
    {
        Kind.SUBJECT,
        Kind.FIELD,
        Kind.FORM,
        Kind.CHOICE,
        Kind.PLACE,
        Kind.SITE,
        Kind.OWN_SITE,
        Kind.PERIOD,
        Kind.ROWS,
        Kind.FOLLOW,
        Kind.FILL,
        Kind.AND,
        Kind.EVERYONE,
        Kind.EACH_SITE,
        Kind.LIMIT,
        Kind.TERM,
        Kind.LEFT,
        Kind.AMONG,
    }
)
_NARROWING = frozenset(
    {
        Kind.WHAT,
        Kind.YES_NO,
        Kind.COUNT,
        Kind.COUNT_ROWS,
        Kind.SHARE,
        Kind.WHO,
        Kind.AGGREGATE,
        Kind.COMPARE,
        Kind.NUMBER,
        Kind.BOUND,
        Kind.NOT,
        Kind.HAD,
        Kind.TOOK,
        Kind.ENROLLED,
    }
)
"""What 其中 may say of those of the last question."""
_PEOPLE = re.compile("受试者|病人|患者|人")


def followed(read: Read, last: Slots | None, *, inside: bool = False) -> Slots | None:
    """The last question with what this clause changes; None where it asks something of its own.

    `inside`: the last question stands in the same message.
    """
    if last is None or not _elliptic(read, last, inside=inside):
        return None
    return _of_another_kind(read, last) or _changed(read, last)


def _changed(read: Read, last: Slots) -> Slots:
    """The last question with the parts that this clause names."""
    new, clause = read.slots, read.clause
    slots = last
    if new.subjects:
        slots = replace(slots, subjects=new.subjects)
    if new.site:
        slots = replace(slots, site=new.site)
    if new.place:
        slots = replace(slots, place=new.place)
    if new.period:
        slots = replace(slots, period=new.period)
    if clause.has(Kind.EVERYONE):
        slots = replace(slots, subjects=(), site=())
    if slots.topic is Topic.VISITS and new.aspect and new.subjects:
        slots = replace(slots, aspect=new.aspect, shape=new.shape)
    slots = _about(slots, new, clause.setting)
    if new.rows is None and slots.topic is Topic.DATA:
        slots = rows_of(clause, slots)
    if slots.aggregate == "count" and slots.rows is not None and last.rows is None:
        # 有多少条 → 最近一条是什么: of the rows that were counted one is told.
        slots = replace(slots, aggregate="", shape=Shape.ROWS)
    if clause.has(Kind.YES_NO) and slots.where and slots.shape in (Shape.ROWS, Shape.VALUE):
        slots = replace(slots, shape=Shape.YES_NO)
    if last.rows == "latest" and any(t.said.startswith("上") for t in clause.all(Kind.ROWS)):
        # 上一次的呢, said of the last one: the one before it.
        slots = replace(slots, rows={"latest": 2})
    return _asked(slots, read)


def _elliptic(read: Read, last: Slots, *, inside: bool) -> bool:
    """Whether a clause cannot stand alone, or says that it goes on (那 … 呢)."""
    clause, new = read.clause, read.slots
    kinds = {token.kind for token in clause.tokens} - {Kind.FILL, Kind.AND}
    marked = clause.has(Kind.FOLLOW) or (bool(clause.tokens) and clause.tokens[-1].said == "呢")
    narrowed = next((t.kind for t in clause.tokens if t.kind is not Kind.FILL), None) is Kind.AMONG
    if narrowed and not inside and new.topic is last.topic is Topic.DATA and read.asks:
        return kinds <= _PARTS | _NARROWING
    if new.topic is not Topic.DATA:
        again = new.topic is last.topic and not (new.subjects or new.place or new.aggregate)
        return again and new.aspect in ("", "close", "open") and bool(last.subjects)
    if kinds and kinds <= {Kind.EACH_SITE, Kind.GROUP}:
        return True
    if marked and (_is_enrolment(read, last) or _are_enrolled(read, last)):
        return True
    if not read.asks:
        # 血型呢 goes on with a word that is not known: no other part of the question is.
        if {Kind.WHEN, Kind.LEFT} <= kinds and not marked:
            return False
        if kinds == {Kind.WHAT} and any(t.said in WHICH_TIME for t in clause.tokens):
            return bool(last.select) and not last.aggregate
        return bool(kinds) and not kinds <= {Kind.LEFT, Kind.WHAT, Kind.FOLLOW, Kind.YES_NO}
    bare = all(not _PEOPLE.search(token.said) for token in clause.all(Kind.COUNT))
    counted = kinds & {Kind.COUNT, Kind.COUNT_ROWS}
    if counted and bare and kinds - counted <= {Kind.SITE, Kind.OWN_SITE, Kind.PERIOD, Kind.PLACE}:
        return True
    if marked and not clause.has(Kind.PRONOUN):
        return kinds <= _PARTS | {Kind.WHAT, Kind.VISIT, Kind.BOUND, Kind.COMPARE, Kind.NUMBER}
    if (
        last.subjects
        and not inside
        and not clause.has(Kind.SUBJECT, Kind.SITE, Kind.OWN_SITE, Kind.EVERYONE)
    ):
        # 有没有严重的, 3级以上的几条: of the rows of the one who was spoken of.
        kinds -= {Kind.YES_NO, Kind.COMPARE, Kind.NUMBER, Kind.BOUND, Kind.NOT, Kind.WHAT, Kind.HAD}
        kinds -= {Kind.COUNT_ROWS} | ({Kind.COUNT} if bare else set())
    if last.where and not inside and not (new.where or clause.many):
        # 3级以上AE有哪些 → 都结束了没: of the rows that were listed.
        kinds -= {Kind.YES_NO, Kind.WHEN}
    only_parts = kinds <= {
        Kind.EACH,
        Kind.FIELD,
        Kind.ROWS,
        Kind.FILL,
        Kind.PLACE,
        Kind.CHOICE,
        Kind.LEFT,
        Kind.TERM,
    }
    return only_parts and _same_rows(new, last, clause.setting)


def _of_another_kind(read: Read, last: Slots) -> Slots | None:
    """Something else of the one, and of the visit, that was spoken of."""
    new, subjects = read.slots, read.slots.subjects or last.subjects
    if new.topic is Topic.DATA and new.select and last.topic is Topic.VISITS:
        # P023的V4是哪天做的 → 那天血压多少
        return replace(new, subjects=subjects, site=new.site or last.site, place=last.place)
    if day := _day_of_form(read, last):
        return replace(last, select=(day,), named=(), shape=Shape.WHEN)
    if _is_enrolment(read, last):
        told = replace(last, select=("@enrolled",), named=(), place=(), rows=None)
        return replace(told, subjects=subjects)
    return None


def _day_of_form(read: Read, last: Slots) -> str:
    """为什么退 → 哪天: the day of a form that is filled in once, of which something else was told."""
    setting, kinds = read.clause.setting, {token.kind for token in read.clause.tokens}
    if last.topic is not Topic.DATA or last.aggregate or last.rows is not None:
        return ""
    only = Kind.WHEN in kinds and kinds <= {Kind.WHEN, Kind.FILL, Kind.FOLLOW}
    forms = {setting.design.form_of(name) for name in last.select}
    if not only or len(forms) != 1 or any(setting.is_date(name) for name in last.select):
        return ""
    form = forms.pop()
    events = setting.design.context.forms_by_event.values()
    once = sum(form in held for held in events) == 1 and not setting.repeats(form)
    return setting.day_of(form) if once else ""


def _is_enrolment(read: Read, last: Slots) -> bool:
    """什么时候签的知情 → 入组呢: of the one who was spoken of the same of another day."""
    kinds = {token.kind for token in read.clause.tokens}
    only = kinds <= {Kind.ENROLLED, Kind.FILL, Kind.FOLLOW, Kind.WHAT, Kind.WHEN, Kind.SUBJECT}
    return only and Kind.ENROLLED in kinds and bool(last.subjects) and last.shape is Shape.WHEN


def _are_enrolled(read: Read, last: Slots) -> bool:
    """鳞癌有几例 → 入组的呢: of those who were counted the enrolled; a status is another count."""
    clause = read.clause
    said = [t.said for t in clause.tokens if t.said != "呢" and t.kind is not Kind.FOLLOW]
    fields = {c.get("field") for c in last.where}
    counted = last.aggregate == "count" or last.shape is Shape.LIST
    of_those = counted and bool(fields) and clause.setting.design.status_field not in fields
    return of_those and clause.has(Kind.ENROLLED) and len(said) == 2 and said[-1] == "的"


def _same_rows(new: Slots, last: Slots, setting: Setting) -> bool:
    """Whether it is about rows of the repeating form that was spoken of (那个皮疹 … 什么时候好的)."""

    def forms(slots: Slots) -> set[str]:
        named = [*slots.select, *(str(c.get("field", "")) for c in slots.where)]
        return {setting.design.form_of(name) or name for name in named}

    return any(setting.repeats(form) for form in forms(new) & forms(last))


def _about(slots: Slots, new: Slots, setting: Setting) -> Slots:
    """Another field in place of the one asked for, other conditions in place of those on the same field."""
    kept = [c for c in slots.where if not _replaced(c, new.where)]
    where: tuple[Query, ...] = (*kept, *new.where)
    if new.topic is not slots.topic:
        return slots
    selected = tuple(n for n in new.select if n not in {c.get("field") for c in new.where})
    if not selected or set(selected) <= set(slots.select) or _inside(selected, slots, setting):
        slots = replace(slots, where=where)
        fields = [name for name in selected if setting.column_kind(name)]
        if fields and slots.aggregate == "count" and not new.aggregate:
            # 皮疹有几例 → 都好了吗: of the rows that were counted what is asked of them.
            slots = replace(slots, aggregate="", shape=Shape.LIST)
        if selected and not new.rows and not set(selected) <= set(slots.select):
            rows = setting.naming_field(setting.design.form_of(selected[0]))
            ranked = slots.select[:1] if slots.rows in ("highest", "lowest") else ()
            told = () if any(c.get("field") == rows for c in where) else (rows,)
            slots = replace(slots, select=tuple(dict.fromkeys([*ranked, *told, *selected])))
        if selected and new.rows:
            slots = replace(
                slots, select=(*selected, *(n for n in slots.select if n not in selected))
            )
    else:
        where = tuple(_renamed(where, slots.select, selected))
        slots = replace(slots, select=selected, named=(), where=where)
        if slots.order:
            slots = replace(slots, order=slots.order[0] + selected[0])
    if new.rows is not None:
        slots = replace(
            slots, rows=new.rows, shape=Shape.EXTREME if new.shape is Shape.EXTREME else slots.shape
        )
        if len(slots.subjects) != 1:
            slots = replace(slots, order=new.order or slots.order, limit=new.limit or slots.limit)
        slots = replace(slots, aggregate="" if new.shape is Shape.EXTREME else slots.aggregate)
    if new.by:
        slots = replace(slots, by=new.by, shape=Shape.GROUPS, aggregate=slots.aggregate or "count")
    return slots


def _inside(selected: tuple[str, ...], slots: Slots, setting: Setting) -> bool:
    """Whether the fields belong to a form whose rows were asked for."""
    forms = {setting.design.form_of(name) or name for name in slots.select}
    return all(
        setting.repeats(form := setting.design.form_of(name)) and form in forms for name in selected
    )


def _replaced(condition: Query, by: tuple[Query, ...]) -> bool:
    return any(condition.get("field") == other.get("field") and "field" in other for other in by)


def _renamed(where: tuple[Query, ...], old: tuple[str, ...], new: tuple[str, ...]) -> list[Query]:
    """ALT高于上限的有谁 → 那AST呢: the condition is on the other field now."""
    return [c | {"field": new[0]} if c.get("field") in old and len(new) == 1 else c for c in where]


def _asked(slots: Slots, read: Read) -> Slots:
    clause, new = read.clause, read.slots
    if clause.has(Kind.SHARE) and slots.aggregate == "count" and slots.where:
        of = tuple(c for c in slots.where if c.get("field") == "@enrolled" and len(slots.where) > 1)
        part = tuple(c for c in slots.where if c not in of)
        return replace(slots, aggregate="share", shape=Shape.SHARE, where=part, of=of, select=())
    if clause.has(Kind.DIFFERENCE):
        return replace(slots, shape=Shape.DIFFERENCE, rows=None, limit=None)
    if clause.has(Kind.WHO) and slots.rows in ("highest", "lowest") and slots.order:
        # 平均年龄多少 → 最大的是谁: the one at that end, and no list of all.
        return replace(slots, shape=Shape.EXTREME, aggregate="", by=())
    if clause.has(Kind.WHO) and new.shape is not Shape.EXTREME:
        shape = Shape.LIST if slots.topic is Topic.DATA else slots.shape
        if slots.topic is not Topic.DATA and slots.aggregate:
            shape = HEAD.get(slots.topic, Shape.VISITS)
        return replace(slots, shape=shape, aggregate="", by=())
    if clause.has(Kind.COUNT, Kind.COUNT_ROWS):
        counted = Shape.COUNT_ROWS if clause.has(Kind.COUNT_ROWS) else Shape.COUNT
        return replace(slots, aggregate="count", shape=Shape.GROUPS if slots.by else counted)
    figures = dict.fromkeys(clause.values(Kind.AGGREGATE))
    if figures and slots.select:
        shape = Shape.GROUPS if slots.by else Shape.AGGREGATE
        slots = replace(slots, rows=None, order="", limit=None)
        return replace(slots, aggregate=",".join(figures), shape=shape)
    return slots

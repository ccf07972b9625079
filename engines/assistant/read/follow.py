"""A follow-up that changes one slot of the question before it: its subject, visit, site, field, …"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from engines.assistant.read.build import forms_of
from engines.assistant.read.clause import Clause, NotRead, refuse
from engines.assistant.read.conditions import Conditions
from engines.assistant.read.queries import any_row
from engines.assistant.read.question import Question, Shape, Topic, condition_fields
from engines.assistant.read.setting import Setting
from engines.assistant.read.task import State
from engines.assistant.read.tokens import CODED, Kind, Token

_OWN = frozenset(
    {Kind.SUBJECT, Kind.PRONOUN, Kind.WHO, Kind.COUNT, Kind.COUNT_ROWS, Kind.SHARE, Kind.GROUP}
    | {Kind.EACH, Kind.EACH_SITE, Kind.SITE, Kind.OWN_SITE, Kind.EVERYONE, Kind.AGGREGATE}
    | {Kind.TARGET, Kind.TODO, Kind.DICTIONARY, Kind.PERIOD, Kind.REVIEW, Kind.AMONG}
)
"""Words that say of whom is asked, or ask of everybody: nothing is carried into their clause."""
_FIGURES = ("mean", "median", "sum", "min", "max")
_BARE_WORDS = ("呢", "多少", "怎么样", "咋样", "什么")
_WHICH = ("哪次访视", "哪次", "哪一次", "在哪个访视", "在哪次访视", "哪个访视")
_Change: TypeAlias = Callable[[Clause, Question, bool], Question]


def has_own_scope(tokens: list[Token]) -> bool:
    """Whether a clause says itself of whom it asks."""
    return bool({t.kind for t in tokens} & _OWN)


def same_rows(question: Question, last: Question, setting: Setting) -> Question:
    """Of the visit or the rows of the question before, where one asks for more of them (什么时候好的)."""
    if question.topic is last.topic is Topic.VISITS:
        if question.aspect in ("open", "close") and not question.place:
            return replace(last, shape=question.shape)
        asks = question.shape in (Shape.YES_NO, Shape.WHEN)
        same = asks and not (question.place or question.period)
        return replace(question, place=last.place) if same else question
    form_of = setting.design.form_of
    forms = {form_of(name) for name in question.select}
    told = {form_of(n) for n in condition_fields(last.where)} or {*forms_of(last, setting)}
    rows = len(forms) == 1 and forms == told and all(map(setting.repeats, forms))
    if not rows or question.where or question.rows or last.aggregate not in ("", "count"):
        return question
    ranked = last.select[:1] if last.rows in ("highest", "lowest") else ()
    select = tuple(dict.fromkeys([*ranked, *question.select]))
    return replace(question, where=last.where, rows=last.rows, select=select)


def words_carried(last: Question, question: Question, setting: Setting) -> tuple[str, ...]:
    """What a follow-up kept of the last question: the subjects, else the labels of the fields it is about."""
    if question.subjects and question.subjects == last.subjects:
        return question.subjects
    named = [*question.select, *condition_fields(question.where)]
    labels = (setting.design.metadata.label(n) for n in named if setting.column_kind(n))
    return tuple(dict.fromkeys(labels))


def followed(tokens: list[Token], setting: Setting, state: State) -> Question | None:
    """The last question with the one slot changed that the clause names; None where it is no such clause."""
    last = state.last
    if last is None or last.topic is Topic.DICTIONARY:
        return None
    said = [t for t in tokens if t.kind is not Kind.FILL]
    begins, ends = said[0].kind if said else None, [t.said for t in tokens[-2:]]
    narrows = begins is Kind.AMONG or ends == ["的", "呢"]
    marked = begins in (Kind.FOLLOW, Kind.AMONG) or ends[-1:] == ["呢"]
    tokens = [t for t in tokens if t.kind is not Kind.WHAT or t.said not in _BARE_WORDS]
    kinds = {t.kind for t in tokens} - {Kind.FILL, Kind.AND, Kind.FOLLOW, Kind.AMONG}
    for of, change in (*(_MARKED if marked else ()), *_BARE):
        if not kinds or not kinds <= of:
            continue
        clause = Clause(tokens, setting, forms_of(last, setting))
        clause.take(Kind.FOLLOW, Kind.AMONG)
        clause.fill("people", "unit", "time")
        try:
            question = change(clause, last, narrows)
            clause.take(Kind.AND)
            clause.end()
        except NotRead:
            continue
        return question
    refuse(marked and kinds)
    return None


def _subjects(clause: Clause, last: Question, _narrows: bool) -> Question:
    refuse(not last.subjects)
    named = tuple(dict.fromkeys(t.value for t in clause.take(Kind.SUBJECT)))
    return replace(last, subjects=named, versus=())


def _place(clause: Clause, last: Question, _narrows: bool) -> Question:
    setting, tokens = clause.setting, clause.take(Kind.PLACE)
    names = tuple(r.name for t in tokens for r in t.readings)
    refuse(len(names) != len(tokens) or last.change.startswith("places") or last.rows is not None)
    if last.topic is Topic.VISITS:
        planned = {visit.visit for visit in setting.design.plan.visits}
        refuse(not {*names} <= planned or last.aspect in ("next", "last"))
    else:
        measured = all(any(setting.stands(n, place) for place in names) for n in last.select)
        refuse(not last.select or not measured)
    return replace(last, place=names)


def _site(clause: Clause, last: Question, _narrows: bool) -> Question:
    refuse(last.subjects or (clause.take(Kind.COUNT) and last.aggregate != "count"))
    codes = [t.value for t in clause.take(Kind.SITE)]
    codes += [clause.setting.own_site for _own in clause.take(Kind.OWN_SITE)]
    refuse(not all(codes) or (clause.take(Kind.EVERYONE) and codes))
    by = tuple(name for name in last.by if name != "@site")
    shape = last.shape if by == last.by else Shape.COUNT
    return replace(last, site=tuple(codes), by=by, shape=shape)


def _period(clause: Clause, last: Question, _narrows: bool) -> Question:
    tokens = clause.take(Kind.PERIOD)
    counted = clause.take(Kind.COUNT) and last.aggregate == "count" and last.where
    refuse(len(tokens) != 1 or (last.period is None and not counted))
    return replace(last, period=tokens[0].iso)


def _fields(clause: Clause, last: Question, _narrows: bool) -> Question:
    """Other fields of the same subjects; the rows that were meant stay where these are of their form."""
    setting, form_of = clause.setting, clause.setting.design.form_of
    tokens = clause.take(Kind.FIELD, Kind.FORM, Kind.ENROLLED)
    names = [n for t in tokens for n in ([r.name for r in t.readings] or ["@enrolled"])]
    numbers = all(map(setting.is_number, names))
    refuse(last.topic is not Topic.DATA or last.of or last.by)
    refuse(last.change not in ("", "baseline:diff"))
    if last.aggregate in _FIGURES or last.order:
        refuse(not numbers or len(names) != 1 or not all(map(setting.is_number, last.select)))
        order = last.order[:1] + names[0] if last.order else ""
        return replace(last, select=(names[0],), order=order)
    if not last.subjects:
        # Of a count of rows a yes-no field of their form narrows it.
        coded = setting.column_kind(names[0]) in CODED and setting.repeats(form_of(names[0]))
        same = {*forms_of(last, setting)} == {form_of(names[0])}
        refuse(len(names) != 1 or not coded or not same)
        return replace(last, where=({"field": names[0], "op": "=", "value": "1"},))
    refuse(not all(setting.stands(n, place) for n in names for place in last.place))
    shape = Shape.WHEN if all(map(setting.is_date, names)) else Shape.VALUE
    shape = Shape.ROWS if any(map(setting.repeats, names)) else shape
    shape = last.shape if numbers and last.shape in (Shape.SERIES, Shape.EXTREME) else shape
    same = {form_of(n) for n in condition_fields(last.where)} <= {form_of(n) or n for n in names}
    where, rows = last.where if same else (), last.rows if numbers else None
    return replace(last, select=tuple(names), where=where, rows=rows, shape=shape)


def _each_field(clause: Clause, last: Question, _narrows: bool) -> Question:
    """Fields of each of the rows that were told of (分别是几级, 都好了吗)."""
    setting, each, all_ = clause.setting, clause.take(Kind.EACH), clause.take(Kind.ROWS)
    clause.take(Kind.YES_NO)
    clause.ends_with_no()
    names = [r.name for t in clause.take(Kind.FIELD) for r in t.readings]
    refuse(any(t.said != "都" for t in all_) or not names or not (each or all_))
    forms = {setting.design.form_of(n) for n in names}
    refuse(forms != {*forms_of(last, setting)} or len(forms) != 1 or last.by or last.order)
    refuse(last.aggregate not in ("", "count"))
    form = forms.pop()
    named = (setting.naming_field(form),) if setting.repeats(form) else last.select
    shape = Shape.ROWS if last.subjects else Shape.LIST
    select = tuple(dict.fromkeys([*named, *names]))
    return replace(last, aggregate="", select=select, shape=shape)


def _conditions(clause: Clause, last: Question, narrows: bool) -> Question:
    """Conditions in the place of those on the same field, or beside them where it narrows (其中)."""
    if last.subjects and {t.kind for t in clause.tokens} <= {Kind.ENROLLED, Kind.FOLLOW}:
        return _fields(clause, last, narrows)
    form_of, repeats = clause.setting.design.form_of, clause.setting.repeats
    clause.take(Kind.HAD)
    refuse(last.topic is not Topic.DATA or last.change or last.order or last.by)
    found = Conditions(clause, many=not last.subjects).read()
    refuse(not found.where or found.denied or found.unlimited)
    named = condition_fields(found.where)
    kept = [q for q in last.where if not {*named} & {*condition_fields([q])}]
    if len(kept) == len(last.where):
        forms = {form_of(name) for name in named}
        of_rows = forms <= {*last.select} and all(map(repeats, forms))
        refuse(not (narrows or of_rows or (last.aggregate in _FIGURES and not last.where)))
    shown = [n for n in named if not repeats(form_of(n)) and n != "@enrolled"]
    select = tuple(dict.fromkeys([*last.select, *([] if last.aggregate else shown)]))
    shape = Shape.YES_NO if clause.take(Kind.YES_NO) else last.shape
    return replace(last, where=(*kept, *found.where), select=select, shape=shape)


def _rows(clause: Clause, last: Question, _narrows: bool) -> Question:
    """Another reading or row of what was asked: the highest, the newest, the most severe."""
    setting, tokens = clause.setting, clause.take(Kind.ROWS)
    clause.take(Kind.WHAT, Kind.WHEN)
    refuse(len({(t.value, t.number) for t in tokens}) != 1 or not last.select)
    refuse(len(last.subjects) != 1 or last.topic is not Topic.DATA or last.change)
    name, value = last.select[0], tokens[0].value
    told = replace(last, aggregate="", rows=value, place=())
    if len(last.select) == 1 and setting.repeats(name) and last.aggregate in ("", "count"):
        grade = setting.vocabulary.grades.get(name, "")
        refuse(value != "highest" or not grade)
        return replace(told, select=(grade, name), shape=Shape.EXTREME, place=last.place)
    refuse(last.aggregate or not all(map(setting.is_number, last.select)))
    refuse(value not in ("highest", "lowest"))
    return replace(told, shape=Shape.EXTREME)


def _who(clause: Clause, last: Question, _narrows: bool) -> Question:
    """The list of whoever was counted."""
    setting, form_of = clause.setting, clause.setting.design.form_of
    clause.take(Kind.WHO, Kind.ROWS, Kind.EACH)
    counted = last.shape in (Shape.COUNT, Shape.COUNT_ROWS, Shape.SHARE, Shape.YES_NO)
    refuse(last.topic is Topic.TARGET or last.subjects or not counted or last.by)
    if last.topic is not Topic.DATA:
        shape = Shape.VISITS if last.topic is Topic.VISITS else Shape.ROWS
        return replace(last, aggregate="", shape=shape)
    compared = condition_fields(last.where)
    forms = [form_of(n) if setting.repeats(form_of(n)) else n for n in compared]
    where = (*last.where, *any_row(last, setting, last.where))
    denied = any("none" in part for part in last.where)
    select = () if denied else tuple(dict.fromkeys([*last.select, *forms]))
    told = replace(last, aggregate="", select=select, of=(), shape=Shape.LIST)
    return replace(told, where=(*last.of, *where))


def _figure(clause: Clause, last: Question, _narrows: bool) -> Question:
    """A figure over those who were told of."""
    setting, figures = clause.setting, [t.value for t in clause.take(Kind.AGGREGATE)]
    names = [r.name for t in clause.take(Kind.FIELD) for r in t.readings]
    whole = last.shape in (Shape.COUNT, Shape.LIST) and last.topic is Topic.DATA and last.where
    rows = any(setting.repeats(setting.design.form_of(n)) for n in last.select)
    refuse(not whole or last.subjects or len(names) != 1 or not setting.is_number(names[0]) or rows)
    refuse(not figures)
    refuse(last.period and condition_fields(last.where) != ["@enrolled"])
    kept = replace(last, select=(names[0],), rows=None, order="", limit=None)
    return replace(kept, aggregate=",".join(figures), shape=Shape.AGGREGATE)


def _by_site(clause: Clause, last: Question, _narrows: bool) -> Question:
    refuse(not clause.take(Kind.EACH_SITE) or any(t.said != "都" for t in clause.take(Kind.ROWS)))
    clause.take(Kind.EACH)
    refuse(not last.aggregate or last.by or last.site or last.subjects or "," in last.aggregate)
    return replace(last, by=("@site",), shape=Shape.GROUPS)


def _when(clause: Clause, last: Question, _narrows: bool) -> Question:
    """When what was told was so; a fact has its day and its visit."""
    clause.take(Kind.WHEN)
    clause.free -= {i for i in clause.places(Kind.WHAT) if clause.tokens[i].said in _WHICH}
    refuse(len(last.subjects) != 1)
    if last.topic is not Topic.VISITS or len(last.place) != 1:
        refuse(last.topic is not Topic.DATA or last.aggregate or last.change or not last.select)
        refuse(not all(map(clause.setting.is_number, last.select)))
    return replace(last, shape=Shape.WHEN)


_MARKED: tuple[tuple[set[Kind], _Change], ...] = (
    ({Kind.SUBJECT}, _subjects),
    ({Kind.PLACE}, _place),
    ({Kind.SITE, Kind.OWN_SITE, Kind.EVERYONE}, _site),
    ({Kind.PERIOD}, _period),
    ({Kind.FIELD, Kind.FORM}, _fields),
    (
        {Kind.CHOICE, Kind.COMPARE, Kind.NUMBER, Kind.BOUND, Kind.LIMIT, Kind.NOT}
        | {Kind.ENROLLED, Kind.TERM},
        _conditions,
    ),
    ({Kind.ROWS}, _rows),
)
"""With 那 or 呢: the kinds of words of a clause, and the slot that they change."""
_BARE: tuple[tuple[set[Kind], _Change], ...] = (
    ({Kind.WHO, Kind.ROWS, Kind.EACH}, _who),
    ({Kind.AGGREGATE, Kind.FIELD}, _figure),
    ({Kind.EACH_SITE, Kind.EACH, Kind.ROWS}, _by_site),
    ({Kind.PERIOD, Kind.COUNT}, _period),
    ({Kind.WHEN, Kind.WHAT}, _when),
    ({Kind.EACH, Kind.FIELD, Kind.ROWS, Kind.YES_NO, Kind.NOT}, _each_field),
    ({Kind.ROWS, Kind.WHAT, Kind.WHEN}, _rows),
    ({Kind.SITE, Kind.OWN_SITE, Kind.COUNT}, _site),
)

"""From one clause to its slots: what it asks for, of whom, where, when and how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from engines.assistant.understand.changes import changed
from engines.assistant.understand.clause import Clause
from engines.assistant.understand.conditions import conditions
from engines.assistant.understand.data_changes import asks_changes, of_changes
from engines.assistant.understand.found import Conditions
from engines.assistant.understand.grouping import aggregated, grouped, shared
from engines.assistant.understand.of_dictionary import of_dictionary
from engines.assistant.understand.row_choice import EDGES, ENDS, chosen
from engines.assistant.understand.standing import between
from engines.assistant.understand.tokens import CODED, Kind
from engines.assistant.understand.types import Shape, Slots, Topic
from engines.assistant.understand.work import are_made, of_visits, of_work
from rules.context import Kind as ColumnKind

_WORK = {
    Kind.TODO: Topic.TODO,
    Kind.REVIEW: Topic.REVIEWS,
    Kind.FINDING: Topic.FINDINGS,
    Kind.RUN: Topic.RUNS,
    Kind.TARGET: Topic.TARGET,
}


@dataclass(frozen=True, slots=True)
class Read:
    """The slots of a clause, and whether it asks something by itself.

    `is_open`: a number is compared with nothing that is known, so nobody can say whom it leaves out.
    """

    slots: Slots
    asks: bool
    clause: Clause
    is_open: bool = False


def read(clause: Clause) -> Read:
    """What a settled clause says."""
    if of_crf := of_dictionary(clause):
        return Read(of_crf, True, clause)
    found = conditions(clause)
    topic = _topic(clause, found)
    slots = Slots(
        topic=topic,
        subjects=_subjects(clause),
        site=_sites(clause),
        place=_places(clause),
        period=_period(clause),
    )
    if topic is Topic.DATA:
        slots = _data(clause, found, slots)
    elif topic is Topic.VISITS:
        slots = of_visits(clause, found, slots)
    elif topic is Topic.CHANGES:
        slots = of_changes(clause, slots)
    else:
        slots = of_work(clause, slots)
    return Read(slots, _asks(clause, slots), clause, found.needs_field)


def _topic(clause: Clause, found: Conditions) -> Topic:
    data = bool(clause.all(Kind.FIELD, Kind.FORM, Kind.TERM)) or any(
        not n.startswith("@visits") for n in found.fields
    )
    if found.blanks:
        return Topic.DATA
    if asks_changes(clause, data):
        return Topic.CHANGES
    if clause.has(Kind.TARGET, value="total") and _done(clause, found):
        return Topic.TARGET
    for kind, topic in _WORK.items():
        strong = kind in (Kind.TODO, Kind.TARGET) or not data
        if kind is Kind.TARGET and clause.has(Kind.VISIT, Kind.PLACE, Kind.SUBJECT):
            continue
        if clause.has(kind) and strong and not (kind is Kind.TARGET and data):
            return topic
    enrolments = clause.has(Kind.ENROLLED) and clause.has(Kind.WHO)
    visits = [t for t in clause.all(Kind.VISIT) if not (enrolments and t.value in EDGES)]
    planned = any(t.value == "visit" for t in clause.all(Kind.PLACE))
    if (
        planned
        and not clause.has(Kind.FIELD, Kind.FORM, Kind.TERM, Kind.ROWS)
        and _done(clause, found)
    ):
        return Topic.VISITS
    if are_made(clause, found) or ((visits or _came(clause)) and not data):
        return Topic.VISITS
    whole = clause.has(
        *(Kind.WHEN, Kind.YES_NO, Kind.COUNT, Kind.COUNT_ROWS, Kind.WHO, Kind.NOT, Kind.EMPTY)
    )
    if planned and whole and not data and not clause.has(Kind.CHOICE, Kind.ENROLLED):
        return Topic.VISITS
    if _was_not_done(clause) and not clause.has(Kind.FIELD, Kind.FORM, Kind.TERM):
        return Topic.VISITS
    return Topic.DATA


def _was_not_done(clause: Clause) -> bool:
    """没做过V2的女受试者: right before a planned visit a no is said of the visit, whoever it is of."""
    said = [t for t in clause.tokens if t.kind is not Kind.FILL]
    return any(
        no.kind in (Kind.EMPTY, Kind.NOT) and (visit.kind, visit.value) == (Kind.PLACE, "visit")
        for no, visit in pairwise(said)
    )


def _came(clause: Clause) -> bool:
    """P001一共来了几次: how often somebody came are their visits."""
    told = clause.has(Kind.SUBJECT, Kind.PRONOUN) and clause.has(Kind.COUNT_ROWS)
    others = clause.has(Kind.CHOICE, Kind.ENROLLED, *_WORK)
    return told and not others and any(t.said == "来" for t in clause.all(Kind.FILL))


def _done(clause: Clause, found: Conditions) -> bool:
    """做完V4的有几例: a word for the end of the study, but of a visit."""
    status = clause.setting.design.status_field
    asked = (Kind.COUNT, Kind.WHO, Kind.YES_NO, Kind.WHEN, Kind.TARGET)
    return found.fields == [status] and clause.has(*asked)


def _asks(clause: Clause, slots: Slots) -> bool:
    if _of_no_number(clause, slots) or (slots.aspect == "unlimited" and clause.many):
        return False
    if slots.aspect == "during" and not slots.subjects:
        return False
    about = slots.select or slots.where or slots.topic is not Topic.DATA or slots.aggregate
    if slots.topic is Topic.VISITS and not (
        slots.subjects or slots.place or slots.period or slots.aspect or slots.aggregate
    ):
        return clause.has(Kind.WHO, Kind.WHAT, Kind.WHEN)
    listed = clause.has(Kind.WHO) and (slots.site or _whole_list(clause))
    return bool(about or listed) or clause.has(Kind.OVERVIEW)


def _whole_list(clause: Clause) -> bool:
    """全部受试者名单, 给我受试者名单: all there are."""
    rest = {t.kind for t in clause.tokens} - {Kind.FILL, Kind.WHO, Kind.EVERYONE}
    listed = clause.has(Kind.EVERYONE) or clause.has(Kind.WHO, value="list")
    return listed and not rest


def _of_no_number(clause: Clause, slots: Slots) -> bool:
    """平均入组日期: a mean of days or of words is none."""
    figures = {"mean", "median", "sum"} & set(slots.aggregate.split(","))
    measured = slots.change or slots.topic is not Topic.DATA or slots.select[:1] == ("@age",)
    setting = clause.setting
    known = [setting.is_number(n) or setting.column_kind(n) in CODED for n in slots.select[:1]]
    return bool(figures) and not measured and not any(known)


def _subjects(clause: Clause) -> tuple[str, ...]:
    named = tuple(dict.fromkeys(clause.values(Kind.SUBJECT)))
    if not named and clause.has(Kind.PRONOUN):
        return clause.setting.state.subjects
    return named


def _sites(clause: Clause) -> tuple[str, ...]:
    own = clause.setting.own_site
    codes = clause.values(Kind.SITE) + ([own] if own and clause.has(Kind.OWN_SITE) else [])
    return tuple(dict.fromkeys(codes))


def _places(clause: Clause) -> tuple[str, ...]:
    spent = clause.has(Kind.BASELINE)
    named = [
        r.name
        for t in clause.all(Kind.PLACE)
        for r in t.readings
        if not (spent and t.value == "event")
    ]
    if len(named) == 2 and _from_to(clause):
        named = [*between(clause.setting.design, *named)]
    return tuple(dict.fromkeys(named))


def _from_to(clause: Clause) -> bool:
    """从基线到V4: two places with a to between them, and no difference of the two asked for."""
    if clause.has(Kind.DIFFERENCE, Kind.LASTED, Kind.BASELINE):
        return False
    kinds = [t.kind if t.said not in ("到", "至") else "to" for t in clause.tokens]
    return any(kinds[i : i + 3] == [Kind.PLACE, "to", Kind.PLACE] for i in range(len(kinds)))


def _period(clause: Clause) -> tuple[str | None, str | None] | None:
    today = clause.setting.calendar.today
    for token in clause.all(Kind.PERIOD):
        if clause.has(Kind.LASTED) and token.days == (today, today):
            # 到今天多少天了: the end of the days that are counted.
            continue
        first, last = token.days
        return (first.isoformat() if first else None, last.isoformat() if last else None)
    return None


def _data(clause: Clause, found: Conditions, slots: Slots) -> Slots:
    slots = replace(
        slots, where=tuple(found.where), select=_selected(clause, found), every=found.every
    )
    if found.unlimited:
        slots = replace(slots, aspect="unlimited", shape=Shape.YES_NO)
    if found.blanks:
        return _blanks(clause, slots)
    if both := _side_by_side(clause, slots):
        return both
    slots = _overview(clause, _had(clause, slots))
    slots = shared(clause, found, slots)
    slots = grouped(clause, found, slots)
    slots = aggregated(clause, slots)
    slots = chosen(clause, found, slots)
    slots = changed(clause, slots)
    return _shape(clause, found, slots)


def _side_by_side(clause: Clause, slots: Slots) -> Slots | None:
    """吃药那几天有没有AE: no query tells rows by the days of other rows, so both are told with their days."""
    setting = clause.setting
    named = [setting.design.form_of(t.name) or t.name for t in clause.all(Kind.FORM, Kind.FIELD)]
    named += clause.values(Kind.TERM)
    forms = tuple(dict.fromkeys(form for form in named if setting.repeats(form)))
    if len(forms) < 2 or not clause.has(Kind.DURING):
        return None
    words = setting.vocabulary
    days = (d.get(form, "") for form in forms for d in (words.onsets, words.ends))
    named_days = tuple(day for day in days if day)
    return replace(slots, select=forms, named=named_days, shape=Shape.ROWS, aspect="during")


def _selected(clause: Clause, found: Conditions) -> tuple[str, ...]:
    """Fields and forms asked for; what the conditions are about is shown too."""
    setting, names = clause.setting, list[str]()
    for place, token in enumerate(clause.tokens):
        if token.kind is Kind.FIELD and place not in found.used:
            names += [reading.name for reading in token.readings]
        elif token.kind is Kind.FORM and place not in found.used:
            dated = clause.has(Kind.WHEN) and not setting.repeats(token.name)
            names.append((setting.day_of(token.name) if dated else "") or token.name)
        elif (
            token.kind is Kind.ENROLLED and place not in found.used and not clause.has(Kind.TARGET)
        ):
            names.append("@enrolled")
    if not names and found.where == [{"field": "@enrolled", "op": "filled"}]:
        names += ["@enrolled"] if clause.has(Kind.WHO) else []
    if not names and clause.has(Kind.TIMES, Kind.BASELINE) and setting.state.last:
        names += setting.state.last.select
    names = _tidy(clause, list(dict.fromkeys([*names, *_written_too(clause)])))
    design = setting.design
    asked = {design.form_of(name) for name in names if setting.column_kind(name)}
    for name in found.fields:
        form = design.form_of(name)
        if name in names or form in names or (setting.repeats(form) and form in asked):
            continue
        names.append(form if setting.repeats(form) else name)
    return tuple(names)


def _written_too(clause: Clause) -> list[str]:
    """P012有间质性肺炎吗: of one who was named no box that is not ticked hides what a free text says of it."""
    setting = clause.setting
    if not clause.has(Kind.SUBJECT) or clause.many:
        return []
    ticks = [
        t.said for t in clause.all(Kind.CHOICE) if setting.column_kind(t.name) is ColumnKind.TICKS
    ]
    return [
        name
        for name, values in setting.terms.items()
        if not setting.repeats(setting.design.form_of(name))
        and any(word in value.casefold() for value in values for word in ticks)
    ]


def _tidy(clause: Clause, names: list[str]) -> list[str]:
    """AE结束了吗: of a form whose fields are asked for, these, and what its rows are called."""
    setting, found = clause.setting, list[str]()
    ranked = any(t.value in ENDS for t in clause.all(Kind.ROWS))
    for name in names:
        inside = [n for n in names if setting.design.form_of(n) == name and setting.column_kind(n)]
        if setting.column_kind(name) or not inside or (ranked and setting.repeats(name)):
            found.append(name)
        elif setting.repeats(name):
            found.append(setting.naming_field(name))
    return list(dict.fromkeys(found))


def _had(clause: Clause, slots: Slots) -> Slots:
    """谁得过并发症: whoever has a row."""
    forms = [name for name in slots.select if clause.setting.repeats(name)]
    if len(slots.select) == 1 and not (slots.where or slots.subjects) and clause.many:
        name = slots.select[0]
        if clause.setting.is_free_text(name) and _is_had(clause, name):
            return replace(slots, where=({"field": name, "op": "filled"},))
    beside = slots.where and not (forms and _is_had(clause, forms[0]))
    if beside or slots.subjects or not forms or not clause.has(Kind.WHO) or clause.has(Kind.ROWS):
        return slots
    filled = {"field": clause.setting.naming_field(forms[0]), "op": "filled"}
    return replace(slots, where=(filled, *slots.where))


def _is_had(clause: Clause, form: str) -> bool:
    """哪些人有AE而且年龄大于60, 谁有过敏史: having it is what is asked for."""
    following = zip(clause.tokens, clause.tokens[1:], strict=False)
    is_form = (after for before, after in following if before.said in ("有", "有过"))
    return any(t.kind in (Kind.FORM, Kind.FIELD) and t.name == form for t in is_form)


def _overview(clause: Clause, slots: Slots) -> Slots:
    if slots.select or slots.where or not clause.has(Kind.OVERVIEW) or not slots.subjects:
        return slots
    return replace(slots, select=clause.setting.design.shown_forms, shape=Shape.OVERVIEW)


def _blanks(clause: Clause, slots: Slots) -> Slots:
    """还缺什么没填: the rows that are spoken of, else all forms, for what is blank in them."""
    form_of = clause.setting.design.form_of
    named = [form_of(name) or name for name in slots.select]
    named += [form_of(str(c["field"])) for c in slots.where if "field" in c]
    forms = tuple(dict.fromkeys(named)) or clause.setting.design.shown_forms
    return replace(slots, select=forms, shape=Shape.BLANKS)


def _shape(clause: Clause, found: Conditions, slots: Slots) -> Slots:
    set_already = slots.shape is not Shape.VALUE
    if slots.aggregate:
        return replace(slots, shape=_aggregate_shape(clause, slots))
    if slots.every and clause.has(Kind.WHEN):
        # P032的ALT什么时候恢复正常: the readings with their days say it.
        return replace(slots, every=False, where=(), shape=Shape.SERIES)
    if slots.every:
        return replace(slots, shape=Shape.YES_NO)
    if set_already:
        return (
            slots
            if slots.shape is not Shape.EXTREME or not clause.has(Kind.DIFFERENCE)
            else replace(slots, shape=Shape.DIFFERENCE, limit=None)
        )
    dated = any(clause.setting.is_date(n) or n == "@enrolled" for n in slots.select)
    if dated and (clause.has(Kind.WHEN) or all(clause.setting.is_date(n) for n in slots.select)):
        listed = clause.has(Kind.WHO) or (slots.where and not slots.subjects)
        return replace(slots, shape=Shape.LIST if listed else Shape.WHEN)
    if (clause.has(Kind.YES_NO) or _ends_with_no(clause)) and not _asks_more(clause, found):
        return replace(slots, shape=Shape.YES_NO)
    if clause.has(Kind.WHO) and (slots.where or slots.site or _whole_list(clause)):
        return replace(slots, shape=Shape.LIST)
    repeating = any(clause.setting.repeats(n) for n in slots.select)
    if slots.where and not slots.subjects and not repeating:
        return replace(slots, shape=Shape.LIST)
    return replace(slots, shape=Shape.ROWS if repeating else Shape.VALUE)


def _asks_more(clause: Clause, found: Conditions) -> bool:
    """P004入组合规吗, 血压高吗: a yes would answer words that are not known, or a comparison with nothing."""
    bare = any(place not in found.used for place in clause.places(Kind.COMPARE))
    return not clause.many and (bare or any(len(t.said) > 1 for t in clause.all(Kind.LEFT)))


def _ends_with_no(clause: Clause) -> bool:
    last = clause.tokens[-1] if clause.tokens else None
    return last is not None and last.kind is Kind.NOT and last.value != "report"


def _aggregate_shape(clause: Clause, slots: Slots) -> Shape:
    if slots.by:
        return Shape.GROUPS
    if slots.aggregate == "share":
        return Shape.SHARE
    if slots.aggregate != "count":
        return Shape.AGGREGATE
    rows = any(clause.setting.repeats(name) for name in slots.select) and not clause.has(Kind.COUNT)
    return Shape.COUNT_ROWS if rows or clause.has(Kind.COUNT_ROWS) else Shape.COUNT

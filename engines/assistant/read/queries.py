"""From question to StudyQueries (contracts.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.rules.context import Kind as ColumnKind
from engines.assistant.read.question import (
    Query,
    Question,
    Shape,
    Topic,
    condition_fields,
    conditions_of,
    one_each,
)
from engines.assistant.read.setting import Setting
from engines.assistant.read.tokens import Kind

_VISITS = [
    f"@visits.{c}"
    for c in ("visit", "state", "target", "open", "close", "actual", "days", "reason")
]
_FINDINGS = [f"@findings.{c}" for c in ("rule", "text", "status", "opened", "age")]
_REVIEWS = [f"@reviews.{c}" for c in ("question", "waiting_for", "since")]
_RUNS = [f"@runs.{c}" for c in ("status", "final_state", "ended", "reason")]
_CHECKS: Query = {"field": "@runs.skill", "op": "contains", "value": "qc_process"}
_CHANGES = [f"@changes.{c}" for c in ("field", "from", "to", "at")]
_FILLED = {"undecided": "@findings.reason", "mine": "@findings.mine"}
_JUDGED = (Shape.LIST, Shape.COUNT, Shape.YES_NO, Shape.GROUPS, Shape.SHARE)
_COMING = ["overdue", "due", "not_due"]
_LATE = ["late", "early"]
_STATES = {"closing": ["due"], "overdue": ["overdue"], "early": ["early"], "pending": _COMING} | {
    "late": ["late", "overdue", "early"]
}
# Windows that close within a week close soon.
_SOON = ("today", "today+7")


def queries(question: Question, setting: Setting) -> tuple[Query, ...]:
    """The queries of a question, first the one its answer is about.

    What is collected stands in the dictionary: a question of it has none.
    """
    make = {
        Topic.DATA: _data,
        Topic.VISITS: _visits,
        Topic.FINDINGS: _findings,
        Topic.REVIEWS: _reviews,
        Topic.RUNS: _runs,
        Topic.CHANGES: _changes,
        Topic.TARGET: _target,
        Topic.ELIGIBILITY: _eligibility,
    }
    return tuple(make[question.topic](question, setting)) if question.topic in make else ()


def _base(asked: Question, where: list[Query], select: list[Any]) -> Query:
    parts = {
        "subjects": list(asked.subjects),
        "where": [*where, *_among("@site", asked.site)],
        "select": select,
        "aggregate": asked.aggregate,
        "by": list(asked.by),
    }
    return {key: value for key, value in parts.items() if value}


def _among(name: str, values: tuple[str, ...] | list[str]) -> list[Query]:
    """A field is one of some values; nothing where there are none."""
    if len(values) < 2:
        return [{"field": name, "op": "=", "value": value} for value in values]
    return [{"field": name, "op": "in", "value": list(values)}]


def _between(name: str, asked: Question) -> list[Query]:
    first, last = asked.period or (None, None)
    if first and last:
        return [{"field": name, "op": "between", "value": [first, last]}]
    if first:
        return [{"field": name, "op": ">=", "value": first}]
    return [{"field": name, "op": "<=", "value": last}] if last else []


def _data(asked: Question, setting: Setting) -> list[Query]:
    form_of, where = setting.design.form_of, _judged(asked, setting)
    select: list[Any] = list(asked.select)
    if asked.aggregate == "count":
        # The repeating forms whose rows are counted beside the subjects.
        forms = (form_of(name) or name for name in select)
        select = [form for form in dict.fromkeys(forms) if setting.repeats(form)]
        where += any_row(asked, setting, where)
    elif asked.shape is Shape.YES_NO and not asked.subjects:
        rows = tuple(filter(setting.repeats, asked.select))
        where += any_row(replace(asked, select=rows), setting, where)
    if asked.change:
        select = _changed(asked, setting)
    dated = _dated(asked, setting) if asked.period else ""
    of_text = setting.column_kind(dated) is ColumnKind.TEXT
    query = _base(asked, where, select)
    if asked.of or (asked.aggregate == "share" and asked.site):
        query["of"] = [*asked.of, *_among("@site", asked.site)]
    if asked.rows is not None and asked.aggregate not in ("count", "share"):
        query["rows"] = asked.rows
    if asked.place and not asked.change.startswith("places"):
        query["place"] = asked.place[0] if len(asked.place) == 1 else list(asked.place)
    if asked.period and of_text:
        # Days in free text (partial dates) are a condition on the field.
        query["where"] = [*query.get("where", []), *_between(dated, asked)]
    elif asked.period:
        period = {"field": dated, "from": asked.period[0], "to": asked.period[1]}
        query["period"] = {key: value for key, value in period.items() if value}
    query = _ordered(asked, query)
    measured = [n for n in asked.select if setting.is_number(n)]
    if asked.rows in ("highest", "lowest") and len(measured) > 1 and measured == select:
        # Each has an end of its own; one query would go by the first of them.
        signed = asked.order[:1]
        return [
            _ordered(replace(asked, order=signed and signed + name), query | {"select": [name]})
            for name in measured
        ]
    if asked.shape is Shape.YES_NO and asked.subjects and (read := _read(asked, setting)):
        # A no is said over all readings.
        return [query, {k: v for k, v in query.items() if k != "where"} | {"select": read}]
    if asked.shape is Shape.YES_NO and (form := _form_looked_at(asked, setting)):
        # A no says among how many rows it was looked, or that what was looked for has ended.
        end = {"field": setting.vocabulary.ends.get(form, ""), "op": "blank"}
        ended = [part for part in asked.where if part != end] if end in asked.where else []
        looked = {"subjects": list(asked.subjects), "where": ended, "select": [form]}
        return [query, {key: value for key, value in looked.items() if value}]
    figures = asked.aggregate.split(",")
    made = [_figure(query, figure) for figure in figures] if figures[1:] else [query]
    return [*(one for query in made for one in one_each(query)), *_due(asked, setting)]


def _due(asked: Question, setting: Setting) -> list[Query]:
    """Beside blanks the due visits that should have a row of a form that is asked for: there may be none."""
    if asked.shape is not Shape.BLANKS or asked.where or asked.period:
        return []
    forms = {setting.design.form_of(name) or name for name in asked.select}
    once = [form for form in forms if not setting.repeats(form)]
    named = {event for place in asked.place for event in setting.events_at(place)}
    visits = [
        visit.visit
        for visit in setting.design.plan.visits
        if any(setting.stands(form, visit.visit) for form in once)
        and (not asked.place or named & {*setting.events_at(visit.visit)})
    ]
    where = _among("@visits.state", _COMING[:2]) + _among("@visits.visit", visits)
    return [_base(asked, where, list(_VISITS))] if visits else []


def _form_looked_at(asked: Question, setting: Setting) -> str:
    """The one repeating form that all conditions on named subjects are of, "" for none."""
    forms = {*map(setting.design.form_of, condition_fields(asked.where))}
    form = forms.pop() if len(forms) == 1 and asked.subjects else ""
    return form if setting.repeats(form) and not (asked.place or asked.period) else ""


def _figure(query: Query, figure: str) -> Query:
    """One of several figures; the whole of a share narrows what is counted beside it."""
    if figure == "share" or "of" not in query:
        return query | {"aggregate": figure}
    kept = {key: value for key, value in query.items() if key != "of"}
    return kept | {"aggregate": figure, "where": [*query.get("where", []), *query["of"]]}


def _read(asked: Question, setting: Setting) -> list[str]:
    """The fields that values are compared of; none where rows of a form are looked for."""
    told = conditions_of(asked.where)
    others = [part["value"] for part in told if isinstance(part.get("value"), dict)]
    names = [*condition_fields(told), *(str(v["field"]) for v in others if "field" in v)]
    ordered = all(part["op"] in (">", ">=", "<", "<=") for part in told)
    once = not any(setting.repeats(setting.design.form_of(name)) for name in names)
    return list(dict.fromkeys(n for n in names if n != "@enrolled")) if ordered or once else []


def _ordered(asked: Question, query: Query) -> Query:
    if not asked.order:
        return query
    query = query | {"order": {"by": asked.order[1:], "desc": asked.order[0] == "-"}}
    return query | ({"limit": asked.limit} if asked.limit else {})


def any_row(asked: Question, setting: Setting, where: Sequence[Query]) -> list[Query]:
    """Who is counted, or asked for, by a form or a value has it: it must be filled."""
    if any("none" in part for part in where):
        return []
    form_of = setting.design.form_of
    named = {*condition_fields(where)}
    forms = {form_of(name) for name in named}
    found: list[Query] = []
    for name in asked.select:
        field = setting.naming_field(name) if setting.repeats(name) else name
        held = form_of(field) in forms if setting.repeats(form_of(field)) else field in named
        if not held and (field == "@enrolled" or setting.column_kind(field)):
            found.append({"field": field, "op": "filled"})
    return found


def _dated(asked: Question, setting: Setting) -> str:
    """The field that a period is about; "" for the rows' own dates."""
    named = [*asked.select, *condition_fields(asked.where)]
    if "@enrolled" in named:
        return setting.design.enrolment_field
    forms = (setting.design.form_of(name) or name for name in named)
    began = [setting.vocabulary.onsets.get(form, "") for form in forms]
    return next((n for n in (*asked.select, *began) if n and setting.is_date(n)), "")


def _changed(asked: Question, setting: Setting) -> list[Any]:
    """What is worked out of two values, beside the values where both are told."""
    kind, _colon, how = asked.change.partition(":")
    names = [name for name in asked.select if setting.column_kind(name) is not None]
    if kind == "days":
        first, last = asked.select[-2:]
        lasted = {"field": last, "minus": {"field": first}, "as": "days"}
        return [lasted] if asked.aggregate else [*names, lasted]
    found: list[Any] = []
    for name in names:
        if kind == "since":
            found += [name, {"field": name, "minus": "today", "as": "days"}]
        elif kind == "limit":
            found += [name, {"field": name, "minus": {"ref": how}, "as": "ratio"}]
        elif kind == "places":
            left, right = asked.place[:2] if how == "than" else asked.place[1::-1]
            base = {"field": name, "place": right}
            found.append({"field": name, "place": left, "minus": base, "as": "diff"})
        else:
            place = _baseline(setting)
            at: Query = {"place": place} if place else {"rows": "first"}
            left_of: Query = {"rows": asked.rows or "latest"}
            left_of = {"place": asked.place[0]} if asked.place else left_of
            found.append({"field": name, **left_of, "minus": {"field": name, **at}, "as": how})
    return found


def _baseline(setting: Setting) -> str:
    for word in ("基线", "baseline", "筛选", "screening"):
        meaning = setting.vocabulary.words.get(word)
        if meaning is None or meaning.kind is not Kind.PLACE:
            meaning = setting.vocabulary.other(word, Kind.PLACE)
        if meaning:
            return meaning.readings[0].name
    return ""


def _judged(asked: Question, setting: Setting) -> list[Query]:
    """Who is looked for by a value is by that of the row that is named; else it says which rows are meant."""
    if asked.rows not in ("latest", "first") or asked.shape not in _JUDGED:
        return list(asked.where)

    def told(part: Query) -> Query:
        if "any" in part:
            return {"any": [told(inner) for inner in part["any"]]}
        name = part.get("field")
        measured = isinstance(name, str) and setting.is_number(name)
        if not measured or setting.repeats(setting.design.form_of(str(name))):
            return part
        return part | {"field": {"field": name, "rows": asked.rows}}

    return [told(part) for part in asked.where]


def _visits(asked: Question, setting: Setting) -> list[Query]:
    plan = {visit.visit for visit in setting.design.plan.visits}
    planned = [place for place in asked.place if place in plan]
    where = [*asked.where, *_among("@visits.visit", planned)]
    if asked.aspect == "late" and asked.period:
        where += _late_within(asked, bool(planned))
    else:
        where += _visit_states(asked, bool(planned)) + _visit_period(asked)
    query = _base(asked, where, [] if asked.aggregate else list(_VISITS))
    if asked.shape is Shape.NEXT_VISIT or asked.aspect == "last":
        # Of those that were made some may be in doubt: its reason is told of the last one only.
        query["rows"] = {"latest": 1} if asked.aspect == "last" else "first"
    return [query]


def _visit_states(asked: Question, planned: bool) -> list[Query]:
    """The visits that an aspect means; one that is named is told whatever became of it."""
    aspect, one = asked.aspect, bool(asked.subjects) and planned
    if aspect == "next":
        return _among("@visits.state", _COMING)
    if aspect in _STATES and not one:
        return _among("@visits.state", _STATES[aspect])
    if aspect == "due" and not one:
        return _among("@visits.state", _COMING[1:] if asked.period else ["due", "overdue"])
    if aspect == "missing" and not one:
        return [{"field": "@visits.actual", "op": "blank"}]
    if aspect == "last" or (aspect == "actual" and (asked.aggregate or not asked.subjects)):
        return [{"field": "@visits.actual", "op": "filled"}]
    return []


def _visit_period(asked: Question) -> list[Query]:
    """A window that touches the days asked for; of visits that were made, the day itself."""
    if asked.aspect == "closing":
        return _between("@visits.close", replace(asked, period=asked.period or _SOON))
    if asked.aspect in ("last", "early", "actual"):
        return _between("@visits.actual", asked)
    first, last = asked.period or (None, None)
    opens = _between("@visits.open", replace(asked, period=(None, last)))
    return opens + _between("@visits.close", replace(asked, period=(first, None)))


def _late_within(asked: Question, planned: bool) -> list[Query]:
    """Out of its window in a period: done on one of its days, or overdue since one of them.

    An overdue visit has no day on which it was made. One that is named is told though it was in time.
    """
    done = [*_LATE, "in_window"] if asked.subjects and planned else _LATE
    made = [*_among("@visits.state", done), *_between("@visits.actual", asked)]
    due = [*_among("@visits.state", ["overdue"]), *_between("@visits.close", asked)]
    return [{"any": [{"all": made}, {"all": due}]}]


def _findings(asked: Question, setting: Setting, check: Query = _CHECKS) -> list[Query]:
    """Findings, of fields where some are named; of who is named also what waits and what was checked."""
    opened = asked.aspect != "why" and not (asked.period and asked.aspect in ("", "new"))
    where: list[Query] = (
        [{"field": "@findings.status", "op": "=", "value": "open"}] if opened else []
    )
    if asked.aspect in _FILLED:
        where.append({"field": _FILLED[asked.aspect], "op": "filled"})
    where += _between("@findings.opened", asked)
    fields = {n for name in asked.select for n in (setting.fields_of(name) or [name])}
    where += [{"field": "@findings.field", "op": "in", "value": sorted(fields)}] if fields else []
    more = ["@findings.reason"] if asked.aspect == "undecided" else []
    found = [_ordered(asked, _base(asked, where, [] if asked.aggregate else [*_FINDINGS, *more]))]
    if not asked.subjects or asked.aggregate or asked.aspect not in ("", "why"):
        return found
    if fields:
        found += _findings(replace(asked, select=()), setting)[:1]
    # The newest check of each kind: one that passed says nothing of another that failed.
    newest: list[Query] = [check, {"field": "@runs.newest", "op": "filled"}]
    found.append(_base(asked, newest, list(_RUNS)))
    return found + ([_base(asked, [], list(_REVIEWS))] if not asked.aspect else [])


def _reviews(asked: Question, _setting: Setting) -> list[Query]:
    # A count needs a row to count: what waits has a question.
    counted: list[Query] = (
        [{"field": "@reviews.question", "op": "filled"}] if asked.aggregate else []
    )
    where = counted + _between("@reviews.since", asked)
    return [_base(asked, where, [] if asked.aggregate else list(_REVIEWS))]


def _runs(asked: Question, _setting: Setting) -> list[Query]:
    if asked.aspect == "missing":
        return [_base(asked, [{"none": [{"field": "@runs.status", "op": "filled"}]}], [])]
    where = _between("@runs.ended", asked)
    where += _among("@runs.status", ["FAILED"] if asked.aspect == "failed" else [])
    if asked.aggregate:
        return [_base(asked, where, [])]
    return [_base(asked, where, list(_RUNS)) | {"rows": {"latest": 1}}]


def _changes(asked: Question, setting: Setting) -> list[Query]:
    reviewed = setting.reviewed() if asked.aspect == "review" else ""
    first, last = asked.period or (None, None)
    after = (day for day in (reviewed, first) if day)
    where: list[Query] = [{"field": "@changes.at", "op": ">=", "value": day} for day in after]
    where += [{"field": "@changes.at", "op": "<=", "value": f"{last}T23:59:59"}] if last else []
    if asked.select:
        known = setting.design.context.columns.items()
        named = {*asked.select}
        columns = [n for n, c in known if {c.field, setting.design.form_of(c.field)} & named]
        where.append({"field": "@changes.field", "op": "in", "value": columns})
    return [_ordered(asked, _base(asked, where, list(_CHANGES)))]


def _target(asked: Question, setting: Setting) -> list[Query]:
    target: Query = {"select": ["@project.target"]}
    if asked.shape is Shape.TARGET:
        return [target]
    enrolled = _base(asked, [{"field": "@enrolled", "op": "filled"}], []) | {"aggregate": "count"}
    months = enrolled | {"by": [f"month:{setting.design.enrolment_field}"]}
    return [enrolled, target, *([months] if asked.shape is Shape.TARGET_PACE else [])]


def _eligibility(asked: Question, setting: Setting) -> list[Query]:
    """Whoever is asked about: the criteria noted as not met, where they stand, their open findings."""
    told = (
        setting.vocabulary.words.get(word) for word in ("入选标准", "排除标准", "状态", "既往史")
    )
    noted = [meant.readings[0].name for meant in told if meant and meant.readings]
    select = list(dict.fromkeys([*(noted or ["@status"]), *asked.select]))
    # A check of adverse events or of visits says nothing of whether one may be enrolled.
    check = _CHECKS | {"op": "="}
    return [_base(asked, [], select), *_findings(replace(asked, select=()), setting, check)]

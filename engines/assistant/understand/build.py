"""From slots to StudyQueries (contracts.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engines.assistant.understand import data_changes
from engines.assistant.understand.clause import Setting
from engines.assistant.understand.judged_rows import judged_rows
from engines.assistant.understand.tokens import Kind
from engines.assistant.understand.types import Query, Shape, Slots, Topic
from rules.context import Kind as ColumnKind

_VISIT_COLUMNS = ("visit", "state", "target", "open", "close", "actual", "days")
_FINDING_COLUMNS = (
    "@findings.rule",
    "@findings.text",
    "@findings.status",
    "@findings.opened",
    "@findings.age",
)
_FILLED = {"undecided": "@findings.reason", "mine": "@findings.mine"}
_REVIEW_COLUMNS = ("@reviews.question", "@reviews.waiting_for", "@reviews.since")
_RUN_COLUMNS = ("@runs.status", "@runs.final_state", "@runs.ended", "@runs.reason")
_ORDERED = (">", ">=", "<", "<=")
_COMING = ["overdue", "due", "not_due"]
# Windows that close within a week close soon.
_SOON = "today+7"
# From this grade on an event is severe (CTCAE).
_SEVERE = "3"
_LATE = ["late", "overdue", "early"]


def queries(slots: Slots, setting: Setting) -> tuple[Query, ...]:
    """The queries of a question, first the one its answer is about."""
    make = {
        Topic.DATA: _data,
        Topic.VISITS: _visits,
        Topic.FINDINGS: _findings,
        Topic.REVIEWS: _reviews,
        Topic.RUNS: _runs,
        Topic.CHANGES: _changes,
        Topic.TARGET: _target,
        Topic.TODO: _todo,
        Topic.DICTIONARY: _dictionary,
    }[slots.topic]
    return tuple(make(slots, setting))


def _base(slots: Slots, where: list[Query], select: list[Any]) -> Query:
    query: Query = {}
    if slots.subjects:
        query["subjects"] = list(slots.subjects)
    conditions = [*where, *_site(slots)]
    if conditions:
        query["where"] = conditions
    if select:
        query["select"] = select
    if slots.aggregate:
        query["aggregate"] = slots.aggregate
    if slots.by:
        query["by"] = list(slots.by)
    return query


def _site(slots: Slots) -> list[Query]:
    if not slots.site:
        return []
    if len(slots.site) == 1:
        return [{"field": "@site", "op": "=", "value": slots.site[0]}]
    return [{"field": "@site", "op": "in", "value": list(slots.site)}]


def _data(slots: Slots, setting: Setting) -> list[Query]:
    counted = slots.aggregate == "count"
    select: list[Any] = _counted(slots, setting) if counted else list(slots.select)
    where = judged_rows(slots, setting)
    if counted:
        where += _any_row(slots, setting, where)
    if slots.change:
        select = _changed(slots, setting)
    query = _base(slots, where, select)
    if slots.of or (slots.aggregate == "share" and slots.site):
        query["of"] = list(slots.of) + _site(slots)
    if slots.rows is not None and slots.aggregate not in ("count", "share"):
        query["rows"] = slots.rows
    if slots.place and not slots.change.startswith("places"):
        query["place"] = slots.place[0] if len(slots.place) == 1 else list(slots.place)
    if slots.period:
        told = _period(slots, setting)
        query |= told | (
            {"where": [*query.get("where", []), *told["where"]]} if "where" in told else {}
        )
    query = _ordered(slots, query)
    measured = [n for n in slots.select if setting.is_number(n)]
    if slots.rows in ("highest", "lowest") and len(measured) > 1 and measured == select:
        # Each has an end of its own; one query would go by the first of them.
        signed = slots.order[:1]
        return [
            _ordered(replace(slots, order=signed and signed + name), query | {"select": [name]})
            for name in measured
        ]
    if slots.shape is Shape.YES_NO and slots.subjects and _compares(slots.where):
        # A no is said over all readings.
        return [query, {k: v for k, v in query.items() if k != "where"} | {"select": _read(slots)}]
    figures = slots.aggregate.split(",")
    return [query | {"aggregate": figure} for figure in figures] if figures[1:] else [query]


def _compares(where: tuple[Query, ...]) -> bool:
    """Whether the conditions are comparisons of values."""
    parts = [part for c in where for part in c.get("any", [c])]
    return bool(parts) and all(part.get("op") in _ORDERED for part in parts)


def _read(slots: Slots) -> list[str]:
    """The fields that are compared."""
    parts = [part for c in slots.where for part in c.get("any", [c])]
    return list(dict.fromkeys(str(part["field"]) for part in parts))


def _ordered(slots: Slots, query: Query) -> Query:
    if not slots.order:
        return query
    query = query | {"order": {"by": slots.order[1:], "desc": slots.order[0] == "-"}}
    return query | ({"limit": slots.limit} if slots.limit else {})


def _counted(slots: Slots, setting: Setting) -> list[str]:
    """The repeating forms whose rows are counted beside the subjects."""
    forms = (setting.design.form_of(name) or name for name in slots.select)
    return list(dict.fromkeys(form for form in forms if setting.repeats(form)))


def _any_row(slots: Slots, setting: Setting, where: list[Query]) -> list[Query]:
    """To count who has a form or a value, it must be filled."""
    if any("none" in c for c in where):
        return []
    parts = [part for c in where for part in c.get("any", [c])]
    told = (part.get("field", "") for part in parts)
    named = {str(name["field"] if isinstance(name, dict) else name) for name in told}
    forms = {setting.design.form_of(name) for name in named}
    found: list[Query] = []
    for name in slots.select:
        field = setting.naming_field(name) if setting.repeats(name) else name
        held = (
            (setting.design.form_of(field) in forms)
            if setting.repeats(setting.design.form_of(field))
            else field in named
        )
        if not held and (field == "@enrolled" or setting.column_kind(field)):
            found.append({"field": field, "op": "filled"})
    return found


def _dated(slots: Slots, setting: Setting) -> str:
    """The field that a period is about; "" for the rows' own dates."""
    if "@enrolled" in (*slots.select, *(c.get("field") for c in slots.where)):
        return setting.design.enrolment_field
    onsets = setting.vocabulary.onsets
    began = [onsets[form] for form in _forms(slots, setting) if form in onsets]
    return next((n for n in (*slots.select, *began) if setting.is_date(n)), "")


def _period(slots: Slots, setting: Setting) -> Query:
    """The period of a query; of days in free text (partial dates) a condition on the field."""
    first, last = slots.period or (None, None)
    name = _dated(slots, setting)
    if name and setting.column_kind(name) is ColumnKind.TEXT:
        return {"where": _between(name, slots)}
    period = {"field": name, "from": first, "to": last}
    return {"period": {key: value for key, value in period.items() if value}}


def _forms(slots: Slots, setting: Setting) -> list[str]:
    """The forms that a question is about."""
    named = [*slots.select, *(str(c.get("field", "")) for c in slots.where)]
    return [setting.design.form_of(name) or name for name in named]


def _changed(slots: Slots, setting: Setting) -> list[Any]:
    kind, _colon, how = slots.change.partition(":")
    found: list[Any] = []
    for name in slots.select:
        if setting.column_kind(name) is None:
            continue
        if kind == "days":
            found.append(name)
        elif kind == "since":
            found += [name, {"field": name, "minus": "today", "as": "days"}]
        elif kind == "limit":
            found.append(name)
            found.append({"field": name, "minus": {"ref": how}, "as": "ratio"})
        elif kind == "places":
            left, right = (slots.place[-1], slots.place[0]) if how != "than" else slots.place[:2]
            how = "diff"
            found.append(
                {"field": name, "place": left, "minus": {"field": name, "place": right}, "as": how}
            )
        else:
            base: Query = (
                {"field": name, "place": _baseline(setting)}
                if _baseline(setting)
                else {"field": name, "rows": "first"}
            )
            left_of = {"place": slots.place[0]} if slots.place else {"rows": slots.rows or "latest"}
            found.append({"field": name, **left_of, "minus": base, "as": how})
    if kind == "days":
        first, last = slots.select[-2:]
        lasted = {"field": last, "minus": {"field": first}, "as": "days"}
        return [lasted] if slots.aggregate else [*found, lasted]
    return found


def _baseline(setting: Setting) -> str:
    for word in ("基线", "baseline", "筛选", "screening"):
        meaning = setting.vocabulary.words.get(word)
        if meaning and meaning.kind is Kind.PLACE:
            return meaning.readings[0].name
        other = setting.vocabulary.other(word, Kind.PLACE)
        if other:
            return other.readings[0].name
    return ""


def _visits(slots: Slots, setting: Setting) -> list[Query]:
    where = list(slots.where)
    planned = [
        place for place in slots.place if place in {v.visit for v in setting.design.plan.visits}
    ]
    if planned:
        value: Any = planned[0] if len(planned) == 1 else planned
        where.append(
            {"field": "@visits.visit", "op": "=" if len(planned) == 1 else "in", "value": value}
        )
    where += _visit_states(slots, bool(planned)) + _visit_period(slots)
    select = [] if slots.aggregate else [f"@visits.{column}" for column in _VISIT_COLUMNS]
    query = _base(slots, where, select)
    if slots.shape is Shape.NEXT_VISIT or slots.aspect == "last":
        query["rows"] = "latest" if slots.aspect == "last" else "first"
    return [query]


def _visit_states(slots: Slots, planned: bool) -> list[Query]:
    state = "@visits.state"
    one = bool(slots.subjects) and planned
    exact = {"closing": "due", "overdue": "overdue", "early": "early"}.get(slots.aspect)
    if exact and not one:
        return [{"field": state, "op": "=", "value": exact}]
    if slots.aspect == "late" and not one:
        return [{"field": state, "op": "in", "value": _LATE}]
    if slots.aspect == "next":
        return [{"field": state, "op": "in", "value": _COMING}]
    if slots.aspect == "due" and not one:
        return [
            {
                "field": state,
                "op": "in",
                "value": _COMING[1:] if slots.period else ["due", "overdue"],
            }
        ]
    if slots.aspect == "missing" and not one:
        return [{"field": "@visits.actual", "op": "blank"}]
    if slots.aspect == "pending" and not one:
        return [{"field": state, "op": "in", "value": _COMING}]
    if slots.aspect == "last" or (
        slots.aspect == "actual" and (slots.aggregate or not slots.subjects)
    ):
        return [{"field": "@visits.actual", "op": "filled"}]
    return []


def _visit_period(slots: Slots) -> list[Query]:
    """A window that touches the days asked for; of visits that were made, the day itself."""
    if slots.aspect == "closing":
        days = slots.period or ("today", _SOON)
        return [{"field": "@visits.close", "op": "between", "value": list(days)}]
    if not slots.period:
        return []
    first, last = slots.period
    if slots.aspect in ("due", "next", "close", "overdue", ""):
        upper = [{"field": "@visits.open", "op": "<=", "value": last}] if last else []
        return upper + ([{"field": "@visits.close", "op": ">=", "value": first}] if first else [])
    if first and last:
        return [{"field": "@visits.actual", "op": "between", "value": [first, last]}]
    bound = (">=", first) if first else ("<=", last)
    return [{"field": "@visits.actual", "op": bound[0], "value": bound[1]}]


def _findings(slots: Slots, _setting: Setting) -> list[Query]:
    where: list[Query] = (
        [] if slots.aspect == "why" else [{"field": "@findings.status", "op": "=", "value": "open"}]
    )
    if slots.aspect in _FILLED:
        where.append({"field": _FILLED[slots.aspect], "op": "filled"})
    where += _between("@findings.opened", slots)
    if slots.period and slots.aspect in ("", "new"):
        where = where[1:]
    more = ["@findings.reason"] if slots.aspect == "undecided" else []
    columns = [] if slots.aggregate else [*_FINDING_COLUMNS, *more]
    found = [_ordered(slots, _base(slots, where, columns))]
    if slots.aspect == "why":
        found.append(_base(slots, [], list(_RUN_COLUMNS)) | {"rows": "latest"})
    return found


def _reviews(slots: Slots, _setting: Setting) -> list[Query]:
    select = [] if slots.aggregate else list(_REVIEW_COLUMNS)
    # A count needs a row to count: what waits has a question.
    where = [{"field": "@reviews.question", "op": "filled"}] if slots.aggregate else []
    return [_base(slots, where + _between("@reviews.since", slots), select)]


def _runs(slots: Slots, _setting: Setting) -> list[Query]:
    if slots.aspect == "missing":
        never: Query = {"none": [{"field": "@runs.status", "op": "filled"}]}
        return [_base(slots, [never], [])]
    where = _between("@runs.ended", slots)
    if slots.aspect == "failed":
        where.append({"field": "@runs.status", "op": "=", "value": "FAILED"})
    query = _base(slots, where, [] if slots.aggregate else list(_RUN_COLUMNS))
    return [query if slots.aggregate else query | {"rows": "latest"}]


def _changes(slots: Slots, setting: Setting) -> list[Query]:
    columns = [
        column
        for column, known in setting.design.context.columns.items()
        if known.field in slots.named or setting.design.form_of(known.field) in slots.named
    ]
    reviewed = setting.reviewed() if slots.aspect == "review" else ""
    where = data_changes.conditions(slots, columns, reviewed)
    return [_ordered(slots, _base(slots, where, list(data_changes.COLUMNS)))]


def _between(column: str, slots: Slots) -> list[Query]:
    first, last = slots.period or (None, None)
    if first and last:
        return [{"field": column, "op": "between", "value": [first, last]}]
    if first:
        return [{"field": column, "op": ">=", "value": first}]
    return [{"field": column, "op": "<=", "value": last}] if last else []


def _target(slots: Slots, setting: Setting) -> list[Query]:
    target: Query = {"select": ["@project.target"]}
    if slots.shape is Shape.TARGET:
        return [target]
    enrolled = _base(slots, [{"field": "@enrolled", "op": "filled"}], []) | {"aggregate": "count"}
    if slots.shape is Shape.TARGET_PACE:
        return [enrolled, target, enrolled | {"by": [f"month:{setting.design.enrolment_field}"]}]
    return [enrolled, target]


def _dictionary(_slots: Slots, _setting: Setting) -> list[Query]:
    """What is collected stands in the dictionary: no data are read for it."""
    return []


def _watch(slots: Slots, setting: Setting) -> list[Query]:
    """Whose visits are overdue, who has open findings, whose severe events go on."""
    scope = Slots(subjects=slots.subjects, site=slots.site)
    late = replace(scope, topic=Topic.VISITS, aspect="overdue")
    found = [*_visits(late, setting), *_findings(scope, setting)]
    words = setting.vocabulary
    form = words.event_form
    if form not in words.grades or form not in words.ends:
        return found
    severe: Query = {"field": words.grades[form], "op": ">=", "value": _SEVERE}
    goes_on: Query = {"field": words.ends[form], "op": "blank"}
    return [*found, _base(scope, [severe, goes_on], [form])]


def _todo(slots: Slots, setting: Setting) -> list[Query]:
    if slots.shape is Shape.WATCH:
        return _watch(slots, setting)
    visits = _visits(Slots(topic=Topic.VISITS, aspect="due", site=slots.site), setting)
    return [
        *visits,
        *_findings(Slots(site=slots.site), setting),
        *_reviews(Slots(site=slots.site), setting),
    ]

"""Questions of visits, targets, findings, reviews and runs: from one clause to its slots."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from engines.assistant.understand.clause import Clause
from engines.assistant.understand.found import Conditions
from engines.assistant.understand.row_choice import MOST, number_behind
from engines.assistant.understand.tokens import Kind
from engines.assistant.understand.types import Shape, Slots, Topic

HEAD = {
    Topic.TODO: Shape.TODO,
    Topic.REVIEWS: Shape.REVIEWS,
    Topic.FINDINGS: Shape.FINDINGS,
    Topic.RUNS: Shape.RUNS,
}
"""How the rows of a topic are told."""
_AGES = dict.fromkeys(("longest", "first", "first_n", "open"), "-") | dict.fromkeys(
    ("latest", "latest_n"), "+"
)
_ASPECTS = ("next", "last", "closing", "overdue", "late", "early", "due", "close", "open", "actual")
_PEOPLE = re.compile("受试者|病人|患者|人|位|名")
_TARGETS = {
    "pace": Shape.TARGET_PACE,
    "left": Shape.TARGET_LEFT,
    "rate": Shape.TARGET_RATE,
    "total": Shape.TARGET,
}


def of_visits(clause: Clause, found: Conditions, slots: Slots) -> Slots:
    """The slots of a question of visits: `aspect` is what it asks of them."""
    aspects = clause.values(Kind.VISIT)
    aspect = next((a for a in _ASPECTS if a in aspects), "")
    if not aspect and slots.subjects and clause.has(Kind.ROWS, value="latest"):
        aspect = "last"
    made = are_made(clause, found)
    if not aspect and clause.has(Kind.NOT, Kind.EMPTY):
        # 谁的V2还没做: what does not apply to somebody is nothing they have still to do.
        aspect = "pending" if "还" in clause.said else "missing"
    counted = _how_many(clause, bool(aspect) and not slots.subjects)
    today = clause.setting.calendar.today.isoformat()
    if not aspect and slots.period and (slots.period[0] or "") >= today:
        aspect = "due"
    past = slots.period and (slots.period[1] or today) < today
    if not aspect and (made or counted or past or clause.has(Kind.WHO)):
        # 上周有哪些访视: of days that are over the visits that were made on them.
        aspect = "actual"
    if aspect == "due" and slots.period and (slots.period[1] or today) < today:
        aspect = "actual"
    slots = replace(
        slots,
        aspect=aspect,
        where=tuple(c for c in found.where if c.get("field") != clause.setting.design.status_field),
    )
    if counted:
        rows = made or clause.has(Kind.COUNT_ROWS) or _counts_visits(clause)
        shape = Shape.COUNT_ROWS if rows else Shape.COUNT
        return replace(
            slots,
            shape=shape,
            aggregate="count",
            by=("@site",) if clause.has(Kind.EACH_SITE) else (),
        )
    if aspect == "next":
        return replace(slots, shape=Shape.NEXT_VISIT)
    return replace(
        slots, shape=Shape.WHEN if clause.has(Kind.WHEN) and slots.subjects else Shape.VISITS
    )


def are_made(clause: Clause, found: Conditions) -> bool:
    """P023完成了几次访视: a word for the end of the study, but said of visits and of nobody."""
    done = clause.setting.vocabulary.done_choices
    told = [
        t for t in clause.all(Kind.CHOICE) if {r._replace(weight=1.0) for r in t.readings} & done
    ]
    of_visits = any(t.value == "topic" for t in clause.all(Kind.VISIT))
    asked = clause.has(Kind.COUNT, Kind.COUNT_ROWS, Kind.WHO, Kind.WHAT)
    only = set(found.fields) <= {clause.setting.design.status_field}
    return bool(told) and of_visits and asked and only and not _PEOPLE.search(clause.said)


def _how_many(clause: Clause, bare: bool) -> bool:
    """Whether a number is asked for; a bare 多少 does where nothing else can be meant."""
    return clause.has(Kind.COUNT, Kind.COUNT_ROWS) or (bare and "多少" in clause.said)


def _counts_visits(clause: Clause) -> bool:
    """做了几个访视: visits are counted, and not who came."""
    pairs = pairwise(t for t in clause.tokens if t.kind is not Kind.FILL)
    return any(
        a.kind is Kind.COUNT and (b.kind, b.value) == (Kind.VISIT, "topic") for a, b in pairs
    )


def of_work(clause: Clause, slots: Slots) -> Slots:
    """The slots of a question of the target, findings, reviews or runs."""
    if slots.topic is Topic.TARGET:
        values = clause.values(Kind.TARGET)
        first = next((value for value in _TARGETS if value in values), "total")
        if first == "total" and clause.has(Kind.SHARE, Kind.CHOICE):
            first = "rate"
        return replace(slots, shape=_TARGETS[first])
    if (
        slots.period == (clause.setting.calendar.today.isoformat(),) * 2
        and slots.topic is Topic.REVIEWS
    ):
        slots = replace(slots, period=None)
    if slots.topic is Topic.TODO and "watch" in clause.values(Kind.TODO):
        return replace(slots, shape=Shape.WATCH)
    aspect = next((v for k in (Kind.FINDING, Kind.RUN) for v in clause.values(k) if v), "")
    if slots.topic is Topic.RUNS and not aspect and _asks_what_of_it(clause):
        slots, aspect = replace(slots, topic=Topic.FINDINGS), "why"
    slots = replace(slots, aspect=aspect, shape=HEAD[slots.topic])
    if slots.topic is Topic.RUNS and clause.has(Kind.NOT) and clause.many:
        slots = replace(slots, aspect="missing", shape=Shape.LIST)
    by = ("@site",) if clause.has(Kind.EACH_SITE) else ()
    most = next((t for t in clause.all(Kind.ROWS) if t.value in MOST), None)
    if most and clause.has(Kind.WHO):
        order, limit = MOST[most.value] + "value", number_behind(clause, most)
        slots = replace(slots, by=("@subject",), order=order, limit=limit)
        return replace(slots, aggregate="count", shape=Shape.COUNT_ROWS)
    if by or _how_many(clause, bare=True):
        people = any(_PEOPLE.search(t.said) for t in clause.all(Kind.COUNT))
        shape = Shape.COUNT if people else Shape.COUNT_ROWS
        return replace(slots, aggregate="count", shape=shape, by=by)
    if slots.topic is Topic.FINDINGS and slots.aspect != "why":
        return _by_age(clause, slots)
    return slots


def _asks_what_of_it(clause: Clause) -> bool:
    """P012为什么挂起了, P017质控有啥毛病: of one subject's check what it found, and where it stands."""
    came = any(t.said in ("结果", "结论") for t in clause.all(Kind.FILL))
    asked = (clause.has(Kind.WHAT) or came) and not clause.has(Kind.WHEN, Kind.YES_NO)
    return asked and len({*clause.values(Kind.SUBJECT)}) == 1 and not clause.many


def _by_age(clause: Clause, slots: Slots) -> Slots:
    """开了最久的疑点, 最新的三个疑点."""
    for token in clause.all(Kind.ROWS, Kind.VISIT):
        if token.value in _AGES:
            limit = int(token.number or number_behind(clause, token))
            return replace(slots, order=_AGES[token.value] + "@findings.age", limit=limit)
    return slots

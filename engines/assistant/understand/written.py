"""A StudyQuery that somebody wrote, as a question that can be answered plainly.

A model that is asked what a message wants writes queries, not words (design.md 5a.1): what the answer is to
show of them follows from the query alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engines.assistant.understand.types import Asked, Query, Shape, Slots, Topic
from study.query.schema import parse

_TOPICS = {
    "@visits": Topic.VISITS,
    "@findings": Topic.FINDINGS,
    "@reviews": Topic.REVIEWS,
    "@runs": Topic.RUNS,
    "@changes": Topic.CHANGES,
}
_SHAPES = {
    Topic.VISITS: Shape.VISITS,
    Topic.FINDINGS: Shape.FINDINGS,
    Topic.REVIEWS: Shape.REVIEWS,
    Topic.RUNS: Shape.RUNS,
    Topic.CHANGES: Shape.CHANGES,
}


def asked_by(query: Mapping[str, Any], said: str) -> Asked:
    """The question that a query is. Raises study.query.errors.QueryError for what is none.

    `said`: the part of the message it stands for.
    """
    parse(query)
    known: Query = {key: value for key, value in query.items() if value not in (None, [], {})}
    slots = _slots(known)
    return Asked((known,), slots.shape, slots.select, said, slots)


def _slots(query: Query) -> Slots:
    select = tuple(dict.fromkeys(_name(one) for one in query.get("select", ())))
    where = tuple(query.get("where", ()))
    topic = next((_TOPICS[name.split(".")[0]] for name in select if _is_work(name)), Topic.DATA)
    changed = next((_change(one) for one in query.get("select", ()) if _change(one)), "")
    place = query.get("place", ())
    order = query.get("order") or {}
    sign = "-" if order.get("desc") else "+"
    return Slots(
        topic=topic,
        shape=_shape(query, topic, select, changed),
        subjects=tuple(query.get("subjects", ())),
        select=select,
        where=where,
        of=tuple(query.get("of", ())),
        place=(place,) if isinstance(place, str) else tuple(place),
        period=_period(query.get("period") or {}),
        rows=query.get("rows"),
        aggregate=query.get("aggregate", ""),
        by=tuple(query.get("by", ())),
        order=sign + order["by"] if order else "",
        limit=query.get("limit"),
        change=changed,
    )


def _is_work(name: str) -> bool:
    return name.split(".")[0] in _TOPICS


def _name(selected: Any) -> str:
    return str(selected["field"]) if isinstance(selected, Mapping) else str(selected)


def _period(period: Mapping[str, str]) -> tuple[str | None, str | None] | None:
    return (period.get("from"), period.get("to")) if period else None


def _change(selected: Any) -> str:
    """What is computed of a selected operand, as `Slots.change` names it."""
    if not isinstance(selected, Mapping) or "minus" not in selected:
        return ""
    how, minus = selected.get("as", "diff"), selected["minus"]
    if "ref" in minus:
        return f"limit:{minus['ref']}"
    if how == "days":
        return "days"
    both = "place" in selected and "place" in minus
    return f"places:{how}" if both else f"baseline:{how}"


def _shape(query: Query, topic: Topic, select: tuple[str, ...], changed: str) -> Shape:
    if aggregate := query.get("aggregate"):
        if query.get("by"):
            return Shape.GROUPS
        return {"count": Shape.COUNT, "share": Shape.SHARE}.get(aggregate, Shape.AGGREGATE)
    if topic in _SHAPES:
        return _SHAPES[topic]
    if changed:
        kinds = {"limit": Shape.RATIO_TO_LIMIT, "days": Shape.LASTED}
        return kinds.get(changed.partition(":")[0], Shape.CHANGE)
    if query.get("rows") in ("highest", "lowest") or (query.get("order") and query.get("limit")):
        return Shape.EXTREME
    if not select or not query.get("subjects"):
        return Shape.LIST
    return Shape.VALUE

"""Groups in their order, with the periods in which nothing happened."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from study.query import keys
from study.query.aggregate import Bucket, Number, value
from study.query.names import Names
from study.query.sorting import rank
from study.query.tree import Key, Plan, Span

_PERIODS = ("month", "week", "quarter")
MOST_PERIODS = 1000


def arranged(buckets: list[Bucket], plan: Plan, names: Names) -> list[Bucket]:
    """In the order of their keys, or of their values; empty periods between are listed."""
    orders = [keys.KeyOrder(key, names) for key in plan.by]
    filled = _with_gaps(buckets, plan, names)
    filled.sort(key=lambda b: tuple(o.rank(v) for o, v in zip(orders, b.by, strict=True)))
    if plan.order is None:
        return filled
    named = [n for n, key in enumerate(plan.by) if key.source and key.source.name == plan.order.by]
    if named and plan.order_item is None:
        at = named[0]
        filled.sort(key=lambda b: orders[at].rank(b.by[at]), reverse=plan.order.desc)
        return filled
    known = [b for b in filled if measured(b, plan) is not None]
    known.sort(key=lambda b: rank(measured(b, plan)) or (0, 0), reverse=plan.order.desc)
    return known + [b for b in filled if measured(b, plan) is None]


def measured(bucket: Bucket, plan: Plan) -> Number | None:
    """The value of a group; with `@subject`, `count` counts rows."""
    by_subject = any(key.kind == "subject" for key in plan.by)
    return value(plan.aggregate or "count", bucket, rows=by_subject)


def cut(buckets: list[Bucket], plan: Plan) -> tuple[list[Bucket], int]:
    """The first `limit` groups with the ties of the last, and how many were left out."""
    if plan.limit is None or len(buckets) <= plan.limit:
        return buckets, 0
    at = plan.limit
    if plan.order is not None:
        last = measured(buckets[at - 1], plan)
        while at < len(buckets) and measured(buckets[at], plan) == last:
            at += 1
    return buckets[:at], len(buckets) - at


def _with_gaps(buckets: list[Bucket], plan: Plan, names: Names) -> list[Bucket]:
    found = {bucket.by: bucket for bucket in buckets}
    for at, key in enumerate(plan.by):
        if key.kind not in _PERIODS:
            continue
        others = {by[:at] + by[at + 1 :] for by in found} or ({()} if len(plan.by) == 1 else set())
        listed = _periods(key, [by[at] for by in found], plan.listed, names)
        for rest, name in itertools.product(others, listed):
            by = (*rest[:at], name, *rest[at:])
            found.setdefault(by, Bucket(by))
    return list(found.values())


def _periods(
    key: Key, named: Sequence[keys.GroupValue], span: Span | None, names: Names
) -> list[str]:
    start = names.design.start
    numbers = [keys.number_of(key.kind, name) for name in named if name is not None]
    first, last = (span.first, span.last) if span else (None, None)
    if first is not None:
        numbers.append(keys.number(key.kind, first, start))
    if last is not None:
        numbers.append(keys.number(key.kind, last, start))
    if not numbers:
        return []
    least, most = min(numbers), max(numbers)
    return [
        keys.period_name(key.kind, n) for n in range(least, min(most, least + MOST_PERIODS) + 1)
    ]

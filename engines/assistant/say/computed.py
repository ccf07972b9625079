"""What is worked out of facts: differences, courses, days, what is left; only what they prove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from engines.assistant.say import words
from engines.assistant.say.parts import colon, comma
from engines.assistant.say.reader import Reader
from engines.assistant.say.sheet import Line
from study.facts import Fact, Kind
from study.facts import json_value as as_json


@dataclass(frozen=True, slots=True)
class Names:
    """Of two sides that are compared: what they share, what tells each apart, and their values."""

    head: str
    one: str
    other: str
    value: str
    other_value: str


def number(fact: Fact) -> Decimal | None:
    """The number of a fact, None where it is none or not exact."""
    exact = isinstance(fact.value, int | float | Decimal) and not isinstance(fact.value, bool)
    return Decimal(str(fact.value)) if exact and fact.kind is not Kind.BLANK else None


def day(fact: Fact) -> date | None:
    """The day of a fact, None where it is none."""
    try:
        return date.fromisoformat(str(fact.value)[:10]) if isinstance(fact.value, str) else None
    except ValueError:
        return None


def plain(value: Decimal) -> str:
    """A number without zeros behind."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def course(numbers: Sequence[Decimal], names: Sequence[str]) -> str:
    """Which way numbers go in their order: 逐次下降, 先升后降,V2 最高; of two by how much."""
    steps = [b - a for a, b in pairwise(numbers)]
    top, low, turns = max(numbers), min(numbers), [step > 0 for step in steps if step]
    known = {"top": names[numbers.index(top)], "low": names[numbers.index(low)]}
    known |= {"high": plain(top), "least": plain(low), "size": plain(abs(numbers[-1] - numbers[0]))}
    once = sum(a != b for a, b in pairwise(turns)) == 1
    if top == low:
        text = _("no change")
    elif len(numbers) == 2:
        text = _("a rise of %(size)s") if turns[0] else _("a fall of %(size)s")
    elif all(turns):
        whole = len(turns) == len(steps)
        text = _("rising each time") if whole else _("rising by %(size)s, never falling")
    elif not any(turns):
        whole = len(turns) == len(steps)
        text = _("falling each time") if whole else _("falling by %(size)s, never rising")
    elif once and turns[0] and numbers.count(top) == 1:
        text = _("rising, then falling, highest at %(top)s")
    elif once and not turns[0] and numbers.count(low) == 1:
        text = _("falling, then rising, lowest at %(low)s")
    else:
        text = _("up and down, highest %(top)s %(high)s, lowest %(low)s %(least)s")
    return text % known


def names_of(a: Fact, b: Fact, reader: Reader) -> Names:
    """Two readings by what differs: the subject, else the visit, else the field."""
    parts = [
        (fact.subject, words.label(fact, reader), words.place(fact, reader, dated=False))
        for fact in (a, b)
    ]
    shared = [one == other for one, other in zip(*parts, strict=True)]
    head, *names = (
        " ".join(one for one, same in zip(own, shared, strict=True) if one and same is wanted)
        for own, wanted in ((parts[0], True), (parts[0], False), (parts[1], False))
    )
    return Names(head, names[0], names[1], words.value(a, reader), words.value(b, reader))


def compared(a: Fact, b: Fact, names: Names, reader: Reader) -> str:
    """血红蛋白:V3(96 g/L)比基线(138 g/L)低 42 g/L(30.4%); "" where the two cannot be compared."""
    x, y, first, last = number(a), number(b), day(a), day(b)
    if not names.one or not names.other or names.one == names.other:
        return ""
    if first and last:
        days = (first - last).days
        later = _("%(one)s is %(size)s later than %(other)s")
        text = later if days > 0 else _("%(one)s is %(size)s earlier than %(other)s")
        return _said(text, names, _("%(days)s days") % {"days": abs(days)} if days else "")
    alike = (a.field, a.unit, a.kind) == (b.field, b.unit, b.kind)
    is_figure = a.kind is Kind.AGGREGATE
    if x is None or y is None or not alike or not (is_figure or a.label == b.label):
        return ""
    gap, unit = abs(x - y), _("percentage points") if a.unit == "%" else a.unit
    if is_figure and not a.unit:
        told = (names.value, names.other_value)
        if any(not v.startswith(words.people(int(n))) for v, n in zip(told, (x, y), strict=True)):
            return ""
        more = _("%(one)s is %(size)s more than %(other)s")
        text = more if x > y else _("%(one)s is %(size)s fewer than %(other)s")
        return _said(text, names, words.people(int(gap)) if gap else "")
    apart = words.with_unit(plain(gap), unit) if gap else ""
    if gap and y > 0 and a.subject and a.subject == b.subject and a.unit != "%":
        apart += words.bracketed(f"{words.rounded(100 * gap / y, 1)}%")
    higher = _("%(one)s is %(size)s higher than %(other)s")
    text = higher if x > y else _("%(one)s is %(size)s lower than %(other)s")
    if words.is_age(a):
        older = _("%(one)s is %(size)s older than %(other)s")
        text = older if x > y else _("%(one)s is %(size)s younger than %(other)s")
    return _said(text, names, apart)


def _said(text: str, names: Names, size: str) -> str:
    one = names.one + words.bracketed(names.value)
    other = names.other + words.bracketed(names.other_value)
    text = text if size else _("%(one)s and %(other)s are the same")
    said = text % {"one": one, "other": other, "size": size}
    return f"{names.head}{colon()}{said}" if names.head else said


def bounds(fact: Fact) -> str:
    """下限 3.5,上限 40."""
    if fact.limit is None:
        return ""
    sides = ((_("lower limit"), fact.limit.low), (_("upper limit"), fact.limit.high))
    return comma().join(f"{name} {as_json(at)}" for name, at in sides if at is not None)


def is_inside(part: Line, whole: Line) -> bool:
    """Whether those of one figure surely are among those of the other: its conditions and more hold of them.

    A target holds those enrolled in the whole study.
    """
    if part.scope is None or whole.scope is None or not part.facts or not whole.facts:
        return False
    one, other = part.scope.query, whole.scope.query
    if one.get("aggregate") != "count" or any(one.get(k) for k in ("period", "place", "rows")):
        return False
    if whole.facts[0].field == "@project.target":
        wanted = [{"field": "@enrolled", "op": "filled"}]
        return not one.get("by") and not one.get("subjects") and one.get("where") == wanted
    if other.get("aggregate") != "count" or other.get("by") or other.get("select"):
        return False
    if any(other.get(k) for k in ("period", "place", "rows")) or one.get("select"):
        return False
    mine = one.get("where") or []
    more = len(mine) > len(other.get("where") or []) or bool(one.get("by"))
    same = (one.get("subjects") or None) == (other.get("subjects") or None)
    return same and more and all(c in mine for c in other.get("where") or [])


def to_target(done: Fact, goal: Fact) -> str:
    """已入组 27 例,计划 30 例,还差 3 例; "" where a figure is missing."""
    reached, target = number(done), number(goal)
    if reached is None or not target:
        return ""
    known = {"reached": int(reached), "target": int(target), "left": int(abs(target - reached))}
    if reached < target:
        return _("%(left)s to go: %(reached)s of %(target)s enrolled") % known
    if reached == target:
        return _("target reached: %(reached)s of %(target)s enrolled") % known
    text = _("target reached: %(reached)s of %(target)s enrolled, %(left)s more than planned")
    return text % known


def since(first: date, reader: Reader) -> str:
    """2 天前, 还有 3 天, 今天."""
    days = (first - reader.today).days
    if days > 0:
        return _("in %(days)s days") % {"days": days}
    return _("%(days)s days ago") % {"days": -days} if days else pgettext("a date", "today")


def between(a: Fact, b: Fact, first: date, last: date, reader: Reader) -> str:
    """P005 入组日期 2026-09-08 至 首次用药日期 2026-09-09:1 天; that the second lies before the first."""
    sides = []
    for fact, before in ((a, ""), (b, a.subject)):
        who = "" if fact.subject == before else fact.subject
        sides.append(
            " ".join(filter(None, [who, words.label(fact, reader), words.value(fact, reader)]))
        )
    size = (last - first).days
    known = {"first": sides[0], "last": sides[1], "days": abs(size)}
    if size == 0:
        return _("%(first)s and %(last)s: the same day") % known
    text = _("%(first)s to %(last)s: %(days)s days")
    return (text if size > 0 else _("%(first)s is %(days)s days after %(last)s")) % known

"""A question taken apart into marks: whom, where, when, which field, which choice, which way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from core.rules.context import Kind as ColumnKind
from engines.assistant.read.question import Query, Question, condition_fields
from engines.assistant.read.setting import Setting
from engines.assistant.read.tokens import CODED

Mark: TypeAlias = tuple[str, Any]
UP, DOWN = (">", ">="), ("<", "<=")


def leaves(where: Sequence[Query], denied: bool = False) -> Iterator[tuple[Query, bool]]:
    """The single conditions, each with whether it is denied."""
    for condition in where:
        nested = next((key for key in ("any", "all", "none") if key in condition), "")
        if nested:
            yield from leaves(condition[nested], denied is not (nested == "none"))
        else:
            yield condition, denied


def marks_of(q: Question, setting: Setting) -> set[Mark]:
    """What a question says, part by part."""
    form_of = setting.design.form_of
    found: set[Mark] = {("topic", q.topic), ("shape", q.shape), ("number", Decimal(1))}
    found |= {("subject", name) for name in (*q.subjects, *q.versus)}
    found |= {("site", code) for code in q.site} | {("by", name) for name in q.by}
    found |= {("place", p) for p in q.place}
    found |= {("event", e) for p in q.place for e in (p, *setting.events_at(p))}
    found |= {("asked", name) for name in q.select}
    dated = [n for n in q.select if setting.column_kind(n) is ColumnKind.DATE]
    dated = [n for n in dated if not setting.repeats(form_of(n))]
    found |= {
        ("event", e) for n in dated for e in setting.design.event_order if setting.stands(n, e)
    }
    if q.subjects:
        found |= {("shown", name) for name in q.select}
    if q.period:
        found.add(("period", q.period))
        found |= {("day", day) for day in q.period if day}
    if q.nth or (q.order and q.limit):
        found.add(("number", Decimal(q.nth or q.limit or 1)))
    if q.rows is not None:
        rows = q.rows if isinstance(q.rows, dict) else {q.rows: 1}
        found |= {m for side, n in rows.items() for m in (("rows", side), ("number", Decimal(n)))}
    ends = {"highest": "-", "lowest": "+", "max": "-", "min": "+"}
    told = [*q.aggregate.split(","), q.rows if isinstance(q.rows, str) else ""]
    found |= {("end", ends[word]) for word in told if word in ends}
    found |= {("end", q.order[0])} if q.order else set()
    found |= {("figure", word) for word in q.aggregate.split(",") if word}
    found |= {("aspect", q.aspect)} if q.aspect else set()
    found |= {("change", word) for word in q.change.split(":") if word}
    found |= {("ref", q.change[6:])} if q.change.startswith("limit:") else set()
    for condition, denied in leaves((*q.where, *q.of)):
        found |= marks_of_condition(condition, denied, setting)
    names = [name for kind, name in found if kind in ("asked", "held", "other")]
    names += [name.rpartition(":")[2] for name in (*q.by, q.order[1:]) if name]
    found |= {m for n in names for m in (("field", n), ("form", form_of(n) or n))}
    return found


def marks_of_condition(condition: Query, denied: bool, setting: Setting) -> set[Mark]:
    """What one condition says; what is denied is turned round."""
    name, op, value = condition_fields([condition])[0], condition["op"], condition.get("value")
    values = value if isinstance(value, list) else [] if value is None else [value]
    kind = setting.column_kind(name)
    found: set[Mark] = {("held", name)}
    if denied or op in ("blank", "!="):
        found.add(("no", name))
    if op == "blank" and not denied:
        found.add(("blank", name))
    if op == "in":
        found.add(("bounded", name))
    labels = setting.design.metadata.choices(name)
    for one in values:
        if isinstance(one, dict):
            found |= {("ref", one["ref"])} if "ref" in one else {("other", str(one.get("field")))}
            found |= {("value", Decimal(str(one["times"])))} if "times" in one else set()
        elif kind in CODED or name.startswith("@"):
            label = labels.get(str(one), "").casefold()
            found |= {("code", (name, str(one), label))}
            digits = re.findall(r"\d+", f"{one} {label}")
            found |= {("number", Decimal(n)) for n in digits}
        elif isinstance(one, int | float):
            found.add(("value", Decimal(str(one))))
        elif setting.is_date(name):
            found |= {("day", one), ("test", one)}
        else:
            found.add(("text", str(one).casefold()))
    if op in (*UP, *DOWN):
        found.add(("way", "up" if (op in UP) is not denied else "down"))
    elif op == "between":
        found |= {("way", "between")}
    if setting.is_date(name) and len(values) == 2:
        found.add(("period", tuple(values)))
    found |= {("number", n) for k, n in found if k == "value"}
    texts = (word for k, word in found if k == "text")
    return found | {("number", Decimal(n)) for word in texts for n in re.findall(r"\d+", word)}

"""What an answer was chosen by, in a few words: 筛选中, ALT > 40, 未填写结束日期."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from engines.assistant.read.question import Query, condition_fields, conditions_of
from engines.assistant.say import words
from engines.assistant.say.parts import joint
from engines.assistant.say.reader import Reader
from engines.labels import ENDS
from engines.models import TaskRun
from study.query.names import COLUMNS
from study.visits.calendar import State

_DAYS = ("@visits.actual", "@findings.opened", "@reviews.since", "@runs.ended")
_WINDOW = ("@visits.actual", "@visits.open", "@visits.close")
_TOUCHED = (("@visits.close", ">="), ("@visits.open", "<="))
"""A window that touches days opens before the last of them and closes after the first."""
_ENDS = ("between", ">=", "<=")
_OPEN = {"open", "data_changed"}
_TODAY = re.compile(r"today([+-]\d{1,5})?")
_SIGNS = {"=": "=", "!=": "≠", ">": ">", ">=": "≥", "<": "<", "<=": "≤"}


def described(query: Query, reader: Reader, *, beside_topic: bool = False) -> str:
    """The conditions of a query besides the site and the days that it is limited to, "" for none.

    `beside_topic`: nor those that `topic` says.
    """
    # Who has a day in a period has one.
    days = [query.get("period") or {}, *_day_conditions(query)]
    said = [{"field": one.get("field"), "op": "filled"} for one in days]
    where = [c for c in _untold(query) if c not in said]
    if beside_topic:
        rows = _rows_of(query)
        own = [c for c in where if _has_row(c) and str(c["field"]).startswith(rows)]
        where = [c for c in where if not _is_open(c) and c not in own]
    return worded(where, reader)


def worded(where: Sequence[Query], reader: Reader) -> str:
    """Conditions that hold together, "" for none."""
    return joint().join(dict.fromkeys(filter(None, (word_condition(c, reader) for c in where))))


def sought(query: Query, reader: Reader) -> str:
    """The same for what was not found: a word with the field in which it was looked for."""
    told = []
    for condition in _untold(query):
        looked = [part for part in conditions_of([condition]) if part.get("op") == "contains"]
        fields = dict.fromkeys(operand(part["field"], reader) for part in looked)
        said = word_condition(condition, reader)
        told.append(joint().join(fields) + said if said and "none" not in condition else said)
    return joint().join(filter(None, told))


def site_of(query: Query) -> Query | None:
    """The condition that limits a query to sites by their names.

    Of a share it says over whom it is only where it holds of the whole, too.
    """
    own = [c for c in query.get("where") or () if c.get("field") == "@site"]
    whole = query.get("aggregate") != "share" or own[:1] == [
        c for c in query.get("of") or () if c.get("field") == "@site"
    ]
    named = len(own) == 1 and own[0].get("op") in ("=", "in") and whole
    return own[0] if named and not isinstance(own[0].get("value"), dict) else None


def _untold(query: Query) -> list[Query]:
    """The conditions that the site and the days before a figure do not say."""
    told = [one for one in (site_of(query), *_day_conditions(query)) if one is not None]
    return _without(query.get("where") or (), told)


def _without(where: Sequence[Query], told: Sequence[Query]) -> list[Query]:
    kept = [c for c in where if not any(c is one for one in told)]
    keys = [next((key for key in ("any", "all", "none") if key in c), "") for c in kept]
    return [c | {k: _without(c[k], told)} if k else c for c, k in zip(kept, keys, strict=True)]


def topic(query: Query) -> str:
    """What is counted: findings, reviews, visits, checks; "" for subjects."""
    is_open = any(map(_is_open, query.get("where") or ()))
    return _("open findings") if is_open else topic_of(_rows_of(query))


def _rows_of(query: Query) -> str:
    """What the names of the columns that are counted begin with. Of whom none holds, nobody has a row."""
    where = query.get("where") or ()
    if any(map(_is_open, where)):
        return "@findings."
    named = (name for name in condition_fields(where, but="none") if topic_of(name))
    return next((f"{name.partition('.')[0]}." for name in named), "")


def _is_open(condition: Query) -> bool:
    """Whether it chooses the open findings: the topic of a figure says it."""
    value = condition.get("value")
    known = {*map(str, value if isinstance(value, list) else [value])}
    is_status = condition.get("field") == "@findings.status" and _is_plain(condition)
    return is_status and condition["op"] in ("=", "in") and {"open"} <= known <= _OPEN


def _has_row(condition: Query) -> bool:
    """Whether it chooses whoever has a row: the topic of a figure says it."""
    named = condition.get("field") in ("@reviews.question", "@runs.status")
    return named and condition["op"] == "filled"


def _is_plain(condition: Query) -> bool:
    return condition.get("holds") != "every"


def sites_of(query: Query) -> list[str]:
    """The codes of the sites that a query is limited to."""
    named = (site_of(query) or {}).get("value") or ()
    return [named] if isinstance(named, str) else [*map(str, named)]


def scope(query: Query, reader: Reader) -> str:
    """The sites that a figure is of, where it is not all of them."""
    codes = sites_of(query) or ([reader.own_site] if reader.own_site else [])
    return joint().join(words.site_name(code, reader) for code in codes)


def places(query: Query, reader: Reader) -> str:
    """The visits that a query is limited to, "" for all."""
    named = query.get("place") or ()
    listed = [named] if isinstance(named, str) else named
    return joint().join(words.place_name(place, reader) for place in listed)


def period(query: Query, reader: Reader, span: Sequence[str | None] | None = None) -> str:
    """The days that a figure is of, "" for all; `span`: of a question whose query has none."""
    own = query.get("period") or {}
    ends = (own.get("from"), own.get("to")) if own else span or _days_of_work(query)
    first, last = (_literal("", end, reader) if end else None for end in ends)
    if first and last:
        begins = first[:7] == last[:7] and first[8:] == "01"
        if begins and (date.fromisoformat(last) + timedelta(1)).day == 1:
            return str(first[:7])
        return str(first) if first == last else f"{first}–{last}"
    if first:
        return _("since %(day)s") % {"day": first}
    return _("until %(day)s") % {"day": last} if last else ""


def _days_of_work(query: Query) -> Sequence[str | None]:
    """The days that visits, findings, reviews or checks were chosen by."""
    first = last = None
    for condition in _day_conditions(query):
        op, value = condition["op"], condition["value"]
        first, last = value if op == "between" else (first, last)
        first, last = (value, last) if op == ">=" else (first, value if op == "<=" else last)
    return first, last


def _day_conditions(query: Query) -> list[Query]:
    """The conditions whose days stand before a figure: on one day of a row, or on its window.

    Of alternatives (done on one of the days, or overdue since one) they stand there where each has the same.
    """
    where, rows = [] if query.get("period") else query.get("where") or (), _rows_of(query)
    days = [name for name in _DAYS if name.startswith(rows)]
    own = [c for c in where if c.get("field") in days and _has_ends(c)]
    if own and own[0]["op"] == "between":
        return own[:1]
    ends = [c for c in own if c["field"] == own[0]["field"] and c["op"] != "between"]
    ends = ends or [c for c in where if (c.get("field"), c.get("op")) in _TOUCHED]
    if ends := [c for c in ends if _has_ends(c)]:
        return [*{c["op"]: c for c in reversed(ends)}.values()]
    for condition in where:
        sides: list[Query] = [
            next(
                (c for c in one.get("all") or () if c.get("field") in _WINDOW and _has_ends(c)), {}
            )
            for one in condition.get("any") or ()
        ]
        if sides and len({(c.get("op"), str(c.get("value"))) for c in sides}) == 1 and sides[0]:
            return sides
    return []


def _has_ends(condition: Query) -> bool:
    value = condition.get("value")
    ends = value if isinstance(value, list) else [value]
    known = condition["op"] in _ENDS and not any(isinstance(end, dict) for end in ends)
    return known and _is_plain(condition)


def word_condition(condition: Query, reader: Reader) -> str:
    """One condition in words: with the visits, rows and values that its sides are of."""
    for key, joined in (("any", _(" or ")), ("all", joint()), ("none", joint())):
        if key in condition:
            told = [(c, word_condition(c, reader)) for c in condition[key]]
            inner = joined.join(_apart(c, said) for c, said in told if said)
            return _("without %(what)s") % {"what": inner} if key == "none" else inner
    named, op, value = condition["field"], str(condition["op"]), condition.get("value")
    name = str(named["field"] if isinstance(named, dict) else named)
    label = operand(named, reader)
    if condition.get("holds") == "every":
        label += pgettext("reading", " each time")
    if label == name_of(name, reader):
        return _simple(name, op, value, reader)
    if op in ("filled", "blank", "missing_code"):
        return _explicit(label, op)
    # What is worked out of choices is a number.
    coded = "" if isinstance(named, dict) and named.get("minus") is not None else name
    return f"{label} {_side(op, value, coded, reader)}"


def _apart(condition: Query, said: str) -> str:
    """Alternatives, and what must hold together, inside other conditions."""
    return f"({said})" if len(condition.get("any") or condition.get("all") or ()) > 1 else said


def operand(told: Any, reader: Reader) -> str:
    """V2 谷丙转氨酶ALT, 入组日期至首次用药日期天数: a field with where it is read, and what it is less."""
    if not isinstance(told, dict):
        return name_of(str(told), reader)
    name, rows, minus = str(told["field"]), told.get("rows"), told.get("minus")
    label = f"{places(told, reader)} {name_of(name, reader)}{_rows(rows)}".strip()
    if minus is None:
        return label
    sides = {"last": label, "first": _value(name, minus, reader)}
    texts = {
        "days": _("days from %(first)s to %(last)s"),
        "percent": _("change of %(last)s from %(first)s in percent"),
        "ratio": _("ratio of %(last)s to %(first)s"),
    }
    return texts.get(str(told.get("as")), _("%(last)s less %(first)s")) % sides


def _rows(rows: Any) -> str:
    if isinstance(rows, dict):
        [(side, count)] = rows.items()
        last, first = (
            pgettext("reading", "last %(number)s"),
            pgettext("reading", "first %(number)s"),
        )
        return (last if side == "latest" else first) % {"number": count}
    which = {
        "latest": _(" latest reading"),
        "first": _(" first reading"),
        "highest": _(" highest"),
        "lowest": _(" lowest"),
    }
    return which.get(str(rows), "")


def _value(name: str, value: Any, reader: Reader) -> str:
    """The other side of a comparison with a field."""
    if not isinstance(value, dict):
        return _literal(name, value, reader)
    return _bound(value) if "ref" in value else operand(value, reader)


def _side(op: str, value: Any, name: str, reader: Reader) -> str:
    """> 40, 40–60, “恶心”: how a field is compared, and with what."""
    values = [_value(name, one, reader) for one in (value if isinstance(value, list) else [value])]
    if op == "contains":
        return f"“{values[0]}”"
    if op == "between":
        return "–".join(values)
    if op == "in":
        return _(" or ").join(values)
    return f"{_SIGNS.get(op, op)} {joint().join(values)}"


def _explicit(label: str, op: str) -> str:
    texts = {
        "filled": _("%(label)s filled in"),
        "blank": _("%(label)s not filled in"),
        "missing_code": _("%(label)s with a missing code"),
    }
    return texts[op] % {"label": label}


def _simple(name: str, op: str, value: Any, reader: Reader) -> str:
    if name == "@visits.visit" and op in ("=", "in"):
        return _(" or ").join([value] if isinstance(value, str) else value)
    if _is_open({"field": name, "op": op, "value": value}):
        return _("open findings")
    if _has_row({"field": name, "op": op}):
        return topic_of(name)
    if name in ("@findings.mine", "@findings.reason") and op == "filled":
        return _("assigned to you") if name == "@findings.mine" else _("that cannot be told")
    if name == "@findings.field" and op == "in":
        return _(" or ").join(_fields([*map(str, value)], reader))
    label = name_of(name, reader)
    form = reader.design.form_of(name)
    names_rows = form in reader.design.repeating_forms and name == words.naming_field(form, reader)
    if op == "filled" and names_rows:
        return reader.design.metadata.form_label(form)
    if name == "@enrolled" and op in ("filled", "blank"):
        return pgettext("subjects", "enrolled") if op == "filled" else _("not enrolled")
    if op in ("filled", "blank", "missing_code"):
        return _explicit(label, op)
    said, is_coded = _side(op, value, name, reader), bool(choices(name, reader))
    if op == "contains" or (op == "in" and is_coded):
        return said
    if op == "=" and is_coded and isinstance(value, str | int):
        return _chosen(name, label, _literal(name, value, reader), reader)
    return f"{label} {said}"


def _fields(names: Sequence[str], reader: Reader) -> list[str]:
    """Fields by their labels, all that may be told of a form by the form's."""
    metadata, form_of, told = reader.design.metadata, reader.design.form_of, list[str]()
    hidden = reader.design.hidden | metadata.identifier_fields
    for form in dict.fromkeys(map(form_of, names)):
        named = [name for name in names if form_of(name) == form]
        own = {name for name in metadata.fields if form_of(name) == form} - hidden
        is_whole = len(own) > 1 and own <= {*named}
        labels = [_literal("@findings.field", name, reader) for name in named]
        told += [metadata.form_label(form)] if is_whole else labels
    return told


def _chosen(name: str, label: str, said: str, reader: Reader) -> str:
    row = reader.design.metadata.fields.get(name, {})
    if row.get("field_type") not in ("yesno", "truefalse"):
        # 1分 does not say of what.
        return f"{label} {said}" if said[:1].isdigit() else said
    thing = label.removeprefix(pgettext("how a yes/no label begins", "Whether "))
    return thing if said == _("Yes") else f"{thing} {said}"


def _bound(value: Query) -> str:
    side = {"high": _("upper limit"), "low": _("lower limit")}[value["ref"]]
    times = value.get("times")
    if times in (None, 1):
        return side
    return _("%(times)s × %(limit)s") % {"times": times, "limit": side}


def never(query: Query, reader: Reader) -> str:
    """总胆红素TBIL均未高于正常上限: that no value of a field lies where it was looked for; "" for others."""
    relations = {">": _("above"), ">=": _("at or above"), "<": _("below"), "<=": _("at or below")}
    found: dict[str, list[str]] = {}
    for part in conditions_of(query.get("where") or ()):
        name, op, value = part.get("field"), part.get("op"), part.get("value")
        if name == "@site":
            continue
        if not isinstance(name, str) or op not in relations:
            return ""
        bound = _bound(value) if isinstance(value, dict) else _literal(name, value, reader)
        beyond = _("%(relation)s %(bound)s") % {"relation": relations[op], "bound": bound}
        found.setdefault(beyond, []).append(name_of(name, reader))
    text = _("%(labels)s was never %(beyond)s")
    told = {beyond: joint().join(names) for beyond, names in found.items()}
    if len(set(told.values())) == 1:
        told = {_(" or ").join(told): next(iter(told.values()))}
    return joint().join(text % {"labels": labels, "beyond": b} for b, labels in told.items())


def name_of(name: str, reader: Reader) -> str:
    """What people call a field, form or column."""
    metadata = reader.design.metadata
    if name == "@status":
        return metadata.label(reader.design.status_field)
    columns = {"@enrolled": _("Enrolment date"), "@age": _("Age at consent"), "@site": _("Site")}
    if name in columns:
        return columns[name]
    if name in COLUMNS:
        return str(COLUMNS[name].label)
    name = reader.design.mapped.get(name, name)
    known = name in metadata.fields
    return words.field_label(name, reader) if known else metadata.form_label(name)


def topic_of(name: str) -> str:
    """What the rows of a column are: findings, reviews, visits, checks, changes; "" for others."""
    topics = {
        "@findings.": _("findings"),
        "@reviews.": _("waiting reviews"),
        "@visits.": _("visits"),
        "@runs.": _("checks"),
        "@changes.": _("changes of data"),
    }
    return next((said for head, said in topics.items() if name.startswith(head)), "")


def choices(name: str, reader: Reader) -> dict[str, str]:
    """Code → label of a coded field or column."""
    if name == "@visits.state":
        return {
            State.OVERDUE: _("overdue"),
            State.DUE: _("in its window"),
            State.NOT_DUE: _("not due yet"),
            State.EARLY: _("early"),
            State.LATE: _("late"),
            State.IN_WINDOW: _("done in its window"),
        }
    if name == "@findings.status":
        return {
            "open": pgettext("finding", "open"),
            "closed": pgettext("finding", "closed"),
            "data_changed": pgettext("finding", "resolved by a change of data"),
            "gone": pgettext("finding", "of a deleted record"),
        }
    if name == "@runs.status":
        return {code: str(label) for code, label in TaskRun.Status.choices}
    if name == "@runs.final_state":
        return {code: str(label) for code, label in ENDS.items()}
    design = reader.design
    if name in ("@findings.field", "@changes.field"):
        shown = (field for field in design.metadata.fields if field not in design.hidden)
        labels = {field: words.field_label(field, reader) for field in shown}
        return labels | {"-": pgettext("finding", "of no field")}
    field = design.status_field if name == "@status" else design.mapped.get(name, name)
    return dict(design.metadata.choices(field))


def settled(query: Query) -> set[str]:
    """Fields of which the question says the value: telling it again is no news."""
    where = [c for c in query.get("where") or () if isinstance(c.get("field"), str)]
    return {c["field"] for c in where if c["op"] in ("=", "blank")}


def _literal(name: str, value: Any, reader: Reader) -> str:
    if isinstance(value, float):
        value = Decimal(str(value))
    if name == "@site":
        return words.site_name(str(value), reader)
    if day := _TODAY.fullmatch(str(value)):
        return (reader.today + timedelta(int(day[1] or 0))).isoformat()
    return choices(name, reader).get(str(value), str(value))

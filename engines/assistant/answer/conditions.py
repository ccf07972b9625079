"""What an answer was chosen by, in a few words: 筛选中, ALT > 40, 未填写结束日期."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from engines.assistant.answer import fitting, words
from engines.assistant.answer.reader import Reader
from engines.assistant.understand.types import Asked, Query
from study.visits.calendar import State

_OF_WORK = ("@findings.", "@reviews.", "@runs.", "@visits.open", "@visits.close", "@visits.actual")
"""Columns whose conditions the topic of a question says already."""
_SIGNS = {"=": "=", "!=": "≠", ">": ">", ">=": "≥", "<": "<", "<=": "≤"}


def described(asked: Asked, reader: Reader) -> str:
    """The conditions of the first query besides the site, "" for none."""
    day = asked.query.get("period", {}).get("field")
    said = {"field": day, "op": "filled"}
    # Who has a day in a period has one.
    conditions = [c for c in asked.query.get("where", ()) if c != said]
    return fitting.joint().join(filter(None, (of(c, reader) for c in conditions)))


def sought(asked: Asked, reader: Reader) -> str:
    """The same for what was not found: a word with the field in which it was looked for."""
    told = []
    for condition in asked.query.get("where", ()):
        words_of = [p for p in parts([condition]) if p.get("op") == "contains"]
        fields = dict.fromkeys(name_of(str(part["field"]), reader) for part in words_of)
        said = of(condition, reader)
        told.append(
            fitting.joint().join(fields) + said if said and "none" not in condition else said
        )
    return fitting.joint().join(filter(None, told))


def scope(asked: Asked, reader: Reader) -> str:
    """The sites that a figure is of, where it is not all of them."""
    codes = asked.slots.site or ((reader.own_site,) if reader.own_site else ())
    return fitting.joint().join(words.site_name(code, reader) for code in codes)


def of(condition: Query, reader: Reader) -> str:
    """One condition in words."""
    for key, joined in (("any", _(" or ")), ("all", fitting.joint()), ("none", fitting.joint())):
        if key in condition:
            inner = joined.join(filter(None, (of(c, reader) for c in condition[key])))
            return _("without %(what)s") % {"what": inner} if key == "none" else inner
    name = condition["field"]
    if isinstance(name, dict) and name.get("rows") in ("latest", "first"):
        which = _(" latest reading") if name["rows"] == "latest" else _(" first reading")
        label, own = name_of(name["field"], reader), condition | {"field": name["field"]}
        return of(own, reader).replace(label, label + which, 1)
    if not isinstance(name, str) or name == "@site":
        return ""
    return _simple(name, condition["op"], condition.get("value"), reader)


def _simple(name: str, op: str, value: Any, reader: Reader) -> str:
    if name == "@visits.visit" and op in ("=", "in"):
        return _(" or ").join([value] if isinstance(value, str) else value)
    if name.startswith(_OF_WORK):
        return ""
    label = name_of(name, reader)
    form = reader.design.form_of(name)
    repeats = form in reader.design.repeating_forms
    if op == "filled" and repeats and name == words.naming_field(form, reader):
        return reader.design.metadata.form_label(form)
    if name == "@enrolled" and op in ("filled", "blank"):
        return pgettext("subjects", "enrolled") if op == "filled" else _("not enrolled")
    if op in ("filled", "blank", "missing_code"):
        texts = {
            "filled": _("%(label)s filled in"),
            "blank": _("%(label)s not filled in"),
            "missing_code": _("%(label)s with a missing code"),
        }
        return texts[op] % {"label": label}
    if isinstance(value, dict):
        return _limit(label, op, value)
    if op == "contains":
        return f"“{value}”"
    if op == "between":
        low, high = (_literal(name, end, reader) for end in value)
        return f"{label} {low}–{high}"
    if op == "in":
        return _(" or ").join(_literal(name, one, reader) for one in value)
    said = _literal(name, value, reader)
    if choices(name, reader) and op == "=":
        return _chosen(name, label, said, reader)
    return f"{label} {_SIGNS.get(op, op)} {said}"


def _chosen(name: str, label: str, said: str, reader: Reader) -> str:
    row = reader.design.metadata.fields.get(name, {})
    if row.get("field_type") not in ("yesno", "truefalse"):
        return said
    thing = label.removeprefix(pgettext("how a yes/no label begins", "Whether "))
    return thing if said == _("Yes") else f"{thing} {said}"


def _limit(label: str, op: str, value: dict[str, Any]) -> str:
    if "ref" not in value:
        return label
    return f"{label} {_SIGNS.get(op, op)} {_bound(value)}"


def _bound(value: dict[str, Any]) -> str:
    side = {"high": _("upper limit"), "low": _("lower limit")}[value["ref"]]
    times = value.get("times")
    return (
        side if times in (None, 1) else _("%(times)s × %(limit)s") % {"times": times, "limit": side}
    )


def never(asked: Asked, reader: Reader) -> str:
    """总胆红素TBIL均未高于正常上限: that no value of a field lies where it was looked for; "" for others."""
    relations = {">": _("above"), ">=": _("at or above"), "<": _("below"), "<=": _("at or below")}
    found: dict[str, list[str]] = {}
    for part in parts(asked.slots.where):
        name, op, value = part.get("field"), part.get("op"), part.get("value")
        if not isinstance(name, str) or op not in relations:
            return ""
        bound = _bound(value) if isinstance(value, dict) else _literal(name, value, reader)
        beyond = _("%(relation)s %(bound)s") % {"relation": relations[op], "bound": bound}
        found.setdefault(beyond, []).append(name_of(name, reader))
    text = _("%(labels)s was never %(beyond)s")
    told = {beyond: fitting.joint().join(names) for beyond, names in found.items()}
    if len(set(told.values())) == 1:
        told = {_(" or ").join(told): next(iter(told.values()))}
    return fitting.joint().join(
        text % {"labels": labels, "beyond": beyond} for beyond, labels in told.items()
    )


def parts(where: Sequence[Query]) -> list[Query]:
    """The conditions, those of an or each by itself."""
    return [part for condition in where for part in condition.get("any", [condition])]


def name_of(name: str, reader: Reader) -> str:
    """What people call a field, form or column."""
    metadata = reader.design.metadata
    if name == "@status":
        return metadata.label(reader.design.status_field)
    columns = {"@enrolled": _("Enrolment date"), "@age": _("Age at consent"), "@site": _("Site")}
    if name in columns:
        return columns[name]
    known = name in metadata.fields
    return words.field_label(name, reader) if known else metadata.form_label(name)


def choices(name: str, reader: Reader) -> dict[str, str]:
    """Code → label of a coded field or column."""
    if name == "@visits.state":
        return _states()
    design = reader.design
    field = design.status_field if name == "@status" else design.mapped.get(name, name)
    return dict(design.metadata.choices(field))


def _states() -> dict[str, str]:
    return {
        State.OVERDUE: _("overdue"),
        State.DUE: _("in its window"),
        State.NOT_DUE: _("not due yet"),
        State.EARLY: _("early"),
        State.LATE: _("late"),
        State.IN_WINDOW: _("done in its window"),
    }


def settled(asked: Asked) -> set[str]:
    """Fields of which the question says the value: telling it again is no news."""
    conditions = [c for c in asked.slots.where if isinstance(c.get("field"), str)]
    return {c["field"] for c in conditions if c["op"] in ("=", "blank")}


def _literal(name: str, value: Any, reader: Reader) -> str:
    if isinstance(value, float):
        value = Decimal(str(value))
    return choices(name, reader).get(str(value), str(value))

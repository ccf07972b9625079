"""A question in a few words, as it was understood."""

from __future__ import annotations

import re
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from core.rules.context import Kind as ColumnKind
from engines.assistant.read.question import Query, Question, Shape, Topic
from engines.assistant.read.setting import Setting

_BRACKETS = re.compile(r"[(（][^)）]*[)）]$")
_SIGNS = {">": ">", ">=": "≥", "<": "<", "<=": "≤", "!=": "≠", "=": "="}
_MOST_LABELS = 4


def words_of(question: Question, setting: Setting) -> str:
    """Who, what, where, when and how, joined by dots: told above an answer, and of readings offered."""
    select = () if question.shape in (Shape.OVERVIEW, Shape.BLANKS) else question.select
    names = [label(name, setting) for name in select[:_MOST_LABELS]]
    names += ["…"] if len(select) > _MOST_LABELS else []
    told = [condition(c, setting) for c in question.where]
    of = [condition(c, setting) for c in question.of]
    about = "、".join(names) if not (question.where and question.aggregate) else ""
    parts = [
        "、".join(question.subjects),
        "、".join(setting.sites.get(code, code) for code in question.site),
        _words().get(question.topic, ""),
        ",".join(told),
        pgettext("reading", "of %(what)s") % {"what": ",".join(of)} if of else "",
        about if question.topic in (Topic.DATA, Topic.CHANGES, Topic.DICTIONARY) else "",
        "、".join(_place(place, setting) for place in question.place),
        _period(question),
        _rows(question),
        _asked(question, setting),
    ]
    return " · ".join(dict.fromkeys(filter(None, parts)))


def label(name: str, setting: Setting) -> str:
    """What people call a field, form or column, without its unit."""
    metadata = setting.design.metadata
    columns = {"@enrolled": _("Enrolment date"), "@site": _("Site")}
    if name == "@status":
        name = setting.design.status_field
    known = metadata.label(name) if name in metadata.fields else metadata.form_label(name)
    return columns.get(name) or _BRACKETS.sub("", known) or known


def condition(told: Query, setting: Setting) -> str:
    """One condition in words."""
    for key, joint in (("any", _(" or ")), ("all", ","), ("none", ",")):
        if key in told:
            inner = joint.join(condition(c, setting) for c in told[key])
            return _("without %(what)s") % {"what": inner} if key == "none" else inner
    name, op, value = told["field"], told["op"], told.get("value")
    name = str(name["field"] if isinstance(name, dict) else name)
    named = label(name, setting)
    if op == "filled" and name == "@enrolled":
        return pgettext("subjects", "enrolled")
    if op in ("filled", "blank"):
        text = _("%(label)s filled in") if op == "filled" else _("%(label)s not filled in")
        return text % {"label": named}
    every = pgettext("reading", " each time") if told.get("holds") == "every" else ""
    if isinstance(value, list):
        joint = "–" if op == "between" else _(" or ")
        return f"{named} {joint.join(_value(name, one, setting) for one in value)}"
    said = _value(name, value, setting)
    if op == "=" and setting.column_kind(name) is ColumnKind.FLAG and str(value) == "1":
        return named.removeprefix(pgettext("how a yes/no label begins", "Whether "))
    sign = _SIGNS.get(op, "")
    coded = bool(setting.design.metadata.choices(name)) and op == "="
    return (
        f"{named}{every} {said}" if coded or op == "contains" else f"{named}{every} {sign} {said}"
    )


def _value(name: str, value: Any, setting: Setting) -> str:
    if isinstance(value, dict) and "ref" in value:
        side = _("upper limit") if value["ref"] == "high" else _("lower limit")
        times = value.get("times")
        return _("%(times)s × %(limit)s") % {"times": times, "limit": side} if times else side
    if isinstance(value, dict):
        return label(str(value.get("field", "")), setting)
    return setting.design.metadata.choices(name).get(str(value), str(value))


def _place(place: str, setting: Setting) -> str:
    rows = setting.design.metadata.events
    return next((str(r["event_name"]) for r in rows if r["unique_event_name"] == place), place)


def _period(question: Question) -> str:
    first, last = question.period or (None, None)
    if first and last and first[:7] == last[:7] and first.endswith("01") and last[8:] >= "28":
        return first[:7]
    return first or "" if first == last else f"{first or ''} – {last or ''}".strip()


def _rows(question: Question) -> str:
    rows, number = question.rows, str(question.nth or "")
    if question.nth:
        return pgettext("reading", "no. %(number)s") % {"number": number}
    if isinstance(rows, dict):
        [(side, count)] = rows.items()
        first, last = (
            pgettext("reading", "first %(number)s"),
            pgettext("reading", "last %(number)s"),
        )
        return (last if side == "latest" else first) % {"number": count}
    names = {
        "latest": pgettext("reading", "latest"),
        "first": pgettext("reading", "first one"),
        "highest": pgettext("reading", "highest"),
        "lowest": pgettext("reading", "lowest"),
    }
    return names.get(str(rows), "")


def _asked(question: Question, setting: Setting) -> str:
    """What is told of it: figures, states of visits, the shape, the groups."""
    words = _words()
    names = [*question.aggregate.split(","), question.aspect]
    of_visits = question.shape in (Shape.VISITS, Shape.NEXT_VISIT)
    names += [] if question.aggregate or of_visits else [question.shape.value]
    by = "、".join(_group(name, setting) for name in question.by)
    told = [words.get(name, "") for name in names]
    told += [pgettext("reading", "by %(what)s") % {"what": by}] if by else []
    return ",".join(filter(None, told))


def _words() -> dict[str, str]:
    """Topic, figure, aspect or shape -> what people call it."""
    return {
        Topic.VISITS: _("Visits"),
        Topic.FINDINGS: _("Findings"),
        Topic.REVIEWS: _("Reviews"),
        Topic.RUNS: pgettext("reading", "QC runs"),
        Topic.CHANGES: pgettext("reading", "Changes"),
        Topic.TARGET: pgettext("reading", "Enrolment target"),
        Topic.ELIGIBILITY: pgettext("reading", "Eligibility"),
        Topic.DICTIONARY: _("Data dictionary"),
        "count": pgettext("reading", "number"),
        "share": pgettext("reading", "share"),
        "mean": pgettext("reading", "mean"),
        "median": pgettext("reading", "median"),
        "min": pgettext("reading", "minimum"),
        "max": pgettext("reading", "maximum"),
        "sum": pgettext("reading", "sum"),
        "next": pgettext("reading", "next"),
        "last": pgettext("reading", "latest"),
        "overdue": pgettext("reading", "overdue"),
        "late": pgettext("reading", "out of window"),
        "early": pgettext("reading", "early"),
        "due": pgettext("reading", "due"),
        "closing": pgettext("reading", "closing soon"),
        "missing": pgettext("reading", "not done"),
        "pending": pgettext("reading", "not done"),
        "actual": pgettext("reading", "done"),
        "failed": pgettext("reading", "failed"),
        Shape.LIST: pgettext("reading", "who"),
        Shape.SERIES: pgettext("reading", "each time"),
        Shape.DIFFERENCE: pgettext("reading", "difference"),
        Shape.CHANGE: pgettext("reading", "change"),
        Shape.LASTED: pgettext("reading", "how long"),
        Shape.RATIO_TO_LIMIT: pgettext("reading", "times the limit"),
        Shape.YES_NO: pgettext("reading", "yes or no"),
        Shape.WHEN: pgettext("reading", "on which day"),
        Shape.OVERVIEW: pgettext("reading", "overview"),
        Shape.BLANKS: pgettext("reading", "not filled in"),
        Shape.TARGET_LEFT: pgettext("reading", "still to enrol"),
        Shape.TARGET_RATE: pgettext("reading", "reached"),
        Shape.TARGET_PACE: pgettext("reading", "when it is reached"),
    }


def _group(name: str, setting: Setting) -> str:
    kind, _colon, field = name.partition(":")
    names = {
        "month": pgettext("reading", "month"),
        "week": pgettext("reading", "week"),
        "quarter": pgettext("reading", "quarter"),
        "event": pgettext("reading", "visit"),
        "@subject": pgettext("reading", "subject"),
    }
    return (
        f"{label(field, setting)} {names[kind]}" if field else names.get(name, label(name, setting))
    )

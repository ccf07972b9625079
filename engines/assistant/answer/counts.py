"""Counts, shares and other figures over subjects."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from django.utils.translation import gettext as _

from engines.assistant.answer import changes, conditions, words
from engines.assistant.answer.fitting import Told, colon, joint
from engines.assistant.answer.reader import Reader
from engines.assistant.understand.types import Asked, Shape, Topic
from study.facts import Answer, Fact, plain


def told(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """已入组:27 例; the scope before it where it is not the whole study."""
    fact = answer.facts[0]
    if asked.shape is Shape.SHARE:
        return [Told(_share(asked, fact, answer, reader))]
    if asked.shape is Shape.AGGREGATE:
        return [Told(_figure(asked, one, answer, reader)) for one in answer.facts]
    return [Told(_counted(_about(asked, reader), _count(asked, fact, answer)))]


def _counted(about: str, count: str) -> str:
    """已入组:27 例; 年龄 ≥ 65 的有 10 例, since two numbers with a colon between are a time."""
    if not about[-1:].isdigit():
        return about + colon() + count
    return _("with %(what)s there are %(count)s") % {"what": about, "count": count}


def _count(asked: Asked, fact: Fact, answer: Answer) -> str:
    people = plain(fact.value) or 0
    if asked.shape is not Shape.COUNT_ROWS:
        return words.people(int(people))
    rows = _("%(count)s entries") % {"count": answer.basis.rows}
    return rows + words.bracketed(words.people(int(people))) if people else rows


def _about(asked: Asked, reader: Reader) -> str:
    """What is counted, before its number."""
    topics = {
        Topic.FINDINGS: _("open findings") if _open(asked) else _("findings"),
        Topic.REVIEWS: _("waiting reviews"),
        Topic.VISITS: _("visits"),
        Topic.RUNS: _("checks"),
    }
    what = " ".join(
        filter(None, [topics.get(asked.slots.topic), conditions.described(asked, reader)])
    )
    if what and asked.slots.where and all(c.get("op") == "blank" for c in asked.slots.where):
        # 在用几种药: what is not filled in does not say what is counted.
        forms = [n for n in asked.slots.select if n in reader.design.repeating_forms]
        what = joint().join([*(conditions.name_of(form, reader) for form in forms), what])
    if not what:
        what = joint().join(conditions.name_of(name, reader) for name in asked.slots.select)
    subjects = joint().join(asked.query.get("subjects") or ())
    parts = filter(
        None,
        [
            subjects or conditions.scope(asked, reader),
            period(asked),
            places(asked, reader),
            what or _("subjects"),
        ],
    )
    return " ".join(parts)


def _open(asked: Asked) -> bool:
    return any(c.get("field") == "@findings.status" for c in asked.query.get("where", ()))


def period(asked: Asked) -> str:
    """The days that a figure is of, "" for all."""
    first, last = asked.slots.period or (None, None)
    if first and last:
        if (
            first[:7] == last[:7]
            and first[8:] == "01"
            and (date.fromisoformat(last) + timedelta(1)).day == 1
        ):
            return first[:7]
        return first if first == last else f"{first}–{last}"
    if first:
        return _("since %(day)s") % {"day": first}
    return _("until %(day)s") % {"day": last} if last else ""


def places(asked: Asked, reader: Reader) -> str:
    """The visits that a figure of data is of, "" for all or where groups or a change name them."""
    slots = asked.slots
    if slots.topic is not Topic.DATA or slots.change or "event" in slots.by:
        return ""
    return joint().join(words.place_name(place, reader) for place in slots.place)


def _share(asked: Asked, fact: Fact, answer: Answer, reader: Reader) -> str:
    """女性 44.4%(12/27 例)."""
    about = _about(asked, reader) + colon()
    if not isinstance(fact.value, Decimal):
        return about + _("nobody to count among")
    held = int((fact.value * answer.basis.rows).to_integral_value())
    percent = words.rounded(fact.value * 100, 1)
    return f"{about}{percent}%" + words.bracketed(f"{held}/{answer.basis.rows}")


def _figure(asked: Asked, fact: Fact, answer: Answer, reader: Reader) -> str:
    """年龄平均 55.7(27 例)."""
    names = {
        "mean": _(" on average"),
        "median": _(" in the median"),
        "min": _(" lowest"),
        "max": _(" highest"),
        "sum": _(" in total"),
    }
    how = names.get(asked.query["aggregate"], "")
    told = (
        conditions.scope(asked, reader),
        period(asked),
        conditions.described(asked, reader),
        places(asked, reader),
    )
    scope = " ".join(filter(None, told))
    head = f"{scope} " if scope else ""
    label = changes.span(asked, reader) or words.label(fact, reader)
    if fact.value is None:
        return f"{head}{label}{how}" + colon() + _("no value")
    missing = answer.basis.missing
    note = _("%(count)s subjects have no value") % {"count": missing} if missing else ""
    of = _("%(count)s values") % {"count": answer.basis.rows}
    return f"{head}{label}{how} {words.value(fact, reader)}" + words.bracketed(of, note)

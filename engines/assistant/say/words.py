"""Names, values, places and dates as a ward says them."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from engines.assistant.say.reader import Reader
from study.facts import Fact, Flag, Kind, json_value

_TYPED = ("text", "notes")
_UNIT_BEHIND = re.compile(r"[（(][^（）()]*[）)]$")
_NUMBERS = ("integer", "number")
_YEARS_OLD = ("岁", "周岁", "years old")
_CLOSE = re.compile(r"^[%‰°℃]")
_ISO = re.compile(r"\d{4}-\d{2}(-\d{2})?")
_BILINGUAL = re.compile(r"([ -~]*[A-Za-z]{2}[ -~]*?)\s+([\u4e00-\u9fff].*)")
_FINE = 10
"""Computed numbers below it are told with two decimals, others with one."""


def field_label(name: str, reader: Reader) -> str:
    """What people call a field, without the unit in brackets that its values are told with."""
    metadata = reader.design.metadata
    row = metadata.fields.get(name)
    label = metadata.label(name)
    if row is None:
        return label
    kind = str(row.get("text_validation_type_or_show_slider_number") or "")
    is_number = kind.startswith(_NUMBERS) or row["field_type"] == "calc"
    return _UNIT_BEHIND.sub("", label) or label if is_number else label


def is_computed(fact: Fact, reader: Reader) -> bool:
    """Whether a value was worked out of readings of its field: a difference, days between, a ratio."""
    metadata = reader.design.metadata
    known = fact.field in metadata.fields and bool(fact.label)
    return known and fact.label != metadata.label(fact.field)


def label(fact: Fact, reader: Reader) -> str:
    """What people call the field of a fact."""
    known = fact.field in reader.design.metadata.fields and not is_computed(fact, reader)
    return field_label(fact.field, reader) if known else fact.label


def unit_behind(name: str, reader: Reader) -> str:
    """The unit that a label names in brackets."""
    found = _UNIT_BEHIND.search(reader.design.metadata.label(name))
    return found[0][1:-1] if found and field_label(name, reader) != found.string else ""


def value(fact: Fact, reader: Reader, *, bare: bool = False) -> str:
    """A value with its unit, as read, and whether the form left the unit out; a blank as a blank.

    `bare`: without its unit, which is told once elsewhere.
    """
    if fact.value == ():
        return _("none ticked")
    if is_blank(fact):
        return _("not filled in")
    if fact.field == "@site":
        return site_name(str(fact.value), reader)
    text = fact.text or str(json_value(fact.value))
    if _is_typed(fact, reader):
        text = reader.masked(text)
    elif isinstance(fact.value, Decimal) and len(text) > len(rounded(fact.value)):
        text = rounded(fact.value) if _is_computed(fact, reader) else text
    if not bare:
        text = with_unit(text, fact.unit if fact.value is not None else "")
        text += bracketed(_("no unit entered")) if _is_without_unit(fact, reader) else ""
    if _is_no_choice(fact, reader):
        text += bracketed(_("invalid choice"))
    is_planned = Flag.PLANNED in fact.flags and fact.field == "@visits.actual"
    if is_planned or Flag.FUTURE in fact.flags:
        text += bracketed(_("planned, not done yet"))
    return text + (bracketed(_("readings differ")) if Flag.CONFLICTING in fact.flags else "")


def _is_without_unit(fact: Fact, reader: Reader) -> bool:
    """Whether a number's form has a field for its unit and it was left blank."""
    is_number = isinstance(fact.value, Decimal | int) and not is_computed(fact, reader)
    return is_number and not fact.unit and fact.field in reader.design.unit_fields


def beyond(fact: Fact) -> str:
    """上限 40 的 4.6 倍, 低于下限 130; "" within the limits."""
    if fact.limit is None or not isinstance(fact.value, Decimal):
        return ""
    high, low = fact.limit.high, fact.limit.low
    if Flag.HIGH in fact.flags and high:
        times = rounded(fact.value / high, 1)
        known = {"limit": json_value(high), "times": times}
        if times == "1":
            return _("above the upper limit %(limit)s") % known
        return _("%(times)s times the upper limit %(limit)s") % known
    if Flag.LOW in fact.flags and low is not None:
        return _("below the lower limit %(limit)s") % {"limit": json_value(low)}
    return ""


def end_name(fact: Fact, *, is_high: bool, is_day: bool = False) -> str:
    """最高, of a day 最晚, of an age 最大: what the end of several is called; and its opposite."""
    if is_day:
        return _(" latest") if is_high else _(" earliest")
    if is_age(fact):
        return _(" oldest") if is_high else _(" youngest")
    return _(" highest") if is_high else _(" lowest")


def is_age(fact: Fact) -> bool:
    """Whether a number counts the years of somebody's life."""
    return fact.unit in _YEARS_OLD


def is_blank(fact: Fact) -> bool:
    """Whether nothing stands there."""
    if fact.kind is Kind.BLANK:
        return True
    return fact.value in (None, ()) and not fact.text


def with_unit(text: str, unit: str) -> str:
    """106 g/L, 58%, 36.7℃."""
    return f"{text}{'' if _CLOSE.match(unit) else ' '}{unit}" if unit else text


def rounded(number: Decimal, digits: int | None = None) -> str:
    """A computed number with as many decimals as it deserves, without zeros behind."""
    places = digits if digits is not None else 2 if abs(number) < _FINE else 1
    told = number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    text = f"{told:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def bracketed(*parts: str) -> str:
    """The parts that are there, in brackets."""
    said = pgettext("inside brackets", ", ").join(filter(None, parts))
    return pgettext("brackets", " (%s)") % said if said else ""


def naming_field(form: str, reader: Reader) -> str:
    """The field that the rows of a form are called by: its first one, where that is free text."""
    for name, field in reader.design.metadata.fields.items():
        if field["form_name"] == form and field["field_type"] == "text":
            typed = str(field.get("text_validation_type_or_show_slider_number") or "")
            return "" if typed else name
    return ""


def event_name(event: str, reader: Reader) -> str:
    """An event by the visit planned at it, else by its label."""
    planned = {visit.visit for visit in reader.design.plan.visits if visit.event == event}
    if len(planned) == 1:
        return planned.pop()
    label = reader.design.metadata.event_label(event)
    return _in_one_script(label, reader)


def _in_one_script(name: str, reader: Reader) -> str:
    """Of a label in two languages (Baseline 基线) the reader's part."""
    both = _BILINGUAL.fullmatch(name)
    return (both[2] if reader.language.startswith("zh") else both[1]) if both else name


def place_name(place: str, reader: Reader) -> str:
    """A visit of the plan by its name, an event by its label."""
    return event_name(place, reader) if place in reader.design.event_order else place


def site_name(code: str, reader: Reader) -> str:
    """A site by its label, without the code that some labels begin with."""
    told = reader.sites.get(code, code)
    return told.removeprefix(code).strip() or told


def place(fact: Fact, reader: Reader, *, dated: bool = True) -> str:
    """Where a value stands, "" where it can stand in one place only: `V3, 2026-04-03`."""
    several = [
        forms for forms in reader.design.context.forms_by_event.values() if fact.instrument in forms
    ]
    where = event_name(fact.event, reader) if len(several) > 1 else ""
    if fact.instance is not None and not where:
        return fact.date or f"#{fact.instance}"
    day = fact.date if dated and (where or not fact.event) and fact.date != fact.value else None
    return pgettext("inside brackets", ", ").join(filter(None, [where, day or ""]))


def people(count: int) -> str:
    """So many subjects."""
    return _("%(count)s subjects") % {"count": count}


def _is_typed(fact: Fact, reader: Reader) -> bool:
    """Whether people wrote it freely."""
    if fact.kind is Kind.FINDING or fact.kind is Kind.REVIEW:
        return not _ISO.fullmatch(fact.text)
    row = reader.design.metadata.fields.get(fact.field, {})
    return (
        row.get("field_type") in _TYPED
        and isinstance(fact.value, str)
        and not _ISO.fullmatch(fact.value)
    )


def _is_no_choice(fact: Fact, reader: Reader) -> bool:
    """Whether a code was read that the dictionary does not know."""
    if Flag.MISSING_CODE in fact.flags or isinstance(fact.value, tuple):
        return False
    known = reader.design.metadata.choices(fact.field)
    return bool(known) and fact.value not in known


def _is_computed(fact: Fact, reader: Reader) -> bool:
    return fact.kind is Kind.AGGREGATE or is_computed(fact, reader)

"""Differences between subjects, changes between visits, multiples of a limit."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from engines.assistant.answer import values, words
from engines.assistant.answer.fitting import Told, colon
from engines.assistant.answer.reader import Reader
from engines.assistant.understand.types import Asked
from study.facts import Answer, Fact, plain


def difference(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """P020(76)比 P030(63)高 13; of more than two values, each with the span between the ends."""
    known = [fact for fact in answer.facts if not words.is_blank(fact)]
    numbers = [fact for fact in known if _measure(fact) is not None]
    if len(numbers) < 2 or len({fact.field for fact in numbers}) > 1:
        return values.told(asked, answer, reader)
    ordered = sorted(numbers, key=lambda fact: _measure(fact) or 0, reverse=True)
    high, low = ordered[0], ordered[-1]
    apart = _apart(high, low)
    if len(ordered) > 2:
        lines = values.told(asked, answer, reader)
        span = _("highest and lowest differ by %(apart)s") % {"apart": apart}
        return [Told(line.head, line.entries, (*line.notes, span)) for line in lines[:1]] + lines[
            1:
        ]
    label = words.label(high, reader) + colon()
    text = _("%(high)s is %(apart)s higher than %(low)s")
    if isinstance(high.value, str):
        text = _("%(high)s is %(apart)s later than %(low)s")
    if apart.startswith("0"):
        text = _("%(high)s and %(low)s are the same")
    named = {"high": _named(high, low, reader), "low": _named(low, high, reader), "apart": apart}
    return [Told(label + text % named)]


def _named(fact: Fact, other: Fact, reader: Reader) -> str:
    who = fact.subject if fact.subject != other.subject else words.place(fact, reader, dated=False)
    return who + words.bracketed(words.value(fact, reader))


def _measure(fact: Fact) -> Decimal | None:
    if isinstance(fact.value, Decimal | int | float):
        return Decimal(str(fact.value))
    if isinstance(fact.value, str):
        try:
            return Decimal(date.fromisoformat(fact.value).toordinal())
        except ValueError:
            return None
    return None


def _apart(high: Fact, low: Fact) -> str:
    found = (_measure(high) or Decimal(0)) - (_measure(low) or Decimal(0))
    unit = pgettext("unit", "days") if isinstance(high.value, str) else high.unit
    return words.with_unit(str(plain(found)), unit)


def change(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """P016 ALT V2 较基线 升高 166 U/L."""
    if not answer.facts:
        return [_uncomputed(asked, answer, reader)]
    return [Told(_changed(fact, asked, reader)) for fact in answer.facts if fact.value is not None]


def _changed(fact: Fact, asked: Asked, reader: Reader) -> str:
    operand = next(o for o in asked.query["select"] if o["field"] == fact.field)
    how, minus = operand["as"], operand["minus"]
    label = words.field_label(fact.field, reader)
    now, before = words.event_name(fact.event, reader), _("baseline")
    if asked.slots.change.startswith("places"):
        now, before = (words.event_name(one["place"], reader) for one in (operand, minus))
    number = fact.value if isinstance(fact.value, Decimal) else Decimal(str(fact.value))
    head = " ".join(filter(None, [fact.subject, label, now]))
    if how == "ratio":
        return _("%(head)s is %(times)s times %(before)s") % {
            "head": head,
            "times": words.rounded(number, 2),
            "before": before,
        }
    size = words.rounded(abs(number), 1) if how == "percent" else str(plain(abs(number)))
    texts = {
        1: _("%(head)s rose by %(size)s from %(before)s"),
        0: _("%(head)s is as at %(before)s"),
    }
    text = texts.get((number > 0) - (number < 0), _("%(head)s fell by %(size)s from %(before)s"))
    return text % {"head": head, "size": words.with_unit(size, fact.unit), "before": before}


def ratio(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """P016 ALT(V2,2026-09-22)185 U/L,为正常上限的 4.63 倍."""
    ratios = [fact for fact in answer.facts if _is_ratio(fact) and isinstance(fact.value, Decimal)]
    if not ratios:
        return [_uncomputed(asked, answer, reader)]
    if asked.slots.rows is None and not asked.slots.place:
        # Of several the one farthest beyond the limit first: what is cut off says less.
        low = asked.slots.change.endswith("low")
        ratios.sort(key=lambda fact: Decimal(str(fact.value)), reverse=not low)
    raw = {_spot(fact): fact for fact in answer.facts if not _is_ratio(fact)}
    return [Told(_multiple(fact, raw.get(_spot(fact)), asked, reader)) for fact in ratios]


def _multiple(fact: Fact, read: Fact | None, asked: Asked, reader: Reader) -> str:
    low = asked.slots.change.endswith("low")
    text = (
        _("%(head)s is %(times)s times the lower limit")
        if low
        else _("%(head)s is %(times)s times the upper limit")
    )
    where = words.bracketed(words.place(fact, reader))
    head = f"{fact.subject} {words.field_label(fact.field, reader)}"
    if read is not None:
        head += f" {words.value(read, reader)}"
    return text % {"head": head + where, "times": words.rounded(Decimal(str(fact.value)), 2)}


def lasted(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """P016 复方甘草片 用药开始日期 2026-10-24 至 用药结束日期 2026-10-30:6 天."""
    if asked.slots.change == "since":
        return _since(asked, answer, reader)
    apart = _("%(label)s: days between") % {"label": ""}
    spans = [fact for fact in answer.facts if fact.label.endswith(apart) and fact.value is not None]
    first, last = asked.slots.select[-2:]
    told = []
    for span in spans:
        near = [f for f in answer.facts if (f.subject, f.instance) == (span.subject, span.instance)]
        rows = {f.field: f for f in near if not f.label.endswith(apart) and not words.is_blank(f)}
        if first not in rows or last not in rows:
            continue
        names = [words.value(f, reader) for n, f in rows.items() if n not in (first, last)]
        days = [
            f"{words.field_label(n, reader)} {words.value(rows[n], reader)}" for n in (first, last)
        ]
        size = int(plain(span.value) or 0)
        texts = {
            1: _("%(first)s to %(last)s: %(days)s days"),
            0: _("%(first)s and %(last)s: the same day"),
        }
        text = texts.get((size > 0) - (size < 0), _("%(first)s is %(days)s days after %(last)s"))
        named = {"first": days[0], "last": days[1], "days": abs(size)}
        told.append(Told(" ".join([span.subject, *names, text % named])))
    return told or values.told(asked, answer, reader)


def _since(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """P014 筛选日期 2026-11-21(2 天前)."""
    apart = _("%(label)s: days between") % {"label": ""}
    told = []
    for fact in (f for f in answer.facts if f.label.endswith(apart) and f.value is not None):
        day = next(f for f in answer.facts if f.subject == fact.subject and f is not fact)
        ago = _("%(days)s days ago") % {"days": abs(int(plain(fact.value) or 0))}
        told.append(
            Told(f"{fact.subject} {words.label(day, reader)} {day.text}{words.bracketed(ago)}")
        )
    return told or values.told(asked, answer, reader)


def span(asked: Asked, reader: Reader) -> str:
    """入组日期 至 首次用药日期, of a figure over days between dates; "" for any other."""
    if asked.slots.change != "days":
        return ""
    first, last = (words.field_label(name, reader) for name in asked.slots.select[-2:])
    return _("days from %(first)s to %(last)s") % {"first": first, "last": last}


def _is_ratio(fact: Fact) -> bool:
    """Whether a fact is computed: it has no unit of its own and no limits."""
    return fact.label.endswith(_("%(label)s: ratio") % {"label": ""})


def _spot(fact: Fact) -> tuple[object, ...]:
    return fact.subject, fact.field, fact.event, fact.instance


def _uncomputed(asked: Asked, answer: Answer, reader: Reader) -> Told:
    """That it cannot be worked out, because a value or a limit is missing."""
    who = ", ".join(asked.query.get("subjects") or ())
    what = ", ".join(words.field_label(name, reader) for name in asked.slots.select)
    text = _("%(subject)s %(what)s: cannot be worked out, a value or limit is missing")
    return Told((text % {"subject": who, "what": what}).strip())

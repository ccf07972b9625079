"""What the study worked out of two values, and of whom it cannot be: a change, a ratio, days, how far apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from engines.assistant.say import computed, conditions, values, words
from engines.assistant.say.case import Case, apart
from engines.assistant.say.parts import Part, joint, noted, plain
from engines.assistant.say.people import told
from study.facts import Fact


def change(case: Case) -> list[Part]:
    """P016 ALT V2 较基线 升高 166 U/L, and of whom it cannot be worked out."""
    operands = {o["field"]: o for o in _operands(case) if isinstance(o["minus"], dict)}
    facts = [f for f in case.answer.facts if f.value is not None and f.field in operands]
    made = [plain(_changed(fact, operands[fact.field], case), case.marks([fact])) for fact in facts]
    if not made:
        return [_uncomputed(case)]
    return made + _others(case, {(fact.subject, fact.field) for fact in facts})


def _operands(case: Case) -> list[dict[str, Any]]:
    """What was to be worked out."""
    return [one for one in case.query.get("select") or () if isinstance(one, dict)]


def _changed(fact: Fact, operand: dict[str, Any], case: Case) -> str:
    minus, how = operand["minus"], str(operand.get("as") or "diff")
    now, before = words.event_name(fact.event, case.reader), _("baseline")
    if isinstance(minus, dict) and minus.get("place"):
        before = words.place_name(str(minus["place"]), case.reader)
    if operand.get("place") and isinstance(operand["place"], str):
        now = words.place_name(operand["place"], case.reader)
    number = computed.number(fact) or Decimal(0)
    head = " ".join(filter(None, [fact.subject, words.field_label(fact.field, case.reader), now]))
    known = {"head": head, "before": before, "times": words.rounded(number, 2)}
    if how == "ratio":
        return _("%(head)s is %(times)s times %(before)s") % known
    size = words.rounded(abs(number), 1) if how == "percent" else computed.plain(abs(number))
    texts = {
        1: _("%(head)s rose by %(size)s from %(before)s"),
        0: _("%(head)s is as at %(before)s"),
        -1: _("%(head)s fell by %(size)s from %(before)s"),
    }
    return texts[(number > 0) - (number < 0)] % (known | {"size": words.with_unit(size, fact.unit)})


def ratio(case: Case) -> list[Part]:
    """P016 ALT 185 U/L(V2,2026-09-22),为正常上限的 4.63 倍; then the readings and subjects without one."""
    reader, low = case.reader, case.question.change.endswith("low")
    found = [(f, words.is_computed(f, reader)) for f in case.answer.facts]
    ratios = [(f, n) for f, made in found if made and (n := computed.number(f)) is not None]
    if not ratios:
        return [_uncomputed(case)]
    if case.question.rows is None and not case.question.place:
        # Of several the one farthest beyond the limit first: what is cut off says less.
        ratios.sort(key=lambda pair: pair[1], reverse=not low)
    raw = {_spot(f): f for f, made in found if not made}
    high = _("%(head)s is %(times)s times the upper limit")
    text = _("%(head)s is %(times)s times the lower limit") if low else high
    made = []
    for fact, number in ratios:
        label, where = words.field_label(fact.field, reader), words.place(fact, reader)
        own = raw.pop(_spot(fact), None)
        value = words.value(own, reader) if own else ""
        head = f"{fact.subject} {label} {value}".strip() + words.bracketed(where)
        said = text % {"head": head, "times": words.rounded(number, 2)}
        made.append(plain(said, case.marks([fact])))
    rest, note = [*raw.values()], _("no multiple of the limit can be worked out")
    more = values.word_values(rest, reader, case.marks, values.Asking()) if rest else []
    made += [replace(part, notes=(*part.notes, note)) for part in more]
    return made + _others(case, {(f.subject, f.field) for f in (*(f for f, _n in ratios), *rest)})


def _spot(fact: Fact) -> tuple[object, ...]:
    return fact.subject, fact.field, fact.event, fact.instance


def _others(case: Case, done: Collection[tuple[str, str]]) -> list[Part]:
    """That it cannot be worked out, of whom and of which fields nothing was told; of doubts the notes speak."""
    unsure = {one.subject for one in case.answer.undecided}
    left: dict[tuple[str, ...], list[str]] = {}
    for name in case.subjects:
        fields = tuple(o["field"] for o in _operands(case) if (name, o["field"]) not in done)
        if fields and name in case.reader.subjects and name not in unsure:
            left.setdefault(fields, []).append(name)
    return [_uncomputed(case.among(who), fields) for fields, who in left.items()]


def lasted(case: Case) -> list[Part]:
    """P016 复方甘草片 用药开始日期 2026-10-24 至 用药结束日期 2026-10-30:6 天; then whatever has none."""
    reader, names, made = case.reader, case.question.select[-2:], list[Part]()
    spans = [
        f
        for f in case.answer.facts
        if words.is_computed(f, reader) or (f.field.startswith("@") and f.unit)
    ]
    read, done = [f for f in case.answer.facts if f not in spans], set[tuple[object, ...]]()
    for span in spans:
        rows = _rows_beside(span, read)
        dated = [(f, day) for n in names if (f := rows.get(n)) and (day := computed.day(f))]
        beside = [words.value(f, reader) for n, f in rows.items() if n not in names]
        spots = (words.place(f, reader, dated=False) for f, _day in dated)
        # What a row is called says which it is.
        where = [] if beside else [*filter(None, spots)][:1]
        if case.question.change == "since" and dated:
            fact, day = dated[-1]
            said = " ".join([fact.subject, *where, words.label(fact, reader), fact.text])
            said += words.bracketed(computed.since(day, reader))
        elif len(dated) == 2 and computed.number(span) == (dated[1][1] - dated[0][1]).days:
            (a, first), (b, last) = dated
            said = computed.between(a, b, first, last, reader).removeprefix(a.subject).strip()
            said = " ".join([a.subject, *where, *beside, said])
        else:
            continue
        made.append(plain(said, case.marks([span, *rows.values()])))
        done.add(_spot(span))
    for fact in (f for f in read if f.field in names[-1:] and _spot(f) not in done):
        made += _endless(fact, read, case)
        done.add(_spot(fact))
    known = {str(subject) for subject, *_where in done}
    rest = [name for name in case.subjects if name in reader.subjects and name not in known]
    for group in apart(case.among(rest)) if rest else ():
        made += [*told(group), *([_uncomputed(group)] if group.answer.facts else [])]
    return made or told(case)


def _endless(fact: Fact, read: Sequence[Fact], case: Case) -> list[Part]:
    """P006 乏力 AE结束日期 未填写(自 AE开始日期 2026-10-16 起 38 天); of what does not go on its days."""
    reader, names, rows = case.reader, case.question.select[-2:], _rows_beside(fact, read)
    first = rows.get(names[0])
    began = computed.day(first) if first and first is not fact else None
    if began is None or first is None or fact.instance is None or not words.is_blank(fact):
        own = [f for f in read if f is fact or any(f is one for one in rows.values())]
        return told(case.with_facts(own))
    days = (reader.today - began).days
    since = _("%(days)s days since %(first)s") % {
        "days": days,
        "first": f"{words.label(first, reader)} {words.value(first, reader)}",
    }
    name = [words.value(f, reader) for n, f in rows.items() if n not in names]
    said = " ".join([fact.subject, *name, words.label(fact, reader), words.value(fact, reader)])
    return [plain(said + words.bracketed(since), case.marks([fact, *rows.values()]))]


def _rows_beside(span: Fact, read: Sequence[Fact]) -> dict[str, Fact]:
    """What stands in the row of a span; of what the subject has in one row only, this."""
    own = [f for f in read if f.subject == span.subject]
    count = Counter(f.field for f in own)
    spot = (span.event, span.instance)
    near = [f for f in own if (f.event, f.instance) == spot or count[f.field] == 1]
    return {f.field: f for f in near if not words.is_blank(f)}


def difference(case: Case) -> list[Part]:
    """The values of more than two, and how far the ends lie apart; two are compared."""
    facts = [fact for fact in case.answer.facts if not words.is_blank(fact)]
    numbers = [computed.number(fact) for fact in facts]
    # How far two are apart is not how far one is from itself.
    lone = len(case.subjects) > 1 and {*case.subjects} - {fact.subject for fact in facts}
    if lone or len(facts) < 2 or None in numbers or len({*map(values.series_key, facts)}) > 1:
        return told(case)
    if len(facts) > 2 and (pairs := _side_by_side(facts, case.subjects)):
        sides = [(*pair, computed.names_of(*pair, case.reader)) for pair in pairs]
        texts = [(computed.compared(*side, case.reader), side[:2]) for side in sides]
        return [plain(text, case.marks(pair)) for text, pair in texts if text] or told(case)
    facts.sort(key=lambda fact: computed.number(fact) or Decimal(0), reverse=True)
    if len(facts) == 2:
        names = computed.names_of(facts[0], facts[1], case.reader)
        said = computed.compared(facts[0], facts[1], names, case.reader)
        return [plain(said, case.marks(facts))] if said else told(case)
    if len({fact.unit for fact in facts}) > 1:
        return told(case)
    gap = (computed.number(facts[0]) or Decimal(0)) - (computed.number(facts[-1]) or Decimal(0))
    text = _("highest and lowest differ by %(apart)s")
    span = text % {"apart": words.with_unit(computed.plain(gap), facts[0].unit)}
    return noted(told(case), [span])


def _side_by_side(facts: list[Fact], who: Sequence[str]) -> list[tuple[Fact, Fact]]:
    """The readings of two subjects at the same visits, in their order; [] for one or more than two."""
    if len(who) != 2:
        return []
    other = {fact.event: fact for fact in facts if fact.subject == who[1]}
    first = [fact for fact in facts if fact.subject == who[0]]
    return [(fact, other[fact.event]) for fact in first if fact.event in other]


def _uncomputed(case: Case, fields: Sequence[str] = ()) -> Part:
    """That it cannot be worked out, because a value or a limit is missing."""
    names = fields or case.question.select
    what = joint().join(conditions.name_of(name, case.reader) for name in names)
    text = _("%(subject)s %(what)s: cannot be worked out, a value or limit is missing")
    return plain((text % {"subject": joint().join(case.subjects), "what": what}).strip())

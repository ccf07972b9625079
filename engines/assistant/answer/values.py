"""Values of subjects: the figure that was asked for, or its series in time order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.utils.translation import gettext as _

from engines.assistant.answer import conditions, forms, words
from engines.assistant.answer.fitting import Told, colon, joint
from engines.assistant.answer.limits import times_over
from engines.assistant.answer.reader import Reader
from engines.assistant.answer.rows import Row, by_subject, rows_of
from engines.assistant.understand.types import Asked
from study.facts import Answer, Fact, Flag


def told(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """One line a subject, or one for all where each has one value of the same field."""
    rows = rows_of(answer.facts)
    if not rows:
        return [nothing(asked, answer, reader)]
    whole = forms.listed(asked, rows, reader)
    of_all = by_subject([row for row in rows if row not in whole])
    singles = [only[0].first for only in of_all.values() if len(only) == len(only[0].facts) == 1]
    if not whole and len(singles) == len(of_all) > 1 and len({fact.field for fact in singles}) == 1:
        return [_across(singles, reader)]
    lines = [line for own in of_all.values() for line in _of_one(own, asked, reader)]
    return [*lines, *forms.told(asked, whole, reader)]


def nothing(asked: Asked, answer: Answer, reader: Reader) -> Told:
    """That everything was read and nothing was there; over whom."""
    subjects = asked.query.get("subjects") or ()
    what = joint().join(conditions.name_of(name, reader) for name in asked.slots.select)
    chosen = conditions.sought(asked, reader)
    where = joint().join(asked.slots.place)
    if subjects:
        told = _("%(subject)s has no record of %(what)s")
        what = chosen or what
        what = f"{where} {what}" if where else what
        return Told(told % {"subject": joint().join(subjects), "what": what})
    none = _("No subject meets this")
    return Told(none + looked_at(asked, answer, reader, chosen))


def looked_at(asked: Asked, answer: Answer, reader: Reader, chosen: str = "") -> str:
    """For what (`chosen`) and over whom it was looked: the sites asked for, else all the reader may see."""
    return words.bracketed(chosen, _over(asked, answer, reader))


def _over(asked: Asked, answer: Answer, reader: Reader) -> str:
    if asked.slots.site:
        return conditions.scope(asked, reader)
    count = answer.basis.subjects
    return _("the %(count)s subjects that you may see") % {"count": count}


def _across(facts: Sequence[Fact], reader: Reader) -> Told:
    """体重:P020 63.1 kg、P023 51.6 kg."""
    head = words.label(facts[0], reader) + colon()
    full = [
        f"{f.subject} {words.value(f, reader)}{words.bracketed(_place(f, reader))}" for f in facts
    ]
    short = [f"{f.subject} {words.value(f, reader)}" for f in facts]
    return Told(head, tuple(full), shorter=Told(head, tuple(short)))


def _of_one(rows: Sequence[Row], asked: Asked, reader: Reader) -> list[Told]:
    """A sentence of what is told once, a line for each series, a line for a form with several rows."""
    forms_asked = [form for form in asked.slots.select if _several(form, rows)]
    apart = [row for row in rows if row.first.instrument not in forms_asked]
    lines = _by_field(apart, asked, reader) if apart else []
    return lines + [
        _by_row([r for r in rows if r.first.instrument == f], reader) for f in forms_asked
    ]


def _several(form: str, rows: Sequence[Row]) -> bool:
    return sum(row.first.instrument == form for row in rows) > 1


def _by_row(rows: Sequence[Row], reader: Reader) -> Told:
    """All fields of a form at several visits: the newest visit first, since seldom all of them fit."""
    first = rows[0].first
    what = {"subject": first.subject, "form": reader.design.metadata.form_label(first.instrument)}
    entries = []
    for row in reversed(rows):
        where = words.place(row.first, reader) or row.first.date or ""
        known = [fact for fact in row.facts if not words.is_blank(fact)]
        told = (f"{words.label(fact, reader)} {words.value(fact, reader)}" for fact in known)
        entries.append(f"{where} " + joint().join(told))
    return Told(_("%(subject)s %(form)s, newest first: ") % what, tuple(entries))


def _by_field(rows: Sequence[Row], asked: Asked, reader: Reader) -> list[Told]:
    name = rows[0].subject
    fields = list(dict.fromkeys(fact.field for row in rows for fact in row.facts))
    facts = {f: [fact for row in rows for fact in row.facts if fact.field == f] for f in fields}
    once = [found[0] for found in facts.values() if len(found) == 1]
    lines = [_sentence(name, once, asked, reader)] if once else []
    several = [found for found in facts.values() if len(found) > 1]
    return lines + _beside(several, [series(found, reader) for found in several], reader)


def _beside(several: Sequence[Sequence[Fact]], lines: list[Told], reader: Reader) -> list[Told]:
    """Several series, in little room one line of all: P016(基线/V2):ALT 31/185↑ U/L、AST 21/88↑ U/L."""
    places = [[words.place(f, reader, dated=False) for f in facts] for facts in several]
    if len(lines) < 2 or any(own != places[0] for own in places) or not all(places[0]):
        return lines
    head = several[0][0].subject + words.bracketed("/".join(places[0])) + colon()
    brief = Told(head, tuple(_in_a_row(facts, reader) for facts in several))
    rest = [replace(line, shorter=replace(line.shorter or line, shorter=Told())) for line in lines]
    first = replace(rest[0], shorter=replace(lines[0].shorter or lines[0], shorter=brief))
    return [first, *rest[1:]]


def _in_a_row(facts: Sequence[Fact], reader: Reader) -> str:
    """ALT 31/185↑/28 U/L."""
    units = {fact.unit for fact in facts if not words.is_blank(fact)}
    unit = units.pop() if len(units) == 1 else ""
    said = words.bare if unit else words.value
    values = (_("not filled in") if words.is_blank(f) else said(f, reader) for f in facts)
    return words.with_unit(f"{words.label(facts[0], reader)} " + "/".join(values), unit)


def _sentence(name: str, facts: Sequence[Fact], asked: Asked, reader: Reader) -> Told:
    """P006 身高 165 cm、体重 72.9 kg; the place once where it is the same."""
    places = {_place(fact, reader) for fact in facts}
    if len({(fact.event, fact.instrument, fact.instance) for fact in facts}) == 1:
        # The day of the row is no place of its own.
        places = {max(places, key=len)}
    one = len(places) == 1
    latest = {"latest": _(" latest reading"), "first": _(" first reading")}.get(
        str(asked.slots.rows), ""
    )
    entries = []
    for fact in facts:
        head = words.label(fact, reader)
        said = f"{head}{latest if words.place(fact, reader) else ''} {words.value(fact, reader)}"
        where = "" if one else _place(fact, reader)
        entries.append(said + words.bracketed(where))
    if one and entries:
        entries[-1] += words.bracketed(places.pop())
    if len(facts) == 1:
        entries[0] += times_over(facts[0])
    return Told(f"{name} ", tuple(entries))


def _place(fact: Fact, reader: Reader) -> str:
    """Of the one row of a repeating form that is told the number says nothing."""
    return "" if fact.instance is not None else words.place(fact, reader)


def series(facts: Sequence[Fact], reader: Reader) -> Told:
    """P001 白细胞(×10⁹/L):基线 5.8(2026-02-04)、V2 5.3 …; blanks behind, by their places."""
    known = [fact for fact in facts if not words.is_blank(fact)]
    first = facts[0]
    units = {fact.unit for fact in known}
    unit = units.pop() if len(units) == 1 else ""
    head = f"{first.subject} {words.label(first, reader)}{words.bracketed(unit).strip()}"
    head += colon()
    full, short = [], []
    for fact in known:
        where = words.place(fact, reader, dated=False)
        said = words.value(fact, reader) if not unit else words.bare(fact, reader)
        day = fact.date or "" if fact.date != fact.value else ""
        short.append(f"{where or day} {said}".strip())
        full.append(short[-1] + (words.bracketed(day) if where not in ("", day) else ""))
    blank = [
        words.place(f, reader, dated=False) or f.date or "" for f in facts if words.is_blank(f)
    ]
    said = _("not filled in: %(places)s") % {"places": joint().join(blank)} if blank else ""
    if not known:
        return Told(f"{first.subject} {words.label(first, reader)} {_('not filled in')}")
    notes = (said,) if said else ()
    # In little room what lies outside its limits is told first, then the newest.
    beyond = [bool({Flag.HIGH, Flag.LOW} & fact.flags) for fact in known]
    weights = tuple(place + len(known) * out for place, out in enumerate(beyond))
    brief = Told(head, tuple(short), notes, weights=weights)
    return Told(head, tuple(full), notes, shorter=brief, weights=weights)

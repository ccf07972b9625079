"""Who: 共 3 例:P003、P010、P011, with the values that were asked for; and whether there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from engines.assistant.answer import conditions, forms, values, words
from engines.assistant.answer.fitting import Told, joint
from engines.assistant.answer.reader import Reader
from engines.assistant.answer.rows import Row, by_subject, rows_of
from engines.assistant.understand.types import Asked
from language.denials import denies, only_denies
from study.facts import Answer, Fact, Kind

_FEW = 20


def told(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """The subjects with their count; beside each what is not already said by the question.

    Who denies what was looked for in a free text is counted apart.
    """
    rows = rows_of(answer.facts)
    denied = {row.subject for row in rows if _denied(row, asked)}
    if denied:
        rows = [row for row in rows if row.subject not in denied]
        text = _("%(count)s subjects in whom it is denied are not counted")
        note = text % {"count": len(denied)}
        kept = tuple(fact for row in rows for fact in row.facts)
        rest = replace(answer, facts=kept, basis=answer.basis)
        return [_noted(line, note) for line in told(asked, rest, reader)]
    if not rows:
        return [values.nothing(asked, answer, reader)]
    of_all = by_subject(rows)
    head = _("%(count)s subjects in all: ") % {"count": len(of_all) + answer.left_out}
    line = Told(head, tuple(of_all), left_out=answer.left_out)
    most = max(len(row.facts) for row in rows)
    # Of many subjects no middling detail fits either: the least is read, the most goes into a sheet.
    for shown in range(1, most + 1) if len(of_all) <= _FEW else sorted({1, most}):
        entries = tuple(_entry(name, own, asked, reader, shown) for name, own in of_all.items())
        if entries != line.entries:
            line = Told(head, entries, left_out=answer.left_out, shorter=line)
    return [line]


def _denied(row: Row, asked: Asked) -> bool:
    """Whether a word that was looked for stands in a row's free text, and is denied there."""
    parts = conditions.parts(asked.slots.where)
    free = {fact.field for fact in row.facts if fact.text == fact.value}
    told = [
        (row.text(str(part["field"])), str(part.get("value", "")), part["op"])
        for part in parts
        if part.get("op") == "contains" or (part.get("op") == "filled" and part["field"] in free)
    ]
    found = [
        denies(text, word) if op == "contains" else only_denies(text)
        for text, word, op in told
        if text
    ]
    return bool(found) and all(found)


def yes_or_no(asked: Asked, answers: Sequence[Answer], reader: Reader) -> list[Told]:
    """Whether there is such a row, and which; of who was named and cannot be judged the notes speak.

    A second answer holds all readings of who was named, whatever their value: a no then says over which.
    """
    answer = answers[0]
    if not asked.slots.where:
        return plainly(asked, answer, reader)
    if not answer.facts:
        doubtful = answer.undecided and asked.query.get("subjects")
        # What cannot be judged is told as it is; of why not the notes speak.
        known = [values.told(asked, one, reader) for one in answers[1:] if one.facts]
        return (
            [line for own in known for line in own] if doubtful else [_no(asked, answers, reader)]
        )
    render = values.told if asked.query.get("subjects") else told
    lines = render(asked, answer, reader)
    if _asks_what(asked, reader):
        return lines
    # What must hold of no row was found in these.
    said = pgettext("it is not so", "No, ") if asked.slots.every else _("Yes, ")
    return [_begun(said, lines[0]), *lines[1:]]


def _asks_what(asked: Asked, reader: Reader) -> bool:
    """那个SAE跟药有关系没: of the rows that were named a choice is asked for, which answers by itself."""
    named = {str(part.get("field")) for part in conditions.parts(asked.slots.where)}
    return any(conditions.choices(n, reader) for n in asked.slots.select if n not in named)


def plainly(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """P001入组了吗, P007有没有合并用药: whether a day or a row is there; other values answer by themselves."""
    lines = values.told(asked, answer, reader)
    subjects, select = asked.query.get("subjects") or (), asked.slots.select
    if len(subjects) != 1 or len(select) != 1 or answer.undecided or not answer.basis.subjects:
        return lines
    if select[0] in reader.design.repeating_forms:
        there = any(not words.is_blank(fact) for fact in answer.facts)
        said = _("Yes, ") if there else _("No, ")
        return [_begun(said, lines[0]), *lines[1:]]
    if not _is_day(select[0], reader) or len(answer.facts) != 1:
        return lines
    fact = answer.facts[0]
    blank = words.is_blank(fact)
    said = pgettext("it is not so", "No, ") if blank else pgettext("it is so", "Yes, ")
    if select[0] != "@enrolled":
        return [_begun(said, lines[0]), *lines[1:]]
    is_in = _("not enrolled") if blank else pgettext("subjects", "enrolled")
    day = "" if blank else words.bracketed(fact.text)
    return [Told(f"{said}{fact.subject} {is_in}{day}")]


def _is_day(name: str, reader: Reader) -> bool:
    row = reader.design.metadata.fields.get(name, {})
    typed = str(row.get("text_validation_type_or_show_slider_number") or "")
    return name == "@enrolled" or typed.startswith("date")


def _noted(line: Told, note: str) -> Told:
    shorter = _noted(line.shorter, note) if line.shorter else None
    return replace(line, notes=(*line.notes, note), shorter=shorter)


def _begun(said: str, line: Told) -> Told:
    shorter = _begun(said, line.shorter) if line.shorter else None
    return Told(said + line.head, line.entries, line.notes, line.left_out, shorter)


def _no(asked: Asked, answers: Sequence[Answer], reader: Reader) -> Told:
    subjects = asked.query.get("subjects")
    if not subjects:
        none = pgettext("there are none", "No")
        return Told(
            none + values.looked_at(asked, answers[0], reader, conditions.described(asked, reader))
        )
    if len(answers) == 1:
        return Told(_("No, ") + values.nothing(asked, answers[0], reader).head)
    if asked.slots.rows in ("latest", "first"):
        # Of one reading its value says it; how all of them lie was not asked.
        said = pgettext("it is so", "Yes, ") if asked.slots.every else _("No, ")
        [line, *_more] = values.told(asked, answers[1], reader)
        return _begun(said, line)
    readings = [fact for fact in answers[1].facts if not words.is_blank(fact)]
    if not readings:
        unlimited = replace(asked, queries=asked.queries[1:])
        return values.nothing(unlimited, answers[1], reader)
    never = conditions.never(asked, reader) or values.nothing(asked, answers[0], reader).head
    said = pgettext("it is so", "Yes, ") if asked.slots.every else _("No, ")
    return Told(said + f"{joint().join(subjects)} {never}" + _over(readings, asked, reader))


def _over(readings: Sequence[Fact], asked: Asked, reader: Reader) -> str:
    """(共 6 次,最高 1.0 mg/dL): the end that came nearest to what was asked for."""
    numbers = [fact for fact in readings if isinstance(fact.value, Decimal)]
    count = _("%(count)s readings") % {"count": len(readings)}
    fields = {fact.field for fact in numbers}
    if len(fields) != 1:
        return words.bracketed(count)
    ops = {str(part.get("op", ""))[:1] for part in conditions.parts(asked.slots.where)}
    high = _("highest %(value)s") % {"value": words.value(max(numbers, key=_size), reader)}
    low = _("lowest %(value)s") % {"value": words.value(min(numbers, key=_size), reader)}
    return words.bracketed(count, high if ">" in ops else "", low if "<" in ops else "")


def _size(fact: Fact) -> Decimal:
    return fact.value if isinstance(fact.value, Decimal) else Decimal(0)


def _entry(name: str, rows: Sequence[Row], asked: Asked, reader: Reader, shown: int) -> str:
    # 从来没低于95: beside the values that were compared a blank tells nothing.
    known = [row for row in rows if not all(map(words.is_blank, row.facts))]
    held = any(part.get("holds") for part in conditions.parts(asked.slots.where))
    rows = known if held and known else rows
    details = [_detail(row, asked, reader, shown, alone=len(rows) == 1) for row in rows]
    said = "/".join(dict.fromkeys(filter(None, details)))
    return f"{name} {said}" if said else name


def _detail(row: Row, asked: Asked, reader: Reader, shown: int, *, alone: bool) -> str:
    if row.first.kind is Kind.SUBJECTS:
        return ""
    if forms.listed(asked, [row], reader):
        return forms.entry(row, asked, reader, shown)
    known = conditions.settled(asked)
    facts = [fact for fact in row.facts if fact.field not in known][:shown]
    if alone and row.first.instance is not None:
        # The day that its only row began is none of the day of what is told of it.
        return " ".join(words.value(fact, reader) for fact in facts)
    return " ".join(
        words.value(f, reader) + words.bracketed(words.place(f, reader, dated=False)) for f in facts
    )

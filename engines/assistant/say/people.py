"""Who and whether: lists of subjects, yes and no, the highest over all; only as whole results prove it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from core.language.denials import denies, only_denies
from engines.assistant.read.question import Query, conditions_of
from engines.assistant.say import computed, conditions, values, words
from engines.assistant.say.case import (
    Case,
    among_decided,
    apart,
    looked_at,
    none_decided,
    nothing,
    total_of,
    untold,
)
from engines.assistant.say.parts import Part, begun, joint, noted, plain
from engines.assistant.say.reader import Reader
from engines.assistant.say.rows import Row, by_subject, rows_of
from study.facts import Fact, Flag, Kind

_FEW = 20
_SIGNS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    ">": Decimal.__gt__,
    ">=": Decimal.__ge__,
    "<": Decimal.__lt__,
    "<=": Decimal.__le__,
}
_OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}


def word_people(case: Case) -> list[Part]:
    """共 3 例:P003、P010、P011, beside each what is not already said by the question.

    Who denies what was looked for in a free text is counted apart.
    """
    rows = rows_of(case.answer.facts)
    denied = {row.subject for row in rows if _is_denied(row, case)}
    if denied:
        kept = [fact for row in rows if row.subject not in denied for fact in row.facts]
        text = _("%(count)s subjects in whom it is denied are not counted")
        return noted(word_people(case.with_facts(kept)), [text % {"count": len(denied)}])
    if not rows:
        return [nothing(case)]
    of_all = by_subject(rows)
    most = max(len(row.facts) for row in rows)
    # Of many subjects no middling detail fits either: the least is read, the most goes into a table.
    levels = range(most, 0, -1) if len(of_all) <= _FEW else sorted({1, most}, reverse=True)
    items = []
    for name, own in of_all.items():
        said = [f"{name} {entry}".strip() for n in levels if (entry := _entry(own, case, n)) or n]
        items.append(tuple(dict.fromkeys([*said, name])))
    marks = case.marks(case.answer.facts)
    left_out = case.answer.left_out
    return [Part("", tuple(items), (), (), marks, (), "subject", True, left_out)]


def _entry(rows: Sequence[Row], case: Case, shown: int) -> str:
    # 从来没低于95: beside the values that were compared a blank tells nothing.
    known = [row for row in rows if not all(map(words.is_blank, row.facts))]
    held = any(part.get("holds") for part in conditions_of(case.question.where))
    rows = known if held and known else rows
    details = [_detail(row, case, shown, alone=len(rows) == 1) for row in rows]
    return "/".join(dict.fromkeys(filter(None, details)))


def _detail(row: Row, case: Case, shown: int, *, alone: bool) -> str:
    reader, repeating = case.reader, case.reader.design.repeating_forms
    if row.first.kind is Kind.SUBJECTS:
        return ""
    if row.first.instrument in repeating and len(row.facts) > 1:
        return values.entry(row, reader, case.asking, shown)
    facts = [fact for fact in row.facts if fact.field not in case.asking.settled][:shown]
    if alone and row.first.instance is not None:
        # The day that its only row began is none of the day of what is told of it.
        return " ".join(words.value(fact, reader) for fact in facts)
    return " ".join(
        words.value(f, reader) + words.bracketed(words.place(f, reader, dated=False)) for f in facts
    )


def _is_denied(row: Row, case: Case) -> bool:
    """Whether a word that was looked for stands in a row's free text, and is denied there."""
    free = {fact.field for fact in row.facts if fact.text and fact.text == fact.value}
    found = []
    for part in conditions_of(case.question.where):
        text, op = row.text(str(part.get("field"))), part.get("op")
        if text and op == "contains":
            found.append(denies(text, str(part.get("value", ""))))
        elif text and op == "filled" and part["field"] in free:
            found.append(only_denies(text))
    return bool(found) and all(found)


# --- yes and no -----------------------------------------------------------------------------------


def yes_or_no(case: Case) -> list[Part]:
    """Whether there is such a row, and which; of who was named and cannot be judged the notes speak.

    A second result holds all readings of who was named, whatever their value: a no then says over which. What
    must hold of every reading, or of none (`aspect` never), is said of all of them. Those for whom it is so and
    those for whom it is not stand apart.
    """
    return [part for group in apart(case) for part in _whether(group)]


def _whether(case: Case) -> list[Part]:
    question, held = case.question, bool(case.answer.facts)
    if not question.where:
        return _plainly(case)
    if not case.subjects:
        looked = looked_at(case, conditions.described(case.query, case.reader))
        if not held and none_decided(case.answer):
            return [untold(case, conditions.described(case.query, case.reader))]
        none = [plain(pgettext("there are none", "No") + looked)]
        if question.aspect == "never":
            # 没有SAE对吗: what is said of them is so, or not, where it is known of each of them.
            so, not_so = pgettext("it is so", "Yes, "), pgettext("it is not so", "No, ")
            if case.answer.undecided:
                so = among_decided(case)
            return begun(not_so, word_people(case)) if held else begun(so, none)
        return begun(_("Yes, "), word_people(case)) if held else none
    if not held and case.answer.undecided:
        # What cannot be judged is told as it is; of why not the notes speak.
        return [part for at in range(1, len(case.results)) for part in _values(case.of(at))]
    every = any("none" in c or c.get("holds") == "every" for c in question.where)
    never = question.aspect == "never"
    if every:
        parts = [plain(_all_so(case), case.marks(case.answer.facts))] if held else _against(case)
    elif held:
        parts = _within(_found(case), case) if never else _found(case)
    else:
        parts = _none(case)
    if held and not (every or never) and _asks_what(case):
        return parts
    if held and not (every or never) and (days := _days_asked(case)):
        blanks = {words.is_blank(fact) for fact in days}
        said = _("No, ") if blanks == {True} else pgettext("it is so", "Yes, ")
        return begun(said, parts) if len(blanks) == 1 else parts
    yes, no = pgettext("it is so", "Yes, "), pgettext("it is not so", "No, ")
    yes, no = (yes, no) if every or never else (_("Yes, "), _("No, "))
    return begun(yes if held is not never else no, parts)


def _found(case: Case) -> list[Part]:
    """The rows that were found, of one form whole, else their values."""
    rows = rows_of(case.answer.facts)
    repeating = case.reader.design.repeating_forms
    if all(row.first.instrument in repeating and len(row.facts) > 1 for row in rows):
        return rows_told(case, rows)
    return _values(case)


def rows_told(case: Case, rows: Sequence[Row]) -> list[Part]:
    """A sentence for each subject and form, with how many rows there are where that is proven."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.subject, row.first.instrument), []).append(row)
    made = []
    for (subject, form), own in found.items():
        total = total_of(case.sheet, subject, form)
        label = case.reader.design.metadata.form_label(form)
        what = f"{conditions.places(case.query, case.reader)} {label}".strip()
        whole = total if total == len(own) else None
        made.append(values.listed(own, case.reader, case.marks, case.asking, whole, what))
    return made


def told(case: Case) -> list[Part]:
    """The facts as they are: rows of forms as rows, all else by subject and field."""
    rows, repeating = rows_of(case.answer.facts), case.reader.design.repeating_forms
    if not rows:
        return [nothing(case)]
    asked = {*case.question.select, *map(str, case.query.get("select") or ())}
    several = [row for row in rows if row.first.instrument in repeating]
    whole = [row for row in several if row.first.instrument in asked or len(row.facts) > 1]
    rest = [fact for row in rows if row not in whole for fact in row.facts]
    made = values.word_values(rest, case.reader, case.marks, case.asking) if rest else []
    return made + rows_told(case, whole)


def _values(case: Case) -> list[Part]:
    if not case.answer.facts:
        return [nothing(case)]
    return values.word_values(case.answer.facts, case.reader, case.marks, case.asking)


def _asks_what(case: Case) -> bool:
    """那个SAE跟药有关系没: of the rows that were named a choice is asked for, which answers by itself."""
    named = {str(part.get("field")) for part in conditions_of(case.question.where)}
    return any(conditions.choices(n, case.reader) for n in case.question.select if n not in named)


def _days_asked(case: Case) -> list[Fact]:
    """那个SAE上报了吗: of the rows that were named the one day that is asked for, which tells by itself."""
    select = case.question.select
    named = {str(part.get("field")) for part in conditions_of(case.question.where)}
    if len(select) != 1 or select[0] in named or not _is_day(select[0], case):
        return []
    return [fact for fact in case.answer.facts if fact.field == select[0]]


def _plainly(case: Case) -> list[Part]:
    """P001入组了吗, P007有没有合并用药: whether a day or a row is there; other values answer by themselves."""
    select, facts = case.question.select, case.answer.facts
    one = len(case.subjects) == len(select) == 1 and (facts or not case.answer.undecided)
    if not one or not case.answer.basis.subjects:
        return _found(case) if facts else [nothing(case)]
    if select[0] in case.reader.design.repeating_forms:
        there = any(not words.is_blank(fact) for fact in facts)
        return begun(_("Yes, "), _found(case)) if there else begun(_("No, "), [nothing(case)])
    if not _is_day(select[0], case) or len(facts) != 1:
        return _values(case)
    blank = words.is_blank(facts[0])
    said = _("No, ") if blank else pgettext("it is so", "Yes, ")
    if select[0] != "@enrolled":
        return begun(said, _values(case))
    is_in = _("not enrolled") if blank else pgettext("subjects", "enrolled")
    day = "" if blank else words.bracketed(facts[0].text)
    return [plain(f"{said}{facts[0].subject} {is_in}{day}", case.marks(facts))]


def _is_day(name: str, case: Case) -> bool:
    row = case.reader.design.metadata.fields.get(name, {})
    typed = str(row.get("text_validation_type_or_show_slider_number") or "")
    return name == "@enrolled" or typed.startswith("date")


def _readings(case: Case) -> list[Fact]:
    """All readings of who was named, whatever their value, where they were asked for."""
    facts = case.results[1][1].facts if len(case.results) > 1 else ()
    return [fact for fact in facts if not words.is_blank(fact)]


def _none(case: Case) -> list[Part]:
    """That no row is so, and over which readings that is said; of rows of a form among how many."""
    readings, where = _readings(case), [*conditions_of(case.question.where)]
    if readings and case.results[1][0].get("where"):
        # It was there and has ended.
        return _found(case.of(1))
    if not readings and len(case.results) > 1:
        return [nothing(case.of(1))]
    if case.question.rows in ("latest", "first") and readings:
        # Of one reading its value says it; how all of them lie was not asked.
        return _values(case.of(1))
    said = conditions.never({"where": where}, case.reader)
    in_rows = any(fact.instance is not None for fact in readings)
    if case.answer.left_out or not readings or in_rows or not said:
        return [nothing(case)]
    text = f"{joint().join(case.subjects)} {said}{_over(readings, where, case)}"
    return [plain(text, case.marks(readings))]


def _all_so(case: Case) -> str:
    """P023 总胆红素TBIL均未高于正常上限(共 5 次,最高 1.0 mg/dL), of what holds of every reading."""
    where, readings = [*map(_turned, conditions_of(case.question.where))], _readings(case)
    said = conditions.never({"where": where}, case.reader)
    if not said or not readings:
        return _found(case)[0].text()
    return f"{joint().join(case.subjects)} {said}{_over(readings, where, case)}"


def _turned(part: Query) -> Query:
    """What must not hold, of what must hold of every reading."""
    op = str(part.get("op"))
    return part if part.get("holds") != "every" else {**part, "op": _OPPOSITE.get(op, op)}


def _against(case: Case) -> list[Part]:
    """The readings that break what must hold of every one, else all of them."""
    readings, where = _readings(case), [*map(_turned, conditions_of(case.question.where))]
    if not readings:
        return [nothing(case.of(1) if len(case.results) > 1 else case)]
    broken = [f for f in readings if any(_meets(f, part, case.reader) for part in where)]
    return _within(_values(case.of(1).with_facts(broken or readings)), case)


def _meets(fact: Fact, part: Query, reader: Reader) -> bool:
    """Whether a reading surely meets a comparison, as it is written and limited.

    Where each reading has a unit of its own only the study can convert it: no number is compared then.
    """
    number, value, holds = computed.number(fact), part.get("value"), _SIGNS.get(str(part.get("op")))
    if part.get("field") != fact.field or number is None or holds is None:
        return False
    if not isinstance(value, dict):
        return fact.field not in reader.design.unit_fields and holds(number, Decimal(str(value)))
    limit = getattr(fact.limit, str(value.get("ref")), None)
    return limit is not None and holds(number, limit * Decimal(str(value.get("times") or 1)))


def _within(parts: list[Part], case: Case) -> list[Part]:
    """Sentences on readings beyond their limits, with that all others lie within."""
    readings = _readings(case)
    beyond = [fact for fact in readings if fact.flags & {Flag.HIGH, Flag.LOW}]
    judged = all(fact.limit is not None for fact in readings)
    if len(parts) != 1 or not judged or not 0 < len(beyond) < len(readings):
        return parts
    told = set(parts[0].marks) == set(case.marks(beyond))
    return [replace(parts[0], tails=(_("the others within range"),))] if told else parts


def _over(readings: Sequence[Fact], where: Sequence[Query], case: Case) -> str:
    """(共 6 次,最高 1.0 mg/dL): the end that came nearest to what was asked for."""
    numbers = [fact for fact in readings if computed.number(fact) is not None]
    count = _("%(count)s readings") % {"count": len(readings)}
    if len({(fact.field, fact.unit) for fact in numbers}) != 1:
        return words.bracketed(count)
    ops = {str(part.get("op", ""))[:1] for part in where}
    high = _("highest %(value)s") % {"value": words.value(max(numbers, key=_size), case.reader)}
    low = _("lowest %(value)s") % {"value": words.value(min(numbers, key=_size), case.reader)}
    return words.bracketed(count, high if ">" in ops else "", low if "<" in ops else "")


def _size(fact: Fact) -> Decimal:
    return computed.number(fact) or Decimal(0)


# --- the highest and the lowest -------------------------------------------------------------------


def edge(case: Case) -> list[Part]:
    """P001 血红蛋白最低 106 g/L(V3,2026-04-03); over several subjects first what, then who."""
    reader, rows = case.reader, rows_of(case.answer.facts)
    rows = [row for row in rows if not words.is_blank(_measured(row, case))]
    if not rows:
        return [nothing(case)]
    facts, marks = [_measured(row, case) for row in rows], case.marks(case.answer.facts)
    what = words.label(facts[0], reader) + _end(case, facts[0])
    if len(case.subjects) == 1:
        items = tuple((_extreme(row, case), _extreme(row, case, dated=False)) for row in rows)
        return [Part(f"{rows[0].subject} {what}", items, glue=" ", marks=marks)]
    chosen, scope = conditions.described(case.query, reader), conditions.scope(case.query, reader)
    head, missing = " ".join(filter(None, [scope, chosen, what])), case.answer.basis.missing
    notes = (_("%(count)s subjects have no value") % {"count": missing},) if missing else ()
    said = [words.value(fact, reader) for fact in facts]
    named: list[tuple[str, ...]] = []
    if len(rows) > 1 and len(set(said)) == 1:
        head += f" {said[0]}"
        for fact in facts:
            place = words.bracketed(words.place(fact, reader, dated=False))
            named.append((fact.subject + place, fact.subject))
    else:
        for row, value in zip(rows, said, strict=True):
            told = (_extreme(row, case), _extreme(row, case, dated=False), value)
            named.append(tuple(f"{row.subject} {one}" for one in told))
    return [Part(head, tuple(named), notes=notes, marks=marks, noun="subject")]


def _measured(row: Row, case: Case) -> Fact:
    """The fact that the rows were chosen by."""
    select = case.query.get("select") or ("",)
    return row.of(str((case.query.get("order") or {}).get("by") or select[0])) or row.first


def _extreme(row: Row, case: Case, *, dated: bool = True) -> str:
    fact, reader = _measured(row, case), case.reader
    others = [f for f in row.facts if f is not fact and f.field in case.query["select"]]
    naming = words.naming_field(row.first.instrument, reader) if fact.instance is not None else ""
    more = [
        (f"{words.label(f, reader)} " if f.field != naming else "") + words.value(f, reader)
        for f in others
    ]
    named = row.of(naming)
    if named is not None and named is not fact and named not in others:
        more.insert(0, words.value(named, reader))
    place = words.place(fact, reader, dated=dated)
    where = words.bracketed("" if place == fact.text else place, words.beyond(fact), *more)
    return words.value(fact, reader) + where


def _end(case: Case, fact: Fact) -> str:
    highest = case.question.rows == "highest" or case.question.order.startswith("-")
    return words.end_name(fact, is_high=highest, is_day=computed.day(fact) is not None)

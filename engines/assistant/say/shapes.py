"""The plain answer: by the operations that a model may choose, where they say what was asked for.

What only whole results prove (who, how many, whether, none) is worded by the shape of the question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from django.utils.translation import gettext as _

from engines.assistant.read.question import Shape as Asked
from engines.assistant.read.question import Topic, conditions_of
from engines.assistant.say import (
    computed,
    conditions,
    dictionary,
    figures,
    notes,
    people,
    quotes,
    values,
    visits,
    words,
    work,
)
from engines.assistant.say.case import Case, apart, chosen, looked_at, nothing
from engines.assistant.say.parts import Part, begun, colon, comma, joint, noted, plain
from engines.assistant.say.plan import Step
from engines.assistant.say.reader import Reader
from engines.assistant.say.render import Renderer, merged
from engines.assistant.say.rows import Row, rows_of, unnumbered
from engines.assistant.say.sheet import Answered, Line, Sheet, Source
from study.facts import Fact, Kind
from study.facts import json_value as as_json

_IDS, _MONTHS = 5, 3
_RULES = 3
_EACH = (Asked.VALUE, Asked.SERIES, Asked.ROWS, Asked.WHEN, Asked.DIFFERENCE)
"""Shapes that tell what is there of each who is named."""
_LONG = 3
"""From so many readings on a series is told with the way it goes."""
_CLAUSE = re.compile(r"[，。；;（(]")


def plain_answer(sheet: Sheet, reader: Reader) -> list[Part]:
    """What answers the questions of a sheet, in their order; rules and reports where no data were asked for."""
    made, renderer = list[Part](), Renderer(sheet, reader)
    for answered in sheet.answered:
        case = Case(answered.question, answered.results, sheet, reader, renderer.marks)
        beside: Iterable[str] = ()
        if case.question.topic is Topic.DICTIONARY:
            own = dictionary.word_dictionary(case)
        elif refused := notes.refused(case):
            own = [plain(refused)]
        else:
            own, beside = _worded(case, answered, renderer), notes.beside(case)
        # Facts that no line holds rest on all lines of their question.
        made += [part if part.marks else replace(part, marks=answered.marks) for part in own]
        made = noted(made, [*beside])
    if not sheet.answered:
        prose = [x.mark for x in sheet.lines if x.source in (Source.DOCUMENT, Source.REPORT)]
        made = renderer.step(Step(op="quote", of=tuple(prose)))
    return merged(made)


def _worded(case: Case, answered: Answered, renderer: Renderer) -> list[Part]:
    question = case.question
    if question.topic is Topic.ELIGIBILITY:
        rules = [line for line in case.sheet.lines if line.source is Source.DOCUMENT]
        return _eligibility(case) + quotes.quoted(rules[:_RULES])
    if question.topic is Topic.TARGET:
        return _target(case)
    if question.aggregate or case.query.get("aggregate"):
        if not question.by:
            return _figures(case)
        told = [n for n, (query, _a) in enumerate(case.results) if n == 0 or query.get("by")]
        return [part for n in told for part in _groups(case.of(n))]
    if question.topic is Topic.VISITS:
        return [part for group in apart(case) for part in _visits(group)]
    if question.topic in _WORK:
        return [part for group in apart(case) for part in _work(group)]
    if question.nth:
        return _nth(case)
    if worded := _SHAPES.get(question.shape):
        return [*worded(case), *_without_facts(case)]
    steps = _steps(case, answered)
    made = [p for one in steps for p in renderer.step(one)] if steps else _values(case)
    return [*made, *_without_facts(case)]


def _without_facts(case: Case) -> list[Part]:
    """That nothing is there of some, where several are named and values of others are told."""
    if case.question.change or case.question.shape not in _EACH:
        return []
    held, *others = apart(case)
    return [nothing(one) for one in others if held.answer.facts and not one.answer.undecided]


def _steps(case: Case, answered: Answered) -> list[Step]:
    """Single values and series by operations over their lines; [] for rows of forms, and where nothing is."""
    facts = [fact for _query, answer in case.results for fact in answer.facts]
    lines = [line for line in case.sheet.lines if line.mark in answered.marks]
    held = {unnumbered(fact): line.mark for line in lines for fact in line.facts}
    simple = all(fact.kind in (Kind.VALUE, Kind.BLANK) and fact.instance is None for fact in facts)
    if not facts or not simple or any(unnumbered(fact) not in held for fact in facts):
        return []
    found: dict[tuple[object, ...], list[str]] = {}
    numbers: dict[tuple[object, ...], int] = {}
    for fact in facts:
        key = (fact.subject, values.series_key(fact))
        found.setdefault(key, []).append(held[unnumbered(fact)])
        numbers[key] = numbers.get(key, 0) + (computed.number(fact) is not None)
    # Of more than two series side by side the values alone are told.
    long = {k for k, own in found.items() if numbers[k] == len(set(own)) == len(own) >= _LONG}
    long = long if len(long) < 3 else set()
    rest = [mark for key, own in found.items() if key not in long for mark in own]
    shown = tuple(dict.fromkeys(fact.field for fact in facts))
    told = [Step(op="tell", of=tuple(dict.fromkeys(rest)), show=shown)] if rest else []
    courses = [found[key] for key in found if key in long]
    return told + [Step(op="trend", of=tuple(own), show=shown) for own in courses]


def _values(case: Case) -> list[Part]:
    rows, repeating = rows_of(case.answer.facts), case.reader.design.repeating_forms
    if not rows:
        return [nothing(case)]
    asked = {*case.question.select, *map(str, case.query.get("select") or ())}
    several = [row for row in rows if row.first.instrument in repeating]
    whole = [row for row in several if row.first.instrument in asked or len(row.facts) > 1]
    rest = [fact for row in rows if row not in whole for fact in row.facts]
    made = values.word_values(rest, case.reader, case.marks, case.asking) if rest else []
    return made + people.rows_told(case, whole)


def _nth(case: Case) -> list[Part]:
    """第二次化验: the row of each subject and form, from the first or the last, or how many there are."""
    nth, rows = case.question.nth or 1, case.question.rows
    at = -nth if isinstance(rows, dict) and "latest" in rows else nth - 1
    own: dict[tuple[str, str], list[Row]] = {}
    for row in rows_of(case.answer.facts):
        if not all(words.is_blank(fact) for fact in row.facts):
            own.setdefault((row.subject, row.first.instrument), []).append(row)
    facts = [fact for found in own.values() if len(found) >= nth for fact in found[at].facts]
    made = values.word_values(facts, case.reader, case.marks, values.Asking()) if facts else []
    what = joint().join(conditions.name_of(name, case.reader) for name in case.question.select)
    text = _("%(subject)s %(what)s: only %(count)s so far, no number %(nth)s")
    for (subject, _form), found in own.items():
        known = {"subject": subject, "what": what, "count": len(found), "nth": nth}
        made += [plain(text % known)] if len(found) < nth else []
    return made or [nothing(case)]


def _overview(case: Case) -> list[Part]:
    """All that is known of a subject: the first value of each field, status and enrolment before the others."""
    first: dict[str, Fact] = {}
    for fact in case.answer.facts:
        if not words.is_blank(fact):
            first.setdefault(fact.field, fact)
    if not first:
        return [nothing(case)]
    chief = ("@status", case.reader.design.status_field, case.reader.design.enrolment_field)
    facts = sorted(first.values(), key=lambda fact: fact.field not in chief)
    items = tuple((f"{words.label(f, case.reader)} {words.value(f, case.reader)}",) for f in facts)
    return [Part(facts[0].subject, items, glue=" ", marks=case.marks(facts))]


def _blanks(case: Case) -> list[Part]:
    """P010 发热性中性粒细胞减少 未填写:SAE首次报告日期; where nothing is blank that all is filled in."""
    rows, made, reader = rows_of(case.answer.facts), list[Part](), case.reader
    if not rows:
        return [nothing(case)]
    for row in rows:
        # Boxes of which none is ticked may say just that.
        blank = [fact for fact in row.facts if words.is_blank(fact) and fact.value != ()]
        named = row.of(words.naming_field(row.first.instrument, reader))
        name = words.place(row.first, reader, dated=False)
        if row.first.instance is not None and named is not None and not words.is_blank(named):
            name = words.value(named, reader)
        head = " ".join(filter(None, [row.subject, name, _("not filled in")]))
        items = tuple((words.label(fact, reader),) for fact in blank)
        made += [Part(head, items, marks=case.marks(blank))] if blank else []
    what = {"subject": rows[0].subject, "count": len(rows)}
    read = _("%(subject)s: of what can be read nothing is left blank (%(count)s entries)")
    text = _("%(subject)s: nothing is left blank (%(count)s entries)")
    return made or [plain((read if case.answer.undecided else text) % what)]


# --- figures --------------------------------------------------------------------------------------


def _figures(case: Case) -> list[Part]:
    """Counts, shares and averages; a count with whom it counts, where that was read."""
    made, as_rows = list[Part](), case.question.shape is Asked.COUNT_ROWS
    results = [pair for pair in case.results if pair[0].get("aggregate")]
    if not results:
        return people.word_people(case)
    for query, answer in results:
        for fact in answer.facts:
            pair, marks = [(fact, None)], case.marks([fact])
            made.append(figures.word_figures(query, answer, pair, case.reader, marks, as_rows))
    listed = [answer.facts for query, answer in case.results if not query.get("aggregate")]
    who = [*dict.fromkeys(fact.subject for facts in listed for fact in facts if fact.subject)]
    if who and len(results) == 1:
        more = _(" and others, %(count)s subjects") % {"count": len(who)}
        told = joint().join(who[:_IDS]) + (more if len(who) > _IDS else "")
        made[-1] = replace(made[-1], head=f"{made[-1].head}{colon()}{told}")
    return made


def _groups(case: Case) -> list[Part]:
    """Figures by group; of free text how often each was written, the commonest first."""
    query, answer = case.query, case.answer
    if not answer.groups:
        rows = Counter(words.value(f, case.reader) for f in answer.facts if not words.is_blank(f))
        text = _("%(count)s entries")
        items = tuple((f"{name} {text % {'count': n}}",) for name, n in rows.most_common())
        if not items:
            return [plain(_("nothing to count") + looked_at(case, chosen(query, case.reader)))]
        return [Part("", items, left_out=answer.left_out, marks=case.marks(answer.facts))]
    pairs = list(zip(answer.facts, answer.groups, strict=True))
    part = figures.word_figures(query, answer, pairs, case.reader, case.marks(answer.facts))
    return [replace(part, items=part.items + _without(case), tails=(*part.tails, *_apart(case)))]


def _without(case: Case) -> tuple[tuple[str, ...], ...]:
    """Sites that were asked for, or all that the reader may see, in which nothing is counted."""
    if list(case.query.get("by") or ()) != ["@site"] or case.query.get("aggregate") != "count":
        return ()
    if case.query.get("limit"):
        return ()  # a site that is not there may only have been cut
    there = {str(group.by[0]) for group in case.answer.groups}
    named = conditions.sites_of(case.query)
    asked = {str(c.get("field")) for c in conditions_of(case.query.get("where") or ())}
    if "@site" in asked and not named:
        return ()  # which sites are meant is not said by name
    codes = [c for c in named or case.reader.sites if c not in there]
    return tuple((f"{words.site_name(c, case.reader)} {words.people(0)}",) for c in codes)


def _apart(case: Case) -> tuple[str, ...]:
    """男的平均体重比女的重多少: how far two groups lie apart, where that is asked."""
    numbers = [Decimal(str(as_json(g.value))) for g in case.answer.groups if g.value is not None]
    wanted = case.question.aspect == "difference" and len(numbers) == 2
    if not wanted or case.query.get("aggregate") == "share":
        return ()
    unit = case.answer.facts[0].unit
    told = words.with_unit(words.rounded(abs(numbers[0] - numbers[1]), 1), unit)
    if case.query.get("aggregate") == "count":
        told = words.people(int(abs(numbers[0] - numbers[1])))
    return (_("apart by %(value)s") % {"value": told},)


def _target(case: Case) -> list[Part]:
    """What is left or reached of the target; who sees one site only gets both figures, not their difference."""
    facts = [fact for _query, answer in case.results for fact in answer.facts]
    goal = next((fact for fact in facts if fact.field == "@project.target"), None)
    done = next((fact for fact in facts if fact.kind is Kind.AGGREGATE), None)
    if goal is None or not computed.number(goal):
        return [plain(_("This study has no recruitment target"))]
    if done is None:
        said = _("planned: %(count)s subjects") % {"count": as_json(goal.value)}
        return [plain(said, case.marks([goal]))]
    reached, target = (int(computed.number(fact) or 0) for fact in (done, goal))
    known, marks = {"reached": reached, "target": target}, case.marks([done, goal])
    if sites := conditions.scope(case.query, case.reader):
        text = _("%(sites)s: %(reached)s enrolled; the study plans %(target)s in all")
        return [plain(text % {**known, "sites": sites}, marks)]
    if case.question.shape is Asked.TARGET_RATE:
        rate = words.rounded(Decimal(reached) * 100 / target, 1)
        text = _("%(reached)s of %(target)s enrolled: %(rate)s%%")
        return [plain(text % {**known, "rate": rate}, marks)]
    made = [plain(computed.to_target(done, goal), marks)]
    for query, answer in (pair for pair in case.results if pair[0].get("by")):
        pairs = list(zip(answer.facts, answer.groups, strict=True))[-_MONTHS:]
        marks = case.marks(fact for fact, _group in pairs)
        part = figures.word_figures(query, answer, pairs, case.reader, marks)
        note = _("when the target is reached is not foretold")
        made.append(replace(part, notes=(note,), tails=()))
    return made


# --- computed by the study ------------------------------------------------------------------------


def _change(case: Case) -> list[Part]:
    """P016 ALT V2 较基线 升高 166 U/L."""
    made, operands = (
        list[Part](),
        [o for o in case.query.get("select") or () if isinstance(o, dict)],
    )
    for fact in (fact for fact in case.answer.facts if fact.value is not None):
        own = [o for o in operands if o["field"] == fact.field and isinstance(o["minus"], dict)]
        made += [plain(_changed(fact, own[0], case), case.marks([fact]))] if own else []
    return made or [_uncomputed(case)]


def _changed(fact: Fact, operand: dict[str, object], case: Case) -> str:
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


def _ratio(case: Case) -> list[Part]:
    """P016 ALT 185 U/L(V2,2026-09-22),为正常上限的 4.63 倍."""
    reader, low = case.reader, case.question.change.endswith("low")
    found = [(f, words.is_computed(f, reader)) for f in case.answer.facts]
    ratios = [(f, n) for f, made in found if made and (n := computed.number(f)) is not None]
    if case.question.rows is None and not case.question.place:
        # Of several the one farthest beyond the limit first: what is cut off says less.
        ratios.sort(key=lambda pair: pair[1], reverse=not low)
    raw = {_spot(f): words.value(f, reader) for f, made in found if not made}
    high = _("%(head)s is %(times)s times the upper limit")
    text = _("%(head)s is %(times)s times the lower limit") if low else high
    made = []
    for fact, number in ratios:
        label, where = words.field_label(fact.field, reader), words.place(fact, reader)
        head = f"{fact.subject} {label} {raw.get(_spot(fact), '')}".strip() + words.bracketed(where)
        said = text % {"head": head, "times": words.rounded(number, 2)}
        made.append(plain(said, case.marks([fact])))
    return made or [_uncomputed(case)]


def _spot(fact: Fact) -> tuple[object, ...]:
    return fact.subject, fact.field, fact.event, fact.instance


def _lasted(case: Case) -> list[Part]:
    """P016 复方甘草片 用药开始日期 2026-10-24 至 用药结束日期 2026-10-30:6 天."""
    reader, names, made = case.reader, case.question.select[-2:], list[Part]()
    spans = [
        f
        for f in case.answer.facts
        if words.is_computed(f, reader) or (f.field.startswith("@") and f.unit)
    ]
    read = [f for f in case.answer.facts if f not in spans]
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
    return made or _values(case)


def _rows_beside(span: Fact, read: Sequence[Fact]) -> dict[str, Fact]:
    """What stands in the row of a span; of what the subject has in one row only, this."""
    own = [f for f in read if f.subject == span.subject]
    count = Counter(f.field for f in own)
    spot = (span.event, span.instance)
    near = [f for f in own if (f.event, f.instance) == spot or count[f.field] == 1]
    return {f.field: f for f in near if not words.is_blank(f)}


def _difference(case: Case) -> list[Part]:
    """The values of more than two, and how far the ends lie apart; two are compared."""
    facts = [fact for fact in case.answer.facts if not words.is_blank(fact)]
    numbers = [computed.number(fact) for fact in facts]
    # How far two are apart is not how far one is from itself.
    lone = len(case.subjects) > 1 and {*case.subjects} - {fact.subject for fact in facts}
    if lone or len(facts) < 2 or None in numbers or len({*map(values.series_key, facts)}) > 1:
        return _values(case)
    if len(facts) > 2 and (pairs := _side_by_side(facts, case.subjects)):
        sides = [(*pair, computed.names_of(*pair, case.reader)) for pair in pairs]
        texts = [(computed.compared(*side, case.reader), side[:2]) for side in sides]
        return [plain(text, case.marks(pair)) for text, pair in texts if text] or _values(case)
    facts.sort(key=lambda fact: computed.number(fact) or Decimal(0), reverse=True)
    if len(facts) == 2:
        names = computed.names_of(facts[0], facts[1], case.reader)
        said = computed.compared(facts[0], facts[1], names, case.reader)
        return [plain(said, case.marks(facts))] if said else _values(case)
    if len({fact.unit for fact in facts}) > 1:
        return _values(case)
    gap = (computed.number(facts[0]) or Decimal(0)) - (computed.number(facts[-1]) or Decimal(0))
    text = _("highest and lowest differ by %(apart)s")
    span = text % {"apart": words.with_unit(computed.plain(gap), facts[0].unit)}
    return noted(_values(case), [span])


def _side_by_side(facts: list[Fact], who: Sequence[str]) -> list[tuple[Fact, Fact]]:
    """The readings of two subjects at the same visits, in their order; [] for one or more than two."""
    if len(who) != 2:
        return []
    other = {fact.event: fact for fact in facts if fact.subject == who[1]}
    first = [fact for fact in facts if fact.subject == who[0]]
    return [(fact, other[fact.event]) for fact in first if fact.event in other]


def _uncomputed(case: Case) -> Part:
    """That it cannot be worked out, because a value or a limit is missing."""
    what = joint().join(conditions.name_of(name, case.reader) for name in case.question.select)
    text = _("%(subject)s %(what)s: cannot be worked out, a value or limit is missing")
    return plain((text % {"subject": joint().join(case.subjects), "what": what}).strip())


# --- visits and work ------------------------------------------------------------------------------


def _visits(case: Case) -> list[Part]:
    rows, question = rows_of(case.answer.facts), case.question
    aspect = "next" if question.shape is Asked.NEXT_VISIT else question.aspect
    when = conditions.period({}, case.reader, question.period)
    if rows:
        made = visits.word_visits(rows, case.reader, case.marks, aspect, when)
        one = question.shape is Asked.YES_NO and len(rows) == 1
        return begun(visits.yes_or_no(rows[0], aspect), made) if one else made
    return [visits.none(case, when, aspect)]


_WORK = {
    Topic.FINDINGS: (Kind.FINDING, ""),
    Topic.REVIEWS: (Kind.REVIEW, "@reviews.question"),
    Topic.RUNS: (Kind.RUN, "@runs.status"),
    Topic.CHANGES: (Kind.CHANGE, "@changes.field"),
}
"""What the rows of a topic are, and the column that those have that are there."""


_SETTLED = ("closed", "gone")
"""States of a finding that nobody has to settle any more."""


def _work(case: Case) -> list[Part]:
    """Findings, reviews, checks and changes."""
    made, (kind, named) = list[Part](), _WORK[case.question.topic]
    rows = [row for row in rows_of(case.answer.facts) if not named or row.text(named)]
    if kind is Kind.FINDING and case.question.aspect == "why":
        # Why something did not pass says what is open, not what was settled since.
        rows = [row for row in rows if row.text("@findings.status") not in _SETTLED]
    if kind is Kind.CHANGE:
        rows.sort(key=lambda row: row.text("@changes.at"), reverse=True)
    if rows:
        made = work.word_work(kind, rows, case.reader, case.marks, case.answer.left_out)
        made = [replace(part, head=_since(case) + part.head) for part in made]
    if kind is Kind.FINDING and len(case.results) > 1:
        return _findings_of(case, made)
    if kind is Kind.RUN and case.question.aspect == "missing" and case.answer.facts:
        return people.word_people(case)
    return made or [_no_work(case, kind)]


def _findings_of(case: Case, made: list[Part]) -> list[Part]:
    """Findings of who is named with what waits for a person; where there are none, what was looked at.

    Of fields that have none the other findings are told.
    """
    beside = [row for _query, answer in case.results[1:] for row in rows_of(answer.facts)]
    kinds = (Kind.FINDING, Kind.REVIEW, Kind.RUN)
    others, reviews, runs = ([row for row in beside if row.first.kind is kind] for kind in kinds)
    others = [row for row in others if row.text("@findings.status") not in _SETTLED]
    reviews = [row for row in reviews if row.text("@reviews.question")]
    why = case.question.aspect == "why"
    checks = runs if why and not made else work.unfinished(runs)
    kind, rows = (Kind.REVIEW, reviews) if reviews else (Kind.RUN, checks)
    waits = work.word_work(kind, rows, case.reader, case.marks) if rows else []
    if made or (why and not others):
        return [*made, *waits] or [_no_work(case, Kind.RUN)]
    checked = {row.subject for row in runs} >= {*case.subjects}
    said = _no_work(case, Kind.FINDING if checked else Kind.RUN).head
    # Of what nobody looked at it is not said that there is nothing.
    notes = [] if checked else [_("whether there is a finding is not known")]
    notes += [] if waits or not checked else [_("no review waits")]
    rest = work.word_work(Kind.FINDING, others, case.reader, case.marks) if others else []
    return [Part(said, notes=tuple(notes)), *rest, *waits]


def _no_work(case: Case, kind: Kind) -> Part:
    """That there is nothing of a kind, of which fields and in which days."""
    by_aspect = {
        "undecided": (
            _("Of %(subject)s every rule could be evaluated"),
            _("Every rule could be evaluated"),
        ),
        "mine": (_("Of %(subject)s no finding is yours"), _("No finding is yours")),
    }
    by_kind = {
        Kind.FINDING: (_("%(subject)s has no findings"), _("There are no findings")),
        Kind.REVIEW: (_("%(subject)s has no review that waits"), _("No review is waiting")),
        Kind.RUN: (_("%(subject)s was not checked yet"), _("There are no checks")),
        Kind.CHANGE: (_("of %(subject)s no change was read"), _("no change of data was read")),
    }
    of_one, of_all = by_aspect.get(case.question.aspect) or by_kind[kind]
    question, who = case.question, joint().join(case.subjects)
    labels = joint().join(conditions.name_of(name, case.reader) for name in question.select)
    what = [conditions.period({}, case.reader, question.period), labels]
    if kind is Kind.RUN and question.topic is not Topic.RUNS:
        what = [labels]  # who was never checked was not in these days either
    elif kind is Kind.RUN and (question.period or question.aspect):
        of_one, of_all = _("%(subject)s has no such check"), _("There is no such check")
    of_all += looked_at(case, comma().join(filter(None, what)))
    return plain(
        _since(case) + (of_one % {"subject": who} + words.bracketed(*what) if who else of_all)
    )


def _since(case: Case) -> str:
    """Since when, where it was asked by a review: its time is the house's to say."""
    if case.question.aspect != "review" or case.question.topic is not Topic.CHANGES:
        return ""
    wanted = (c for c in case.query.get("where") or () if c.get("field") == "@changes.at")
    at = next((str(c["value"]) for c in wanted if c["op"] == ">="), "")
    if not at:
        return _("no review was decided yet; ")
    return _("since the last review (%(time)s) ") % {"time": at[:16].replace("T", " ")}


def _eligibility(case: Case) -> list[Part]:
    """What the rules found of a subject, then where they stand and what was noted; no other verdict.

    A value that a criterion's range does not hold is told beside it. That no check was run is said: without one
    nothing was found that could be open.
    """
    rows = [row for _q, answer in case.results[1:] for row in rows_of(answer.facts)]
    found = [row for row in rows if row.first.kind is Kind.FINDING]
    checked = {row.subject for row in rows if row.first.kind is Kind.RUN}
    unchecked = [one for one in case.subjects if one not in checked]
    text = _("%(subject)s: the check of eligibility was not run yet")
    decides = _("whether to enrol is for the investigator to decide")
    who = {"subject": joint().join(unchecked)}
    made = [Part(text % who, notes=(decides,))] if unchecked else []
    made += work.word_work(Kind.FINDING, found, case.reader, case.marks) if found else []
    beside, known = list[Part](), list[Fact]()
    for fact in case.answer.facts:
        line = case.sheet.line(case.reader.criteria.get(fact.field, ""))
        if line is not None:
            beside.append(_beside(fact, line, case))
        elif not words.is_blank(fact) or fact.value == ():
            known.append(fact)
    # What is written in words is as long as it is: it stands last.
    texts = [fact for fact in known if fact.text and fact.text == fact.value]
    for facts in ([fact for fact in known if fact not in texts], texts):
        told = values.word_values(facts, case.reader, case.marks, values.Asking()) if facts else []
        beside += told
    made += beside
    none = _("no open finding of the rules; whether to enrol is for the investigator to decide")
    return made if found or unchecked else noted(made or [nothing(case)], [none])


def _beside(fact: Fact, line: Line, case: Case) -> Part:
    """P004 ECOG评分 3分(研究方案 §4.1:「4. ECOG 体能状态评分为 0～2 分」): the criterion's first clause."""
    text = _CLAUSE.split(line.text.partition(": ")[2].removeprefix(line.lead))[0]
    rule = f"{line.section}{colon()}「{text}」"
    said = f"{fact.subject} {words.label(fact, case.reader)} {words.value(fact, case.reader)}"
    return plain(said + words.bracketed(rule), (*case.marks([fact]), line.mark))


_SHAPES: dict[Asked, Callable[[Case], list[Part]]] = {
    Asked.EXTREME: people.edge,
    Asked.COUNT: _figures,
    Asked.COUNT_ROWS: _figures,
    Asked.SHARE: _figures,
    Asked.AGGREGATE: _figures,
    Asked.GROUPS: _groups,
    Asked.LIST: people.word_people,
    Asked.YES_NO: people.yes_or_no,
    Asked.DIFFERENCE: _difference,
    Asked.CHANGE: _change,
    Asked.LASTED: _lasted,
    Asked.RATIO_TO_LIMIT: _ratio,
    Asked.OVERVIEW: _overview,
    Asked.BLANKS: _blanks,
}

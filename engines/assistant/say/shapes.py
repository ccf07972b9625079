"""The plain answer: by the operations that a model may choose, where they say what was asked for.

What only whole results prove (who, how many, whether, none) is worded by the shape of the question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal

from django.utils.translation import gettext as _

from engines.assistant.read.question import Shape as Asked
from engines.assistant.read.question import Topic, conditions_of
from engines.assistant.say import (
    computed,
    conditions,
    derived,
    dictionary,
    figures,
    notes,
    people,
    quotes,
    topics,
    values,
    visits,
    words,
)
from engines.assistant.say.case import Case, apart, chosen, looked_at, nothing
from engines.assistant.say.parts import Part, colon, joint, noted, plain
from engines.assistant.say.plan import Step
from engines.assistant.say.reader import Reader
from engines.assistant.say.render import Renderer, merged
from engines.assistant.say.rows import Row, rows_of, unnumbered
from engines.assistant.say.sheet import Answered, Sheet, Source
from study.facts import Fact, Kind
from study.facts import json_value as as_json

_IDS, _MONTHS = 5, 3
_RULES = 3
_EACH = (Asked.VALUE, Asked.SERIES, Asked.ROWS, Asked.WHEN, Asked.DIFFERENCE)
"""Shapes that tell what is there of each who is named."""
_LONG = 3
"""From so many readings on a series is told with the way it goes."""


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
            each = _by_field(case)
            own = [part for one in each for part in _worded(one, answered, renderer)]
            beside = dict.fromkeys(note for one in each for note in notes.beside(one))
        # Facts that no line holds rest on all lines of their question.
        made += [part if part.marks else replace(part, marks=answered.marks) for part in own]
        made = noted(made, [*beside])
    if not sheet.answered:
        prose = [x.mark for x in sheet.lines if x.source in (Source.DOCUMENT, Source.REPORT)]
        made = renderer.step(Step(op="quote", of=tuple(prose)))
    return merged(made)


def _by_field(case: Case) -> list[Case]:
    """The same question by each of its results, where each field that it asks for the end of has its own."""
    is_end = case.question.shape in (Asked.EXTREME, Asked.DIFFERENCE)
    if not is_end or case.query.get("aggregate"):
        return [case]
    return [case.of(at) for at in range(len(case.results))] or [case]


def _worded(case: Case, answered: Answered, renderer: Renderer) -> list[Part]:
    question = case.question
    if question.topic is Topic.ELIGIBILITY:
        rules = [line for line in case.sheet.lines if line.source is Source.DOCUMENT]
        return topics.eligibility(case) + quotes.quoted(rules[:_RULES])
    if question.topic is Topic.TARGET:
        return _target(case)
    if question.aggregate or case.query.get("aggregate"):
        if not question.by:
            return _figures(case)
        told = [n for n, (query, _a) in enumerate(case.results) if n == 0 or query.get("by")]
        return [part for n in told for part in _groups(case.of(n))]
    if question.topic is Topic.VISITS:
        return [part for group in apart(case) for part in topics.visits_told(group)]
    if question.topic in topics.WORK:
        return [part for group in apart(case) for part in topics.work_told(group)]
    if question.nth:
        return _nth(case)
    if worded := _SHAPES.get(question.shape):
        return [*worded(case), *_without_facts(case)]
    steps = _steps(case, answered)
    made = [p for one in steps for p in renderer.step(one)] if steps else people.told(case)
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
    """What is blank of each who is named by itself; where nobody is, only of those of whom something is."""
    found = case.subjects or [f.subject for _query, answer in case.results for f in answer.facts]
    who = [name for name in dict.fromkeys(found) if name in case.reader.subjects]
    if case.subjects:
        each = [case.among([name]) for name in who]
        return [p for one in each for p in _blank_of(one) or [_filled(one)]] or [nothing(case)]
    return [p for name in who for p in _blank_of(case.among([name]))] or [_filled(case)]


def _blank_of(case: Case) -> list[Part]:
    """P010 发热性中性粒细胞减少 未填写:SAE首次报告日期; [] where nothing is blank.

    Of a due visit of which nothing was entered there is no row: P005 表单未录入:V3(已超窗 13 天).
    """
    made, reader, absent = list[Part](), case.reader, _unentered(case)
    for row in rows_of(case.answer.facts):
        # Boxes of which none is ticked may say just that.
        blank = [fact for fact in row.facts if words.is_blank(fact) and fact.value != ()]
        named = row.of(words.naming_field(row.first.instrument, reader))
        name = words.place(row.first, reader, dated=False)
        if row.first.instance is not None and named is not None and not words.is_blank(named):
            name = words.value(named, reader)
        head = " ".join(filter(None, [row.subject, name, _("not filled in")]))
        items = tuple((words.label(fact, reader),) for fact in blank)
        made += [Part(head, items, marks=case.marks(blank))] if blank else []
    if absent:
        head = f"{absent[0].subject} {_('no form was entered')}"
        marks = case.marks(fact for row in absent for fact in row.facts)
        items = tuple((visits.short(row),) for row in absent)
        made.insert(0, Part(head, items, marks=marks))
    return made


def _filled(case: Case) -> Part:
    """That nothing is left blank of the one who is named, or of all over whom it was looked."""
    rows = rows_of(case.answer.facts)
    if not rows:
        return nothing(case)
    unread = any(answer.undecided or answer.left_out for _query, answer in case.results)
    if not case.subjects:
        of_read = _("Of what can be read nothing is left blank")
        return plain((of_read if unread else _("Nothing is left blank")) + looked_at(case))
    text = _("%(subject)s: nothing is left blank (%(count)s entries)")
    if unread:
        text = _("%(subject)s: of what can be read nothing is left blank (%(count)s entries)")
    return plain(text % {"subject": rows[0].subject, "count": len(rows)})


def _unentered(case: Case) -> list[Row]:
    """The due visits that have no row of the forms that were asked for."""
    due = [row for _query, answer in case.results[1:] for row in rows_of(answer.facts)]
    there = {fact.event for fact in case.answer.facts if fact.instance is None}
    return [row for row in due if row.first.kind is Kind.WINDOW and row.first.event not in there]


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


_SHAPES: dict[Asked, Callable[[Case], list[Part]]] = {
    Asked.EXTREME: people.edge,
    Asked.COUNT: _figures,
    Asked.COUNT_ROWS: _figures,
    Asked.SHARE: _figures,
    Asked.AGGREGATE: _figures,
    Asked.GROUPS: _groups,
    Asked.LIST: people.word_people,
    Asked.YES_NO: people.yes_or_no,
    Asked.DIFFERENCE: derived.difference,
    Asked.CHANGE: derived.change,
    Asked.LASTED: derived.lasted,
    Asked.RATIO_TO_LIMIT: derived.ratio,
    Asked.OVERVIEW: _overview,
    Asked.BLANKS: _blanks,
}

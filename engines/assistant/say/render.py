"""A plan in words. What cannot be done over its lines tells the lines; a mark that is none is dropped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TypeAlias

from django.utils.translation import gettext as _

from engines.assistant.say import (
    computed,
    conditions,
    figures,
    notes,
    quotes,
    values,
    visits,
    words,
    work,
)
from engines.assistant.say.case import NARROW, chosen, total_of
from engines.assistant.say.parts import Part, comma, joined, joint, plain
from engines.assistant.say.plan import Plan, Step
from engines.assistant.say.reader import Reader
from engines.assistant.say.rows import WORK, rows_of, unnumbered
from engines.assistant.say.sheet import Line, Scope, Sheet, Source
from study.facts import Fact, Flag, Kind

Lines: TypeAlias = Sequence[Line]
MOST = 8
"""So many operations of a model are worded."""
_WHOLE = ("rows", "visit", "count", "quote")
"""Operations over whole lines; all others are over single facts."""


def parts_of(sheet: Sheet, plan: Plan, reader: Reader) -> list[Part]:
    """The sentences of a plan before they are fitted into a room; in the language that is active."""
    renderer = Renderer(sheet, reader)
    return merged([part for step in plan.say[:MOST] for part in renderer.step(step)])


class Renderer:
    """Words the operations over the lines of one sheet."""

    def __init__(self, sheet: Sheet, reader: Reader) -> None:
        self.sheet, self.reader = sheet, reader
        self._lines = {line.mark: line for line in sheet.lines}
        self._of_fact: dict[Fact, str] = {}
        for line in sheet.lines:
            for fact in line.facts:
                self._of_fact.setdefault(unnumbered(fact), line.mark)

    def marks(self, facts: Iterable[Fact]) -> tuple[str, ...]:
        """The lines that hold facts, in order."""
        found = (self._of_fact.get(unnumbered(fact), "") for fact in facts)
        return tuple(dict.fromkeys(mark for mark in found if mark))

    def step(self, step: Step) -> list[Part]:
        """One operation, or its lines told."""
        lines = self._named(step.of)
        named = {line.mark for line in lines}
        others = [line for line in self._named(step.to) if line.mark not in named]
        if not lines and not others:
            return []
        if step.op in _WHOLE:
            done = getattr(self, f"_{step.op}")(lines, others, step) if lines else []
            return done or self._tell([*lines, *others], step)
        lines, others = self._single(lines, step.show), self._single(others, step.show)
        first, second = ([x for x in own if x.facts] for own in (lines, others))
        if step.op == "tell" or not first:
            return self._tell([*lines, *others], step)
        rest = [x for x in (*lines, *others) if not x.facts and not (x.scope and x.scope.count)]
        done = getattr(self, f"_{step.op}")(first, second, step)
        return done + self._tell(rest, step) if done else self._tell([*lines, *others], step)

    def _named(self, marks: Sequence[str]) -> list[Line]:
        names = dict.fromkeys(mark.strip("[] ") for mark in marks)
        return [self._lines[name] for name in names if name in self._lines]

    def _single(self, lines: Lines, show: Sequence[str]) -> list[Line]:
        """Lines of several values as one for each; rows, visits and work stay whole but for what is shown."""
        made: list[Line] = []
        for line in lines:
            kept = [fact for fact in line.facts if not show or fact.field in show]
            whole = len(line.facts) < 2 or (_is_row(line) and not show)
            made += [line] if whole or not kept else [replace(line, facts=(f,)) for f in kept]
        return made

    # --- telling ----------------------------------------------------------------------------------

    def _tell(self, lines: Lines, step: Step) -> list[Part]:
        made: list[Part] = []
        if any(line.facts for line in lines):
            # How many there are says nothing beside them; that there is none does.
            lines = [x for x in lines if x.facts or not (x.scope and x.scope.count)]
        for kind, group in groupby(lines, key=_kind):
            own = list(group)
            made += getattr(self, f"_{kind}")(own, [], step) or self._values(own)
        return made

    def _values(self, lines: Lines, *_rest: object) -> list[Part]:
        facts = [fact for line in lines for fact in line.facts]
        return values.word_values(facts, self.reader, self.marks, _asking(lines)) if facts else []

    def _figures(self, lines: Lines, *_rest: object) -> list[Part]:
        """A sentence for each result; groups of one result stand together."""
        made: list[Part] = []
        for line in lines:
            scope = line.scope or Scope({}, (), 0, False)
            own = [x for x in lines if line.group and x.group and x.scope is line.scope] or [line]
            if own[0] is line:
                pairs = [(x.facts[0], x.group) for x in own]
                marks = [x.mark for x in own]
                made.append(
                    figures.word_figures(scope.query, scope.answer, pairs, self.reader, marks)
                )
        return made

    def _work(self, lines: Lines, *_rest: object) -> list[Part]:
        made: list[Part] = []
        for kind, group in groupby(lines, key=lambda line: line.facts[0].kind):
            facts = [fact for line in group for fact in line.facts]
            made += work.word_work(kind, rows_of(facts), self.reader, self.marks)
        return made

    def _rows(self, lines: Lines, _others: Lines, step: Step) -> list[Part]:
        found: dict[tuple[str, str], list[Fact]] = {}
        for fact in (f for line in lines for f in line.facts if f.instance is not None):
            found.setdefault((fact.subject, fact.instrument), []).append(fact)
        made: list[Part] = []
        for (subject, form), own in found.items():
            shown = (*step.show, words.naming_field(form, self.reader))
            rows = rows_of([f for f in own if not step.show or f.field in shown] or own)
            asking = replace(_asking(lines), about=step.show)
            total = total_of(self.sheet, subject, form)
            what = "" if total is not None else _chosen(lines, form, self.reader)
            made.append(values.listed(rows, self.reader, self.marks, asking, total, what))
        return made

    def _visit(self, lines: Lines, *_rest: object) -> list[Part]:
        rows = rows_of([f for line in lines for f in line.facts if f.kind is Kind.WINDOW])
        if not rows or any(row.of("@visits.visit") is None for row in rows):
            return []
        made = [part for row in rows for part in visits.word_visits([row], self.reader, self.marks)]
        return made if len(rows) < 3 else visits.word_visits(rows, self.reader, self.marks)

    def _count(self, lines: Lines, *_rest: object) -> list[Part]:
        """P016 没有不良事件(已全部读取); only of results that were read whole."""
        own = [(line, line.scope) for line in lines if _kind(line) == "count" and line.scope]
        return [part for x, scope in own for part in _counted(x, scope, self.reader)]

    def _quote(self, lines: Lines, *_rest: object) -> list[Part]:
        """Lines of what people wrote, as they stand, each with where it stands."""
        return quotes.quoted(lines)

    # --- worked out -------------------------------------------------------------------------------

    def _trend(self, lines: Lines, *_rest: object) -> list[Part]:
        """The readings of one series, or the figures of periods, and which way they go; none is left out."""
        facts, whole = self._one_series(lines), self._whole_series(lines[0])
        at = sorted(whole.index(f) for f in map(unnumbered, facts) if f in whole)
        gaps = len(at) > 2 and at != list(range(at[0], at[-1] + 1))
        facts = [whole[place] for place in at]
        known = [number for fact in facts if (number := computed.number(fact)) is not None]
        if len(lines) != len(known) or len(known) < 2 or gaps:
            return []
        if facts[0].kind is Kind.AGGREGATE:
            if not _is_over_time(lines):
                return []
            ordered = sorted(lines, key=lambda line: facts.index(unnumbered(line.facts[0])))
            [part], names = self._figures(ordered), [self._name(line) for line in ordered]
        else:
            part = values.series(facts, self.reader, self.marks, _asking(lines))
            names = [words.place(f, self.reader, dated=False) or f.date or "" for f in facts]
        return [replace(part, tails=(*part.tails, computed.course(known, names)))]

    def _whole_series(self, line: Line) -> list[Fact]:
        """All readings of a series that the sheet has, in the order of time; of a figure all groups."""
        first, order = line.facts[0], self.sheet.design.event_order
        if first.kind is Kind.AGGREGATE:
            return [*map(unnumbered, line.scope.answer.facts)] if line.scope else []
        key, every = values.series_key(first), [f for one in self.sheet.lines for f in one.facts]
        every += [f for one in self.sheet.lines if one.scope for f in one.scope.answer.facts]
        own = [f for f in dict.fromkeys(map(unnumbered, every)) if f.subject == first.subject]
        own = [f for f in own if values.series_key(f) == key]
        return sorted(own, key=lambda f: (order.get(f.event, 0), f.date or "", f.instance or 0))

    def _one_series(self, lines: Lines) -> list[Fact]:
        """The facts, where all are of one subject and field, or groups of one result; else none."""
        one = len({line.facts[0].subject for line in lines}) == 1
        return [line.facts[0] for line in lines] if one and self._are_alike(lines) else []

    def _compare(self, lines: Lines, others: Lines, _step: Step) -> list[Part]:
        if not others and len(lines) == 2:
            lines, others = lines[:1], lines[1:]
        at = {line.facts[0].event: line for line in others}
        if len(others) == 1:
            at = {line.facts[0].event: others[0] for line in lines}
        pairs = [(one, at[one.facts[0].event]) for one in lines if one.facts[0].event in at]
        sides = [(a.facts[0], b.facts[0], self._names(a, b)) for a, b in pairs]
        said = [computed.compared(*own, self.reader) for own in sides]
        if not all(said):
            return []
        return [plain(text, (a.mark, b.mark)) for text, (a, b) in zip(said, pairs, strict=True)]

    def _names(self, one: Line, other: Line) -> computed.Names:
        """What the two sides have in common, and what tells them apart."""
        a, b = one.facts[0], other.facts[0]
        if a.kind is Kind.AGGREGATE and b.kind is Kind.AGGREGATE:
            same = one.scope is not None and one.scope is other.scope
            head = figures.about(one.scope.query, a, self.reader) if same and one.scope else ""
            figures_ = self._figure(one), self._figure(other)
            return computed.Names(head, self._name(one), self._name(other), *figures_)
        return computed.names_of(a, b, self.reader)

    def _name(self, line: Line) -> str:
        fact, scope = line.facts[0], line.scope
        if fact.kind is Kind.AGGREGATE and scope is not None:
            return figures.name(scope.query, fact, line.group, self.reader)
        return joined(fact.subject, words.label(fact, self.reader))

    def _extreme(self, lines: Lines, _others: Lines, step: Step) -> list[Part]:
        """The highest and the lowest of the lines; that only these were compared, where there are more."""
        known = [n for line in lines if (n := computed.number(line.facts[0])) is not None]
        if len(lines) < 2 or len(known) < len(lines) or not self._are_alike(lines):
            return []
        said, who = [], {line.facts[0].subject for line in lines}
        fact, scope = lines[0].facts[0], lines[0].scope
        ends = {
            "high": (words.end_name(fact, is_high=True), max(known)),
            "low": (words.end_name(fact, is_high=False), min(known)),
        }
        for word, edge in (ends[end] for end in ends if step.end in (end, "both")):
            at = [line for line, number in zip(lines, known, strict=True) if number == edge]
            spots = joint().join(dict.fromkeys(self._spot(line, len(who) == 1) for line in at))
            said.append(f"{word.strip()} {self._figure(at[0])}{words.bracketed(spots)}")
        only = _("only the %(count)s listed were compared") % {"count": len(lines)}
        note = "" if self._is_all(lines) else words.bracketed(only)
        head = joined(who.pop() if len(who) == 1 else "", words.label(fact, self.reader))
        if fact.kind is Kind.AGGREGATE:
            head = figures.about(scope.query, fact, self.reader) if scope else ""
        text = f"{head} {joint().join(said)}{note}".strip()
        return [plain(text, [line.mark for line in lines])]

    def _are_alike(self, lines: Lines) -> bool:
        """Whether the facts are readings of one field in one unit, or groups of one result."""
        facts = [line.facts[0] for line in lines]
        if facts[0].kind is Kind.AGGREGATE:
            return lines[0].group is not None and all(x.scope is lines[0].scope for x in lines)
        return len({(values.series_key(f), f.unit, f.kind) for f in facts}) == 1

    def _figure(self, line: Line) -> str:
        fact, scope = line.facts[0], line.scope
        if fact.kind is Kind.AGGREGATE and scope is not None:
            return figures.word_figure(scope.query, scope.answer, fact, line.group, self.reader)
        return words.value(fact, self.reader)

    def _spot(self, line: Line, alone: bool) -> str:
        """Whose and where, of one of several."""
        fact = line.facts[0]
        if fact.kind is Kind.AGGREGATE:
            return self._name(line)
        place = words.place(fact, self.reader, dated=False)
        return place if alone and place else f"{fact.subject} {place}".strip()

    def _is_all(self, lines: Lines) -> bool:
        """Whether the lines are all of a complete result that no condition narrowed."""
        scope = lines[0].scope
        if scope is None or not scope.is_complete or any(line.scope is not scope for line in lines):
            return False
        if lines[0].group is not None:
            return len({line.mark for line in lines}) == len(scope.answer.groups)
        narrow = NARROW if len(scope.subjects) == 1 else (*NARROW, "subjects")
        own = [fact for fact in scope.answer.facts if fact.field == lines[0].facts[0].field]
        whole = sum(not words.is_blank(fact) for fact in own) == len(lines)
        return whole and not any(map(scope.query.get, narrow))

    def _limits(self, lines: Lines, *_rest: object) -> list[Part]:
        """The readings beyond their reference range, and that the others lie within."""
        facts, made = [line.facts[0] for line in lines], list[Part]()
        if any(fact.limit is None or computed.number(fact) is None for fact in facts):
            return []
        some, every = _("the others within range"), _("all within range")
        for part in values.word_values(facts, self.reader, self.marks, _asking(lines)):
            own = [fact for fact in facts if set(self.marks([fact])) <= set(part.marks)]
            inside = [fact for fact in own if not fact.flags & {Flag.HIGH, Flag.LOW}]
            limits = {computed.bounds(fact) for fact in inside}
            if len(limits) == 1:
                text = some if len(inside) < len(own) else every
                text = text if len(own) > 1 else _("within range")
                tails = (*part.tails, text + words.bracketed(limits.pop()))
                part = replace(part, tails=tails)
            made.append(part)
        return made

    def _sum(self, lines: Lines, *_rest: object) -> list[Part]:
        """The total of groups of one result that exclude each other."""
        scope, groups = lines[0].scope, [line.group for line in lines if line.group is not None]
        people = [name for group in groups for name in group.subjects]
        alike = len(groups) == len(lines) > 1 and self._are_alike(lines)
        is_count = scope is not None and scope.query.get("aggregate") == "count"
        if not alike or not is_count or len(set(people)) < len(people):
            return []
        total = _("in total %(count)s") % {"count": words.people(len(people))}
        return [replace(part, tails=(*part.tails, total)) for part in self._figures(lines)]

    def _share(self, lines: Lines, others: Lines, _step: Step) -> list[Part]:
        """What part of the one figure the other is, where it surely lies within."""
        if len(lines) != 1 or len(others) != 1 or not self._is_inside(lines[0], others[0]):
            return []
        part, whole = (computed.number(line.facts[0]) for line in (lines[0], others[0]))
        if part is None or not whole or part > whole:
            return []
        [one], [other] = self._figures(lines), self._figures(others)
        known = {"part": one.text(), "whole": other.text()}
        known["rate"] = words.rounded(100 * part / whole, 1)
        text = _("%(part)s, %(rate)s%% of %(whole)s") % known
        return [plain(text, (lines[0].mark, others[0].mark))]

    def _is_inside(self, part: Line, whole: Line) -> bool:
        """Whether the one figure surely is a part of the other; a reader of one site sees no whole target."""
        is_target = whole.facts[0].field == "@project.target"
        return computed.is_inside(part, whole) and not (is_target and self.reader.own_site)

    def _left(self, lines: Lines, others: Lines, _step: Step) -> list[Part]:
        """How many are left to the target of the study: 还差 3 例:已入组 27 例,计划 30 例."""
        pair = sorted([*lines, *others], key=lambda line: line.facts[0].field == "@project.target")
        if len(pair) != 2 or not self._is_inside(pair[0], pair[1]):
            return []
        text = computed.to_target(pair[0].facts[0], pair[1].facts[0])
        is_target = pair[1].facts[0].field == "@project.target"
        return [plain(text, [line.mark for line in pair])] if text and is_target else []

    def _days(self, lines: Lines, others: Lines, _step: Step) -> list[Part]:
        """The days between two dates, or from one date to today."""
        if not others and len(lines) == 2:
            lines, others = lines[:1], lines[1:]
        first = computed.day(lines[0].facts[0])
        if len(lines) != 1 or len(others) > 1 or first is None:
            return []
        if not others:
            [told] = self._values(lines)
            since = words.bracketed(computed.since(first, self.reader))
            return [plain(told.text() + since, told.marks)]
        last = computed.day(others[0].facts[0])
        if last is None:
            return []
        pair = (lines[0].facts[0], others[0].facts[0])
        text = computed.between(*pair, first, last, self.reader)
        return [plain(text, (lines[0].mark, others[0].mark))]


def merged(parts: Sequence[Part]) -> list[Part]:
    """Sentences on the same values as one; what is said of a part of them keeps a sentence of its own."""
    made: list[Part] = []
    for part in (one for one in parts if one.text()):
        at = next((n for n, one in enumerate(made) if part.key and one.key == part.key), None)
        if at is None:
            made += [] if part.text() in {one.text() for one in made} else [part]
            continue
        joined = _joined(made[at], part)
        made = [*made[:at], joined, *made[at + 1 :]] if joined else [*made, part]
    return made


def _joined(one: Part, other: Part) -> Part | None:
    """Two sentences of one key as one, None where it would say too much."""
    if one.key[0] == "one" and (one.tails or other.tails):
        # What is said of the one would stand behind the other.
        return None
    if one.key[0] == "one":
        items = tuple(dict.fromkeys([*one.items, *other.items]))
        marks = tuple(dict.fromkeys([*one.marks, *other.marks]))
        notes = tuple(dict.fromkeys([*one.notes, *other.notes]))
        return replace(one, items=items, notes=notes, marks=marks, weights=())
    mine, theirs = set(one.items), set(other.items)
    if mine == theirs:
        tails = tuple(dict.fromkeys([*one.tails, *other.tails]))
        return replace(one, tails=tails, notes=tuple(dict.fromkeys([*one.notes, *other.notes])))
    if theirs < mine and not other.tails:
        return one
    return other if mine < theirs and not one.tails else None


def _kind(line: Line) -> str:
    """Which way of telling a line takes."""
    first = line.facts[0] if line.facts else None
    if line.source is not Source.FACT:
        return "quote"
    if first is None or first.kind is Kind.SUBJECTS:
        return "count"
    if first.kind in (Kind.AGGREGATE, Kind.PROJECT):
        return "figures"
    if first.kind in WORK:
        return "work"
    several = len(line.facts) > 1
    if several and first.kind is Kind.WINDOW:
        return "visit"
    return "rows" if several and first.instance is not None else "values"


def _is_row(line: Line) -> bool:
    """Whether a line of several facts is told whole: a row, a visit, work."""
    first = line.facts[0]
    return first.instance is not None or first.kind in (Kind.WINDOW, *WORK)


def _asking(lines: Lines) -> values.Asking:
    """Which rows were asked for, where all lines are of one result."""
    scopes = {id(line.scope): line.scope for line in lines}
    scope = next(iter(scopes.values()), None)
    if len(scopes) != 1 or scope is None:
        return values.Asking()
    told = {fact for line in lines for fact in line.facts}
    whole = sum(len(fact.subject) > 0 for fact in scope.answer.facts) <= len(told)
    return values.Asking(scope.query.get("rows") if whole else None)


def _chosen(lines: Lines, form: str, reader: Reader) -> str:
    """What rows of a form were chosen by: 不良事件(SAE)."""
    scope = lines[0].scope
    if scope is None or any(line.scope is not scope for line in lines):
        return ""
    said = chosen(scope.query, reader)
    return reader.design.metadata.form_label(form) + words.bracketed(said) if said else ""


def _is_over_time(lines: Lines) -> bool:
    """Whether figures are of periods, which follow each other."""
    scope = lines[0].scope
    by = scope.query.get("by") if scope else ()
    return len(by or ()) == 1 and str((by or ("",))[0]).startswith(("month:", "week:", "quarter:"))


def _counted(line: Line, scope: Scope, reader: Reader) -> list[Part]:
    """A result's own line: 共 2 条, 没有记录(已全部读取), in whom of all it was found."""
    query, mark = scope.query, (line.mark,)
    names = [one for one in query.get("select") or () if isinstance(one, str)]
    what = joint().join(dict.fromkeys(conditions.name_of(one, reader) for one in names))
    how, named = chosen(query, reader), query.get("subjects")
    what = what + words.bracketed(how) if what and named else how or what
    if named and not scope.subjects:
        return [plain(notes.absent(named), mark)]
    if not scope.is_complete or query.get("aggregate") or (named and what and names[0][0] == "@"):
        return []
    if named:
        who, said = joint().join(scope.subjects), _("%(count)s entries in all")
        if scope.count:
            return [plain(f"{who} {what}{comma()}{said % {'count': scope.count}}", mark)]
        text = _("%(subject)s has no record of %(what)s (all was read)")
        return [plain(text % {"subject": who, "what": what}, mark)]
    found = dict.fromkeys(fact.subject for fact in scope.answer.facts if fact.subject)
    over = _("the %(count)s subjects that you may see") % {"count": scope.answer.basis.subjects}
    if not found:
        return [plain(_("No subject meets this") + words.bracketed(what, over), mark)]
    items = tuple((name,) for name in found)
    return [Part(what + words.bracketed(over), items, noun="subject", counted=True, marks=mark)]

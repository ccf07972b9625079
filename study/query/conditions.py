"""Which subjects a list of conditions holds for, and which rows satisfied it (contracts.md, fine points)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from core.rules.values import Moment, Reason, Unknown
from study.facts import Undecided
from study.query.names import Names
from study.query.operands import (
    Truth,
    decided,
    every,
    negated,
    of_row,
    pick_lines,
    some,
    stands,
    unusable,
)
from study.query.subject import Line, Subject
from study.query.tree import SUBJECT, Condition, Joint, Places, Plan, Span, Test


@dataclass
class Match:
    """The truth for one subject; `rows`: by form, those in which its conditions hold together."""

    truth: Truth
    rows: dict[str, list[Line]] = field(default_factory=dict)


def match(subject: Subject, where: Joint, scope: Scope) -> Match:
    """All conditions of `where` on one subject."""
    joined: dict[str, list[Condition]] = {}
    alone: list[Condition] = []
    for part in _flat(where):
        form = form_of(part)
        if form is None:
            alone.append(part)
        else:
            joined.setdefault(form, []).append(part)
    found = Match(True)
    truths: list[Truth] = []
    for form, parts in joined.items():
        truth, found.rows[form] = _together(subject, form, parts, scope)
        truths.append(truth)
        if truth is False:
            return Match(False)
    truths += [_alone(subject, part, scope) for part in alone]
    found.truth = every(truths)
    return found


def forms_of(where: Joint) -> list[str]:
    """The forms whose rows the conditions join on, in order."""
    forms = (form_of(part) for part in _flat(where))
    return list(dict.fromkeys(form for form in forms if form is not None))


def form_of(part: Condition) -> str | None:
    """The form on whose rows a condition joins; None where it stands by itself."""
    if isinstance(part, Test):
        alone = part.every or part.left.stands_alone
        return None if alone else part.left.source.form
    if part.how == "none":
        return None
    forms = {form_of(one) for one in part.parts}
    return forms.pop() if len(forms) == 1 else None


def _flat(where: Joint) -> Iterator[Condition]:
    """`all` in `where` groups what must hold anyhow."""
    for part in where.parts:
        if isinstance(part, Joint) and part.how == "all":
            yield from _flat(part)
        else:
            yield part


def _together(
    subject: Subject, form: str, parts: list[Condition], scope: Scope
) -> tuple[Truth, list[Line]]:
    """Whether one row of `form` satisfies all parts, and the rows that do."""
    due = subject.due_lines(form) if _all_blank(parts) and not form.startswith("@") else ()
    truths, rows = [], []
    for line, inside in scope.condition_rows(subject, form, due):
        truth = every((inside, *(_in_row(part, line) for part in parts)))
        truths.append(truth)
        if truth is True:
            rows.append(line)
    return some(truths), rows


def _in_row(part: Condition, line: Line) -> Truth | None:
    if isinstance(part, Test):
        return of_row(part, line)
    truths = (_in_row(one, line) for one in part.parts)
    return every(truths) if part.how == "all" else some(truths)


def _all_blank(parts: list[Condition]) -> bool:
    return all(
        part.op == "blank" if isinstance(part, Test) else _all_blank(list(part.parts))
        for part in parts
    )


def _alone(subject: Subject, part: Condition, scope: Scope) -> Truth:
    """A condition that stands by itself."""
    if isinstance(part, Test):
        return _test_alone(subject, part, scope)
    if part.how == "none":
        ones = (match(subject, Joint("all", (one,)), scope).truth for one in part.parts)
        return negated(some(list(ones)))
    return some([match(subject, Joint("all", (one,)), scope).truth for one in part.parts])


def _test_alone(subject: Subject, test: Test, scope: Scope) -> Truth:
    read, form = test.left, test.left.source.form
    due = subject.due_lines(form) if test.op == "blank" and form != SUBJECT else ()
    own = read.place is not None
    rows = scope.at(read.place).condition_rows(subject, form, due, own_place=own)
    if read.rows is not None:
        lines = [line for line, _inside in rows]
        kept = pick_lines(lines, read.rows, read.source)
        kept += unusable(lines, read.rows, read.source)
        rows = [(line, inside) for line, inside in rows if line in kept]
    truths = []
    for line, inside in rows:
        truth = of_row(test, line)
        truths.append(truth if truth is None else every((inside, truth)))
    return decided(truths) if test.every else some(truths)


_PARTIAL = Unknown(Reason.PARTIAL_DATE)


@dataclass(frozen=True)
class Scope:
    """What restricts rows; all of it None lets every row pass."""

    place: Places | None = None
    period: Span | None = None

    def at(self, place: Places | None) -> Scope:
        """With an operand's own place instead of the query's."""
        return self if place is None else Scope(place, self.period)

    def rows(self, lines: Iterable[Line], *, own_place: bool = False) -> list[tuple[Line, Truth]]:
        """The rows in reach; open where a partial date leaves it open whether the row is in the period.

        `own_place`: the operand named it, so that a form which cannot stand there has no row.
        """
        found: list[tuple[Line, Truth]] = []
        for line in lines:
            place = self.place
            if place is not None and not stands(line, place):  # noqa: SIM102
                if own_place or line.subject.names.can_stand(line.form, place):
                    continue
            inside = self._inside(line)
            if inside is not False:
                found.append((line, inside))
        return found

    def condition_rows(
        self, subject: Subject, form: str, extra: Sequence[Line] = (), *, own_place: bool = False
    ) -> list[tuple[Line, Truth]]:
        """The rows of a condition: only forms with several rows a subject are restricted."""
        lines = [*subject.lines(form), *extra]
        # Where such a row would stand and what day it would have nobody can read either.
        unread: list[tuple[Line, Truth]] = [(line, True) for line in subject.unread_lines(form)]
        if own_place or subject.names.repeats(form):
            scope = self if subject.names.repeats(form) else Scope(self.place)
            return scope.rows(lines, own_place=own_place) + unread
        return [(line, True) for line in lines] + unread

    def _inside(self, line: Line) -> Truth:
        period = self.period
        if period is None or line.form == SUBJECT:
            return True
        day = None if line.is_absent else line.subject.date_of(line)
        return False if day is None else within(day, period)


def has_places(names: Names, form: str) -> bool:
    """Whether a place says which rows of a form are meant, none where it cannot stand there.

    A form with one row a subject is the subject's own wherever it stands.
    """
    return not form.startswith("@") and names.repeats(form)


def within(day: Moment, period: Span) -> Truth:
    """Whether all that a date can be lies in a period, none of it, or a part."""
    low, high = day.days
    first = period.first if period.first is not None else low
    last = period.last if period.last is not None else high
    if first <= low and high <= last:
        return True
    return False if high < first or low > last else _PARTIAL


@dataclass
class Hit:
    """A subject for whom the conditions hold, and the rows of each selected item."""

    subject: Subject
    rows: list[list[Line]]


@dataclass
class Doubts:
    """Of whom something could not be told, and the first reason why."""

    reasons: dict[str, str] = field(default_factory=dict)

    def add(self, subject: Subject, doubt: Unknown | None) -> None:
        """Note a doubt; None is none."""
        if doubt is not None:
            reason = doubt.reason.value if doubt.reason else "not_computable"
            self.reasons.setdefault(subject.id, reason)

    def told(self, subjects: Iterable[Subject]) -> tuple[Undecided, ...]:
        """In the order of the subjects."""
        ids = (subject.id for subject in subjects if subject.id in self.reasons)
        return tuple(Undecided(name, self.reasons[name]) for name in ids)


def counted_form(plan: Plan, names: Names) -> str:
    """The form whose rows are counted where nothing is selected; "": rows of any form.

    A form that conditions join on, first one with several rows a subject; else one of `by`.
    """
    asked = forms_of(plan.where)
    grouped = [key.source.form for key in plan.by if key.source is not None]
    several = [form for form in (*asked, *grouped) if names.repeats(form)]
    forms = [*several, *asked, *grouped]
    if forms:
        return forms[0]
    by_event = any(key.kind == "event" for key in plan.by)
    return "" if by_event or plan.place or plan.period else SUBJECT


def counted(subject: Subject, form: str, scope: Scope, found: Match, doubts: Doubts) -> list[Line]:
    """The rows of one subject that are counted where nothing is selected, of the `counted_form`."""
    lines = found.rows.get(form, subject.lines(form))
    rows = scope.rows(lines, own_place=has_places(subject.names, form))
    for _line, inside in rows:
        doubts.add(subject, inside if isinstance(inside, Unknown) else None)
    return [line for line, inside in rows if inside is True]

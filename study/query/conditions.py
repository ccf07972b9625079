"""Which subjects a list of conditions holds for, and which rows satisfied it (contracts.md, fine points)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from study.query.cells import Line
from study.query.chosen import chosen
from study.query.scope import Scope
from study.query.subject import Subject
from study.query.tree import SUBJECT, Condition, Joint, Test
from study.query.truth import Truth, decided, every, negated, of_row, some


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
        kept = chosen([line for line, _inside in rows], read.rows, read.source)
        rows = [(line, inside) for line, inside in rows if line in kept]
    truths = []
    for line, inside in rows:
        truth = of_row(test, line)
        truths.append(truth if truth is None else every((inside, truth)))
    return decided(truths) if test.every else some(truths)

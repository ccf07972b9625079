"""A question with its whole results, and what is said where nothing was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from engines.assistant.read.question import Query, Question, conditions_of
from engines.assistant.say import conditions, words
from engines.assistant.say.parts import Part, joint, plain
from engines.assistant.say.reader import Reader
from engines.assistant.say.sheet import Sheet
from engines.assistant.say.values import Asking, Marks
from study.facts import Answer, Fact

NARROW = ("where", "rows", "place", "period", "limit")
"""What makes a result less than all rows of its form."""


@dataclass(frozen=True)
class Case:
    """One answered question of a sheet, and for whom it is worded."""

    question: Question
    results: tuple[tuple[Query, Answer], ...]
    sheet: Sheet
    reader: Reader
    marks: Marks

    @property
    def query(self) -> Query:
        """The query that the answer is about."""
        return self.results[0][0] if self.results else {}

    @property
    def answer(self) -> Answer:
        """The answer to it."""
        return self.results[0][1] if self.results else Answer()

    @property
    def subjects(self) -> Sequence[str]:
        """Those who were named."""
        return self.query.get("subjects") or ()

    @property
    def asking(self) -> Asking:
        """What the question says of the values."""
        about = [
            name for name in self.question.select if name not in self.reader.design.repeating_forms
        ]
        chosen, settled = (
            conditions.described(self.query, self.reader),
            conditions.settled(self.query),
        )
        return Asking(self.query.get("rows"), chosen, settled, about)

    def of(self, at: int) -> Case:
        """The same with one of its results."""
        return replace(self, results=self.results[at : at + 1])

    def among(self, subjects: Sequence[str]) -> Case:
        """The same of some of those who were named."""
        return replace(self, results=tuple(_of(pair, subjects) for pair in self.results))

    def with_facts(self, facts: Sequence[Fact]) -> Case:
        """The same with some of the facts."""
        return replace(self, results=((self.query, replace(self.answer, facts=tuple(facts))),))


def _of(result: tuple[Query, Answer], subjects: Sequence[str]) -> tuple[Query, Answer]:
    query, answer = result
    own = replace(
        answer,
        facts=tuple(fact for fact in answer.facts if fact.subject in subjects),
        undecided=tuple(one for one in answer.undecided if one.subject in subjects),
        basis=replace(answer.basis, subjects=len(subjects)),
    )
    return query | {"subjects": list(subjects)}, own


def apart(case: Case) -> list[Case]:
    """Of several who are named those with facts, then those of whom there are none; only who may be seen.

    Of the latter those who cannot be judged stand apart, and those of whom nothing at all was read.
    """
    if len(case.subjects) < 2 or case.answer.left_out:
        return [case]
    held = {fact.subject for fact in case.answer.facts}
    unsure = {one.subject for one in case.answer.undecided}
    read = {f.subject for _query, answer in case.results[1:] for f in answer.facts}
    groups: dict[tuple[bool, ...], list[str]] = {}
    for name in dict.fromkeys(case.subjects):
        if name in case.reader.subjects:
            key = (name not in held, name in unsure, name not in read)
            groups.setdefault(key if key[0] else (False,), []).append(name)
    return [case.among(groups[key]) for key in sorted(groups)] or [case]


def total_of(sheet: Sheet, subject: str, form: str) -> int | None:
    """How many rows of a form a subject has, where all were read without a condition."""
    for line in sheet.lines:
        scope = line.scope
        if line.facts or scope is None or scope.subjects != (subject,) or not scope.is_complete:
            continue
        forms = {sheet.design.form_of(str(n)) or n for n in scope.query.get("select") or ()}
        if forms == {form} and not any(scope.query.get(key) for key in NARROW):
            return scope.count
    return None


def chosen(query: Query, reader: Reader, what: str | None = None) -> str:
    """What the rows of a result were chosen by: visits, days and conditions, or `what` in their place."""
    said = conditions.sought(query, reader) if what is None else what
    parts = (conditions.places(query, reader), conditions.period(query, reader), said)
    return " ".join(filter(None, parts))


def nothing(case: Case) -> Part:
    """That nothing was there, and what was searched: 在 2 条不良事件中没有…; else over whom it was looked."""
    reader, query = case.reader, case.query
    names = [one for one in case.query.get("select") or () if isinstance(one, str)]
    labels = (conditions.topic_of(one) or conditions.name_of(one, reader) for one in names)
    label = joint().join(dict.fromkeys(labels))
    what = chosen(query, reader, conditions.sought(query, reader) or label)
    if not case.subjects:
        if none_decided(case.answer):
            return untold(case, what)
        return plain(_("No subject meets this") + looked_at(case, what))
    who = joint().join(case.subjects)
    form = _form(case)
    total = total_of(case.sheet, case.subjects[0], form) if len(case.subjects) == 1 else None
    if total and chosen(query, reader):
        described = chosen(query, reader, conditions.described(query, reader))
        known = {"subject": who, "what": described, "count": total}
        text = _("%(subject)s has none with %(what)s among %(count)s entries of %(form)s")
        return plain(text % (known | {"form": reader.design.metadata.form_label(form)}))
    known = {"subject": who, "what": what}
    if case.answer.undecided or case.answer.left_out:
        return plain(_("%(subject)s: of %(what)s nothing could be told") % known)
    return plain(_("%(subject)s has no record of %(what)s") % known)


def none_decided(answer: Answer) -> bool:
    """Whether of nobody who was looked at it could be told."""
    return 0 < answer.basis.subjects <= len(answer.undecided)


def among_decided(case: Case) -> str:
    """Of whom it is said that there is none, where it cannot be told of all; at a site nobody counts them."""
    if conditions.sites_of(case.query):
        return _("of the subjects of whom it can be told, ")
    known = case.answer.basis.subjects - len(case.answer.undecided)
    return _("of the %(count)s subjects of whom it can be told, ") % {"count": known}


def untold(case: Case, what: str) -> Part:
    """That of nobody it could be told; of why not the notes speak."""
    text = _("%(what)s cannot be told of any of the %(count)s subjects that you may see")
    return plain(text % {"what": what, "count": case.answer.basis.subjects})


def _form(case: Case) -> str:
    """The repeating form that the conditions and what is shown are of, "" for several."""
    design = case.reader.design
    fields = [str(c.get("field")) for c in conditions_of(case.query.get("where") or ())]
    fields += [one for one in case.query.get("select") or () if isinstance(one, str)]
    forms = {design.form_of(name) or name for name in fields if not name.startswith("@")}
    form = forms.pop() if len(forms) == 1 else ""
    return form if form in design.repeating_forms else ""


def looked_at(case: Case, what: str = "") -> str:
    """For what and over whom it was looked: the sites asked for, else all the reader may see."""
    over = conditions.scope(case.query, case.reader) if conditions.sites_of(case.query) else ""
    count = case.answer.basis.subjects
    if none_decided(case.answer):
        over = _("it cannot be told of any of %(count)s subjects") % {"count": count}
    return words.bracketed(
        what, over or _("the %(count)s subjects that you may see") % {"count": count}
    )

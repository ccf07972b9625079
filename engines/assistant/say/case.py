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

    def with_facts(self, facts: Sequence[Fact]) -> Case:
        """The same with some of the facts."""
        return replace(self, results=((self.query, replace(self.answer, facts=tuple(facts))),))


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


def chosen(query: Query, reader: Reader) -> str:
    """What the rows of a result were chosen by: visits and conditions."""
    parts = (
        conditions.places(query, reader),
        conditions.period(query),
        conditions.sought(query, reader),
    )
    return " ".join(filter(None, parts))


def nothing(case: Case) -> Part:
    """That nothing was there, and what was searched: 在 2 条不良事件中没有…; else over whom it was looked."""
    reader, what = case.reader, chosen(case.query, case.reader)
    names = [one for one in case.query.get("select") or () if isinstance(one, str)]
    label = joint().join(conditions.name_of(one, reader) for one in names)
    if not case.subjects:
        return plain(_("No subject meets this") + looked_at(case, what or label))
    who = joint().join(case.subjects)
    form = _form(case)
    total = total_of(case.sheet, case.subjects[0], form) if len(case.subjects) == 1 else None
    if what and total:
        known = {"subject": who, "what": conditions.described(case.query, reader), "count": total}
        text = _("%(subject)s has none with %(what)s among %(count)s entries of %(form)s")
        return plain(text % (known | {"form": reader.design.metadata.form_label(form)}))
    place = conditions.places(case.query, reader)
    sought = conditions.sought(case.query, reader) or label
    known = {"subject": who, "what": " ".join(filter(None, [place, sought]))}
    if case.answer.undecided or case.answer.left_out:
        return plain(_("%(subject)s: of %(what)s nothing could be told") % known)
    return plain(_("%(subject)s has no record of %(what)s") % known)


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
    return words.bracketed(
        what, over or _("the %(count)s subjects that you may see") % {"count": count}
    )

"""The answer of a sheet in words: a plan, or the plain one, with what it must not leave out; and as a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from engines.assistant.read.question import Question, Shape
from engines.assistant.say import words
from engines.assistant.say.parts import Part, fitted
from engines.assistant.say.plan import Plan, Step, Told
from engines.assistant.say.reader import Reader
from engines.assistant.say.render import parts_of
from engines.assistant.say.shapes import plain_answer
from engines.assistant.say.sheet import Line, Sheet
from study.facts import Answer, Fact, Flag, Kind

MOST = 3
"""Operations that are added; of more lines that must be told the plain answer is the better one."""
_ALARMING = frozenset({Flag.HIGH, Flag.LOW, Flag.OVERDUE})
_FIGURES = frozenset(
    {
        Shape.COUNT,
        Shape.COUNT_ROWS,
        Shape.GROUPS,
        Shape.AGGREGATE,
        Shape.SHARE,
        Shape.EXTREME,
        Shape.LIST,
    }
)
"""Shapes whose single lines are not what was asked for."""
_NEXT: tuple[tuple[Callable[[Fact], bool], str], ...] = (
    (
        lambda fact: fact.kind is Kind.WINDOW and Flag.OVERDUE in fact.flags,
        gettext_noop("Please contact %(subject)s, make up for the visit and enter its actual date"),
    ),
    (
        lambda fact: fact.kind is Kind.BLANK and fact.value != (),
        gettext_noop("You can fill in %(label)s on the form %(form)s in REDCap"),
    ),
    (
        lambda fact: fact.kind is Kind.VALUE and Flag.PARTIAL in fact.flags,
        gettext_noop("You can complete the date %(label)s on the form %(form)s in REDCap"),
    ),
    (
        lambda fact: fact.kind is Kind.VALUE and Flag.CONFLICTING in fact.flags,
        gettext_noop("Please check %(label)s with the source on the form %(form)s in REDCap"),
    ),
    (
        lambda fact: fact.kind is Kind.REVIEW,
        gettext_noop("You can decide it in the list of reviews"),
    ),
    (
        lambda fact: fact.kind is Kind.FINDING and fact.field == "@findings.text",
        gettext_noop("Please check it with the source and correct it in REDCap"),
    ),
)
"""What may be done next, by what a fact is, the most pressing first (seed 003, 引导行动).

Where something is filled in or done, never what is right for a patient.
"""


@dataclass(frozen=True)
class Table:
    """A table of texts; every row is as long as the header."""

    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Said:
    """An answer: `text` fits the reader, `told` are all its sentences with their marks, `table` the facts.

    `is_whole`: the text leaves out nothing but details.
    """

    text: str
    told: tuple[Told, ...]
    table: Table
    is_whole: bool = True

    @property
    def cut_from(self) -> Table | None:
        """The whole of what the text shows a part of; None where nothing but details was left out."""
        return None if self.is_whole or not self.table.rows else self.table


def say_answer(sheet: Sheet, reader: Reader, plan: Plan | None = None) -> Said:
    """What is said to a reader: by a plan with what it may not leave out, else the plain answer.

    A plan that says nothing falls back on the plain answer. What may be done next is said where there is room.
    """
    with translation.override(reader.language):
        parts = parts_of(sheet, plan, reader) if plan is not None else []
        if plan is not None and parts:
            marks = {mark for part in parts for mark in part.marks}
            parts += parts_of(sheet, Plan(say=missing(sheet, marks, reader)), reader)
            parts += [Part(_("Note (AI): %(text)s") % {"text": plan.note})] if plan.note else []
        parts = parts or plain_answer(sheet, reader)
        stop = pgettext("end of a sentence", ".")
        made = fitted(parts, reader.limit, stop, reader.whole)
        told = tuple(Told(part.text(), part.marks) for part in parts)
        results = [own for one in sheet.answered for _query, own in one.results]
        text = "\n".join(text for text, _marks in made.texts)
        step = next_step(sheet, {mark for _text, marks in made.texts for mark in marks}, reader)
        if step and made.is_whole and len(text) + len(step) + len(stop) + 1 <= reader.limit:
            text = f"{text}\n{step}{stop}"
        table = table_of(results, reader)
        if not sheet.answered:
            quoted = [line for part in parts for line in map(sheet.line, part.marks) if line]
            header, rows = (_("Section"), _("Text")), [(x.section, x.text) for x in quoted]
            table = Table(header, tuple(dict.fromkeys(rows)))
        return Said(text, told, table, made.is_whole)


# --- what a plan may not leave out of what was asked for: high, low, overdue, serious, blank ------


def required_marks(sheet: Sheet, reader: Reader) -> tuple[str, ...]:
    """The marks of the lines that no answer may leave out, in the order of the sheet."""
    wanted = {
        mark
        for one in sheet.answered
        if one.question.shape not in _FIGURES and not one.question.aggregate
        for mark in one.marks
        if (line := sheet.line(mark))
        and any(_is_required(fact, one.question, reader) for fact in line.facts)
    }
    return tuple(line.mark for line in sheet.lines if line.mark in wanted)


def missing(sheet: Sheet, marks: Collection[str], reader: Reader) -> tuple[Step, ...]:
    """What is to be told behind a plan that showed the lines of `marks`."""
    kinds: dict[str, list[str]] = {}
    for mark in required_marks(sheet, reader):
        if mark not in marks and (line := sheet.line(mark)):
            kinds.setdefault(_op(line), []).append(mark)
    steps = [Step.model_validate({"op": op, "of": own}) for op, own in kinds.items()]
    return tuple(steps[:MOST])


def _is_required(fact: Fact, question: Question, reader: Reader) -> bool:
    if fact.kind is Kind.BLANK:
        return fact.field in question.select
    is_serious = bool(fact.field) and (fact.field, fact.value) == reader.design.serious
    return bool(fact.flags & _ALARMING) or is_serious


def _op(line: Line) -> str:
    first = line.facts[0]
    if first.kind is Kind.WINDOW:
        return "visit"
    return "rows" if first.instance is not None and len(line.facts) > 1 else "tell"


# --- what may be done next ------------------------------------------------------------------------


def next_step(sheet: Sheet, marks: Collection[str], reader: Reader) -> str:
    """The most pressing step of what was told by the lines of `marks`, without its full stop; "" for none.

    None where facts of several subjects call for it: whom it would be about is not one.
    """
    told = [fact for line in sheet.lines if line.mark in marks for fact in line.facts]
    questions = [one.question for one in sheet.answered]
    asked = {name for one in questions for name in (*one.select, *one.subjects)}
    for holds, text in _NEXT:
        own = [fact for fact in told if holds(fact) and _calls_for_it(fact, asked, reader)]
        if len({fact.subject for fact in own}) == 1:
            fact, metadata = own[0], reader.design.metadata
            form = reader.design.form_of(fact.field) or fact.instrument
            is_value = fact.kind in (Kind.BLANK, Kind.VALUE)
            known = {
                "subject": fact.subject,
                "label": words.field_label(fact.field, reader) if is_value else "",
                "form": metadata.form_label(form) if form else "",
            }
            return _(text) % known
    return ""


def _calls_for_it(fact: Fact, asked: Collection[str], reader: Reader) -> bool:
    """A blank is to be filled in only where the dictionary requires the field, else there may be nothing, and
    where its subject was named; of other values what was asked for by its name is worth a step.
    """
    if fact.kind is Kind.BLANK:
        field = reader.design.metadata.fields.get(fact.field, {})
        return fact.subject in asked and bool(field.get("required_field"))
    return fact.kind is not Kind.VALUE or fact.field in asked


# --- what a message has no room for (answer page, XLSX) -------------------------------------------


def table_of(answers: Iterable[Answer], reader: Reader) -> Table:
    """Every fact about a subject, once: whose, what, where and when, its value and unit."""
    header = (_("Subject"), _("What"), _("Visit"), _("Row"), _("Date"), _("Value"), _("Unit"))
    rows = [
        (
            fact.subject,
            words.label(fact, reader),
            reader.design.metadata.event_label(fact.event) if fact.event else "",
            "" if fact.instance is None else str(fact.instance),
            fact.date or "",
            words.value(fact, reader, bare=True),
            fact.unit,
        )
        for answer in answers
        for fact in answer.facts
        if fact.subject
    ]
    return Table(header, tuple(dict.fromkeys(rows)))

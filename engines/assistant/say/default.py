"""The plain answer as a plan: the operations that a model may choose, where they say it, else a shape."""

from __future__ import annotations

from collections.abc import Iterator

from engines.assistant.read.question import Shape as Asked
from engines.assistant.read.question import Topic
from engines.assistant.say import computed, notes, values
from engines.assistant.say.case import Case
from engines.assistant.say.plan import Plan, Shape, Step
from engines.assistant.say.reader import Reader
from engines.assistant.say.rows import unnumbered
from engines.assistant.say.sheet import Answered, Sheet, Source
from study.facts import Kind

_WORK = (Topic.FINDINGS, Topic.REVIEWS, Topic.RUNS, Topic.CHANGES)
_SHAPES = {
    Asked.EXTREME: "edge",
    Asked.COUNT: "figures",
    Asked.COUNT_ROWS: "figures",
    Asked.SHARE: "figures",
    Asked.AGGREGATE: "figures",
    Asked.GROUPS: "groups",
    Asked.LIST: "list",
    Asked.YES_NO: "yes_no",
    Asked.DIFFERENCE: "difference",
    Asked.CHANGE: "change",
    Asked.LASTED: "lasted",
    Asked.RATIO_TO_LIMIT: "ratio",
    Asked.OVERVIEW: "overview",
    Asked.BLANKS: "blanks",
}
_RULES = 3
_LONG = 3
"""From so many readings on a series is told with the way it goes."""


def default_plan(sheet: Sheet, reader: Reader) -> Plan:
    """What answers the questions of a sheet, in their order; rules and reports where no data were asked for."""
    steps = [
        step for at, one in enumerate(sheet.answered) for step in _steps(at, one, sheet, reader)
    ]
    if not sheet.answered:
        prose = tuple(
            line.mark for line in sheet.lines if line.source in (Source.DOCUMENT, Source.REPORT)
        )
        steps = [Step(op="quote", of=prose)] if prose else []
    return Plan(say=tuple(steps))


def _steps(at: int, answered: Answered, sheet: Sheet, reader: Reader) -> Iterator[Step | Shape]:
    question = answered.question
    if question.topic is Topic.DICTIONARY:
        yield Shape("dictionary", at)
        return
    if notes.refused(Case(question, answered.results, sheet, reader, lambda _facts: ())):
        yield Shape("absent", at)
        return
    if question.topic is Topic.ELIGIBILITY:
        yield Shape("eligibility", at)
        rules = [line.mark for line in sheet.lines if line.source is Source.DOCUMENT][:_RULES]
        yield from [Step(op="quote", of=tuple(rules))] if rules else []
    elif question.topic is Topic.TARGET:
        yield Shape("target", at)
    elif question.aggregate or any(query.get("aggregate") for query, _a in answered.results[:1]):
        yield Shape("groups" if question.by else "figures", at)
    elif question.topic is Topic.VISITS:
        yield Shape("visits", at)
    elif question.topic in _WORK:
        yield Shape("work", at)
    elif question.nth:
        yield Shape("nth", at)
    elif name := _SHAPES.get(question.shape):
        yield Shape(name, at)
    else:
        yield from _values(at, answered, sheet)
    yield Shape("notes", at)


def _values(at: int, answered: Answered, sheet: Sheet) -> Iterator[Step | Shape]:
    """Single values and series by operations over their lines; rows of forms, and nothing, by their shape."""
    facts = [fact for _query, answer in answered.results for fact in answer.facts]
    lines = [line for line in sheet.lines if line.mark in answered.marks]
    held = {unnumbered(fact): line.mark for line in lines for fact in line.facts}
    simple = all(fact.kind in (Kind.VALUE, Kind.BLANK) and fact.instance is None for fact in facts)
    if not facts or not simple or any(unnumbered(fact) not in held for fact in facts):
        yield Shape("values", at)
        return
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
    if rest:
        yield Step(op="tell", of=tuple(dict.fromkeys(rest)), show=shown)
    for own in (found[key] for key in found if key in long):
        yield Step(op="trend", of=tuple(own), show=shown)

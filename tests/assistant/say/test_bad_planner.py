"""A bad planner: empty, one line, all lines, anything. What is high, overdue or blank is told all the same."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from typing import get_args

import pytest

from engines.assistant.read.grammar import fast
from engines.assistant.read.queries import queries
from engines.assistant.read.task import State
from engines.assistant.say.answer import say_answer as answer
from engines.assistant.say.lines import Builder, sheet_of
from engines.assistant.say.plan import Op, Plan, Step
from engines.assistant.say.reader import Reader
from engines.assistant.say.sheet import Sheet, Source
from study.facts import Flag, Kind
from tests.assistant.read.asks import GOLD, setting
from tests.assistant.say.oracle import Oracle
from tests.study.query.studies import demo

QUESTIONS = (
    "P016的ALT",
    "P032每次的AST",
    "P016 V2的ALT",
    "P003有什么不良事件",
    "P010的不良事件",
    "P005的访视",
    "P013的V2做了吗",
    "P031 V2的血糖单位",
    "P033知情同意哪天签的",
    "P034的血小板",
    "P019用了哪些药",
    "P016和P032的ALT",
    "P001的血红蛋白",
    "P036有哪些不良事件",
)
ALARMING = {Flag.HIGH, Flag.LOW, Flag.OVERDUE}
NOW = datetime(2026, 11, 23, 1, 0, tzinfo=UTC)


@cache
def asked(question: str) -> tuple[Sheet, Reader]:
    """The sheet of a question to the demo study, beside lines that nobody asked for."""
    study, known = demo(), setting(GOLD)
    task = fast(question, known, State())
    assert task is not None, question
    assert task.question is not None, question
    reader = Reader(study.design, NOW, known.subjects, known.sites, limit=300)
    results = [(query, study.ask(**query)) for query in queries(task.question, known)]
    builder = Builder()
    answered = builder.answered(task.question, results, reader)
    other = {"subjects": ["P021"], "select": ["vitals"]}
    builder.answered(task.question, [(other, study.ask(**other))], reader)
    return sheet_of(builder, reader, [answered]), reader


def plans(sheet: Sheet, question: str) -> Iterator[Plan]:
    """None, each line alone, all lines, and anything."""
    marks = [line.mark for line in sheet.lines]
    chance = random.Random(question)
    yield Plan()
    yield Plan(say=(Step(op="tell", of=tuple(marks)),))
    for op in get_args(Op):
        for mark in chance.sample(marks, min(4, len(marks))):
            yield Plan(say=(Step(op=op, of=(mark,)),))
        of = tuple(chance.sample(marks, min(3, len(marks))))
        yield Plan(say=(Step(op=op, of=of, to=tuple(chance.sample(marks, 1))),))


def mandatory(sheet: Sheet, selected: tuple[str, ...]) -> set[str]:
    """The lines of the answer that hold what no answer may leave out."""
    own = {mark for one in sheet.answered for mark in one.marks}
    return {
        line.mark
        for line in sheet.lines
        if line.mark in own
        and any(
            fact.flags & ALARMING or (fact.kind is Kind.BLANK and fact.field in selected)
            for fact in line.facts
        )
    }


def left_out(question: str) -> list[str]:
    """Plans whose answer is empty, or leaves out what must be told."""
    sheet, reader = asked(question)
    wanted = mandatory(sheet, sheet.answered[0].question.select)
    found = []
    for plan in plans(sheet, question):
        said = answer(sheet, reader, plan)
        told = {mark for one in said.told for mark in one.marks}
        if not wanted <= told or not said.text:
            found.append(f"{plan}: {said.text}")
    return found


def false_sentences(question: str) -> list[str]:
    """Plans that make a false sentence of an answer, with the sentence."""
    sheet, reader = asked(question)
    judge = Oracle(sheet, demo())
    plain = {one.text for one in answer(sheet, reader).told}
    found = []
    for plan in plans(sheet, question):
        for one in answer(sheet, reader, plan).told:
            lines = [sheet.line(mark) for mark in one.marks]
            if one.text in plain or any(x and x.source is not Source.FACT for x in lines):
                continue
            if judge.faults(one.text, one.marks):
                found.append(f"{plan}: {one.text}")
    return found


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_plan_leaves_out_what_must_be_told(question: str) -> None:
    assert left_out(question) == []


@pytest.mark.full
@pytest.mark.parametrize("question", QUESTIONS)
def test_no_plan_makes_a_false_sentence_of_an_answer(question: str) -> None:
    assert false_sentences(question) == []

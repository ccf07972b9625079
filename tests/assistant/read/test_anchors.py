"""A model's reading against the typed words of the message: perfect ones pass, turned ones are noticed."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from engines.assistant.read import ask
from engines.assistant.read.anchors import problems
from engines.assistant.read.build import Refused
from engines.assistant.read.queries import queries
from engines.assistant.read.question import Question
from engines.assistant.read.scan import scan
from engines.assistant.read.task import State
from tests.assistant.read.asks import GOLD, SMALL, cases, mutated, setting

FILES = (GOLD, SMALL)


def read(path: Path, case: dict[str, Any], tasks: Any) -> tuple[list[Question], list[str]]:
    """The questions of the tasks, and what is wrong with them; a refusal is wrong, too."""
    known = setting(path, case["user"])
    said = tuple(scan(case["text"], known))
    items = ask.parse({"tasks": tasks}) or ()
    asked = ask.Asked(known, State(), said, case["text"])
    try:
        found = [ask.question_of(i, asked) for i in items if i.task not in ask.OTHERS]
    except Refused as error:
        return [], [f"?{error}"]
    return found, problems(said, found, known, [w for i in items for w in i.words])


def of_data() -> list[tuple[Path, dict[str, Any]]]:
    return [
        (path, case)
        for path in FILES
        for case in cases(path)
        if not any(task["task"] in ask.OTHERS for task in case["ask"]["tasks"])
    ]


@pytest.mark.full
def test_perfect_readings_are_accepted() -> None:
    told = [(case["text"], read(path, case, case["ask"]["tasks"])[1]) for path, case in of_data()]
    refused = [(text, faults) for text, faults in told if faults]
    assert len(told) >= 300
    assert len(refused) <= 0.03 * len(told), refused


@pytest.mark.full
def test_readings_with_one_slot_turned_are_noticed() -> None:
    rng, all_, passed = random.Random(29), Counter[str](), list[Any]()
    for path, case in of_data():
        known = setting(path, case["user"])
        right, faults = read(path, case, case["ask"]["tasks"])
        if faults:
            continue
        wanted = [query for question in right for query in queries(question, known)]
        for kind, tasks in mutated(case["ask"]["tasks"], known, rng):
            found, wrong = read(path, case, tasks)
            all_[kind] += 1
            if wrong or [q for one in found for q in queries(one, known)] == wanted:
                continue
            passed.append((kind, case["text"]))
    assert all_.total() >= 1500
    assert len(passed) <= 0.02 * all_.total(), Counter(kind for kind, _text in passed)


@pytest.mark.full
@pytest.mark.parametrize(("slot", "most"), [("task", 0.05), ("shape", 0.12)])
def test_another_topic_or_shape_than_the_words_say_is_noticed(slot: str, most: float) -> None:
    chance, all_, passed = random.Random(29), 0, 0
    known = ask.schema([])["properties"]["tasks"]["items"]["properties"][slot]["enum"]
    for path, case in of_data():
        tasks = case["ask"]["tasks"]
        right, faults = read(path, case, tasks)
        if faults or len(tasks) > 1:
            continue
        own = setting(path, case["user"])
        wanted = [query for question in right for query in queries(question, own)]
        other = chance.choice([v for v in known if v != tasks[0][slot] and v not in ask.OTHERS])
        found, wrong = read(path, case, [tasks[0] | {slot: other}])
        all_ += 1
        passed += not wrong and [q for one in found for q in queries(one, own)] != wanted
    assert passed <= most * all_, passed


@pytest.mark.parametrize(
    ("said", "question", "fault"),
    [
        ("P016的ALT", Question(subjects=("P017",), select=("alt",)), "+P017"),
        ("P016的ALT", Question(select=("alt",)), "-p016"),
        ("P016的ALT", Question(subjects=("P016",), select=("ast",)), "+ast"),
        ("P016 V2的ALT", Question(subjects=("P016",), select=("alt",)), "-v2"),
        ("B中心有几例", Question(aggregate="count"), "-b中心"),
    ],
)
def test_the_word_is_named(said: str, question: Question, fault: str) -> None:
    known = setting(GOLD)
    assert fault in problems(scan(said, known), [question], known)


def test_what_was_carried_over_need_not_be_said_again() -> None:
    known = setting(GOLD)
    last = Question(subjects=("P013",), select=("plt",), place=("V2",))
    now = Question(subjects=("P013",), select=("plt",), place=("V3",))
    assert problems(scan("那V3呢", known), [now], known, carried=last) == []
    assert problems(scan("那V3呢", known), [now], known) != []

"""A yes or no answers the claim, what has ended is no more, and an empty box denies nothing."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest
from django.utils import translation

from core.rules.context import Kind
from engines.assistant.read.queries import queries
from engines.assistant.read.read import read
from engines.assistant.read.task import State, TaskKind
from engines.assistant.say.answer import say_answer as answer
from tests.assistant.read.asks import GOLD, setting
from tests.assistant.say.studies import STUDIES, reader_of, sheet
from tests.study.query.studies import Study


def _written(study: Study) -> dict[str, frozenset[str]]:
    """Text fields with what is entered in them."""
    columns = study.design.context.columns
    found: defaultdict[str, set[str]] = defaultdict(set)
    for record in study.records:
        for row in record.rows:
            for name, text in row.items():
                if text and name in columns and columns[name].kind is Kind.TEXT:
                    found[name].add(str(text))
    return {name: frozenset(texts) for name, texts in found.items()}


def told(said: str) -> str:
    """What is said to a question about data, "" where it is asked back."""
    study = STUDIES["demo"]()
    known = replace(setting(GOLD), terms=_written(study))
    [task] = read(said, known, State()).tasks
    if task.kind is TaskKind.ASK_BACK:
        return ""
    assert task.question is not None
    reader = reader_of(study, "zhangyi", limit=400)
    with translation.override(reader.language):
        asked = [(task.question, queries(task.question, known))]
        return answer(sheet(reader, study, asked), reader).text


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ("A中心没有SAE对吗", "不是,"),
        ("B中心没有SAE对吗", "是,没有"),
        ("A中心有没有SAE", "有,"),
        ("P010没有SAE对吗", "不是,P010 发热"),
        ("P016没有SAE对吗", "是,P016 没有"),
        ("P010有没有SAE", "有,P010 发热"),
    ],
)
def test_a_claim_that_denies_is_answered_by_its_truth(said: str, begins: str) -> None:
    assert told(said).startswith(begins)


@pytest.mark.full
@pytest.mark.parametrize("said", ["P010现在还发烧吗", "P010还有发热吗", "P010的发热还有吗"])
def test_an_event_that_has_ended_is_no_more(said: str) -> None:
    text = told(said)
    assert text.startswith("没有,P010 发热")
    assert "2026-09-23" in text


def test_whether_it_was_there_at_all_is_another_question() -> None:
    assert told("P010有没有发烧").startswith("有,P010 发热")


@pytest.mark.full
@pytest.mark.parametrize("said", ["P018还在吃药吗", "P018还在用药吗", "P003现在还咳嗽吗"])
def test_of_which_drug_or_of_a_drugs_reason_it_is_asked_back(said: str) -> None:
    assert told(said) == ""


def test_a_drug_that_is_named_is_answered() -> None:
    assert told("P018还在吃二甲双胍吗").startswith("有,P018 二甲双胍")
    assert told("P018现在吃什么药").startswith("P018 二甲双胍")


def test_an_empty_box_is_told_beside_what_is_written() -> None:
    text = told("P012有间质性肺炎吗")
    assert "均未勾选" in text
    assert "2019年在外院诊断间质性肺炎" in text
    assert "没有" not in text.partition("2019")[0]

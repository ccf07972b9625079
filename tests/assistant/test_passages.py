"""Questions about the protocol, the weeks and what was told, with a silent model: the rule and its place."""

from __future__ import annotations

import json
import unicodedata
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from engines import render
from engines.assistant.chat import past
from engines.assistant.tools import periods
from memory.reports import history, weeks
from study.protocol.excerpts import Excerpt
from study.protocol.index import excerpt
from tests.engines.chat.kit import ask, mute
from tests.support.study import Study

CASES = [
    json.loads(line)
    for line in Path(__file__).with_name("passages.jsonl").read_text("utf-8").splitlines()
]
LIMIT = 150
LEAST = 0.9
"""Share of the questions that have to be answered; what is missed is printed."""


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace(" ", "")


def _missing(case: dict[str, Any], reply: str) -> str:
    """What keeps a reply from answering: a word that has to stand there, or one that must not."""
    text = _plain(reply)
    lacking = [words for words in case["must"] if not any(_plain(w) in text for w in words)]
    wrong = [word for word in case["must_not"] if _plain(word) in text]
    return f"{case['id']} {case['text']} -{lacking} +{wrong}: {reply}" if lacking or wrong else ""


def _told(study: Study, pages: list[history.Page], question: str) -> str:
    """The lines of the weeks that the question names, else of all."""
    named = periods.named(question, study.project, date(2026, 11, 23))
    for one in named:
        question = question.replace(one.said, " ")
    told = [weeks.week(study.project, page.week) for page in pages]
    own = [
        page
        for page, week in zip(pages, told, strict=True)
        if any(one.first <= week.last and week.first <= one.last for one in named)
    ]
    lines = past.section(own, question) or past.told(own or pages, question)
    return render.fit(lines, LIMIT) if lines else "没有"


def _missed(cases: list[dict[str, Any]], replies: dict[str, str]) -> list[str]:
    return [line for case in cases if (line := _missing(case, replies[case["id"]]))]


def _of(kind: str) -> list[dict[str, Any]]:
    return [case for case in CASES if case["kind"] == kind]


def test_the_rule_that_answers_stands_under_its_section(study: Study) -> None:
    cases = _of("protocol")
    found = {case["id"]: excerpt(study.project, case["text"]) for case in cases}
    replies = {key: render.excerpt_text(rule, LIMIT) for key, rule in found.items()}
    missed = _missed(cases, replies)
    assert len(missed) <= (1 - LEAST) * len(cases), "\n".join(missed)
    placed = [case for case in cases if case["section"]]
    right = [case for case in placed if _stands_under(case, found[case["id"]])]
    assert len(right) >= LEAST * len(placed), [c["id"] for c in placed if c not in right]


def _stands_under(case: dict[str, Any], rule: Excerpt | None) -> bool:
    place = rule.place.removeprefix("§") if rule else ""
    return any(place.startswith(section) for section in case["section"].split("|"))


def test_the_weeks_tell_what_was_decided(study: Study) -> None:
    cases = _of("history")
    pages = history.book(study.project, study["zhangyi"])
    replies = {case["id"]: _told(study, pages, case["text"]) for case in cases}
    missed = _missed(cases, replies)
    assert len(missed) <= (1 - LEAST) * len(cases), "\n".join(missed)


@pytest.mark.parametrize(("kind", "least"), [("protocol", 0.8), ("history", 0.6), ("recall", 0.6)])
def test_a_muted_model_leaves_a_good_answer(study: Study, kind: str, least: float) -> None:
    """Through the chat, where some questions are still taken for another intent."""
    mute(study)
    cases = _of(kind)
    replies = {case["id"]: ask(case["user"], case["text"]).text for case in cases}
    missed = _missed(cases, replies)
    assert len(missed) <= (1 - least) * len(cases), "\n".join(missed)

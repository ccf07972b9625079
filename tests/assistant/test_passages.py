"""Questions about the protocol, the weeks and what was told, without a model: the rule and its place."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from study.protocol import index
from study.protocol.rules import rule_lines
from study.protocol.units import Unit
from tests.engines.chat.kit import ask, mute
from tests.support.study import Study

CASES = [
    json.loads(line)
    for line in Path(__file__).with_name("passages.jsonl").read_text("utf-8").splitlines()
]
LEAST = 0.8
"""Share of the questions whose rule is found first; what is missed is printed."""


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace(" ", "")


def _missing(case: dict[str, Any], reply: str) -> str:
    """What keeps a reply from answering: a word that has to stand there, or one that must not."""
    text = _plain(reply)
    lacking = [words for words in case["must"] if not any(_plain(w) in text for w in words)]
    wrong = [word for word in case["must_not"] if _plain(word) in text]
    return f"{case['id']} {case['text']} -{lacking} +{wrong}: {reply}" if lacking or wrong else ""


def _of(kind: str) -> list[dict[str, Any]]:
    return [case for case in CASES if case["kind"] == kind]


def test_the_rule_that_answers_stands_under_its_section(study: Study) -> None:
    found = {
        case["id"]: index.find_rules(study.project, case["text"]).quoted for case in _of("protocol")
    }
    cases = [case for case in _of("protocol") if case["section"]]
    right = [case for case in cases if _stands_under(case, found[case["id"]])]
    told = [case for case in cases if not _missing(case, "\n".join(rule_lines(found[case["id"]])))]
    assert len(right) >= LEAST * len(cases), [c["text"] for c in cases if c not in right]
    assert len(told) >= LEAST * len(cases), [c["text"] for c in cases if c not in told]


def _stands_under(case: dict[str, Any], rules: tuple[Unit, ...]) -> bool:
    place = rules[0].place.removeprefix("§") if rules else ""
    return any(place.startswith(section) for section in case["section"].split("|"))


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "least", "wrong"),
    [("protocol", 0.55, 0.0), ("history", 0.65, 0.2), ("recall", 0.7, 0.3)],
)
def test_without_a_model_it_is_told_or_asked_back(
    study: Study, kind: str, least: float, wrong: float
) -> None:
    """`least`: of the questions that are answered; `wrong`: that are answered beside the point."""
    mute(study)
    cases = _of(kind)
    replies = [(case, ask(case["user"], case["text"])) for case in cases]
    missed = [(case, reply) for case, reply in replies if _missing(case, reply.text)]
    beside = [_missing(case, reply.text) for case, reply in missed if not reply.asked_back]
    assert len(cases) - len(missed) >= least * len(cases), [case["text"] for case, _r in missed]
    assert len(beside) <= wrong * len(cases), "\n".join(beside)

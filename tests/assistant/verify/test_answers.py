"""Answers over the sources that a model is really shown: true ones are delivered, lies are not.

answers.jsonl: `say` with `{a|b|c}` for the mark of the first line that holds all the tokens; `open`: a case
that is still judged wrongly, so that it is seen when it is mended.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engines.assistant.lines.types import Sheet
from engines.assistant.verify import verify
from tests.assistant.verify.sheets import marked
from tests.support.sheets import sheet

CASES = [
    json.loads(line)
    for line in Path(__file__).with_name("answers.jsonl").read_text(encoding="utf-8").splitlines()
]


pytestmark = pytest.mark.xdist_group("sheets")


@cache
def shown(user: str, text: str) -> Sheet:
    """The sources of a question."""
    return sheet(user, text)


def passed(case: dict[str, Any]) -> bool:
    """Whether the answer of a case goes out."""
    told = shown(case["user"], case["text"])
    return verify(marked(case["say"], told), told).passed


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_true_answers_go_out_and_lies_do_not(case: dict[str, Any]) -> None:
    assert passed(case) == (case["true"] != case.get("open", False))

"""Plays cases through a house: setups first, then all turns of a case in a session of its own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.answers.house import AnswerHouse
from tests.answers.judge import Case, nameless

NEW_SESSION = "---"


def load(path: Path) -> list[Case]:
    """The cases of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def played(house: AnswerHouse, cases: Sequence[Case]) -> dict[str, str]:
    """{case id: last reply}, and `<id>~twin` for the same about an absent subject."""
    replies: dict[str, str] = {}
    waiting: list[Case] = []
    for case in cases:
        if case.get("setup"):
            replies |= _asked(house, waiting)
            waiting = []
            for words in case["setup"]:
                house.command(*words.split())
        waiting.append(case)
    return replies | _asked(house, waiting)


def refusals(replies: Mapping[str, str]) -> frozenset[str]:
    """Replies that say the same, whatever was asked: three times and more but for the subject."""
    common = Counter(nameless(reply) for reply in replies.values())
    return frozenset(reply for reply in replies.values() if common[nameless(reply)] > 2)


def _asked(house: AnswerHouse, cases: Sequence[Case]) -> dict[str, str]:
    lines = [line for case in cases for line in _lines(case)]
    answers = house.ask([line for _key, line in lines]) if lines else []
    return {
        key: str(answer.get("reply") or answer.get("error") or "")
        for (key, _line), answer in zip(lines, answers, strict=True)
    }


def _lines(case: Case) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from _turns(case["id"], case["user"], case["turns"])
    if "twin" in case:
        yield from _turns(f"{case['id']}~twin", case["user"], case["twin"])


def _turns(key: str, user: str, turns: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    is_new = True
    for text in turns:
        if text == NEW_SESSION:
            is_new = True
            continue
        yield key, {"user": user, "text": text, "new": is_new}
        is_new = False

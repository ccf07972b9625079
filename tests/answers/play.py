"""Plays cases through a house: setups first, then all turns of a case in a session of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demo.own_house import AnswerHouse, Asking
from tests.answers.judge import Case
from tests.answers.model import Json, Model

NEW_SESSION = "---"


@dataclass
class Played:
    """The answer to the last turn of a case; what each of its turns asked of the model."""

    case: Case
    answer: Json = field(default_factory=dict)
    twin: Json | None = None
    asked: list[Json] = field(default_factory=list)


def load(path: Path) -> list[Case]:
    """The cases of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def played(house: AnswerHouse, model: Model, cases: Sequence[Case]) -> list[Played]:
    """Play the cases one after the other; the setups of all of them come first, each once in a house."""
    for words in dict.fromkeys(words for case in cases for words in case.get("setup", ())):
        if words not in house.done:
            house.command(*words.split())
            house.done.add(words)
    with house.asking() as asking:
        return [_played(asking, model, case) for case in cases]


def _played(asking: Asking, model: Model, case: Case) -> Played:
    done = Played(case)
    for line in _turns(case["user"], case["turns"]):
        before = len(model.asked)
        done.answer = asking.ask(line)
        done.asked += model.asked[before:]
    if "twin" in case:
        for line in _turns(case["user"], case["twin"]):
            done.twin = asking.ask(line)
    for text in case.get("cleanup", ()):
        asking.ask({"user": case["user"], "text": text, "new": True})
    return done


def _turns(user: str, turns: Sequence[str]) -> Iterator[dict[str, Any]]:
    is_new = True
    for text in turns:
        if text == NEW_SESSION:
            is_new = True
            continue
        yield {"user": user, "text": text, "new": is_new}
        is_new = False

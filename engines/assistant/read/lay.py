"""The shipped table of lay words (lay_words.v1.json), read once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engines.assistant.read.tokens import Kind


@dataclass(frozen=True, slots=True)
class Concept:
    """Something clinical: how people call it, and what a dictionary may call it, best first.

    `all`: it is made of all the labels. `form`: it is a form rather than a field. `column`: of StudyQuery, for
    a study without such a field. `enrolled`: of a choice that only who was enrolled can be; `done`: who ended
    the study as planned, whose words are also said of visits.
    """

    words: tuple[str, ...]
    labels: tuple[str, ...]
    units: tuple[str, ...] = ()
    all: bool = False
    form: bool = False
    column: str = ""
    enrolled: bool = False
    done: bool = False


@dataclass(frozen=True, slots=True)
class Lay:
    """The table."""

    rewrites: Mapping[str, str]
    concepts: tuple[Concept, ...]
    choices: tuple[Concept, ...]
    identifiers: tuple[str, ...]
    happens: tuple[str, ...]
    measured: tuple[str, ...]
    grammar: Mapping[str, tuple[Kind, str]]


@cache
def lay() -> Lay:
    """The table as it is shipped."""
    raw = json.loads(Path(__file__).with_name("lay_words.v1.json").read_text(encoding="utf-8"))
    return Lay(
        rewrites=raw["rewrites"],
        concepts=tuple(_concept(row) for row in raw["concepts"]),
        choices=tuple(_concept(row) for row in raw["choices"]),
        identifiers=tuple(raw["identifiers"]),
        happens=tuple(raw["happens"]),
        measured=tuple(raw["measured"]),
        grammar={
            word: (Kind(kind), value)
            for kind, values in raw["grammar"].items()
            for value, words in values.items()
            for word in words
        },
    )


def _concept(row: Mapping[str, object]) -> Concept:
    return Concept(**{key: tuple(v) if isinstance(v, list) else v for key, v in row.items()})  # type: ignore[arg-type]

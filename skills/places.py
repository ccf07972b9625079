"""Where in a JSON text a path stands, so that a problem can be shown at its line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

DEEPEST = 12
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|\n')
_OPENS, _CLOSES = frozenset("{["), frozenset("}]")


@dataclass
class _Level:
    """An object or array that is open: the key or index it stands at."""

    is_object: bool
    key: str = ""
    index: int = 0
    awaits_key: bool = False

    @property
    def step(self) -> str:
        return self.key if self.is_object else str(self.index)


def lines_of_paths(text: str) -> dict[str, int]:
    """{path: line from 1} of every key and element down to DEEPEST; "" is the whole text.

    Made for texts that parse; of any other it finds what it can.
    """
    found, levels, line = {"": 1}, list[_Level](), 1
    for word in _WORD.findall(text):
        top = levels[-1] if levels else None
        if word == "\n":
            line += 1
        elif word in _CLOSES:
            del levels[-1:]
        elif word == ",":
            if top:
                top.index += 1
                top.awaits_key = top.is_object
        elif word != ":":
            if top and (top.awaits_key or not top.is_object):
                _enter(top, word)
                _note(found, levels, line)
            if word in _OPENS:
                is_object = word == "{"
                levels.append(_Level(is_object, awaits_key=is_object))
    return found


def line_of(places: Mapping[str, int], path: str) -> int:
    """The line of `path`, or of the nearest thing that it is part of."""
    while path and path not in places:
        path = path.rpartition(".")[0]
    return places[path]


def _enter(level: _Level, word: str) -> None:
    if level.awaits_key:
        level.key, level.awaits_key = _text(word), False


def _note(found: dict[str, int], levels: list[_Level], line: int) -> None:
    if len(levels) <= DEEPEST:
        found.setdefault(".".join(level.step for level in levels), line)


def _text(word: str) -> str:
    try:
        return str(json.loads(word))
    except ValueError:
        return word

"""Lines as they are collected: each once, numbered by the kind of its source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from engines.assistant.lines.newest import newest
from engines.assistant.lines.types import Line, Source
from integrations import tokens
from study.facts import Fact

MOST_TOKENS = 8000
"""What all lines of a kind of source may take; what has no room is not listed."""


@dataclass
class Builder:
    """`masked` is the privacy gate: nothing gets into a line that it has not passed.

    A line that says more than its facts may has lost them to the gate and is judged by its words.
    """

    masked: Callable[[str], str] = str
    lines: list[Line] = field(default_factory=list)
    _numbers: Counter[Source] = field(default_factory=Counter)
    _size: Counter[Source] = field(default_factory=Counter)
    _said: dict[str, Line] = field(default_factory=dict)

    def add(self, lines: Iterable[Line]) -> list[Line]:
        """The lines that were not there yet, marked; of reports the mark is theirs already."""
        new = [made for line in lines if (made := self._marked(line))]
        self.lines += new
        return new

    def listed(self, lines: Iterable[Line]) -> list[Line]:
        """The lines with their marks, whether they were there or not."""
        given = list(lines)
        self.add(given)
        return [found for line in given if (found := self._said.get(self._key(line)))]

    def _key(self, line: Line) -> str:
        return f"{line.section}{self.masked(line.text)}"

    @property
    def done(self) -> tuple[Line, ...]:
        """All lines, those that a newer one has overtaken known as such."""
        return tuple(newest(self.lines))

    def _marked(self, line: Line) -> Line | None:
        text = self.masked(line.text)
        key = f"{line.section}{text}"
        if key in self._said:
            return None
        size = tokens.count(text)
        if self._size[line.source] + size > MOST_TOKENS:
            return None
        self._size[line.source] += size
        self._numbers[line.source] += 1
        mark = line.mark or f"{line.source}{self._numbers[line.source]}"
        facts = line.facts if text == line.text else tuple(map(self._told, line.facts))
        self._said[key] = replace(line, mark=mark, text=text, facts=facts)
        return self._said[key]

    def _told(self, fact: Fact) -> Fact:
        """A fact whose line held what identifies somebody."""
        text = self.masked(fact.text)
        return fact if text == fact.text else replace(fact, text=text, value=text)


def text_of(lines: Sequence[Line]) -> str:
    """The lines as a prompt lists them."""
    return "\n".join(f"[{line.mark}] {line.text}" for line in lines)

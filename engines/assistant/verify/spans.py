"""An answer cut into sentences, clauses and the spans that marks cover (design.md 5a.5).

A mark covers the text back to the previous mark or the start of the sentence; an unmarked tail takes its
sentence's marks. A row of a table is a sentence whose cells are told with the head of their column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ONE = r"[FDWMH]\d+[a-z]?(?:\s*[-–~]\s*[FDWMH]?\d+)?"
_MARK = re.compile(rf"\s*[\[【［]\s*({_ONE}(?:\s*[,，、;；\s]\s*{_ONE})*)\s*[\]】］]")
_FROM_TO = re.compile(r"([FDWMH])(\d+)\s*[-–~]\s*[FDWMH]?(\d+)")
_SINGLE = re.compile(r"[FDWMH]\d+[a-z]?")
_END = re.compile(r"。+[”’」』\"]?|[！？!?]+(?![”’」』\"])|\.(?=\s|$)")
_COMMA = re.compile(r"[,，;；:：\n]|—+")
_BULLET = re.compile(r"^\s*(?:[-*•·]\s+|#+\s+|\d{1,2}(?:[.)、）]|\.\s)\s*(?!\d))")
_MOST = 40


@dataclass(frozen=True)
class Piece:
    """A stretch with the marks that cover it. `is_own`: it is marked itself, not by its sentence."""

    text: str
    marks: tuple[str, ...]
    is_own: bool


@dataclass(frozen=True)
class Sentence:
    """A sentence, list item or table row; `clauses`: the numbers of pieces and their texts, comma by comma."""

    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """Its words without marks."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def marks(self) -> tuple[str, ...]:
        """All its own marks in order."""
        return tuple(dict.fromkeys(m for p in self.pieces if p.is_own for m in p.marks))

    def clauses(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Each clause with the number of the piece that each of its characters is of."""
        text = self.text
        owners = [n for n, piece in enumerate(self.pieces) for _char in piece.text]
        start = 0
        for hit in [*_COMMA.finditer(text), None]:
            end = hit.start() if hit else len(text)
            if hit and text[end - 1 : end].isdigit() and text[end + 1 : end + 4].isdigit():
                continue
            if text[start:end].strip():
                yield text[start:end], tuple(owners[start:end])
            start = hit.end() if hit else end


def unmarked(answer: str) -> str:
    """An answer as its reader sees it."""
    return _MARK.sub("", answer)


def sentences(answer: str) -> list[Sentence]:
    """All sentences of an answer in order."""
    return [
        found
        for line in _lines(answer)
        for raw in _cut(line)
        if (found := _sentence(raw)) is not None
    ]


def _lines(answer: str) -> Iterator[str]:
    heads: list[str] = []
    for line in answer.replace("**", "").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.strip().startswith("|"):
            heads = []
            yield _BULLET.sub("", line)
        elif not heads:
            heads = cells
            if len(set(cells) - {""}) == 1:
                yield cells[0]
        elif not all(set(cell) <= set("-: ") for cell in cells):
            named = zip([*heads, *[""] * len(cells)], cells, strict=False)
            yield "、".join(f"{head} {cell}" for head, cell in named)


def _cut(line: str) -> Iterator[str]:
    """The sentences of a line; marks right behind a full stop belong before it."""
    start = 0
    for hit in _END.finditer(line):
        if hit.end() <= start:
            continue
        end, behind = hit.end(), hit.end()
        while mark := _MARK.match(line, behind):
            behind = mark.end()
        yield line[start : hit.start()] + line[end:behind] + line[hit.start() : end]
        start = behind
    if line[start:].strip():
        yield line[start:]


def _sentence(raw: str) -> Sentence | None:
    pieces: list[Piece] = []
    of_all: dict[str, None] = {}
    at = 0
    while hit := _MARK.search(raw, at):
        text, marks, end = raw[at : hit.start()], _marks(hit[1]), hit.end()
        while more := _MARK.match(raw, end):
            marks, end = (*marks, *_marks(more[1])), more.end()
        of_all |= dict.fromkeys(marks)
        if text:
            pieces.append(Piece(text, tuple(dict.fromkeys(marks)), True))
        at = end
    if raw[at:]:
        pieces.append(Piece(raw[at:], tuple(of_all), False))
    return Sentence(tuple(pieces)) if "".join(p.text for p in pieces).strip() else None


def _marks(said: str) -> tuple[str, ...]:
    """F3,F4 and F3-F6, one by one."""

    def each(hit: re.Match[str]) -> str:
        numbers = range(int(hit[2]), min(int(hit[3]), int(hit[2]) + _MOST) + 1)
        return " ".join(f"{hit[1]}{number}" for number in numbers)

    return tuple(_SINGLE.findall(_FROM_TO.sub(each, said)))

"""A scripted answer in pieces: words, the placeholders behind them, and the values that those cite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property

from tests.answers import export
from tests.answers.export import Cell
from tests.answers.judge import Case

_PIECE = re.compile(r"([^{}]*)((?:\{[^{}\n]+\})*)")
_SUBJECT = re.compile(r"(?<![A-Za-z0-9])P\d{3}(?!\d)|(?<![A-Za-z\d])007(?!\d)")


@dataclass(frozen=True)
class Piece:
    """Words with the placeholders right behind them, as they are written."""

    text: str
    marks: str

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """What the placeholders cite of a subject's values."""
        found = (tokens.split("|") for tokens in re.findall(r"\{([^{}]+)\}", self.marks))
        mine = (tokens for tokens in found if tokens[0] in export.subjects() and len(tokens) > 1)
        return tuple(cell for tokens in mine if (cell := export.cell_of(tokens)))


@dataclass(frozen=True)
class Truth:
    """A true answer."""

    case: Case
    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, case: Case) -> Truth:
        """A case taken to pieces."""
        found = _PIECE.findall(case["say"])
        return cls(case, tuple(Piece(text, marks) for text, marks in found if text or marks))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All that is cited of subjects."""
        return tuple(cell for piece in self.pieces for cell in piece.cells)

    @property
    def words(self) -> str:
        """Without placeholders."""
        return "".join(piece.text for piece in self.pieces)

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The subjects that the words name, in order."""
        return tuple(dict.fromkeys(_SUBJECT.findall(self.words)))

    @property
    def visible(self) -> tuple[str, ...]:
        """The subjects that its reader may see."""
        site = {"wanghushi": "site_a", "crc_b": "site_b"}.get(self.case["user"], "")
        return tuple(one for one, dag in export.subjects().items() if dag == site or not site)

    def with_piece(self, at: int, text: str, marks: str | None = None) -> str:
        """What is said with other words, or placeholders, at one place."""
        old = self.pieces[at]
        new = replace(old, text=text, marks=old.marks if marks is None else marks)
        return said([*self.pieces[:at], new, *self.pieces[at + 1 :]])

    def with_words(self, change: dict[str, str]) -> str:
        """What is said with words replaced all at once, placeholders as they are."""
        pattern = re.compile("|".join(map(re.escape, change)))
        return said(
            [
                replace(piece, text=pattern.sub(lambda m: change[m[0]], piece.text))
                for piece in self.pieces
            ]
        )


def said(pieces: Sequence[Piece]) -> str:
    """The pieces as one text again."""
    return "".join(piece.text + piece.marks for piece in pieces)


def forms(value: str) -> Iterator[str]:
    """The ways in which a value may be written, the longest first."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        yield value
        return
    day = date.fromisoformat(value)
    yield f"{day.year}年{day.month}月{day.day}日"
    yield value
    yield f"{day.month}月{day.day}日"


def written(value: str, text: str) -> str:
    """The form in which a value stands in a text by itself, "" where it does not."""
    for form in forms(value):
        pattern = rf"(?<![A-Za-z\d.#]){re.escape(form)}" if form[0].isdigit() else re.escape(form)
        if re.search(pattern + (r"(?!\d|\.\d)" if form[-1].isdigit() else ""), text):
            return form
    return ""


def like(form: str, value: str, new: str) -> str:
    """Another value written in the form that `value` was."""
    number = list(forms(value)).index(form)
    others = list(forms(new))
    return others[number] if number < len(others) else new


def rewritten(text: str, old: str, new: str) -> str:
    """The last occurrence of `old` replaced."""
    head, _, tail = text.rpartition(old)
    return f"{head}{new}{tail}"

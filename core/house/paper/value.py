"""A paper as a value: title, sections, tables and figures, made once; its forms only lay it out.

All words are the reader's already: no form translates, computes or leaves anything out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any
from unicodedata import east_asian_width

FIGURE_WEIGHTS = (6, 4, 12)
"""How wide label, value and definition of a figure stand beside each other."""
_NARROWEST, _WIDEST, _SPACE = 8, 40, 2


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a paper: what people call it, its value with its unit, and how it was counted.

    `is_known` False: `value` says that it could not be computed, and `definition` why. `query`: the JSON of
    the query that counted it, "" where the definition is all of it.
    """

    label: str
    value: str
    definition: str
    is_known: bool = True
    query: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below their header; `empty`: what stands there when there are none."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    empty: str = ""

    @property
    def weights(self) -> tuple[int, ...]:
        """How wide the columns stand beside each other: as their longest texts, within bounds."""
        longest = (max(map(_width, column)) for column in zip(self.header, *self.rows, strict=True))
        return tuple(min(max(width, _NARROWEST), _WIDEST) + _SPACE for width in longest)


def _width(text: str) -> int:
    """In half-width characters."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a paper: paragraphs, then figures, then a table; `label`: what is said of a model's part."""

    title: str
    lines: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    table: Table | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Paper:
    """What is handed out. `about`: pairs of name and value: study, who, when, as of when, for whom.

    `made_at`: an ISO time with offset. `label`: the sentence that says a model wrote a part, "" for none; then
    `mark` holds the same for machines (GB 45438-2025).
    """

    title: str
    study: str
    author: str
    made_at: str
    language: str
    heads: tuple[str, str, str]
    about: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    label: str = ""
    mark: str = ""

    def as_json(self) -> dict[str, Any]:
        """The same in plain lists and dictionaries, with the weights of columns, for the typesetter."""
        told = asdict(self) | {"figure_weights": FIGURE_WEIGHTS}
        for section, plain in zip(self.sections, told["sections"], strict=True):
            if section.table:
                plain["table"]["weights"] = section.table.weights
        return told

    @property
    def figures(self) -> Iterator[Figure]:
        """All figures in their order."""
        return (figure for section in self.sections for figure in section.figures)


PRODUCER = "IIT Manager"
"""Who a file with generated content says it is of."""


def ai_mark(producer: str, number: str) -> str:
    """The implicit label of generated content: Label 1 is "generated", by whom, and the number of the file."""
    told = {
        "Label": "1",
        "ContentProducer": producer,
        "ProduceID": number,
        "ReservedCode1": "",
        "ContentPropagator": producer,
        "PropagateID": number,
        "ReservedCode2": "",
    }
    return json.dumps({"AIGC": told}, ensure_ascii=False)

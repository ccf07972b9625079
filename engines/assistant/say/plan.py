"""A plan of an answer: operations over numbered lines. A model may return one; it states nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, InstanceOf

Op: TypeAlias = Literal[
    "tell",
    "rows",
    "trend",
    "compare",
    "extreme",
    "limits",
    "sum",
    "share",
    "left",
    "days",
    "visit",
    "count",
    "quote",
]


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence, without its full stop, and the marks of the lines that it rests on."""

    text: str
    marks: tuple[str, ...] = ()


class Step(BaseModel):
    """One operation. `of`, `to`: marks; `show`: fields of rows; `end`: of an extreme."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    op: Op
    of: tuple[str, ...]
    to: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    end: Literal["high", "low", "both"] = "both"


@dataclass(frozen=True, slots=True)
class Shape:
    """The answer to a question worded from its whole results: what no model can choose.

    `name`: of the wording (`default.SHAPES`); `at`: which of the sheet's answered questions.
    """

    name: str
    at: int = 0


class Plan(BaseModel):
    """What is shown, in order. Only code makes a step that is a `Shape`; no JSON is one.

    `note`: a model's few words under what is quoted, which have passed `choose.noted`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    say: tuple[Step | InstanceOf[Shape], ...] = ()
    note: str = ""

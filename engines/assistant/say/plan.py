"""A plan of an answer: operations over numbered lines. A model may return one; it states nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

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


class Plan(BaseModel):
    """What is shown, in order; `note`: words of a model under a quote that have passed `choose.noted`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    say: tuple[Step, ...] = ()
    note: str = ""

"""Profile schemas: what the Memory Manager may know about a user, as data (seed 004, 4; issue 4)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from pydantic import BaseModel, ConfigDict, Field

from memory.models import UserMemory

_HERE = Path(__file__).parent
NAMES = tuple(sorted(file.name.split(".")[0] for file in (_HERE / "schemas").glob("*.v1.json")))
Type = Literal["FACT", "PREFERENCE", "INTENT"]
# Seed 004, 3.1.
IMPORTANCE = {UserMemory.Kind.FACT: 70, UserMemory.Kind.INTENT: 80, UserMemory.Kind.PREFERENCE: 60}


class Slot(BaseModel):
    """One field of a profile.

    `cue`: what in a message hints at it (offline); so do the short names of its table. `choices`: {value:
    patterns that say it}. `aliases`: a table of short names. `out`: its place in the profile; `counted`: its
    name in the completeness, "" = not counted. `words`: how users name it. `many`: several values stand side
    by side. `setting`: it steers what the house does, so only an order changes it, nothing said in passing.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    label: str
    kind: Literal["number", "amount", "text", "choice", "boolean", "time"]
    types: tuple[Type, ...] = ("FACT",)
    many: bool = False
    least: int = 0
    most: int = 10**12
    choices: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    aliases: str = ""
    cue: str = ""
    show: str = "{value}"
    out: str = ""
    counted: str = ""
    words: tuple[str, ...] = ()
    setting: bool = False
    source: Literal["said", "feedback"] = "said"

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called: in the table, on the page, and by users."""
        return self.name, self.label, *self.words


class Row(BaseModel):
    """Fields that are kept as one memory, and how it reads."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fields: tuple[str, ...]
    parts: Mapping[str, str] = Field(default_factory=dict)
    when: Mapping[str, tuple[tuple[str, str], ...]] = Field(default_factory=dict)
    order: tuple[str, ...] = ()
    suffix: str = ""


class Schema(BaseModel):
    """A profile: its fields in order and the memories they make up."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    categories: tuple[str, ...]
    fields: tuple[Slot, ...]
    rows: tuple[Row, ...]

    def slot(self, name: str) -> Slot | None:
        """The field of that name."""
        return next((slot for slot in self.fields if slot.name == name), None)

    def row(self, name: str) -> Row:
        """The memory that a field is kept in."""
        own = (row for row in self.rows if name in row.fields)
        return next(own, Row(fields=(name,)))

    @property
    def said(self) -> Sequence[Slot]:
        """The fields that users' words fill."""
        return [slot for slot in self.fields if slot.source == "said"]


@cache
def load(name: str) -> Schema:
    """A shipped schema. Raises KeyError for an unknown name."""
    if name not in NAMES:
        raise KeyError(name)
    given = json.loads((_HERE / "schemas" / f"{name}.v1.json").read_text(encoding="utf-8"))
    for slot in given["fields"]:
        if table := slot.get("aliases"):
            slot["cue"] = "|".join([slot["cue"], *map(re.escape, aliases(table))])
    return Schema.model_validate(given)


def current() -> Schema:
    """The schema of this house (setting MEMORY_SCHEMA)."""
    return load(settings.MEMORY_SCHEMA)


@cache
def aliases(table: str) -> Mapping[str, str]:
    """{short name: full name} of a table; longer names first."""
    given: dict[str, dict[str, list[str]]] = json.loads(
        (_HERE / "aliases.v1.json").read_text(encoding="utf-8")
    )
    pairs = [(short, full) for full, shorts in given[table].items() for short in shorts]
    return dict(sorted(pairs, key=lambda pair: -len(pair[0])))


def pattern(text: str) -> re.Pattern[str]:
    """A compiled pattern of a schema, without regard to case (`re` keeps the compiled ones)."""
    return re.compile(text, re.IGNORECASE)


@register()
def check_schema(**_: Any) -> list[CheckMessage]:
    """An unknown profile schema would be an error with every message."""
    if settings.MEMORY_SCHEMA in NAMES:
        return []
    hint = f"One of: {', '.join(NAMES)}"
    return [Error(f"MEMORY_SCHEMA is {settings.MEMORY_SCHEMA}", hint=hint, id="iit.E010")]

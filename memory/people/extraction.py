"""The registry of whoever reads a message for the Memory Manager; a higher layer fills it.

A reader only points: field, value and quote. What holds is decided by `grounding` against `Heard.said`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory.people.grounding import Grounded, accept, readings
from memory.people.schemas import Schema, Slot, pattern
from projects.models import Member

# Seed 004, 7: turns of the inner loop of save_info; the other actions need no model.
TURNS = 2
MAX_TOKENS = 1000
TEMPERATURE = 0.0


class ExtractorDown(Exception):
    """No model answers now. `save` writes what was used nevertheless."""

    def __init__(self, why: str, save: Callable[[], None] = lambda: None) -> None:
        super().__init__(why)
        self.save = save


@dataclass(frozen=True)
class Brief:
    """All that a reader gets: the user's own words and what is known; never the assistant's words."""

    member: Member
    schema: Schema
    message: str
    known: Mapping[str, Any]


@dataclass(frozen=True)
class Item:
    """One field as the model points at it."""

    field: str
    value: Any
    quote: str


@dataclass(frozen=True)
class Heard:
    """The message as it went out (identifiers masked), what the model points at, and its usage to write."""

    said: str
    items: Sequence[Item]
    save: Callable[[], None]


Reader = Callable[[Brief], Heard]
_readers: list[Reader] = []


def register(reader: Reader) -> None:
    """Set the one reader of the house."""
    _readers[:] = [reader]


def hear(brief: Brief) -> Heard:
    """What the registered reader points at. Raises ExtractorDown, also where there is none."""
    if not _readers:
        raise ExtractorDown("none is registered")
    return _readers[0](brief)


def _belongs(schema: Schema, one: Grounded) -> bool:
    """Words that plainly speak of other fields do not fill this one, whatever the model calls them."""
    if one.slot.kind != "text" or _speaks_of(one.slot, one):
        return True
    return not any(_speaks_of(slot, one) for slot in schema.said)


def _speaks_of(slot: Slot, one: Grounded) -> bool:
    return bool(slot.cue and pattern(slot.cue).search(one.context))


def grounded(heard: Heard, schema: Schema) -> list[Grounded]:
    """The items that hold against the user's words, in the order of the schema, each once."""
    found: dict[tuple[str, str], Grounded] = {}
    for item in heard.items:
        slot = schema.slot(item.field)
        if slot is None or slot.source != "said":
            continue
        one = accept(slot, item.value, item.quote, heard.said)
        if one is None or not _belongs(schema, one):
            continue
        found.setdefault((slot.name, one.plain), one)
        for other in readings(slot, heard.said) if slot.alone else ():
            found.setdefault((slot.name, other.plain), other)
    order = {slot.name: at for at, slot in enumerate(schema.fields)}
    return sorted(found.values(), key=lambda one: order[one.slot.name])

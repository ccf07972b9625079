"""Words and what they stand for in one study."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from engines.assistant.understand.naming import fold
from engines.assistant.understand.tokens import Kind, Reading


class Rank(IntEnum):
    """Which of a word's meanings holds, strongest first; a part of a label is weak."""

    OWN = 8
    GRAMMAR = 7
    ROWS = 6
    WHOLE = 5
    LAY = 4
    SITE = 3
    PART = 2
    TRADE = 1


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a word stands for."""

    kind: Kind
    value: str = ""
    readings: tuple[Reading, ...] = ()
    rank: int = 0


def is_name_of_study(meaning: Meaning) -> bool:
    """Whether a word is the whole name of a field or a form."""
    return meaning.kind in (Kind.FIELD, Kind.FORM) and meaning.rank >= Rank.WHOLE


@dataclass
class Vocabulary:
    """Word -> its strongest meaning; `others`: further meanings by kind; `units`: unit -> its field."""

    words: dict[str, Meaning] = field(default_factory=dict)
    others: dict[str, list[Meaning]] = field(default_factory=lambda: defaultdict(list))
    sounds: dict[str, str] = field(default_factory=dict)
    units: dict[str, tuple[Reading, ...]] = field(default_factory=dict)
    rewrites: Mapping[str, str] = field(default_factory=dict)
    event_form: str = ""
    drug_form: str = ""
    onsets: dict[str, str] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    grades: dict[str, str] = field(default_factory=dict)
    reports: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    enrolled_choices: frozenset[Reading] = frozenset()
    done_choices: frozenset[Reading] = frozenset()
    visit_stems: frozenset[str] = frozenset()
    longest: int = 0

    def add(self, word: str, meaning: Meaning) -> None:
        """Keep the strongest meaning; equally strong ones of a kind are readings of one word."""
        word = fold(word)
        known = self.words.get(word)
        if known is None or meaning.rank > known.rank:
            if known is not None:
                self.others[word].append(known)
            self.words[word] = meaning
        elif known.kind is meaning.kind and known.rank == meaning.rank and known.readings:
            both = dict.fromkeys((*known.readings, *meaning.readings))
            self.words[word] = Meaning(known.kind, known.value, tuple(both), known.rank)
        elif known.kind is not meaning.kind:
            self.others[word].append(meaning)

    def other(self, word: str, kind: Kind) -> Meaning | None:
        """A weaker meaning of a word, of another kind."""
        return next((m for m in self.others.get(word, ()) if m.kind is kind), None)

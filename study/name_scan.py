"""Finding whom a text names among many people, in one pass over the text however many there are."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

_BETWEEN = re.compile(r"(?<=[\u4e00-\u9fff])[\s·・]+(?=[\u4e00-\u9fff])|(?<=\d)[\s-](?=\d)")
_SPACE = re.compile(r"\s+")
_LATIN = re.compile(r"[a-z]")


@dataclass(frozen=True, eq=False, repr=False)
class Names:
    """What people are called, and whose records that is; says nothing about who may see them.

    `starts`: the first two characters -> how long names are that begin so, longest first.
    """

    records: Mapping[str, frozenset[str]]
    starts: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, called: Iterable[tuple[str, str]]) -> Names:
        """From (name, record); namesakes are all meant by their name."""
        records: dict[str, set[str]] = {}
        for name, record in called:
            if len(folded := _folded(name.strip())) > 1:
                records.setdefault(folded, set()).add(record)
        starts: dict[str, set[int]] = {}
        for name in records:
            starts.setdefault(name[:2], set()).add(len(name))
        return cls(
            {name: frozenset(found) for name, found in records.items()},
            {start: tuple(sorted(found, reverse=True)) for start, found in starts.items()},
        )

    def named(self, text: str) -> frozenset[str]:
        """The records of everybody a text names; a name inside a longer one ("张三" in "张三丰") is none."""
        if not self.records:
            return frozenset()
        found: set[str] = set()
        reach = 0
        for start, name in self._hits(_folded(text)):
            if start + len(name) > reach:
                reach = start + len(name)
                found |= self.records[name]
        return frozenset(found)

    def _hits(self, text: str) -> Iterator[tuple[int, str]]:
        """The longest name at each place."""
        for at in range(len(text) - 1):
            for size in self.starts.get(text[at : at + 2], ()):
                name = text[at : at + size]
                if name in self.records and _alone(text, at, name):
                    yield at, name
                    break


NOBODY = Names({}, {})


def _alone(text: str, at: int, name: str) -> bool:
    """Latin names are whole words; Chinese names and numbers stand anywhere."""
    if not _LATIN.search(name):
        return True
    return not (_LATIN.match(text[at - 1 : at]) or _LATIN.match(text[at + len(name) :][:1]))


def _folded(text: str) -> str:
    """However it is spelled: full width, capitals, "张 三", 138 0013 8000."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return _SPACE.sub(" ", _BETWEEN.sub("", plain))

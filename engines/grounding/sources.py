"""What an answer may rest on (decisions.md, "sources of an answer")."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from engines.grounding.quotes import Quotable
from engines.grounding.values import Values, plain, values
from engines.tools.results import Fact, ToolResult

RECORD_TOOL = "read_clinical_data"


@dataclass
class Sources:
    """What an answer may rest on.

    `blocks`: hot memory lines, reports, passages; `talk`: earlier answers of this conversation;
    `record_ids`: subjects that were read or asked about and may be named; `asked`: fields the question
    speaks of; `names`: visit names; `labels`: {field: label} of the dictionary, so that a value beside
    a field that was not read shows.
    """

    results: Sequence[ToolResult] = ()
    blocks: Sequence[str] = ()
    talk: Sequence[str] = ()
    record_ids: Collection[str] = ()
    asked: Collection[str] = ()
    names: Collection[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def facts(self) -> list[Fact]:
        """All facts of all results."""
        return [fact for result in self.results for fact in result.facts]

    @cached_property
    def places(self) -> frozenset[str]:
        """Names of the visits and events that values are from."""
        return frozenset(place_of(fact) for fact in self.facts if fact.where)

    @cached_property
    def texts(self) -> list[tuple[str, Values]]:
        """All text sources with their values."""
        blocks = [*self.blocks, *self.talk, *self._passages()]
        blocks += [text for result in self.results for text in _told(result.data)]
        return [(plain(block), values(block, self.record_ids)) for block in blocks]

    @cached_property
    def quotable(self) -> list[Quotable]:
        """All sources whose statements may be repeated word for word.

        What people typed into a record counts as a whole only: a sentence in it could be an instruction.
        An earlier answer that names nobody may have been about somebody else.
        """
        ids = self.record_ids
        found = [Quotable(block, ids) for block in (*self.blocks, *self._passages())]
        found += [Quotable(answer, ids, owned=True) for answer in self.talk]
        lines = (line for result in self.results for line in result.lines)
        return found + [Quotable(line, ids, whole=True) for line in lines]

    def unbracketed(self, sentence: str) -> str:
        """Names of fields without the brackets they end in, where only one field is called so."""
        return self._long_names.sub(lambda hit: bare(hit[0]), sentence)

    @cached_property
    def _long_names(self) -> re.Pattern[str]:
        names = {name for fact in self.facts for name in fact.names} | set(self.labels.values())
        names |= {name for result in self.results for name in result.blank}
        long = {name for name in map(_folded, names) if name.endswith(")") and bare(name)}
        same = Counter(map(bare, long))
        ordered = sorted((n for n in long if same[bare(n)] == 1), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, ordered)) or r"(?!)", re.IGNORECASE)

    @cached_property
    def subjects(self) -> frozenset[str]:
        """Ids that may be named."""
        ids = {fact.record_id for fact in self.facts if fact.record_id} | set(self.record_ids)
        ids |= {rid for result in self.results for rid in result.record_ids}
        return frozenset(ids | {rid for _text, held in self.texts for rid in held.ids})

    def of(self, subject: str) -> list[Fact]:
        """Facts of a subject and of the study as a whole."""
        return [fact for fact in self.facts if fact.record_id in (subject, "")]

    def words(self, subject: str, *, alone: bool) -> str:
        """Everything that is told of a subject; `alone`: without what is told of the whole study."""
        whole = not (alone and subject)
        parts = [f.value for f in self.facts if f.record_id == subject]
        for result in self.results:
            own = result.record_ids == (subject,)
            if result.tool != RECORD_TOOL and (own or (whole and not _is_of_one(result))):
                parts += [*_strings(result.data), *result.lines]
                parts += [name for fact in result.facts for name in fact.names]
        blocks = [*self.blocks, *self.talk, *self._passages()]
        parts += [b for b in blocks if not subject or _speaks_of(b, subject, self.subjects)]
        return plain("\n".join(parts)).casefold()

    def _passages(self) -> Iterator[str]:
        """Text blocks of results; what is said of blank fields names them without telling anything."""
        for result in self.results:
            if result.tool != RECORD_TOOL:
                yield from result.blocks

    def blank(self, subject: str) -> tuple[str, ...]:
        """Names of fields that were read and found empty."""
        found = (r.blank for r in self.results if r.record_ids == (subject,) or not subject)
        return tuple(name for names in found for name in names)


def place_of(fact: Fact) -> str:
    """The name of a value's visit or event, folded: `BASELINE` of `Baseline 基线`."""
    return fact.where.split(" ")[0].upper()


def bare(label: str) -> str:
    """A label without its unit: `谷丙转氨酶ALT（U/L）`."""
    return plain(label).partition("(")[0].strip().casefold()


def _folded(name: str) -> str:
    return plain(name).strip().casefold()


def _is_of_one(result: ToolResult) -> bool:
    return len(result.record_ids) == 1


def _speaks_of(block: str, subject: str, known: Collection[str]) -> bool:
    ids = values(block, known).ids
    return not ids or subject in ids


def _strings(data: object) -> Iterator[str]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield str(key)
            yield from _strings(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _strings(value)
    else:
        yield str(data)


def _told(data: object) -> Iterator[str]:
    """Texts of a result that are about no single field: times of reading, conventions, lists."""
    if isinstance(data, dict):
        for key in ("读取时间", "锚点约定", "今天", "汇总", "全部名单", "入组名单"):
            if isinstance(data.get(key), str):
                yield f"{key}:{data[key]}"

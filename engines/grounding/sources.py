"""What an answer may rest on (decisions.md, "sources of an answer")."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from engines.grounding.values import Values, plain, values
from engines.tools.results import Fact, ToolResult

RECORD_TOOL = "read_clinical_data"


@dataclass
class Sources:
    """What an answer may rest on.

    `blocks`: hot memory lines, reports, session messages, passages; `record_ids`: subjects that were
    read or asked about and may be named; `asked`: fields the question speaks of; `names`: visit names;
    `labels`: {field: label} of the dictionary, so that a value beside a field that was not read shows.
    """

    results: Sequence[ToolResult] = ()
    blocks: Sequence[str] = ()
    record_ids: Collection[str] = ()
    asked: Collection[str] = ()
    names: Collection[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def facts(self) -> list[Fact]:
        """All facts of all results."""
        return [fact for result in self.results for fact in result.facts]

    @cached_property
    def texts(self) -> list[tuple[str, Values]]:
        """All text sources with their values."""
        blocks = [*self.blocks, *(b for result in self.results for b in result.blocks)]
        blocks += [text for result in self.results for text in _told(result.data)]
        return [(plain(block), values(block, self.record_ids)) for block in blocks]

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
        blocks = [*self.blocks, *self._passages()]
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

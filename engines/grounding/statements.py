"""Statements of a text source: sentences, list items and table rows, each with what it stands under."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from engines.grounding.kept import kept
from engines.grounding.modality import modality, of_heading
from engines.grounding.values import Values, plain, values

_MARK = re.compile(r"^\s*\[(W\d+|[^\]\d]{1,4}\s?\d+)\]:?\s*")
_HEAD = re.compile(r"^\s*(#+)\s*(.*)$")
_ITEM = re.compile(r"^\s*(?:[-*•>]\s+|(\d{1,2})[.、)]\s*(?!\d)|\((\d{1,2})\)\s*)")
_RULE = re.compile(r"^[\s|:-]+$")
_DATED = re.compile(r"^\s*(\d{4}-\d\d-\d\d)\s*[:：]\s*")
_LEAD = re.compile(r"以下|下列|如下|[:：]\s*$")
SENTENCE = re.compile(r"[^。!?;\n]+")
CELL = " | "
_WEEK = re.compile(r"^W(\d+)$")


@dataclass(frozen=True)
class Statement:
    """`text` as it stands in the source, `context`: headings, the line before a list, the table's head.

    `ids`: whom it is about; `owned`: it is about somebody, though it may not say about whom; `counted`: a
    tool worked it out for this question; `noted`: the field whose note it stands in.
    """

    text: str
    context: str = ""
    ids: frozenset[str] = frozenset()
    owned: bool = False
    counted: bool = False
    noted: str = ""
    heads: tuple[str, ...] = ()

    @cached_property
    def values(self) -> Values:
        """What the statement itself holds."""
        return values(self.text, self.ids)

    @cached_property
    def around(self) -> Values:
        """What it stands under."""
        return _around(self.context)

    @cached_property
    def modality(self) -> str:
        """Its own, else that of the nearest line or heading above it that has one."""
        own = modality(self.text)
        return own or next(
            (kind for head in reversed(self.heads) if (kind := of_heading(head))), ""
        )


@kept
def _around(context: str) -> Values:
    return values(context)


@dataclass
class _Reader:
    known: Collection[str]
    owned: bool
    counted: bool
    mark: str = ""
    heads: list[tuple[int, str]] = field(default_factory=list)
    lead: str = ""
    led: frozenset[str] = frozenset()
    columns: str = ""
    table: bool = False
    ids: frozenset[str] = frozenset()

    def heading(self, level: int, text: str) -> None:
        self.heads = [head for head in self.heads if head[0] < level] + [(level, text)]
        self.lead, self.columns, self.ids, self.led = "", "", frozenset(), frozenset()

    def statement(self, text: str, *more: str, listed: bool = False) -> Statement:
        ids = values(text, self.known).ids
        self.ids = ids or self.ids
        heads = [text for _level, text in self.heads]
        heads += [self.lead] if listed and self.lead else []
        context = plain(" ".join([self.mark, *heads, *more])).casefold()
        return Statement(
            plain(text).casefold(),
            context,
            self.ids,
            owned=self.owned,
            counted=self.counted,
            heads=tuple(heads),
        )


def statements(
    block: str, known: Collection[str], *, owned: bool = False, counted: bool = False
) -> list[Statement]:
    """The statements of a block of text (Markdown, a report, a line of memory)."""
    reader = _Reader(known, owned, counted)
    return [one for line in block.split("\n") for one in _of_line(line, reader)]


def _of_line(line: str, reader: _Reader) -> Iterator[Statement]:
    if mark := _MARK.match(line):
        week = _WEEK.match(mark[1])
        reader.mark = f"W{week[1]} 第{week[1]}周" if week else mark[1]
        line = line[mark.end() :]
    if head := _HEAD.match(line):
        reader.heading(len(head[1]), head[2])
        yield reader.statement(head[2])
    elif line.lstrip().startswith("|"):
        yield from _row(line, reader)
    elif line.strip():
        reader.table = False
        yield from _sentences(line, reader)


def _row(line: str, reader: _Reader) -> Iterator[Statement]:
    first, reader.table = not reader.table, True
    if _RULE.match(line):
        return
    named, *rest = (cell.strip() for cell in line.strip().strip("|").split("|"))
    cells = CELL.join([named, *rest])
    if first:
        reader.columns = cells
    told, *more = cells.split("。")
    yield reader.statement(told, reader.columns)
    yield from (reader.statement(one, reader.columns, named) for one in filter(str.strip, more))


def _sentences(line: str, reader: _Reader) -> Iterator[Statement]:
    item = _ITEM.match(line)
    number = (item[1] or item[2]) if item else None
    more = [f"第{number}条"] if number else []
    text = line[item.end() :] if item else line
    if dated := _DATED.match(text):
        more.append(dated[1])
    if item and not reader.owned:
        reader.ids = reader.led
    pieces = SENTENCE.findall(
        re.sub("[！？；]", lambda hit: {"！": "!", "？": "?"}.get(hit[0], ";"), text)
    )
    for piece in filter(str.strip, pieces):
        yield reader.statement(piece, *more, listed=item is not None)
    if not item:
        reader.lead = " ".join(piece for piece in pieces if _LEAD.search(piece))
        reader.led = reader.ids if reader.lead else frozenset()

"""The text of a PDF file, page by page: lines with their places and the grids of tables."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from math import hypot
from typing import Any

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from core.language import headings
from study.protocol.files import layout
from study.protocol.files.grids import Grid, Segment, grids
from study.protocol.files.layout import Read, RefusedError

LARGER = 1.08
"""From so many times the size of the text on a line is a heading."""
FULL_EM = 2.5
"""A line that ends so near the right edge goes on in the next one."""
SHARED = 0.1
"""Share of the lines that end at the right edge, at least."""
LEAST_CHARS = 20
"""A page with less text is a picture, or blank."""
SCANNED, GARBLED = 0.8, 0.05
"""Shares: of pages without text, from which the file is a scan; of characters that no font explains."""
EDGE = 0.09
"""Share of the page's height where running heads and page numbers stand."""

_CONTENTS = re.compile(r".{1,80}?(?:\.\s?){4,}\s*\d+|.{1,80}?[…·]{2,}\s*\d+")
_DIGITS = re.compile(r"\d+")
_UNKNOWN = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08]")
_FIRST_WORD = re.compile(r"[!-~]+")
_STARTS = re.compile(r"(?:\d+[.、)）]|[(（]\d+[)）]|[-*•●▪·])\s*\S")


@dataclass
class Line:
    """A line of text where it stands; `grid`: the number of the table around it on its page, -1 for none."""

    page: int
    x: float
    y: float
    size: float
    bold: bool
    text: str
    grid: int = -1
    cell: tuple[int, int] = (0, 0)
    near_edge: bool = False

    @property
    def end(self) -> float:
        """Where it ends, as wide as its characters usually are."""
        return self.x + self.size * _width(self.text.rstrip())


def _width(text: str) -> float:
    """In times the size of its letters."""
    return sum(map(_em, text))


def _em(char: str) -> float:
    """The usual width of a character."""
    if ord(char) >= 0x2E80 or char in "“”‘’—…":
        return 1.0
    if char in " .,:;'!|()[]-/":
        return 0.28
    return 0.66 if char.isupper() else 0.5


@dataclass
class Page:
    """What a page holds."""

    lines: list[Line]
    grids: list[Grid]


@dataclass
class _Collector:
    """Takes down what a page's content draws."""

    page: int
    height: float
    lines: list[Line] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    at: tuple[float, float] = (0.0, 0.0)

    def text(self, text: str, cm: Any, tm: Any, font: Any, size: float) -> None:
        """A visitor of pypdf: text, and where it begins."""
        x, y = _placed(cm, tm[4], tm[5])
        scale = hypot(tm[2], tm[3]) * hypot(cm[2], cm[3])
        size = abs(size or 1.0) * (scale or 1.0)
        bold = bool(headings.BOLD_FONT.search(str((font or {}).get("/BaseFont", ""))))
        for part in text.split("\n"):
            if part.strip():
                self._add(Line(self.page, x, y, size, bold, part.replace("\t", " ")))
            y -= 1.2 * size

    def _add(self, line: Line) -> None:
        edge = EDGE * self.height
        line.near_edge = not edge < line.y < self.height - edge
        self.lines.append(line)

    def operand(self, operator: bytes, args: Any, cm: Any, _tm: Any) -> None:
        """A visitor of pypdf: the straight lines that are drawn."""
        if operator == b"re":
            x, y, width, height = map(float, args)
            corners = [_placed(cm, *one) for one in ((x, y), (x + width, y + height))]
            (left, low), (right, high) = corners
            for one in (
                *((left, low, right, low), (left, high, right, high)),
                *((left, low, left, high), (right, low, right, high)),
            ):
                self._draw(*one)
        elif operator in (b"m", b"l"):
            there = _placed(cm, float(args[0]), float(args[1]))
            if operator == b"l":
                self._draw(*self.at, *there)
            self.at = there

    def _draw(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self.segments.append(Segment(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)))


def _placed(cm: Any, x: float, y: float) -> tuple[float, float]:
    return cm[0] * x + cm[2] * y + cm[4], cm[1] * x + cm[3] * y + cm[5]


def read(raw: bytes, progress: Callable[[int, int], None]) -> Read:
    """A PDF file as Markdown; `progress` is told (page, pages) after each page. Raises RefusedError."""
    reader = _opened(raw)
    count, pages = len(reader.pages), []
    if count > layout.MAX_PAGES:
        raise RefusedError("pages", layout.MAX_PAGES)
    size = 0
    for number in range(count):
        pages.append(_page(reader, number))
        size += sum(len(line.text.encode()) for line in pages[-1].lines)
        if size > layout.MAX_TEXT:
            raise RefusedError("text", layout.MAX_TEXT // 1024 // 1024)
        # What was read of a page is needed no more: a long file takes no more memory than a short one.
        reader.resolved_objects.clear()
        progress(number + 1, count)
    return _assembled(pages)


def _opened(raw: bytes) -> PdfReader:
    try:
        reader = PdfReader(BytesIO(raw))
        if reader.is_encrypted:
            raise RefusedError("encrypted")
        if not len(reader.pages):
            raise RefusedError("empty")
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RefusedError("broken") from error
    return reader


def _page(reader: PdfReader, number: int) -> Page:
    try:
        page = reader.pages[number]
        taken = _Collector(number + 1, float(page.mediabox.height))
        page.extract_text(visitor_text=taken.text, visitor_operand_before=taken.operand)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise RefusedError("page", number + 1) from error
    found = grids(taken.segments)
    lines: list[Line] = []
    for line in taken.lines:
        middle = line.y + 0.3 * line.size
        line.grid = next((at for at, one in enumerate(found) if one.holds(line.x, middle)), -1)
        line.cell = found[line.grid].cell(line.x, middle) if line.grid >= 0 else (0, 0)
        if not (lines and _are_one(lines[-1], line)):
            lines.append(line)
        else:
            gap = line.x - lines[-1].end > 0.6 * line.size
            lines[-1].text += (" " if gap else "") + line.text
    return Page(lines, found)


def _are_one(before: Line, line: Line) -> bool:
    """Whether a text continues the line of the one before, as programs write it run by run."""
    same = (before.grid, before.cell) == (line.grid, line.cell)
    beside = abs(before.y - line.y) < 0.4 * line.size and before.x < line.x
    return same and beside and line.x - before.end < 3 * line.size


def _assembled(pages: Sequence[Page]) -> Read:
    blank = [at for at, page in enumerate(pages, 1) if _chars(page) < LEAST_CHARS]
    if len(blank) >= SCANNED * len(pages):
        raise RefusedError("scanned")
    whole = "".join(line.text for page in pages for line in page.lines)
    if len(_UNKNOWN.findall(whole)) > GARBLED * len(whole):
        raise RefusedError("garbled")
    running = _running(pages)
    for page in pages:
        page.lines = [one for one in page.lines if not _is_aside(one, running)]
    contents = sum(
        bool(_CONTENTS.fullmatch(one.text.strip())) for page in pages for one in page.lines
    )
    blocks, tables = _blocks(pages)
    warnings = [("no_text", at) for at in blank]
    warnings += [("contents", contents)] if contents else []
    return Read(layout.document(blocks), tables, warnings)


def _chars(page: Page) -> int:
    return sum(len(line.text.strip()) for line in page.lines)


def _running(pages: Sequence[Page]) -> set[str]:
    """Lines at the edge of most pages, without their figures."""
    told = Counter(
        key for page in pages for key in {_key(one) for one in page.lines if one.near_edge}
    )
    return {key for key, times in told.items() if times >= max(2, len(pages) / 2)}


def _key(line: Line) -> str:
    return _DIGITS.sub("#", line.text.strip())


def _is_aside(line: Line, running: set[str]) -> bool:
    if not line.near_edge or line.grid >= 0:
        return False
    return _key(line) in running or bool(headings.PAGE_NUMBER.fullmatch(line.text))


def _blocks(pages: Sequence[Page]) -> tuple[list[list[str]], int]:
    """Paragraphs, headings and tables in reading order, and how many tables there are."""
    free = [one for page in pages for one in page.lines if one.grid < 0]
    has_text = any(not layout.is_heading_text(one.text.strip()) for one in free)
    style = _Style.of(free if has_text else [one for page in pages for one in page.lines])
    blocks = _Blocks(style)
    for number, page in enumerate(pages):
        told = set[int]()
        for line in page.lines:
            if line.grid < 0:
                blocks.add_line(line)
            elif line.grid not in told:
                told.add(line.grid)
                own = [one for one in page.lines if one.grid == line.grid]
                blocks.add_table(number, _rows(page.grids[line.grid], own, style.spaced))
    blocks.end_text()
    blocks.end_table()
    return blocks.made, blocks.tables


@dataclass(frozen=True)
class _Style:
    """How the text of a document is set: the size of most of it, whether it is bold, where lines end.

    `spaced`: whether a space stands between Chinese and Latin letters.
    """

    body: float
    bold: bool
    right: float
    spaced: bool

    @classmethod
    def of(cls, lines: Sequence[Line]) -> _Style:
        """Of the lines outside tables."""
        sizes: Counter[float] = Counter()
        for line in lines:
            sizes[round(line.size, 1)] += len(line.text)
        body = sizes.most_common(1)[0][0] if sizes else 10.0
        bold = sum(len(one.text) for one in lines if one.bold) * 2 > sum(sizes.values())
        # Where several lines end: a single one may stick out.
        ends = Counter(int(one.end / body) for one in lines if abs(one.size - body) < 0.1)
        least = max(2, SHARED * sum(ends.values()))
        right = body * max((at for at in ends if ends[at] + ends[at - 1] >= least), default=0)
        whole = "\n".join(one.text for one in lines)
        spaced = 2 * len(headings.SPACED.findall(whole)) > len(headings.MIXED.findall(whole))
        return cls(body, bold, right, spaced)

    def is_heading(self, line: Line) -> bool:
        """A line that is set apart, or has the number of a section."""
        text = line.text.strip()
        if not layout.is_heading_text(text):
            return False
        apart = line.size >= LARGER * self.body or (line.bold and not self.bold)
        return apart or bool(headings.NUMBERED.fullmatch(text) or headings.CHAPTER.fullmatch(text))

    def goes_on(self, line: Line, following: Line) -> bool:
        """Whether the next line is of the same paragraph."""
        if _STARTS.match(following.text) or abs(line.size - following.size) > 0.1:
            return False
        apart = line.page == following.page and not 0 < line.y - following.y < 2.2 * line.size
        word = _FIRST_WORD.match(following.text.strip())
        room = self.right - FULL_EM * line.size
        return not apart and line.end + (_width(word[0]) if word else 0) * line.size > room


class _Blocks:
    """Blocks of Markdown from lines and tables as they come."""

    def __init__(self, style: _Style) -> None:
        self.made: list[list[str]] = []
        self.tables = 0
        self._style = style
        self._flow: list[Line] = []
        self._rows: list[list[str]] = []
        self._page = -1

    def add_line(self, line: Line) -> None:
        """A line outside tables; those of a list of contents are left out."""
        if _CONTENTS.fullmatch(line.text.strip()):
            return
        self.end_table()
        self._flow.append(line)

    def add_table(self, page: int, rows: list[list[str]]) -> None:
        """A table, or the rest of one that began on the page before."""
        self.end_text()
        before, is_rest = self._rows, page != self._page
        if not (before and is_rest and len(before[0]) == len(rows[0])):
            self.end_table()
        self._rows += rows[1:] if self._rows and rows[0] == self._rows[0] else rows
        self._page = page

    def end_table(self) -> None:
        """What comes is no row."""
        if self._rows:
            self.made.append(layout.table(self._rows))
            self.tables += 1
            self._rows = []

    def end_text(self) -> None:
        """What comes is no line of a paragraph."""
        if self._flow:
            self.made += self._paragraphs()
            self._flow = []

    def _paragraphs(self) -> Iterator[list[str]]:
        told, last, is_heading = "", self._flow[0], False
        for line in self._flow:
            own = self._style.is_heading(line)
            same = own == is_heading and self._style.goes_on(last, line)
            if told and same and not (own and headings.OWN_NUMBER.match(line.text.strip())):
                told = layout.joined(told, line.text, self._style.spaced)
            else:
                if told:
                    yield [_block(told, is_heading)]
                told, is_heading = line.text, own
            last = line
        yield [_block(told, is_heading)]


def _block(text: str, is_heading: bool) -> str:
    return layout.heading(text.strip()) if is_heading else layout.paragraph(text)


def _rows(grid: Grid, lines: Sequence[Line], spaced: bool) -> list[list[str]]:
    """The cells of a table with their lines joined; rows without any text are left out."""
    cells: defaultdict[tuple[int, int], str] = defaultdict(str)
    for line in lines:
        cells[line.cell] = layout.joined(cells[line.cell], line.text, spaced)
    width = len(grid.columns) - 1
    rows = [[cells[row, at].strip() for at in range(width)] for row in range(len(grid.rows) - 1)]
    return [row for row in rows if any(row)] or [[""]]

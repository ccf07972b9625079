"""What a file's pages hold, as Markdown: headings, paragraphs, list items, tables with their heads.

This package imports nothing of Django: it runs in a process of its own (worker.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from core.language import headings

MAX_PAGES = 500
MAX_TEXT = 4 * 1024 * 1024
"""Bytes of text; a protocol of 300 pages has less than a quarter of it."""

_DEPTH = re.compile(r"\d+((?:\.\d+)*)[.、]?\s")
_WORDS = re.compile(r"(?![A-Z]{2})[A-Za-z0-9]{2}|[A-Za-z0-9][=<>]|[=<>][A-Za-z0-9]")
_BLANKS = re.compile(r"[ \t\r\n\f\v\xa0]+")
_ENDS = "。;；,，:：."


class RefusedError(Exception):
    """A file that is not read; `code` says why (study.protocol.uploads has the words)."""

    def __init__(self, code: str, number: int = 0) -> None:
        self.code, self.number = code, number


@dataclass
class Read:
    """What was read of a file: Markdown, how many tables, and warnings (code, number)."""

    text: str
    tables: int = 0
    warnings: list[tuple[str, int]] = field(default_factory=list)


def is_heading_text(text: str) -> bool:
    """Whether a line may be a heading: short, and no sentence."""
    return 0 < len(text) <= 60 and text[-1] not in _ENDS


def heading(text: str, level: int = 0) -> str:
    """A heading of Markdown; without a level the depth of its number counts."""
    found = _DEPTH.match(text)
    depth = level or (2 + found[1].count(".") if found else 2)
    return f"{'#' * min(depth, 6)} {text}"


def paragraph(text: str) -> str:
    """A line of text that Markdown takes for nothing else."""
    text = text.strip()
    if text[:1] in ("#", "|"):
        text = {"#": "＃", "|": "｜"}[text[0]] + text[1:]
    return f"- {text[1:].strip()}" if text[:1] in "•●▪·" and text[1:].strip() else text


def squeezed(text: str) -> str:
    """One space for several, and for each end of a line; the wide ones of Chinese stay."""
    return _BLANKS.sub(" ", text).strip()


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table; its first row is the head."""
    width = max(map(len, rows))
    lines = [_row([*row, *[""] * (width - len(row))]) for row in rows]
    return [lines[0], "|" + "---|" * width, *lines[1:]]


def _row(cells: Iterable[str]) -> str:
    told = (squeezed(cell).replace("|", "\\|") for cell in cells)
    return "| " + " | ".join(told) + " |"


def joined(first: str, second: str, spaced: bool) -> str:
    """Two lines of a paragraph as one; words in Latin letters need a space between them.

    `spaced`: Chinese and Latin letters do so, too.
    """
    if not first or not second:
        return first + second
    seam = first[-1] + second[0]
    apart = _WORDS.fullmatch(seam) or (spaced and headings.MIXED.fullmatch(seam))
    return f"{first} {second}" if apart else first + second


def document(blocks: Iterable[Sequence[str]]) -> str:
    """Blocks of lines with a blank line after each. Raises RefusedError for too much text."""
    made, size = [], 0
    for block in blocks:
        made.append("\n".join(block))
        size += len(made[-1].encode()) + 2
        if size > MAX_TEXT:
            raise RefusedError("text", MAX_TEXT // 1024 // 1024)
    return "\n\n".join(made) + "\n"

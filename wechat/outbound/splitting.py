"""Cuts a long text into parts that WeCom does not cut itself: 2048 bytes, numbered (wecom.md O15-O17)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

LIMIT = 2048

# What must stay whole where it can: links, markup pairs, addresses.
_WHOLE = regex.compile(
    r"<a\b[^<>]*>[^<]*</a>|<font\b[^<>]*>[^<]*</font>|<[^<>\s][^<>]*>"
    r"|\[[^\[\]\n]*\]\([^()\s]*\)|\*\*[^*\n]+\*\*|`[^`\n]+`|https?://[^\s<>\"“”《》，。；、]+",
    regex.IGNORECASE,
)
_GRAPHEME = regex.compile(r"\X")
# Places to cut, best first: each is the end of a unit.
_BOUNDARIES = (
    ("\n\n",),
    ("\n",),
    ("。", "！", "？", "!", "?", "! ", "? ", ". ", "；", ";"),
    ("，", ",", "、", " "),
)


def split(text: str, limit: int = LIMIT) -> list[str]:
    """Parts of at most `limit` bytes in UTF-8, each with its "(1/3) ", or the text itself if it fits.

    Without the prefixes the parts join to `text` again. Nothing is cut inside a grapheme or markup
    unless that alone is larger than a part.
    """
    if _size(text) <= limit:
        return [text]
    digits = 1
    while True:
        room = limit - len(f"({'9' * digits}/{'9' * digits}) ")
        parts = _parts(text, room)
        if len(str(len(parts))) <= digits:
            return [f"({number}/{len(parts)}) {part}" for number, part in enumerate(parts, 1)]
        digits += 1


def cut_to_bytes(text: str, limit: int) -> str:
    """The beginning of `text` that fits into `limit` bytes, cut as `split` cuts."""
    return text if _size(text) <= limit else _parts(text, limit)[0]


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _parts(text: str, room: int) -> list[str]:
    units = list(_units(text, room))
    parts: list[str] = []
    start = 0
    while start < len(units):
        end = _fill(units, start, room)
        if end < len(units):
            end = _best_cut(units, start, end)
        parts.append("".join(units[start:end]))
        start = end
    return parts


def _fill(units: Sequence[str], start: int, room: int) -> int:
    """The end of the longest run of units that fits."""
    used, end = 0, start
    while end < len(units) and (used := used + _size(units[end])) <= room:
        end += 1
    return end


def _best_cut(units: Sequence[str], start: int, end: int) -> int:
    """The last good boundary in the second half of the run, else its end."""
    least = start + (end - start) // 2
    for marks in _BOUNDARIES:
        for cut in range(end, least, -1):
            tail = "".join(units[max(start, cut - 2) : cut])
            if tail.endswith(marks):
                return cut
    return end


def _units(text: str, room: int) -> Iterator[str]:
    """Pieces that are not cut: markup and links, else graphemes, each at most `room` bytes."""
    wholes = _WHOLE.finditer(text)
    whole = next(wholes, None)
    held: list[str] = []
    for grapheme in _GRAPHEME.finditer(text):
        while whole and whole.end() <= grapheme.start():
            whole = next(wholes, None)
            yield from _joined(held, room)
            held = []
        if whole and grapheme.end() > whole.start():
            held.append(grapheme[0])
        else:
            yield from _joined([grapheme[0]], room)
    yield from _joined(held, room)


def _joined(graphemes: Sequence[str], room: int) -> Iterator[str]:
    """The graphemes as one piece; one by one, or even less, where that is more than a part holds."""
    whole = "".join(graphemes)
    if _size(whole) <= room:
        yield from [whole] if whole else []
        return
    for grapheme in graphemes:
        yield from [grapheme] if _size(grapheme) <= room else _chunks(grapheme, room)


def _chunks(grapheme: str, room: int) -> Iterator[str]:
    """A monster of combining marks: cut between code points."""
    chunk, used = "", 0
    for char in grapheme:
        size = _size(char)
        if used + size > room:
            yield chunk
            chunk, used = "", 0
        chunk, used = chunk + char, used + size
    yield chunk

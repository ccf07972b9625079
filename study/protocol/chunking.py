"""Cuts a document into citable passages by its numbered headings (reference/redcap_dify.md 3.2).

Text comes as Markdown or plain text. A passage has at most LIMIT characters, its heading as first
line; a table gives one passage a row, with the header repeated in it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LEAST, LIMIT = 200, 500
HEADING_LIMIT = 100

_MARKDOWN = re.compile(r"#{1,6}\s+(\S.*)")
_NUMBERED = re.compile(r"(\d+(?:\.\d+){1,4})[.、]?\s+(\S.{0,60})")
_CHAPTER = re.compile(
    r"(第[一二三四五六七八九十百\d]+[章节]|[一二三四五六七八九十]+、|附录|\d+\s)\s*\S?.{0,40}"
)
_NUMBER = re.compile(r"\d+(\.\d+)*|第.+?[章节]|[一二三四五六七八九十]+、|附录")
_ENDS_A_SENTENCE = "。;；,，:：."
_SENTENCE = re.compile(r"[^。！？!?；;\n]*[。！？!?；;\n]|[^。！？!?；;\n]+")
_RULE = re.compile(r"\|?[\s:|-]+\|?")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage: `heading` for the citation, `content` with the heading as its first line."""

    heading: str
    content: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the lines under it, stripped."""

    heading: str
    lines: list[str]


def chunks(text: str) -> list[Chunk]:
    """The passages of a document in reading order; headings without text give none."""
    found = []
    for section in sections(text.replace("\r\n", "\n").split("\n")):
        room = LIMIT - len(section.heading) - 1
        for body in _bodies(section.lines, room):
            content = f"{section.heading}\n{body}" if section.heading else body
            found.append(Chunk(section.heading, content))
    return found


def sections(lines: list[str]) -> Iterator[Section]:
    """The sections of a text in reading order, the one before the first heading included."""
    marked = any(_MARKDOWN.fullmatch(line) for line in lines)
    section, numbered = Section("", []), ""
    for line in lines:
        heading = _heading(line.strip(), marked)
        if heading is None:
            section.lines.append(line.strip())
            continue
        yield section
        heading = heading[:HEADING_LIMIT]
        if _NUMBER.match(heading):
            numbered = heading
        elif numbered:
            heading = f"{numbered} / {heading}"
        section = Section(heading[:HEADING_LIMIT], [])
    yield section


def _heading(line: str, marked: bool) -> str | None:
    """The heading a line holds, or None. List items such as "1. 年龄…" are none."""
    if found := _MARKDOWN.fullmatch(line):
        return found[1].rstrip("# ") or found[1]
    if not line or line[-1] in _ENDS_A_SENTENCE or line.startswith("|"):
        return None
    if _NUMBERED.fullmatch(line) or (not marked and _CHAPTER.fullmatch(line)):
        return line
    return None


def _bodies(lines: Iterable[str], room: int) -> Iterator[str]:
    """Passages of one section: text packed together, table rows each on their own."""
    text: list[str] = []
    table: list[str] = []
    for line in [*lines, ""]:
        if line.startswith("|"):
            table.append(line)
            continue
        if table:
            yield from _packed(text, room)
            yield from _rows(table, room)
            text, table = [], []
        if line:
            text.append(line)
    yield from _packed(text, room)


def _rows(table: list[str], room: int) -> Iterator[str]:
    header, *rest = [cells(line) for line in table if not is_rule(line)] or [[]]
    if not rest:
        yield from _packed([" ".join(header)], room)
    for row in rest:
        named = [
            f"{name}:{cell}" if name else cell
            for name, cell in zip(header + [""] * len(row), row, strict=False)
            if cell
        ]
        yield from _packed([";".join(named)], room)


def is_rule(line: str) -> bool:
    """Whether a table line only parts the header from the rows."""
    return bool(_RULE.fullmatch(line))


def cells(line: str) -> list[str]:
    """The cells of a table line."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _packed(lines: list[str], room: int) -> Iterator[str]:
    """Lines joined up to `room` characters; a short tail joins its neighbour where it fits."""
    packs: list[str] = []
    for piece in (piece for line in lines for piece in _pieces(line, room)):
        joined = f"{packs[-1]}\n{piece}" if packs else piece
        if packs and len(joined) <= room:
            packs[-1] = joined
        else:
            packs.append(piece)
    yield from packs


def _pieces(line: str, room: int) -> Iterator[str]:
    """A line, or its sentences packed to `room`, or plain cuts where a sentence is too long."""
    if len(line) <= room:
        if line:
            yield line
        return
    held = ""
    for sentence in _SENTENCE.findall(line):
        if len(held) + len(sentence) <= room:
            held += sentence
            continue
        if held:
            yield held
        cut = max(len(sentence) - 1, 0) // room * room
        yield from (sentence[at : at + room] for at in range(0, cut, room))
        held = sentence[cut:]
    if held:
        yield held

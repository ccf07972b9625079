"""The smallest parts of a document that are a rule by themselves: a sentence, a list item, a table row.

Text comes as Markdown or plain text with numbered headings (reference/redcap_dify.md 3.2). A row keeps the
heads of its columns and an item the sentence that introduces its list: without them neither says what holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.language.numerals import numeral_value

LIMIT = 500
"""Characters of a stored passage; a rule that is longer is several."""
HEADING_LIMIT = 100
BELOW = " / "
"""Between a heading that has a number and one below it that has none."""

_MARKDOWN = re.compile(r"#{1,6}\s+(\S.*)")
_NUMBERED_HEADING = re.compile(r"(\d+(?:\.\d+){1,4})[.、]?\s+(\S.{0,60})")
_CHAPTER = re.compile(
    r"(第[一二三四五六七八九十百\d]+[章节]|[一二三四五六七八九十]+、|附录|\d+\s)\s*\S?.{0,40}"
)
_CHAPTER_NUMBER = re.compile(
    r"第(.+?)([章节])|([一二三四五六七八九十]+|\d+(?:\.\d+)*)(、)|\d+(?:\.\d+)*|附录"
)
_RANKS = "章节、"
"""What ends a number in words, the outermost first."""
_ENDS_A_SENTENCE = "。;；,，:：."
_RULE = re.compile(r"(?=.*-)\|?[\s:|-]+\|?")
_PIPE = re.compile(r"(?<!\\)\|")
_NUMBER = re.compile(r"(\d+(?:\.\d+)*)[.、]?\s+")
_ITEM = re.compile(r"(?:\d+[.、)]|[-*•])\s+")
_NUMBERED = re.compile(r"\d+[.、)]\s+")
_QUOTED = "|".join(
    rf"{first}[^{last}]{{1,40}}{last}" for first, last in ("“”", "「」", "『』", '""')
)
# What is quoted ends no sentence: 不要写“ND?”、短横线或 0。
_SENTENCE = re.compile(rf"(?:{_QUOTED}|[^。！？!?])+[。！？!?]*|[。！？!?]+")
_QUESTION = re.compile(r"\*\*.+?\*\*")
_FOLLOWING = re.compile(r"以下|下列|如下|下述|following")
_OPEN = (":", "：")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage: `heading` for the citation, `content` with the heading as its first line."""

    heading: str
    content: str


@dataclass(frozen=True, slots=True)
class Unit:
    """One rule. `section`: place of its section among all; `number`, `title`: of its `heading` (三、目的 is 3);
    `position`: of the rule in its document, from 1; `listed`: how many items its list has.

    `above`: titles of the chapters around it; `lead`: what introduces its list; `when`: the cell or text that
    says for which case it holds; `paragraph`: of which it is a part, -1 for rows and items; `then`: the other
    cells of a row.
    """

    document: str
    section: int
    number: str
    title: str
    heading: str
    above: str
    lead: str
    text: str
    when: str
    paragraph: int = -1
    then: tuple[str, ...] = ()
    position: int = 0
    listed: int = 0

    @property
    def place(self) -> str:
        """`§6.7`, else the heading without the document's name."""
        if self.number:
            return f"§{self.number}"
        return self.title.removeprefix(self.document).strip()


def units(documents: Sequence[tuple[str, str]]) -> list[Unit]:
    """The units of documents (name, text) in reading order."""
    found: list[Unit] = []
    for name, text in documents:
        first = len(found) - 1
        titles: dict[str, str] = {}
        numbers = _Numbers()
        for heading, own_lines in _sections(text.replace("\r\n", "\n").split("\n")):
            number, title, heading = numbers.of(heading)
            titles[number] = title
            above = " ".join(t for n, t in titles.items() if n and number.startswith(f"{n}."))
            place = found[-1].section + 1 if found else 0
            empty = Unit(name, place, number, title, heading, above, "", "", "")
            own = list(_units(empty, own_lines))
            lists = Counter(unit.lead for unit in own if unit.lead)
            found += [
                replace(unit, position=len(found) - first + at, listed=lists[unit.lead])
                for at, unit in enumerate(own)
            ]
    return found


class _Numbers:
    """The numbers of a document's headings as rules cite them; each in words stands for one heading."""

    def __init__(self) -> None:
        self._within: dict[str, str] = {}
        self._headings: dict[str, str] = {}

    def of(self, heading: str) -> tuple[str, str, str]:
        """Number, title and the whole: 4.1 as it stands; 第二章 is 2, 三、 in it 2.3, and 附录 none."""
        if found := _NUMBER.match(heading):
            number, title = found[1], heading[found.end() :]
            self._headings.setdefault(number, "")
            return number, title, f"{number} {title}".strip()
        found = _CHAPTER_NUMBER.match(heading)
        number = self._in_words(found) if found else ""
        own, _mark, _below = heading.partition(BELOW)
        if not found or not number or self._headings.setdefault(number, own) != own:
            return "", heading, heading
        return number, heading[found.end() :].strip() or heading, heading

    def _in_words(self, found: re.Match[str]) -> str:
        if found[0] == "附录":
            self._within = {_RANKS[0]: ""}
        rank, value = found[2] or found[4], numeral_value(found[1] or found[3] or "")
        if rank is None or value is None:
            return ""
        outer = _RANKS[: _RANKS.index(rank)]
        self._within = {one: n for one, n in self._within.items() if one in outer}
        self._within[rank] = str(value)
        within = [*self._within.values()]
        return ".".join(within) if all(within) else ""


def _units(empty: Unit, lines: Sequence[str]) -> Iterator[Unit]:
    lead, item = "", ""
    for paragraph, (line, head, cells) in enumerate(_with_rows(lines)):
        if cells:
            named = zip([*head, *[""] * len(cells)], cells, strict=False)
            text = ";".join(f"{name}:{cell}" if name else cell for name, cell in named if cell)
            yield replace(empty, text=text, when=cells[0], then=tuple(cells[1:]))
        elif _ITEM.match(line):
            is_numbered = _NUMBERED.match(line)
            within = "" if is_numbered else item
            if is_numbered:
                item = line if line.endswith(_OPEN) else ""
            yield replace(empty, lead=f"{lead}{within}", text=line.lstrip("-*• "), when=line)
        elif line:
            sentences = _sentences(line)
            leads = (s for s in sentences if s.endswith(_OPEN) or _FOLLOWING.search(s))
            lead, item = next(leads, ""), ""
            for one in sentences:
                yield replace(empty, text=one, when=one, paragraph=paragraph)


def _sentences(line: str) -> list[str]:
    """A question with its answer is one rule."""
    if asked := _QUESTION.match(line):
        return [asked[0].strip("*") + line[asked.end() :]]
    return [one.strip() for one in _SENTENCE.findall(line) if one.strip()] or [line]


def chunks(text: str) -> list[Chunk]:
    """The passages of a document in reading order, a rule each; headings without text give none."""
    found = []
    for unit in units([("", text)]):
        head = f"{unit.heading}\n" if unit.heading else ""
        room, lead, text = LIMIT - len(head), unit.lead, unit.text
        if unit.then and len(text) > room:
            lead, _mark, text = text.partition(";")
            lead += ";"
        lead = lead if len(lead) < room // 4 or len(lead) + len(text) <= room else ""
        step = room - len(lead)
        found += [
            Chunk(unit.heading, f"{head}{lead}{text[at : at + step]}")
            for at in range(0, len(text), step)
        ]
    return found


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The headings of a text with the stripped lines under each; those before the first are under ""."""
    marked = any(_MARKDOWN.fullmatch(line) for line in lines)
    title, own, numbered = "", list[str](), ""
    for line in map(str.strip, lines):
        heading = _heading(line, marked)
        if heading is None:
            own.append(line)
            continue
        yield title, own
        heading = heading[:HEADING_LIMIT]
        if _CHAPTER_NUMBER.match(heading):
            numbered = heading
        elif numbered:
            heading = f"{numbered}{BELOW}{heading}"
        title, own = heading[:HEADING_LIMIT], []
    yield title, own


def _heading(line: str, marked: bool) -> str | None:
    """The heading a line holds, or None. List items such as "1. 年龄…" are none."""
    if found := _MARKDOWN.fullmatch(line):
        return found[1].rstrip("# ") or found[1]
    if not line or line[-1] in _ENDS_A_SENTENCE or line.startswith("|"):
        return None
    if _NUMBERED_HEADING.fullmatch(line) or (not marked and _CHAPTER.fullmatch(line)):
        return line
    return None


def _with_rows(lines: Sequence[str]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each line of a section; of a table's row the heads of its columns ([] for none) and its cells, else [].

    Only what stands above a rule is a head: no row is another's. It is told with its rows, alone where it has
    none. A table that goes on after blank lines keeps its head where it has as many columns.
    """
    head: list[str] = []
    is_new = True
    for line, after, second in zip(lines, [*lines[1:], ""], [*lines[2:], "", ""], strict=False):
        if not line.startswith("|"):
            head, is_new = [] if line else head, True
            yield line, [], []
            continue
        row = _cells(line)
        if _RULE.fullmatch(line):
            continue
        if after.startswith("|") and _RULE.fullmatch(after):
            head, is_new = row, False
            if not second.startswith("|"):
                yield line, [], row
        elif any(row):
            head, is_new = [] if is_new and len(row) != len(head) else head, False
            yield line, head, row


def _cells(line: str) -> list[str]:
    """The cells of a table line: one pipe at each end is the frame, an escaped one is text."""
    inner = line.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _PIPE.split(inner)]

"""The smallest parts of a document that are a rule by themselves: a sentence, a list item, a table row.

A row keeps the heads of its columns and an item the sentence that introduces its list, for without them
neither says what holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from study.protocol.chunking import (
    Section,
    cells,
    is_rule,
    sections,
)

_NUMBER = re.compile(r"(\d+(?:\.\d+)*)[.、]?\s+")
_ITEM = re.compile(r"(?:\d+[.、)]|[-*•])\s+")
_NUMBERED = re.compile(r"\d+[.、)]\s+")
_QUOTED = "|".join(
    rf"{first}[^{last}]{{1,40}}{last}" for first, last in ("“”", "「」", "『』", '""')
)
# What is quoted ends no sentence: 不要写“ND?”、短横线或 0。
_SENTENCE = re.compile(rf"(?:{_QUOTED}|[^。！？!?])+[。！？!?]*")
_QUESTION = re.compile(r"\*\*.+?\*\*")
_FOLLOWING = re.compile(r"以下|下列|如下|下述|following")
_OPEN = (":", "：")


@dataclass(frozen=True, slots=True)
class Unit:
    """One rule. `section`: place of its section among all; `number` and `title`: of the heading.

    `above`: titles of the chapters around it; `lead`: what introduces its list; `when`: the cell or text that
    says for which case it holds; `paragraph`: of which it is a part, -1 for rows and items; `then`: the other
    cells of a row.
    """

    document: str
    section: int
    number: str
    title: str
    above: str
    lead: str
    text: str
    when: str
    paragraph: int = -1
    then: tuple[str, ...] = ()


def units(documents: Sequence[tuple[str, str]]) -> list[Unit]:
    """The units of documents (name, text) in reading order."""
    found: list[Unit] = []
    for name, text in documents:
        titles: dict[str, str] = {}
        for section in sections(text.replace("\r\n", "\n").split("\n")):
            number, title = _split(section.heading)
            titles[number] = title
            above = " ".join(t for n, t in titles.items() if n and number.startswith(f"{n}."))
            place = found[-1].section + 1 if found else 0
            empty = Unit(name, place, number, title, above, "", "", "")
            found += _units(empty, section)
    return found


def _split(heading: str) -> tuple[str, str]:
    found = _NUMBER.match(heading)
    return (found[1], heading[found.end() :]) if found else ("", heading)


def _units(empty: Unit, section: Section) -> Iterator[Unit]:
    lead, item, header = "", "", list[str]()
    for paragraph, line in enumerate(section.lines):
        if line.startswith("|"):
            if not is_rule(line):
                row = cells(line)
                yield from _row(empty, header, row)
                header = header or row
            continue
        header = []
        if not line:
            continue
        if _ITEM.match(line):
            within = item if item and not _NUMBERED.match(line) else ""
            if _NUMBERED.match(line):
                item = line if line.endswith(_OPEN) else ""
            yield replace(empty, lead=f"{lead}{within}", text=line.lstrip("-*• "), when=line)
        else:
            sentences = _sentences(line)
            lead, item = next(filter(_introduces, sentences), ""), ""
            for one in sentences:
                yield replace(empty, text=one, when=one, paragraph=paragraph)


def _introduces(sentence: str) -> bool:
    return sentence.endswith(_OPEN) or bool(_FOLLOWING.search(sentence))


def _row(empty: Unit, header: Sequence[str], row: Sequence[str]) -> Iterator[Unit]:
    """`情况:血小板低于 50;处理:暂停用药` — nothing for the header itself."""
    if header:
        pairs = zip([*header, *[""] * len(row)], row, strict=False)
        text = ";".join(f"{name}:{cell}" if name else cell for name, cell in pairs if cell)
        yield replace(empty, text=text, when=row[0], then=tuple(row[1:]))


def _sentences(line: str) -> list[str]:
    """A question with its answer is one rule."""
    if asked := _QUESTION.match(line):
        return [asked[0].strip("*") + line[asked.end() :]]
    return [one.strip() for one in _SENTENCE.findall(line) if one.strip()] or [line]

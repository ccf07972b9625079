"""The text of a Word file (.docx): headings by style, numbers of lists counted as Word shows them."""

from __future__ import annotations

import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

from docx import Document
from docx.oxml.ns import qn

from core.language import headings
from study.protocol.files import archive, layout
from study.protocol.files.layout import Read, RefusedError

_PLACE = re.compile(r"%(\d)")
_HAN = "〇一二三四五六七八九"


def read(raw: bytes, progress: Callable[[int, int], None]) -> Read:
    """A Word file as Markdown; `progress` is told (1, 1) at the end. Raises RefusedError."""
    archive.check_archive(raw)
    try:
        document = Document(BytesIO(raw))
        body = _Body(document)
        text = layout.document(body.blocks())
    except (KeyError, ValueError, AttributeError, TypeError, SyntaxError, OSError) as error:
        raise RefusedError("broken") from error
    except zipfile.BadZipFile as error:
        raise RefusedError("broken") from error
    progress(1, 1)
    warnings = [("tracked", body.tracked)] if body.tracked else []
    warnings += [("pictures", body.pictures)] if body.pictures else []
    if not text.strip():
        raise RefusedError("scanned" if body.pictures else "empty")
    return Read(text, body.tables, warnings)


class _Body:
    """The paragraphs and tables of a document in their order."""

    def __init__(self, document: Any) -> None:
        self.tables = self.tracked = self.pictures = 0
        self._body = document.element.body
        self._styles = {style.style_id: style for style in document.styles}
        self._numbers = _Numbers(document)

    def blocks(self) -> Iterator[list[str]]:
        """Each as lines of Markdown."""
        for element in _flat(self._body):
            if element.tag == qn("w:tbl"):
                rows = [row for row in self._rows(element) if any(row)]
                if rows:
                    self.tables += 1
                    yield layout.table(rows)
            elif line := self._paragraph(element):
                yield [line]

    def _paragraph(self, element: Any) -> str:
        text = layout.squeezed(self._text(element))
        style = self._style(element)
        name = getattr(style, "name", "") or ""
        if headings.CONTENTS_STYLE.match(name) or not text:
            return ""
        number = self._numbers.of(element, style)
        text = f"{number} {text}" if number else text
        if found := headings.HEADING_STYLE.search(name):
            return layout.heading(text, int(found[1]) or 1)
        if headings.TITLE_STYLE.fullmatch(name):
            return layout.heading(text, 1)
        return layout.paragraph(text)

    def _style(self, element: Any) -> Any:
        found = element.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")
        return self._styles.get(found.get(qn("w:val"))) if found is not None else None

    def _text(self, element: Any) -> str:
        """With what tracked changes put in, without what they took out."""
        told = []
        for part in element.iter():
            if part.tag == qn("w:t"):
                told.append(part.text or "")
            elif part.tag in (qn("w:tab"), qn("w:br"), qn("w:cr")):
                told.append(" ")
            elif part.tag in (qn("w:ins"), qn("w:del")):
                self.tracked += 1
            elif part.tag == qn("w:drawing"):
                self.pictures += 1
        return "".join(told)

    def _rows(self, table: Any) -> list[list[str]]:
        """Cells that span rows or columns say the same in each."""
        rows: list[list[str]] = []
        for row in table.iterchildren(qn("w:tr")):
            cells: list[str] = []
            for cell in row.iterchildren(qn("w:tc")):
                span = cell.find(f"{qn('w:tcPr')}/{qn('w:gridSpan')}")
                merge = cell.find(f"{qn('w:tcPr')}/{qn('w:vMerge')}")
                text = " ".join(self._text(one) for one in cell.iterchildren(qn("w:p")))
                is_rest = merge is not None and merge.get(qn("w:val")) != "restart"
                if is_rest and rows and len(cells) < len(rows[-1]):
                    text = rows[-1][len(cells)]
                width = int(span.get(qn("w:val"))) if span is not None else 1
                cells += [layout.squeezed(text)] * min(width, 64)
            rows.append(cells or [""])
        return rows


def _flat(parent: Any) -> Iterator[Any]:
    """Paragraphs and tables, also those in a content control."""
    for child in parent.iterchildren():
        if child.tag in (qn("w:p"), qn("w:tbl")):
            yield child
        elif child.tag == qn("w:sdt") and (inner := child.find(qn("w:sdtContent"))) is not None:
            yield from _flat(inner)


class _Numbers:
    """Numbers of headings and lists that Word counts itself."""

    def __init__(self, document: Any) -> None:
        self._levels: dict[str, dict[int, tuple[str, str, int]]] = {}
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        part = next(
            (
                one.target_part
                for one in document.part.rels.values()
                if one.reltype.endswith("/numbering") and not one.is_external
            ),
            None,
        )
        if part is None:
            return
        root = part.element
        abstract = {
            one.get(qn("w:abstractNumId")): _levels(one)
            for one in root.iterchildren(qn("w:abstractNum"))
        }
        for one in root.iterchildren(qn("w:num")):
            of = one.find(qn("w:abstractNumId"))
            if of is not None:
                self._levels[one.get(qn("w:numId"))] = abstract.get(of.get(qn("w:val")), {})

    def of(self, paragraph: Any, style: Any) -> str:
        """What stands before a paragraph: `4.1`, `1.`, `-` for a bullet; "" for nothing."""
        found = _numbering(paragraph)
        while found is None and style is not None:
            found, style = _numbering(style.element), style.base_style
        if found is None or found[0] not in self._levels:
            return ""
        number, level = found
        levels, counts = self._levels[number], self._counts[number]
        if level not in levels:
            return ""
        kind, pattern, start = levels[level]
        if kind in ("bullet", "none"):
            return "-" if kind == "bullet" else ""
        counts[level] = counts.get(level, start - 1) + 1
        for deeper in [one for one in counts if one > level]:
            del counts[deeper]

        def counted(hit: re.Match[str]) -> str:
            at = int(hit[1]) - 1
            own = levels.get(at, ("decimal", "", 1))
            return _figure(counts.get(at, own[2]), own[0])

        return _PLACE.sub(counted, pattern)


def _levels(abstract: Any) -> dict[int, tuple[str, str, int]]:
    """{level: (kind of figure, pattern, first number)}"""
    made = {}
    for level in abstract.iterchildren(qn("w:lvl")):
        told = {
            name: one.get(qn("w:val"))
            for name in ("numFmt", "lvlText", "start")
            if (one := level.find(qn(f"w:{name}"))) is not None
        }
        first = int(told.get("start") or 1)
        kind, pattern = told.get("numFmt") or "decimal", told.get("lvlText") or ""
        made[int(level.get(qn("w:ilvl")))] = (kind, pattern, first)
    return made


def _numbering(holder: Any) -> tuple[str, int] | None:
    found = holder.find(f"{qn('w:pPr')}/{qn('w:numPr')}")
    if found is None or (of := found.find(qn("w:numId"))) is None:
        return None
    level = found.find(qn("w:ilvl"))
    return of.get(qn("w:val")), int(level.get(qn("w:val"))) if level is not None else 0


def _figure(number: int, kind: str) -> str:
    if kind.startswith(("chinese", "japaneseCounting", "ideograph")) and 0 < number < 100:
        tens, ones = divmod(number, 10)
        first = "十" if tens == 1 else f"{_HAN[tens]}十" if tens else ""
        return first + (_HAN[ones] if ones or not tens else "")
    if kind in ("lowerLetter", "upperLetter") and 0 < number <= 26:
        letter = chr(ord("a") + number - 1)
        return letter if kind == "lowerLetter" else letter.upper()
    return str(number)

"""A paper as a Word file; its properties say who made it and whether a model wrote a part."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from xml.sax.saxutils import escape

from core.house.paper.value import FIGURE_WEIGHTS, Paper, Section
from core.house.spreadsheet import readable

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_FONT = "Noto Sans SC"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_CUSTOM = "application/vnd.openxmlformats-officedocument.custom-properties+xml"
_LONGEST = 255  # of a core property
_WIDTH_MM, _HEIGHT_MM, _MARGIN_MM = 210, 297, 20  # A4
_ABOUT_WEIGHTS = (1, 4)
_CELL_PT = 9


def as_docx(paper: Paper) -> bytes:
    """The file."""
    # Takes a third of a second to import, for a file few ask for.
    from docx import Document

    file: Any = Document()
    _style(file)
    _properties(file, paper)
    _page(file.sections[0], paper)
    file.add_heading(readable(paper.title), 0)
    if paper.label:
        _notice(file, paper.label)
    _table(file, None, paper.about, _ABOUT_WEIGHTS)
    for section in paper.sections:
        _section(file, section, paper.heads)
    stream = io.BytesIO()
    file.save(stream)
    return stream.getvalue()


def _page(page: Any, paper: Paper) -> None:
    """A4; the study and the title above, what is said of a model's part and the page's number below."""
    from docx.enum.text import WD_TAB_ALIGNMENT
    from docx.shared import Mm

    page.page_width, page.page_height = Mm(_WIDTH_MM), Mm(_HEIGHT_MM)
    page.left_margin = page.right_margin = Mm(_MARGIN_MM)
    header, footer = page.header.paragraphs[0], page.footer.paragraphs[0]
    for line in (header, footer):
        line.style.paragraph_format.tab_stops.clear_all()
        line.paragraph_format.tab_stops.add_tab_stop(
            Mm(_WIDTH_MM - 2 * _MARGIN_MM), WD_TAB_ALIGNMENT.RIGHT
        )
    header.text = readable(f"{paper.study}\t{paper.title}")
    footer.text = readable(f"{paper.label or paper.study}\t")
    _field(footer, "PAGE")
    footer.add_run(" / ")
    _field(footer, "NUMPAGES")


def _field(paragraph: Any, name: str) -> None:
    """What Word counts itself."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), name)
    paragraph._p.append(field)


def _section(file: Any, section: Section, heads: Sequence[str]) -> None:
    file.add_heading(readable(section.title), 1)
    if section.label:
        _notice(file, section.label)
    for line in section.lines:
        file.add_paragraph(readable(line))
    if section.figures:
        figures = ((one.label, one.value, one.definition) for one in section.figures)
        _table(file, heads, figures, FIGURE_WEIGHTS)
    if section.table and section.table.rows:
        _table(file, section.table.header, section.table.rows, section.table.weights)
    elif section.table:
        file.add_paragraph(readable(section.table.empty))


def _table(
    file: Any, header: Sequence[str] | None, rows: Iterable[Sequence[str]], weights: Sequence[int]
) -> None:
    """The grid, its header said again on each page, no row cut by the end of one."""
    from docx.oxml import OxmlElement
    from docx.shared import Mm, Pt

    lines = [*([header] if header else []), *rows]
    table = file.add_table(rows=len(lines), cols=len(lines[0]), style="Table Grid")
    table.autofit = False
    whole = _WIDTH_MM - 2 * _MARGIN_MM
    widths = [Mm(whole * weight / sum(weights)) for weight in weights]
    for column, width in zip(table.columns, widths, strict=True):
        column.width = width
    for row, line in zip(table.rows, lines, strict=True):
        row._tr.get_or_add_trPr().append(OxmlElement("w:cantSplit"))
        # `row.cells` walks the whole row each time it is asked.
        for cell, text, width in zip(row.cells, line, widths, strict=True):
            cell.width = width
            run = cell.paragraphs[0].add_run(readable(text))
            run.bold, run.font.size = line is header, Pt(_CELL_PT)
    if header:
        table.rows[0]._tr.trPr.append(OxmlElement("w:tblHeader"))


def _notice(file: Any, text: str) -> None:
    file.add_paragraph(readable(text), style="Intense Quote")


def _style(file: Any) -> None:
    from docx.oxml.ns import qn
    from docx.shared import Pt

    for name in ("Normal", "Title", "Heading 1", "Header", "Footer", "Intense Quote"):
        style = file.styles[name]
        style.font.name = _FONT
        fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
        for theme in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
            fonts.attrib.pop(qn(f"w:{theme}"), None)
        fonts.set(qn("w:eastAsia"), _FONT)
    file.styles["Normal"].font.size = Pt(10)


def _properties(file: Any, paper: Paper) -> None:
    told = file.core_properties
    told.title = readable(f"{paper.title} · {paper.study}")[:_LONGEST]
    told.author = told.last_modified_by = readable(paper.author)[:_LONGEST]
    # Word writes times without an offset, in UTC.
    told.created = told.modified = (
        datetime.fromisoformat(paper.made_at).astimezone(UTC).replace(tzinfo=None)
    )
    told.subject = readable(paper.study)[:_LONGEST]
    told.comments = readable(paper.label)[:_LONGEST]
    if paper.mark:
        _custom(file, readable(paper.mark))


def _custom(file: Any, mark: str) -> None:
    """A property of the file's own, named AIGC: where a reader of labels looks for it."""
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part

    content = (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
        f'<Properties xmlns="{_OFFICE}/custom-properties" xmlns:vt="{_OFFICE}/docPropsVTypes">'
        '<property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="2" name="AIGC">'
        f"<vt:lpwstr>{escape(mark)}</vt:lpwstr></property></Properties>"
    )
    package = file.part.package
    part = Part(PackURI("/docProps/custom.xml"), _CUSTOM, content.encode(), package)
    package.relate_to(part, f"{_OFFICE}/relationships/custom-properties")

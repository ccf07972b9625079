"""PDF and Word files give the sections, tables and answers of the Markdown that they were made of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from study.protocol.files import pdf, word
from study.protocol.files.layout import Read, RefusedError
from study.protocol.rules import RuleIndex
from study.protocol.units import Unit, units
from tests.support import papers

TESTS = Path(__file__).parents[2] / "assistant"
DOCUMENTS = sorted((Path(__file__).parents[3] / "demo" / "study" / "documents").glob("*.md"))
TEXTS = {path.stem: path.read_text("utf-8") for path in DOCUMENTS}


def silent(_page: int, _pages: int) -> None:
    """Progress that nobody watches."""


def read(kind: str, text: str) -> Read:
    if kind == "pdf":
        return pdf.read(papers.as_pdf(text), silent)
    return word.read(papers.as_docx(text), silent)


def told(unit: Unit) -> tuple[str, str, str, str]:
    """A rule; wide blanks to sign on are no text."""
    return unit.number, unit.title, unit.lead, " ".join(unit.text.split())


@pytest.fixture(scope="module", params=["pdf", "docx"])
def both(request: pytest.FixtureRequest) -> dict[str, str]:
    return {name: read(request.param, text).text for name, text in TEXTS.items()}


@pytest.mark.full
def test_each_document_has_the_same_rules_in_the_same_sections(both: dict[str, str]) -> None:
    assert len(both) == 4
    for name, text in both.items():
        assert [*map(told, units([(name, text)]))] == [*map(told, units([(name, TEXTS[name])]))]


@pytest.mark.full
def test_questions_find_the_same_passages(both: dict[str, str]) -> None:
    def named(texts: dict[str, str]) -> RuleIndex:
        return RuleIndex([(TEXTS[name].split("\n")[0][2:], text) for name, text in texts.items()])

    own, other = named(TEXTS), named(both)
    lines = (TESTS / "retrieval.jsonl").read_text("utf-8").splitlines()
    for case in map(json.loads, lines[::4]):
        first, second = (
            [told(one) for _score, one in rules.ranked(case["text"], {})[:5]]
            for rules in (own, other)
        )
        assert first == second, case["text"]


def test_a_table_over_two_pages_keeps_its_head_with_each_row() -> None:
    rows = "".join(f"| 项目{at} | 每次访视 |\n" for at in range(60))
    found = read("pdf", f"# 方案\n\n## 3 检查\n\n| 检查 | 频次 |\n|---|---|\n{rows}")
    assert found.tables == 1
    assert [unit.text for unit in units([("", found.text)])] == [
        f"检查:项目{at};频次:每次访视" for at in range(60)
    ]


def test_word_counts_numbers_of_headings_and_merged_cells_say_the_same() -> None:
    from io import BytesIO

    from docx import Document
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    document = Document()
    numbering = document.part.numbering_part.element
    levels = "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="decimal"/>'
        f'<w:lvlText w:val="{pattern}"/></w:lvl>'
        for at, pattern in enumerate(("%1", "%1.%2"))
    )
    abstract = f'<w:abstractNum {nsdecls("w")} w:abstractNumId="77">{levels}</w:abstractNum>'
    numbering.insert(0, parse_xml(abstract))
    numbering.append(
        parse_xml(f'<w:num {nsdecls("w")} w:numId="77"><w:abstractNumId w:val="77"/></w:num>')
    )
    for said, level in (("背景", 0), ("入选", 0), ("年龄", 1), ("体能", 1)):
        paragraph = document.add_heading(said, level + 1)
        paragraph._p.get_or_add_pPr().append(
            parse_xml(
                f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/><w:numId w:val="77"/></w:numPr>'
            )
        )
        document.add_paragraph(f"{said}的规定。")
    table = document.add_table(3, 2)
    for row, cells in enumerate((("分级", "处理"), ("1 级", "观察"), ("", "停药"))):
        for cell, said in zip(table.rows[row].cells, cells, strict=True):
            cell.text = said
    table.cell(1, 0).merge(table.cell(2, 0))
    out = BytesIO()
    document.save(out)
    found = word.read(out.getvalue(), silent)
    assert [(unit.number, unit.text) for unit in units([("", found.text)])] == [
        *(("1", "背景的规定。"), ("2", "入选的规定。"), ("2.1", "年龄的规定。")),
        *(("2.2", "体能的规定。"), ("2.2", "分级:1 级;处理:观察"), ("2.2", "分级:1 级;处理:停药")),
    ]


def test_a_scan_is_refused_and_a_single_picture_told() -> None:
    with pytest.raises(RefusedError) as refused:
        pdf.read(papers.pages(3), silent)
    assert refused.value.code == "scanned"
    from io import BytesIO

    from pypdf import PdfWriter

    writer = PdfWriter()
    for raw in (papers.pages(5, "受试者在访视当天完成检查"), papers.pages(1)):
        writer.append(BytesIO(raw))
    out = BytesIO()
    writer.write(out)
    assert pdf.read(out.getvalue(), silent).warnings == [("no_text", 6)]

"""A paper in its forms: every text as it is, nothing run; who, when and a label where a model wrote."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from typing import Any

import pytest
from docx import Document
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from core.house.paper import as_docx, as_pdf
from core.house.paper.typesetting import TypesetError
from core.house.paper.value import Figure, Paper, Section, Table, ai_mark

HOSTILE = (
    '#panic("x")', "#import \"/paper.typ\": *", "#read(\"/etc/passwd\")", "$ sum_x $", "*b* _i_ `r`",
    "@ref <label>", "// comment", "/* open", "\\u{41} \\", "= heading", "- item", "]", "[", "{", "}", '"',
    "#{", "#sys.inputs", "~ -- ---", "</w:t><w:p/>", "<script>alert(1)</script>", "&amp;", "=1+1", "'",
)  # fmt: skip
TEXT = st.lists(
    st.sampled_from(HOSTILE) | st.text("甲乙#$[]{}\\\"'`*_@<>=~/-;:!?&%^|a1 ", min_size=1)
)
PAPER = Paper(
    title="研究周报",
    study="LUNG-IIT",
    author="zhangyi",
    made_at="2026-11-29T14:00:00+08:00",
    language="zh-hans",
    heads=("指标", "数值", "如何计算"),
    about=(("导出人", "zhangyi"),),
    sections=(),
    label="本文件含人工智能生成的内容",
    mark=ai_mark("IIT Manager", "42"),
)


def with_texts(texts: list[str]) -> Paper:
    """A paper that holds the texts in all its places."""
    rows = tuple((text, text) for text in texts)
    figures = tuple(Figure(text, text, text) for text in texts)
    section = Section(
        "标题" + "".join(texts), tuple(texts), figures, Table(("甲", "乙"), rows, "无")
    )
    return replace(PAPER, sections=(section,))


def packed(text: str) -> str:
    """What is left where lines and words may be broken anywhere."""
    return "".join(text.replace("\u200b", "").split())


def read_pdf(data: bytes) -> str:
    return packed("".join(page.extract_text() for page in PdfReader(io.BytesIO(data)).pages))


def read_docx(data: bytes) -> list[str]:
    file: Any = Document(io.BytesIO(data))
    cells = [cell.text for table in file.tables for row in table.rows for cell in row.cells]
    return [*cells, *(paragraph.text for paragraph in file.paragraphs)]


@pytest.mark.full
@settings(max_examples=6, deadline=None)
@given(TEXT)
def test_no_text_is_markup_or_code(texts: list[str]) -> None:
    paper = with_texts([*HOSTILE, *texts])
    pdf = read_pdf(as_pdf.as_pdf(paper))
    word = "\n".join(read_docx(as_docx.as_docx(paper)))
    for text in (*HOSTILE, *texts):
        assert packed(text) in pdf
        assert text in word


@pytest.mark.full
def test_what_the_font_lacks_and_what_no_file_can_hold_is_marked() -> None:
    paper = with_texts(["a\x00b😀c\u202ed", "正常"])
    assert "□" in read_pdf(as_pdf.as_pdf(paper))
    assert "a\ufffdb😀" in "".join(read_docx(as_docx.as_docx(paper)))


def test_files_say_who_when_and_that_a_model_wrote_a_part() -> None:
    pdf = as_pdf.as_pdf(PAPER)
    reader = PdfReader(io.BytesIO(pdf))
    about = reader.metadata
    assert about is not None
    assert (about.title, about.author) == ("研究周报 · LUNG-IIT", "zhangyi")
    assert about.creation_date is not None
    assert f"{about.creation_date:%Y-%m-%d %H:%M}" == "2026-11-29 06:00"
    assert (
        json.loads(about["/Keywords"])["AIGC"] | {"Label": "1", "ProduceID": "42"}
        == json.loads(about["/Keywords"])["AIGC"]
    )
    xmp = reader.trailer["/Root"]["/Metadata"].get_data().decode()  # type: ignore[index]
    assert "<pdfaid:part>2</pdfaid:part>" in xmp
    assert "AIGC" in xmp
    assert PAPER.label in read_pdf(pdf)
    data = as_docx.as_docx(PAPER)
    word: Any = Document(io.BytesIO(data))
    assert word.core_properties.author == "zhangyi"
    assert f"{word.core_properties.created:%Y-%m-%d %H:%M}" == "2026-11-29 06:00"
    assert "AIGC" in zipfile.ZipFile(io.BytesIO(data)).read("docProps/custom.xml").decode()
    assert PAPER.label in read_docx(data)
    assert PAPER.label in word.sections[0].footer.paragraphs[0].text


def test_what_no_model_wrote_has_no_label() -> None:
    plain = replace(PAPER, label="", mark="")
    assert b"AIGC" not in as_pdf.as_pdf(plain)
    assert (
        "docProps/custom.xml" not in zipfile.ZipFile(io.BytesIO(as_docx.as_docx(plain))).namelist()
    )


def test_only_the_bundled_font_is_in_the_file() -> None:
    reader = PdfReader(io.BytesIO(as_pdf.as_pdf(with_texts(["中文 Latin αβγ ≥ ±"]))))
    fonts = {
        str(font.get_object()["/BaseFont"])
        for page in reader.pages
        for font in page["/Resources"]["/Font"].values()  # type: ignore[index]
    }
    assert fonts
    assert all("NotoSansSC" in name for name in fonts)


def test_what_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(as_pdf, "_SECONDS", 0.001)
    with pytest.raises(TypesetError):
        as_pdf.as_pdf(PAPER)


def test_columns_are_as_wide_as_what_stands_in_them_asks_for() -> None:
    table = Table(("受试者", "疑点", "日期"), (("P001", "长" * 60, "2026-11-30"),))
    narrow, wide, date = table.weights
    assert narrow < date < wide < 60

    paper = replace(PAPER, sections=(Section("疑点", table=table),))
    file: Any = Document(io.BytesIO(as_docx.as_docx(paper)))
    page = file.sections[0]
    room = page.page_width - page.left_margin - page.right_margin
    columns = file.tables[-1].columns
    assert [round(column.width / room, 2) for column in columns] == [
        round(weight / sum(table.weights), 2) for weight in table.weights
    ]
    assert "cantSplit" in file.tables[-1].rows[1]._tr.xml
    assert "NUMPAGES" in page.footer.paragraphs[0]._p.xml

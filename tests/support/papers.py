"""Markdown documents as the PDF and Word files that an office would make of them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from io import BytesIO
from random import Random

from docx import Document
from PIL import Image
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Table

FONT = "STSong-Light"
pdfmetrics.registerFont(UnicodeCIDFont(FONT))
_TEXT = ParagraphStyle(
    "text", fontName=FONT, fontSize=10.5, leading=16, wordWrap="CJK", spaceAfter=4
)
_HEAD = ParagraphStyle("head", parent=_TEXT, fontSize=13, leading=20, spaceBefore=8)
_RULE = re.compile(r"(?=.*-)\|?[\s:|-]+\|?")


def blocks(text: str) -> Iterator[tuple[str, int, list[list[str]]]]:
    """(line, level of the heading or 0, rows of the table) of each part of a Markdown text."""
    rows: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            if not _RULE.fullmatch(line):
                rows.append([cell.strip() for cell in line.strip("|").split("|")])
            continue
        if rows:
            yield "", 0, rows
            rows = []
        if line.strip():
            found = re.match(r"(#+)\s+(.*)", line)
            yield (found[2], len(found[1]), []) if found else (line.strip(), 0, [])


def as_docx(text: str) -> bytes:
    """With styles for headings and real tables."""
    document = Document()
    for line, level, rows in blocks(text):
        if rows:
            table = document.add_table(0, len(rows[0]))
            for row in rows:
                for cell, said in zip(table.add_row().cells, row, strict=False):
                    cell.text = said
        elif level:
            document.add_heading(line, level)
        elif line.startswith("- "):
            document.add_paragraph(line[2:], style="List Bullet")
        else:
            document.add_paragraph(line)
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def as_pdf(text: str) -> bytes:
    """A4, larger headings, tables with a grid that repeat their head, running head and page number."""
    width = A4[0] - 150
    flow: list[Flowable] = []
    for line, level, rows in blocks(text):
        if rows:
            cells = [[Paragraph(html.escape(one), _TEXT) for one in row] for row in rows]
            widths = [width / len(rows[0])] * len(rows[0])
            style = [
                ("GRID", (0, 0), (-1, -1), 0.5, colors.black),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ]
            flow.append(Table(cells, widths, repeatRows=1, style=style))
        else:
            flow.append(Paragraph(html.escape(line), _HEAD if level else _TEXT))
    out = BytesIO()

    def furniture(canvas: Canvas, document: SimpleDocTemplate) -> None:
        canvas.setFont(FONT, 8)
        canvas.drawString(72, A4[1] - 40, "LUNG-IIT 研究方案 机密")
        canvas.drawCentredString(A4[0] / 2, 30, f"第 {document.page} 页")

    SimpleDocTemplate(out, pagesize=A4).build(flow, onFirstPage=furniture, onLaterPages=furniture)
    return out.getvalue()


def scanned_with_text(count: int, text: str) -> bytes:
    """A PDF of a scanner with text recognition: on each page a picture of some MB, its text unseen below."""
    out = BytesIO()
    canvas = Canvas(out, pagesize=A4)
    noise = Random(26)
    for number in range(1, count + 1):
        picture = Image.frombytes("L", (1700, 2200), noise.randbytes(1700 * 2200))
        canvas.drawImage(ImageReader(picture), 0, 0, *A4)
        unseen = canvas.beginText(72, 760)
        unseen.setTextRenderMode(3)
        unseen.setFont(FONT, 12)
        unseen.textLine(f"{number}.1 第{number}节")
        for line in range(20):
            unseen.textLine(f"{text}{number}-{line}。")
        canvas.drawText(unseen)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def pages(count: int, text: str = "") -> bytes:
    """A PDF of so many pages; without a text each is only a drawing, as a scanner makes it."""
    out = BytesIO()
    canvas = Canvas(out, pagesize=A4)
    for number in range(1, count + 1):
        if text:
            canvas.setFont(FONT, 14)
            canvas.drawString(72, 760, f"{number}.1 第{number}节")
            canvas.setFont(FONT, 10.5)
            for line in range(30):
                canvas.drawString(72, 730 - 18 * line, f"{text}{number}-{line}。")
        else:
            canvas.rect(50, 50, 400, 700, fill=1)
        canvas.showPage()
    canvas.save()
    return out.getvalue()

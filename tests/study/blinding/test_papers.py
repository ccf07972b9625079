"""What a blinded reader takes along tells no arm: reports as page, Word and PDF, lists as CSV and XLSX."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils.timezone import now
from docx import Document
from openpyxl import load_workbook
from pypdf import PdfReader

from engines import deviations
from engines.models import Deviation
from study.blinding import services
from tests.study.blinding.conftest import Open
from tests.study.blinding.test_any_address import body, live, told
from tests.study.blinding.test_page import client
from tests.support.addresses import addresses
from tests.support.quiet import quiet
from tests.support.study import Study

pytestmark = pytest.mark.full

KINDS = ("week", "month", "ethics", "subjects", "findings")
# Exports of lists, from those of `addresses()`: so that none is forgotten.
EXPORTS = [one.path for one in addresses() if "/export" in one.path and not one.parameters]
DEVIATIONS = [f"/admin/engines/deviation/{form}/" for form in ("export", "export-xlsx")]


@pytest.fixture
def lived(open_twin: Open) -> Iterator[Study]:
    """Its register holds deviations by the arm and by no arm."""
    with quiet():
        study = live(open_twin)
        deviations.propose_missing()
        rows = Deviation.objects.all()
        rows.update(state=Deviation.State.CONFIRMED, grade=Deviation.Grade.MAJOR)
        assert rows.filter(finding__rule_key__contains="R_arm").update(text="分组为试验组") > 0
        yield study


def in_docx(raw: bytes) -> str:
    """All texts of the package: the document, head, foot and its properties."""
    file: Any = Document(io.BytesIO(raw))
    return " ".join(part.blob.decode("utf-8", "replace") for part in file.part.package.parts)


def in_pdf(raw: bytes) -> str:
    reader = PdfReader(io.BytesIO(raw))
    pages = "".join("".join(page.extract_text().split()) for page in reader.pages)
    return pages.replace("\u200b", "") + str(reader.metadata)


def in_book(raw: bytes) -> str:
    sheets = load_workbook(io.BytesIO(raw)).worksheets
    return " ".join(str(cell) for sheet in sheets for row in sheet.values for cell in row)


def taken_along(browser: Client) -> dict[str, str]:
    """Every text that leaves by reports and lists, by where it came from."""
    days = {"from": "2026-01-01", "to": str(now().date() + timedelta(days=1))}
    found = {}
    for kind in KINDS:
        for form, read in (("", bytes.decode), ("docx", in_docx), ("pdf", in_pdf)):
            answer = browser.get("/admin/papers/", {"kind": kind, "form": form, **days})
            assert answer.status_code == 200, (kind, form)
            found[f"{kind}.{form or 'page'}"] = str(read(answer.content))
    for path in EXPORTS:
        answer = browser.get(path)
        if answer.status_code == 200:
            found[path] = in_book(answer.content) if "xlsx" in path else body(answer)
    return found


def test_no_form_tells_a_blinded_reader_an_arm(lived: Study) -> None:
    texts = taken_along(client("zhangyi"))
    assert {name: told(text) for name, text in texts.items() if told(text)} == {}
    for name in DEVIATIONS:
        assert "核对 medical_history_text" in texts[name]
    assert len(texts) >= 3 * len(KINDS) + 6


def test_the_unblinded_are_told_in_each_form(lived: Study) -> None:
    """Else the test above would find nothing because there is nothing."""
    services.choose_unblinded(
        project=lived.project, unblinded=[str(lived["wanghushi"].pk)], actor=lived["admin"].user
    )
    texts = taken_along(client("wanghushi"))
    for name in ("ethics.page", "ethics.docx", "ethics.pdf", *DEVIATIONS):
        assert "试验组" in texts[name], name


def test_a_superuser_is_blinded_without_a_membership_too(lived: Study) -> None:
    get_user_model().objects.filter(username="zhangyi").update(is_superuser=True)
    page = client("zhangyi").get("/admin/papers/", {"kind": "findings"}).content.decode()
    assert 'data-test="figure"' in page
    assert not told(page)

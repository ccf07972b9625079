"""What may become a document: encodings, sizes, versions (study.protocol.index)."""

from __future__ import annotations

import codecs

import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from projects.models import AuditEntry
from study.models import ProtocolChunk, ProtocolDocument
from study.protocol.index import (
    MAX_BYTES,
    MAX_PASSAGES,
    DocumentError,
    add_document,
    checked_document,
    decoded_document,
    delete_document,
    search,
)
from study.protocol.units import LIMIT, chunks
from tests.house.kit import make_project

TEXT = "# 7 补偿\n受试者在访视当天领取交通补贴 60 元。\n"
CHINESE = st.text(st.characters(codec="gb18030", exclude_categories=("C", "Z")), min_size=1)


@pytest.mark.parametrize(
    "raw",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.encode("gb18030"),
        TEXT.encode("gbk"),
        TEXT.encode("utf-16"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    ],
)
def test_each_usual_encoding_gives_the_same_text(raw: bytes) -> None:
    assert decoded_document(raw) == TEXT


@pytest.mark.full
@given(CHINESE)
def test_a_text_comes_back_as_it_was(text: str) -> None:
    text = f"# 1 方案\n受试者{text}"
    assert decoded_document(text.encode()) == text


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b"%PDF-1.7 ...", "PDF"),
        (b"PK\x03\x04 docx", "PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "PDF"),
        (b"\x89PNG\r\n\x1a\n\0\0", "GB18030"),
        (b"a\0b", "GB18030"),
        (b"\xff\xff\xff", "GB18030"),
        (codecs.BOM_UTF16_LE + b"a", "GB18030"),
        (b"x" * (MAX_BYTES + 1), "1024 KB"),
        (b"", "没有正文"),
        (b"# 1 \n\n## 2\n", "没有正文"),
        (b"# 1\na\n" * (MAX_PASSAGES + 1), "20000"),
    ],
)
def test_what_is_no_document_says_why(raw: bytes, word: str) -> None:
    with override("zh-hans"), pytest.raises(DocumentError, match=word):
        decoded_document(raw)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_document_or_refused(raw: bytes) -> None:
    try:
        text = decoded_document(raw)
    except DocumentError:
        return
    assert checked_document(text) == text


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    [
        "# a" + " " * 200_000 + "b\n正文",
        "# " + "# " * 100_000 + "\n正文",
        "# " + "1" * 500_000 + "\n正文\n" + "# 小节\n正文\n" * 4000,
        "1." * 200_000,
        "a" * 1_000_000,
        "|" + " |" * 200_000 + "\n" + "|-" * 1000 + "\n| a |\n",
        "第" * 300_000,
    ],
)
def test_a_hostile_text_is_cut_all_the_same(text: str) -> None:
    """None of these ends in the time of a test where a pattern goes back over a line."""
    assert all(len(part.content) <= LIMIT for part in chunks(text))


# --- versions --------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_new_version_takes_over_and_the_old_one_is_kept() -> None:
    study = make_project()
    add_document(project=study, name="ICF", text=TEXT, version="1", actor="chief")
    assert "交通补贴" in search(study, "交通补贴")[0].content
    add_document(
        project=study, name="ICF", text="# 7 补偿\n营养费 80 元。", version="2", actor="pi"
    )
    assert search(study, "交通补贴") == []
    assert "营养费" in search(study, "营养费")[0].content
    rows = ProtocolDocument.objects.filter(project=study, name="ICF")
    assert [(row.version, row.is_active) for row in rows] == [("2", True), ("1", False)]
    entries = AuditEntry.objects.filter(action="document.import").order_by("pk")
    assert [(e.actor, (e.old or {}).get("version"), e.new["version"]) for e in entries] == [
        ("chief", None, "1"),
        ("pi", "1", "2"),
    ]


@pytest.mark.django_db
def test_a_version_may_come_back() -> None:
    study = make_project()
    for text in (TEXT, "# 1\n别的", TEXT, TEXT):
        add_document(project=study, name="ICF", text=text, actor="chief")
    assert search(study, "交通补贴")
    assert ProtocolDocument.objects.count() == 3


@pytest.mark.django_db
def test_a_deleted_document_is_searched_no_more() -> None:
    study, other = make_project(), make_project("BETA")
    for project in (study, other):
        add_document(project=project, name="ICF", text=TEXT, version="1", actor="chief")
    delete_document(document=ProtocolDocument.objects.get(project=study), actor="chief")
    assert search(study, "交通补贴") == []
    assert search(other, "交通补贴")
    assert ProtocolChunk.objects.filter(document__project=study).count() == 0
    entry = AuditEntry.objects.get(action="document.delete")
    assert (entry.label, entry.old["version"], entry.old["is_active"]) == ("ICF", "1", True)

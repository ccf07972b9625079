"""Files are dropped, read in the background, looked at and put in force; what cannot be read is refused."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pypdf import PdfWriter

from core.house import clock
from projects.models import AuditEntry
from skills.models import PassageCheck
from study.models import ProtocolDocument, ProtocolUpload
from study.protocol import uploads
from study.protocol.index import search
from study.tasks import follow_uploads
from tests.support import papers
from tests.support.tasks import drain, purge

UPLOAD = "/admin/study/protocoldocument/upload/"
TEXT = "# 补充说明\n\n## 4.1 停车\n\n停车费每次报销 37 元。\n\n| 项目 | 金额 |\n|---|---|\n| 餐费 | 20 元 |\n"


@pytest.fixture(autouse=True)
def _no_message_left(study: Any) -> None:
    purge()


def send(client: Client, **files: bytes) -> Any:
    sent = [SimpleUploadedFile(name.replace("_dot_", "."), raw) for name, raw in files.items()]
    return client.post(UPLOAD, {"project": "LUNG-IIT", "files": sent}, follow=True)


@pytest.fixture
def sent(django_capture_on_commit_callbacks: Any) -> Callable[..., str]:
    """Sends files, and what waits for the commit is done; the page that answers."""

    def act(client: Client, **files: bytes) -> str:
        with django_capture_on_commit_callbacks(execute=True):
            page: str = send(client, **files).content.decode()
        return page

    return act


def latest() -> ProtocolUpload:
    return ProtocolUpload.objects.latest("pk")


def locked(raw: bytes) -> bytes:
    writer = PdfWriter(clone_from=BytesIO(raw))
    writer.encrypt("a-word", algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def bomb() -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", b" " * (110 * 1024 * 1024))
    return out.getvalue()


@pytest.mark.slow
@pytest.mark.smoke
def test_several_files_are_read_looked_at_and_put_in_force(
    as_user: Callable[..., Client], study: Any, sent: Callable[..., str]
) -> None:
    client = as_user("admin", "zh-hans")
    sent(
        client,
        a_dot_pdf=papers.as_pdf(TEXT),
        b_dot_docx=papers.as_docx(TEXT),
        c_dot_md=TEXT.encode(),
    )
    before = ProtocolDocument.objects.count()
    drain()
    rows = [*ProtocolUpload.objects.order_by("filename")]
    assert [one.state for one in rows] == ["read"] * 3
    assert [(one.raw, one.tables) for one in rows] == [(None, 1)] * 3
    for one in rows:
        page = client.get(f"{UPLOAD}{one.pk}/", {"q": "停车费报销多少"}).content.decode()
        assert "4.1 停车" in page
        assert "停车费每次报销 37 元。" in page
        assert "项目:餐费;金额:20 元" in page
    assert ProtocolDocument.objects.count() == before
    client.post(f"{UPLOAD}{rows[0].pk}/", {"name": "补充说明", "version": "2", "publish": ""})
    document = ProtocolDocument.objects.get(name="补充说明")
    assert (document.version, document.is_active) == ("2", True)
    assert document.effective_on == clock.today(study.project.timezone)
    found = search(study.project, "停车费每次报销多少元?")
    assert any("37 元" in one.content for one in found)
    again = client.post(f"{UPLOAD}{rows[0].pk}/", {"name": "补充说明", "publish": ""})
    assert "不在等待生效" in again.content.decode()
    assert ProtocolDocument.objects.filter(name="补充说明").count() == 1


@pytest.mark.slow
@pytest.mark.smoke
def test_three_hundred_pages_are_read_with_progress(
    as_user: Callable[..., Client],
    study: Any,
    sent: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = as_user("admin", "zh-hans")
    sent(client, long_dot_pdf=papers.pages(300, "受试者在访视当天完成检查"))
    seen: list[str] = []
    said = uploads._said_by_reader

    def watched(kind: str, raw: bytes) -> Any:
        for one in said(kind, raw):
            yield one
            if one.get("page") == 150:
                seen.append(client.get(UPLOAD).content.decode())

    monkeypatch.setattr(uploads, "_said_by_reader", watched)
    drain()
    assert "已读 150 / 300 页" in seen[0]
    upload = latest()
    assert (upload.state, upload.page, upload.pages) == ("read", 300, 300)
    assert "300.1 第300节" in upload.text
    uploads.read_upload(upload.pk)
    assert latest().state == "read"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "raw", "word"),
    [
        ("scan_dot_pdf", lambda: papers.pages(2), "扫描件"),
        ("locked_dot_pdf", lambda: locked(papers.as_pdf(TEXT)), "密码"),
        ("cut_dot_pdf", lambda: b"%PDF-1.7 nothing", "损坏"),
        pytest.param(
            "cut_dot_docx",
            lambda: papers.as_docx(TEXT).replace(b"word/document.xml", b"word/document.xmk"),
            "损坏|不符",
            id="docx without its text",
        ),
    ],
)
def test_what_turns_out_unreadable_is_told_and_not_kept(
    as_user: Callable[..., Client],
    sent: Callable[..., str],
    name: str,
    raw: Callable[[], bytes],
    word: str,
) -> None:
    client, before = as_user("admin", "zh-hans"), ProtocolDocument.objects.count()
    page = sent(client, **{name: raw()})
    drain()
    page += client.get(UPLOAD).content.decode()
    assert any(one in page for one in word.split("|"))
    kept = ProtocolUpload.objects.exclude(raw=None) | ProtocolUpload.objects.exclude(text="")
    assert not kept.exists()
    assert ProtocolDocument.objects.count() == before


@pytest.mark.parametrize(
    ("name", "raw", "word"),
    [
        ("empty_dot_pdf", b"", "至少|空"),
        ("paper_dot_docx", b"%PDF-1.7", "不符"),
        ("paper_dot_pdf", b"PK\x03\x04", "不符"),
        ("paper_dot_md", b"%PDF-1.7", "不符"),
        ("old_dot_docx", b"\xd0\xcf\x11\xe0\xa1", ".docx"),
        ("photo_dot_png", b"\x89PNG", "PDF、DOCX"),
        ("blank_dot_md", b"# 1\n", "没有正文"),
        ("large_dot_pdf", b"%PDF-" + b"x" * uploads.MAX_FILE, "7 MB"),
        ("bomb_dot_docx", None, "解压"),
    ],
)
def test_a_hostile_file_is_refused_in_words_and_nothing_is_stored(
    as_user: Callable[..., Client], study: Any, name: str, raw: bytes | None, word: str
) -> None:
    client = as_user("admin", "zh-hans")
    page = send(client, **{name: bomb() if raw is None else raw}).content.decode()
    assert any(one in page for one in word.split("|")), page
    assert not ProtocolUpload.objects.exists()


@pytest.mark.parametrize("name", ["zhangyi", "wanghushi", "auditor", "charlie"])
def test_only_the_administrator_comes_here(
    as_user: Callable[..., Client], study: Any, name: str
) -> None:
    send(as_user("admin"), c_dot_md=TEXT.encode())
    one, client = latest(), as_user(name)
    for path in (UPLOAD, f"{UPLOAD}{one.pk}/", f"{UPLOAD}{one.pk}/rehearsal/"):
        assert client.get(path).status_code in (302, 403, 404)
    assert client.post(f"{UPLOAD}{one.pk}/", {"discard": ""}).status_code in (302, 403, 404)
    assert ProtocolUpload.objects.count() == 1


def test_a_version_waits_for_its_day(as_user: Callable[..., Client], study: Any) -> None:
    client = as_user("admin")
    send(client, c_dot_md=TEXT.encode())
    one, today = latest(), clock.today(study.project.timezone)
    body = {"name": "补充说明", "version": "3", "effective_on": str(today + timedelta(days=1))}
    client.post(f"{UPLOAD}{one.pk}/", body | {"publish": ""})
    follow_uploads()
    assert latest().state == "scheduled"
    assert not ProtocolDocument.objects.filter(name="补充说明").exists()
    ProtocolUpload.objects.update(effective_on=today)
    follow_uploads()
    follow_uploads()
    document = ProtocolDocument.objects.get(name="补充说明")
    assert (latest().state, document.version, document.effective_on) == ("done", "3", today)
    client.post(f"{UPLOAD}{one.pk}/", {"discard": ""})
    assert ProtocolUpload.objects.filter(pk=one.pk).exists()


def test_the_rehearsal_says_what_an_amendment_touches_and_flags_stay_until_checked(
    as_user: Callable[..., Client], study: Any
) -> None:
    client = as_user("admin", "zh-hans")
    protocol = ProtocolDocument.objects.get(project=study.project, name__contains="研究方案")
    text = protocol.text.replace("18～75 周岁", "18～80 周岁").replace("Day 84±7", "Day 84±3")
    assert text != protocol.text
    send(client, c_dot_md=text.encode())
    one = latest()
    page = client.get(f"{UPLOAD}{one.pk}/rehearsal/", {"name": protocol.name}).content.decode()
    assert "EL02" in page
    assert "V4 (Day 84 -7/+7)" in page
    assert "LB02" not in page
    assert ProtocolDocument.objects.get(pk=protocol.pk).is_active

    client.post(f"{UPLOAD}{one.pk}/", {"name": protocol.name, "version": "V9", "publish": ""})
    new = ProtocolDocument.objects.get(name=protocol.name, is_active=True)
    touches = f"/admin/study/protocoldocument/{new.pk}/touches/"
    assert "EL02" in client.get(touches).content.decode()
    reader = as_user("zhangyi")
    key = {"kind": "rule", "key": "qc_process/EL02"}
    assert reader.post(touches, key).status_code == 404
    assert client.post(touches, key | {"key": "qc_process/LB02"}).status_code == 404
    page = client.post(touches, key, follow=True).content.decode()
    assert "EL02</a>" not in page
    assert "EL01</a>" in page
    assert PassageCheck.objects.get().checked_by == "admin"
    assert AuditEntry.objects.filter(action="document.checked").count() == 1

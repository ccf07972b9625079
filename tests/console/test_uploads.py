"""Files are dropped, read in the background, looked at and put in force; what cannot be read is refused."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import timedelta
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pypdf import PdfWriter

from core.house import clock
from projects.models import AuditEntry
from skills.amendments import to_check
from skills.models import PassageCheck
from study.models import ProtocolDocument, ProtocolUpload
from study.protocol import index, uploads
from study.protocol.files import worker
from study.protocol.index import search
from study.tasks import follow_uploads
from tests.support import papers
from tests.support.tasks import drain, purge

UPLOAD = "/admin/study/protocoldocument/upload/"
NEW, REPLACED = {"document": "new", "name": "补充说明"}, {"document": "of 补充说明"}
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
    body = NEW | {"version": "2", "read": uploads.as_read(rows[0]), "publish": ""}
    client.post(f"{UPLOAD}{rows[0].pk}/", body)
    document = ProtocolDocument.objects.get(name="补充说明")
    assert (document.version, document.is_active) == ("2", True)
    assert document.effective_on == clock.today(study.project.timezone)
    found = search(study.project, "停车费每次报销多少元?")
    assert any("37 元" in one.content for one in found)
    again = client.post(f"{UPLOAD}{rows[0].pk}/", REPLACED | {"publish": ""})
    assert "不在等待生效" in again.content.decode()
    assert ProtocolDocument.objects.filter(name="补充说明").count() == 1


@pytest.mark.slow
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
def test_what_takes_too_long_is_refused_in_words(
    as_user: Callable[..., Client],
    study: Any,
    sent: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uploads, "LIMIT_S", 0.01)
    client = as_user("admin", "zh-hans")
    sent(client, long_dot_pdf=papers.pages(3, "受试者在访视当天完成检查"))
    drain()
    assert (latest().state, latest().raw, latest().text) == ("refused", None, "")
    assert "内存" in client.get(UPLOAD).content.decode()


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("bound", ["memory", "file"])
def test_a_scan_with_recognised_text_is_read_within_its_memory(study: Any, bound: str) -> None:
    """Pictures of some 25 MB are not unpacked for the text below them; with too little memory it is said."""
    raw = papers.scanned_with_text(6, "受试者在访视当天完成检查")
    assert 15 * uploads.MB < len(raw) < uploads.MAX_FILE
    code = (
        "import sys; from study.protocol.files import worker; "
        "worker.MEMORY = int(sys.argv.pop()); worker.main()"
    )
    most = worker.MEMORY // 2 if bound == "file" else 120 * uploads.MB
    done = subprocess.run(
        [sys.executable, "-c", code, "pdf", str(most)], input=raw, capture_output=True, check=True
    )
    said = json.loads(done.stdout.splitlines()[-1])
    if bound == "memory":
        assert said["refused"] == "heavy"
    else:
        assert "6.1 第6节" in said["text"]


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
        ("large_dot_pdf", b"%PDF-" + b"x" * uploads.MAX_FILE, "30 MB"),
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


@pytest.mark.full
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


@pytest.mark.full
def test_a_version_waits_for_its_day(as_user: Callable[..., Client], study: Any) -> None:
    client = as_user("admin")
    send(client, c_dot_md=TEXT.encode())
    one, today = latest(), clock.today(study.project.timezone)
    body = NEW | {"version": "3", "effective_on": str(today + timedelta(days=1))}
    client.post(f"{UPLOAD}{one.pk}/", body | {"read": uploads.as_read(one), "publish": ""})
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


@pytest.mark.full
def test_a_version_that_nobody_compared_it_with_is_not_replaced(
    as_user: Callable[..., Client], study: Any
) -> None:
    """Another file was put in force, or this one planned, after the page was opened."""
    client = as_user("admin")
    send(client, c_dot_md=TEXT.encode())
    one = latest()
    address = f"{UPLOAD}{one.pk}/"
    read = re.findall(r'name="read" value="([^"]+)"', client.get(address).content.decode())
    assert read == [uploads.as_read(one)]
    theirs = index.import_document(study.project, "补充说明", "# 1 别的\n\n别的内容。")
    body = REPLACED | {"version": "3", "read": read[0], "publish": ""}
    assert "has changed meanwhile" in client.post(address, body).content.decode()
    assert ProtocolDocument.objects.get(name="补充说明", is_active=True) == theirs
    other = {"document": "new", "name": "另一份"}
    assert client.post(address, body | other).status_code == 302
    send(client, c_dot_md=TEXT.encode())
    one = latest()
    address, body["read"] = f"{UPLOAD}{one.pk}/", uploads.as_read(one)
    later = str(clock.today(study.project.timezone) + timedelta(days=9))
    assert client.post(address, body | {"effective_on": later}).status_code == 302
    assert "has changed meanwhile" in client.post(address, body).content.decode()
    assert latest().state == "scheduled"


@pytest.mark.full
def test_of_several_that_are_due_the_latest_stays_in_force(study: Any) -> None:
    today = clock.today(study.project.timezone)
    for days in (0, 3, 1):
        ProtocolUpload.objects.create(
            project=study.project,
            name="补充说明",
            version=str(days),
            text=f"{TEXT}\n{days}",
            state="scheduled",
            effective_on=today - timedelta(days=days),
        )
    uploads.publish_due()
    assert ProtocolDocument.objects.get(name="补充说明", is_active=True).version == "0"


@pytest.mark.full
def test_throwing_a_file_away_is_in_the_trail_once(
    as_user: Callable[..., Client], study: Any
) -> None:
    client = as_user("admin")
    send(client, c_dot_md=TEXT.encode())
    one = latest()
    for _again in range(2):
        client.post(f"{UPLOAD}{one.pk}/", {"discard": ""})
    entry = AuditEntry.objects.get(action="document.discard")
    assert not ProtocolUpload.objects.exists()
    assert (entry.actor, entry.project) == ("admin", study.project)
    assert entry.old == {"file": "c.md", "state": "read", "sent_by": "admin"}


_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source"}


class _Files(HTMLParser):
    """Whether the third element above each box of files holds a box of text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[set[str]] = [set(), set(), set()]
        self.waiting: list[set[str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kind = dict(attrs).get("type")
        if tag == "input" and kind == "text":
            for one in self.open:
                one.add("text")
        if tag == "input" and kind == "file":
            self.waiting.append(self.open[-3])
        if tag not in _VOID:
            self.open.append(set())

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID and len(self.open) > 3:
            self.open.pop()


def test_each_box_of_files_has_the_text_that_unfold_writes_its_name_to() -> None:
    """Its script takes the first text box below the third element above, and fails where there is none."""
    named = [
        (path, path.read_text("utf-8"))
        for path in Path("templates").rglob("*.html")
        if 'type="file"' in path.read_text("utf-8")
    ]
    assert len(named) > 3
    for path, text in named:
        found = _Files()
        found.feed(re.sub(r"{%.*?%}|{#.*?#}|{{.*?}}", "", text, flags=re.DOTALL))
        assert found.waiting, path
        assert all("text" in one for one in found.waiting), path


def test_what_the_browser_did_not_send_is_refused_in_the_same_words(
    as_user: Callable[..., Client], study: Any
) -> None:
    sent = {"project": "LUNG-IIT", "too_large": "扫描方案.pdf"}
    page = as_user("admin", "zh-hans").post(UPLOAD, sent, follow=True).content.decode()
    assert "扫描方案.pdf" in page
    assert "30 MB" in page.partition("扫描方案.pdf")[2][:60]
    assert not ProtocolUpload.objects.exists()


@pytest.mark.full
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

    body = {"document": f"of {protocol.name}", "version": "V9", "read": uploads.as_read(one)}
    client.post(f"{UPLOAD}{one.pk}/", body)
    new = ProtocolDocument.objects.get(name=protocol.name, is_active=True)
    touches = f"/admin/study/protocoldocument/{new.pk}/touches/"
    assert "EL02" in client.get(touches).content.decode()
    reader = as_user("zhangyi")
    key = {"kind": "rule", "key": next(one.key for one in to_check(new) if one.rule == "EL02")}
    assert reader.post(touches, key).status_code == 404
    other = key["key"].replace("EL02", "LB02")
    assert client.post(touches, key | {"key": other}).status_code == 404
    page = client.post(touches, key, follow=True).content.decode()
    assert "EL02</a>" not in page
    assert "EL01</a>" in page
    assert PassageCheck.objects.get().checked_by == "admin"
    assert AuditEntry.objects.filter(action="document.checked").count() == 1


def shown(client: Client, path: str) -> str:
    return html.unescape(client.get(path).content.decode())


def test_a_file_under_another_name_replaces_what_its_sender_chose(
    as_user: Callable[..., Client], study: Any
) -> None:
    """Its own name made it a new document: two versions were in force, and nothing was touched."""
    client = as_user("admin")
    old = index.import_document(study.project, "方案", TEXT)
    send(client, **{"方案_V2_dot_md": TEXT.replace("37", "40").encode()})
    one = latest()
    address = f"{UPLOAD}{one.pk}/"
    rehearsal = shown(client, f"{address}rehearsal/")
    assert "No document named “方案_V2” is in force" in rehearsal
    assert '<option value="" selected>none: it is a new document' in rehearsal
    compared = shown(client, f"{address}rehearsal/?name=方案")
    assert '<option value="方案" selected>' in compared
    assert "40 元" in compared
    assert "As a new document" in shown(client, f"{address}rehearsal/?name=")

    page = shown(client, address)
    chosen = re.findall(r'<option value="([^"]*)"[^>]*selected', page.partition('"document"')[2])
    assert chosen in ([], [""])
    body = {"name": one.name, "version": "2", "read": uploads.as_read(one), "publish": ""}
    assert client.post(address, body).status_code == 200
    taken = client.post(address, body | {"document": "new", "name": "方案"})
    assert "A document of this name is in force" in html.unescape(taken.content.decode())
    assert client.post(address, body | {"document": "new", "name": " "}).status_code == 200
    assert ProtocolDocument.objects.get(project=study.project, name__startswith="方案") == old
    assert client.post(address, body | {"document": "of 方案"}).status_code == 302
    active = ProtocolDocument.objects.get(
        project=study.project, name__startswith="方案", is_active=True
    )
    assert (active.name, active.version, "40 元" in active.text) == ("方案", "2", True)


@pytest.mark.full
def test_the_first_document_of_a_study_replaces_none(
    as_user: Callable[..., Client], study: Any
) -> None:
    ProtocolDocument.objects.all().delete()
    client = as_user("admin")
    send(client, c_dot_md=TEXT.encode())
    address = f"{UPLOAD}{latest().pk}/"
    assert 'name="document"' not in shown(client, address)
    client.post(address, {"name": "方案", "read": uploads.as_read(latest())})
    assert ProtocolDocument.objects.get(is_active=True).name == "方案"


@pytest.mark.full
def test_what_was_chosen_for_a_later_day_is_shown(
    as_user: Callable[..., Client], study: Any
) -> None:
    client, later = as_user("admin"), clock.today(study.project.timezone) + timedelta(days=1)
    index.import_document(study.project, "方案", TEXT)
    for name, document in (("方案_V2", "of 方案"), ("附件", "new")):
        send(client, **{f"{name}_dot_md": TEXT.encode()})
        address = f"{UPLOAD}{latest().pk}/"
        body = {"name": name, "read": uploads.as_read(latest()), "effective_on": str(later)}
        client.post(address, body | {"document": document})
        assert latest().state == "scheduled"
        assert f'<option value="{document}" selected' in shown(client, address)

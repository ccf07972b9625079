"""The page of the study's documents: added, listed, read, replaced, deleted; and asked about right after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from projects.models import AuditEntry
from study.models import ProtocolDocument
from tests.engines.chat.kit import ask, mute

LIST = "/admin/study/protocoldocument/"
ADD = f"{LIST}add/"
TEXT = "# 88 停车费\n受试者停车费每次报销 37 元,凭票领取。\n<script>alert(1)</script>\n"


def send(client: Client, study: Any, **fields: Any) -> Any:
    body = {"project": str(study.project.pk), "name": "补充说明", "version": "1"} | fields
    return client.post(ADD, body)


def upload(raw: bytes, name: str = "a.md") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, raw)


@pytest.mark.full
@pytest.mark.parametrize("way", ["pasted", "file", "file in GB18030"])
def test_a_document_is_added_and_answers_right_after(
    as_user: Callable[..., Client], study: Any, way: str
) -> None:
    study.project.dify_url = ""
    study.project.save()
    mute(study)
    encoding = "gb18030" if "GB" in way else "utf-8"
    sent = {"pasted": TEXT} if way == "pasted" else {"file": upload(TEXT.encode(encoding))}
    answer = send(as_user("admin"), study, **sent)
    assert answer.status_code == 302, answer.content
    document = ProtocolDocument.objects.get(name="补充说明")
    assert (document.text.replace("\r\n", "\n"), document.is_active) == (TEXT, True)
    entry = AuditEntry.objects.filter(action="document.import").latest("pk")
    assert (entry.actor, entry.object_id) == ("admin", str(document.pk))
    assert "37" in ask("zhangyi", "方案里停车费报销多少?").text


@pytest.mark.full
def test_the_list_and_the_page_show_it(as_user: Callable[..., Client], study: Any) -> None:
    send(as_user("admin"), study, pasted=TEXT)
    send(as_user("admin"), study, pasted=f"{TEXT}新", version="2")
    for name in ("admin", "zhangyi", "wanghushi", "auditor"):
        client = as_user(name)
        page = client.get(LIST, {"q": "补充说明"}).content.decode()
        assert page.count("补充说明") >= 2
        for document in ProtocolDocument.objects.filter(name="补充说明"):
            shown = client.get(f"{LIST}{document.pk}/change/").content.decode()
            assert "停车费" in shown
            assert "<script>alert" not in shown


@pytest.mark.full
@pytest.mark.parametrize("name", ["zhangyi", "wanghushi", "auditor", "charlie"])
def test_only_the_administrator_writes(
    as_user: Callable[..., Client], study: Any, name: str
) -> None:
    send(as_user("admin"), study, pasted=TEXT)
    document = ProtocolDocument.objects.get(name="补充说明")
    before = ProtocolDocument.objects.count()
    client = as_user(name)
    assert client.get(ADD).status_code in (302, 403)
    assert send(client, study, pasted=f"{TEXT}neu").status_code in (302, 403)
    gone = client.post(
        reverse("admin:study_protocoldocument_delete", args=[document.pk]), {"post": "yes"}
    )
    assert gone.status_code in (302, 403)
    many = {"action": "delete_selected", "_selected_action": [document.pk], "post": "yes"}
    client.post(LIST, many)
    assert ProtocolDocument.objects.count() == before


def test_the_administrator_deletes(as_user: Callable[..., Client], study: Any) -> None:
    client = as_user("admin")
    send(client, study, pasted=TEXT)
    document = ProtocolDocument.objects.get(name="补充说明")
    address = reverse("admin:study_protocoldocument_delete", args=[document.pk])
    assert client.post(address, {"post": "yes"}).status_code == 302
    assert not ProtocolDocument.objects.filter(pk=document.pk).exists()
    entry = AuditEntry.objects.filter(action="document.delete").latest("pk")
    assert (entry.actor, entry.label) == ("admin", "补充说明")


@pytest.mark.parametrize(
    ("sent", "word"),
    [
        ({}, "二者取其一"),
        ({"pasted": " \n"}, "二者取其一"),
        ({"pasted": TEXT, "file": b"x"}, "二者取其一"),
        ({"file": b"%PDF-1.7"}, "PDF"),
        ({"file": b"\x89PNG\0"}, "GB18030"),
        ({"file": b"x" * (1024 * 1024 + 1)}, "1024 KB"),
        ({"file": b"# 1\n"}, "没有正文"),
    ],
)
def test_what_is_no_document_is_told_in_the_readers_language(
    as_user: Callable[..., Client], study: Any, sent: dict[str, Any], word: str
) -> None:
    body = sent | ({"file": upload(sent["file"])} if "file" in sent else {})
    answer = send(as_user("admin", "zh-hans"), study, **body)
    assert answer.status_code == 200
    assert word in answer.content.decode()
    assert not ProtocolDocument.objects.filter(name="补充说明").exists()

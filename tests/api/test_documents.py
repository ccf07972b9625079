"""Documents over the API: who adds and deletes, what is refused, and what is searched right after."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from projects.models import AuditEntry
from study.models import ProtocolDocument
from study.protocol.index import search
from tests.api.conftest import House, Login
from tests.api.test_editing import problem

PATH = "/api/v1/protocol-documents/"
TEXT = "# 7 补偿\n受试者在访视当天领取交通补贴 60 元。\n"
MAY_NOT = ["pi", "crc_a", "crc_b", "auditor"]
OUTSIDE = ["other", "stranger"]


def document(**fields: Any) -> dict[str, Any]:
    return {"project": "ALPHA", "name": "ICF", "version": "1.0", "text": TEXT} | fields


def test_the_administrator_adds_a_text_that_is_found_at_once(house: House, login: Login) -> None:
    answer = login("chief").post(PATH, document(), format="json")
    assert answer.status_code == 201, answer.content
    content = answer.json()
    assert (content["project"], content["name"], content["version"]) == ("ALPHA", "ICF", "1.0")
    assert (content["is_active"], content["sections"], content["text"]) == (True, 1, TEXT)
    assert "file" not in content
    assert "交通补贴" in search(house.alpha, "交通补贴")[0].content
    assert search(house.beta, "交通补贴") == []
    entry = AuditEntry.objects.get(action="document.import")
    assert (entry.actor, entry.action, entry.object_id) == (
        "chief",
        "document.import",
        str(content["id"]),
    )


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16"])
def test_a_file_is_taken_too(house: House, login: Login, encoding: str) -> None:
    body = document(file=SimpleUploadedFile("icf.md", TEXT.encode(encoding)))
    del body["text"]
    answer = login("chief").post(PATH, body, format="multipart")
    assert answer.status_code == 201, answer.content
    assert answer.json()["text"] == TEXT


@pytest.mark.parametrize("userid", MAY_NOT)
def test_members_read_and_do_not_write(house: House, login: Login, userid: str) -> None:
    client, row = login(userid), house.rows["ALPHA"]["protocol-documents"][0]
    assert client.get(f"{PATH}{row.pk}/").json()["text"] == "t"
    assert "text" not in client.get(PATH).json()["results"][0]
    problem(client.post(PATH, document(), format="json"), 403)
    assert ProtocolDocument.objects.count() == 2


@pytest.mark.parametrize("userid", OUTSIDE)
def test_another_study_is_not_there(house: House, login: Login, userid: str) -> None:
    client, row = login(userid), house.rows["ALPHA"]["protocol-documents"][0]
    assert client.get(f"{PATH}{row.pk}/").status_code == 404
    foreign = client.post(PATH, document(), format="json")
    unknown = client.post(PATH, document(project="NOWHERE"), format="json")
    assert foreign.status_code == unknown.status_code == 400
    assert foreign.content.replace(b"ALPHA", b"") == unknown.content.replace(b"NOWHERE", b"")
    assert ProtocolDocument.objects.count() == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"text": " \n"},
        {"text": "a\0b"},
        {"text": 5},
        {"text": None},
        {"name": ""},
        {"name": "x" * 201},
        {"version": "x" * 65},
        {"project": None},
    ],
)
def test_what_is_no_document_is_refused(house: House, login: Login, fields: dict[str, Any]) -> None:
    problem(login("chief").post(PATH, document(**fields), format="json"), 400)
    assert ProtocolDocument.objects.count() == 2


def test_what_is_too_large_is_refused(house: House, login: Login) -> None:
    client, none = login("chief"), document()
    problem(client.post(PATH, document(text="重" * 500_000), format="json"), 413)
    del none["text"]
    large = none | {"file": SimpleUploadedFile("a.md", b"x" * 1_048_577)}
    assert "1024 KB" in str(problem(client.post(PATH, large, format="multipart"), 400)["errors"])


def test_one_of_file_and_text(house: House, login: Login) -> None:
    client, none = login("chief"), document()
    del none["text"]
    problem(client.post(PATH, none, format="json"), 400)
    both = document(file=SimpleUploadedFile("a.md", TEXT.encode()))
    problem(client.post(PATH, both, format="multipart"), 400)
    pdf = none | {"file": SimpleUploadedFile("a.pdf", b"%PDF-1.7")}
    assert "file" in problem(client.post(PATH, pdf, format="multipart"), 400)["errors"]


@pytest.mark.full
def test_a_document_is_replaced_and_not_changed(house: House, login: Login) -> None:
    client = login("chief")
    first = client.post(PATH, document(), format="json").json()
    second = client.post(
        PATH, document(version="2", text=TEXT.replace("60 元", "80 元")), format="json"
    ).json()
    assert not client.get(f"{PATH}{first['id']}/").json()["is_active"]
    for verb in (client.put, client.patch, client.delete):
        assert verb(f"{PATH}{second['id']}/", document(), format="json").status_code == 405
    assert "80 元" in search(house.alpha, "交通补贴")[0].content
    shown = client.get(PATH, {"name": "ICF", "is_active": "false"}).json()["results"]
    assert [row["id"] for row in shown] == [first["id"]]

"""Genuine callbacks: verified, stored once, acknowledged (reference/wecom.md 1.4-1.8; contracts.md)."""

from __future__ import annotations

from io import BytesIO
from typing import Any
from urllib.parse import urlencode

import pytest
import time_machine
from django.db import DatabaseError, connection
from django.http import HttpResponse
from django.test import Client
from django.urls import resolve
from pytest_django import Settings

from projects.models import Member
from tests.integrations.test_wecom_vectors import VECTORS
from tests.wechat.callback_kit import (
    AES_KEY,
    CRYPT,
    OLD,
    URL,
    Callback,
    envelope,
    event,
    open_reply,
    plaintext,
)
from wechat.inbound.request_verification import MAX_BODY
from wechat.models import InboxMessage

pytestmark = pytest.mark.django_db
Status = InboxMessage.Status


def use(settings: Settings, name: str) -> dict[str, str]:
    vector: dict[str, str] = VECTORS[name]
    settings.WECOM_TOKEN, settings.WECOM_AES_KEY = vector["token"], vector["aes_key"]
    settings.WECOM_CORP_ID = vector["receive_id"]
    return vector


def in_chunks(client: Client, body: bytes, query: dict[str, str]) -> HttpResponse:
    """As a server hands over a body that came in chunks: without its length."""
    more: dict[str, Any] = {"wsgi.input": BytesIO(body), "wsgi.input_terminated": True}
    return client.generic(  # type: ignore[return-value]
        "POST", f"{URL}?{urlencode(query)}", b"", "text/xml", CONTENT_LENGTH="", **more
    )


def test_a_body_in_chunks_is_as_good(client: Client) -> None:
    sent = Callback(plaintext())
    assert in_chunks(client, envelope(sent.encrypted or ""), sent.query).status_code == 200
    assert InboxMessage.objects.count() == 1


def test_a_body_in_chunks_has_the_same_limit(client: Client) -> None:
    sent = Callback(plaintext())
    large = envelope(sent.encrypted or "") + b" " * MAX_BODY
    answer = in_chunks(client, large, sent.query)
    assert (answer.status_code, answer.content) == (413, b"")
    assert not InboxMessage.objects.exists()


@pytest.mark.parametrize("name", ["A1", "B1", "S7"])
def test_the_url_is_verified_with_the_exact_plaintext(
    client: Client, settings: Settings, name: str
) -> None:
    vector = use(settings, name)
    query = {
        "msg_signature": vector["signature"],
        "timestamp": vector["timestamp"],
        "nonce": vector["nonce"],
        "echostr": vector["encrypted"],
    }
    with time_machine.travel(int(vector["timestamp"]) + 5, tick=False):
        response = client.get(URL, query)
    assert (response.status_code, response.content) == (200, vector["plain"].encode())


@pytest.mark.parametrize(
    ("name", "user", "kind"),
    [
        ("A2", "mycreate", "text"),
        ("B2", "messense", "text"),
        ("S1", "zhangsan", "text"),
        ("S2", "lisi", "event"),
        ("S3", "zhangsan", "event"),
    ],
)
def test_an_official_message_is_stored(
    client: Client, settings: Settings, name: str, user: str, kind: str
) -> None:
    vector = use(settings, name)
    settings.WECOM_AGENT_ID = int(vector["plain"].partition("<AgentID>")[2].partition("<")[0])
    query = {"msg_signature": vector["signature"], "timestamp": vector["timestamp"]}
    body = f"<xml><Encrypt>{vector['encrypted']}</Encrypt><ToUserName>x</ToUserName></xml>"
    url = f"{URL}?" + "&".join(f"{k}={v}" for k, v in query.items()) + f"&nonce={vector['nonce']}"
    with time_machine.travel(int(vector["timestamp"]), tick=False):
        response = client.post(url, body.encode(), content_type="text/xml")
    assert response.status_code == 200
    row = InboxMessage.objects.get()
    assert (row.from_user, row.msg_type, row.status) == (user, kind, Status.NEW)
    assert row.raw == vector["plain"]


@pytest.mark.parametrize("path", ["/wechat/callback/", "/wechat/callback"])
def test_both_addresses_lead_to_the_view(path: str) -> None:
    assert resolve(path).func.__name__ == "callback"


def test_the_content_is_encrypted_at_rest(client: Client) -> None:
    Callback(plaintext(Content="陈建国的血压")).post(client)
    with connection.cursor() as cursor:
        cursor.execute("SELECT content, raw FROM iit_wechat_inbox")
        assert not any("陈建国" in value for value in cursor.fetchone())
    assert InboxMessage.objects.get().content == "陈建国的血压"


def test_no_csrf_token_is_asked_for() -> None:
    assert Callback(plaintext()).post(Client(enforce_csrf_checks=True)).status_code == 200


def test_the_content_type_does_not_matter(client: Client) -> None:
    call = Callback(plaintext())
    query = "&".join(f"{name}={value}" for name, value in call.query.items())
    body = f"<xml><Encrypt>{call.encrypted}</Encrypt></xml>"
    for kind in ("application/x-www-form-urlencoded", "application/json", "nonsense"):
        assert client.post(f"{URL}?{query}", body, content_type=kind).status_code == 200
    assert InboxMessage.objects.count() == 1


def test_a_repeated_delivery_is_one_row_and_gets_the_same_bytes(
    client: Client, people: dict[str, Member]
) -> None:
    """With the same nonce and with a fresh one (1.6)."""
    plain = plaintext()
    first = Callback(plain)
    answers = [first.post(client), first.post(client), Callback(plain, nonce="99").post(client)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].content
    assert InboxMessage.objects.count() == 1


def test_message_ids_collide_between_users_and_seconds(client: Client) -> None:
    """wecom.md 0.1, 4: MsgId alone loses messages."""
    for user, created in (("a", 1), ("b", 1), ("a", 2), ("A", 1)):
        Callback(plaintext(FromUserName=user, CreateTime=created)).post(client)
    assert InboxMessage.objects.count() == 3


def test_events_of_one_second_are_told_apart(client: Client) -> None:
    base = {"CreateTime": 1, "FromUserName": "a"}
    plains = [
        event("template_card_event", **base, EventKey="approve", TaskId="t", ResponseCode="1"),
        event("template_card_event", **base, EventKey="approve", TaskId="t", ResponseCode="2"),
        event("template_card_event", **base, EventKey="reject", TaskId="t", ResponseCode="1"),
        event("template_card_event", **base, EventKey="approve", TaskId="u", ResponseCode="1"),
        event("enter_agent", **base),
        event("enter_agent", **{**base, "AgentID": None}),
        event("LOCATION", **base),
    ]
    for plain in plains * 2:
        Callback(plain).post(client)
    assert InboxMessage.objects.count() == len(plains)


def test_the_old_pair_is_taken_while_it_is_rotated(
    client: Client, settings: Settings, people: dict[str, Member]
) -> None:
    assert Callback(plaintext(), crypt=OLD).post(client).status_code == 403
    settings.WECOM_TOKEN_OLD = "oldToken"
    settings.WECOM_AES_KEY_OLD = VECTORS["A1"]["aes_key"]
    answer = Callback(plaintext(), crypt=OLD).post(client)
    assert answer.status_code == 200
    assert open_reply(answer, OLD)["ToUserName"] == "ZhangYi"


def test_only_the_aes_key_was_rotated(client: Client, settings: Settings) -> None:
    settings.WECOM_TOKEN_OLD, settings.WECOM_AES_KEY_OLD = settings.WECOM_TOKEN, AES_KEY
    settings.WECOM_AES_KEY = VECTORS["A1"]["aes_key"]
    assert Callback(plaintext(), crypt=CRYPT).post(client).status_code == 200
    assert InboxMessage.objects.count() == 1


def test_a_database_that_refuses_makes_wecom_deliver_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1.6, rule 2: 503 and the key is not reserved."""
    call = Callback(plaintext())

    def broken(*args: object, **kwargs: object) -> None:
        raise DatabaseError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(InboxMessage, "save", broken)
        answer = call.post(client)
    assert (answer.status_code, answer.content) == (503, b"")
    assert call.post(client).status_code == 200
    assert InboxMessage.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(
    connection.vendor != "postgresql", reason="NOT RUN: PostgreSQL (set DATABASE_URL)"
)
def test_a_connection_that_died_is_replaced(client: Client) -> None:
    """PostgreSQL was restarted, a firewall forgot us: nobody has to deliver again."""
    assert Callback(plaintext(MsgId="1")).post(client).status_code == 200
    connection.connection.close()
    assert Callback(plaintext(MsgId="2")).post(client).status_code == 200
    assert InboxMessage.objects.count() == 2


@pytest.mark.parametrize(
    "plain",
    [
        b"no xml at all",
        b"<xml></xml>",
        b"\xff\xfe\x00",
        b"",
        plaintext(FromUserName="x" * 65).encode(),
        plaintext(FromUserName=None).encode(),
        plaintext(MsgType=None).encode(),
        plaintext(CreateTime="soon").encode(),
        plaintext(CreateTime=None).encode(),
        plaintext("event").encode(),
        b'<!DOCTYPE x [<!ENTITY e "boom">]>' + plaintext(Content="&e;").encode(),
    ],
)
def test_a_genuine_message_we_cannot_read_is_kept_and_acknowledged(
    client: Client, plain: bytes
) -> None:
    """1.6, rule 3: a repeated delivery could not mend it."""
    call = Callback(plain)
    assert [call.post(client).status_code, call.post(client).status_code] == [200, 200]
    assert call.post(client).content == b""
    assert InboxMessage.objects.get().status == Status.QUARANTINED


@pytest.mark.parametrize("kind", ["image", "hologram", "x" * 200])
def test_every_kind_of_message_is_stored(client: Client, kind: str) -> None:
    answer = Callback(plaintext(kind, MsgId="5", MediaId="m")).post(client)
    assert (answer.status_code, answer.content) == (200, b"")
    assert InboxMessage.objects.get().status == Status.NEW


def test_a_thousand_selected_items_do_no_harm(client: Client) -> None:
    """A7."""
    options = "<OptionIds><OptionId>o</OptionId></OptionIds>"
    item = f"<SelectedItem><QuestionKey>q</QuestionKey>{options}</SelectedItem>"
    plain = event("template_card_event", TaskId="t", SelectedItems=item * 1000)
    assert Callback(plain).post(client).status_code == 200

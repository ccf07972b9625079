"""The smart bot's callback: what it takes, what it refuses, what it says at once (wecom.md 5)."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from core.integrations.wecom import Crypt
from tests.wechat.bot_kit import (
    AES_KEY,
    BOT,
    TOKEN,
    URL,
    event,
    message,
    opened,
    post,
    say,
    stream_of,
)
from wechat.models import Alert, InboxMessage, Stream

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("people")]
QUERYING = "🫡 正在查询,请稍候..."


@pytest.fixture(autouse=True)
def _bot(settings: Settings) -> None:
    settings.WECOM_AIBOT_TOKEN, settings.WECOM_AIBOT_AES_KEY = TOKEN, AES_KEY


def verify(crypt: Crypt) -> Any:
    echo, stamp = crypt.encrypt(b"1616140317555161061"), str(int(time.time()))
    query = {
        "msg_signature": crypt.sign(stamp, "7", echo),
        "timestamp": stamp,
        "nonce": "7",
        "echostr": echo,
    }
    return Client().get(URL, query)


def test_the_url_is_verified() -> None:
    assert verify(BOT).content == b"1616140317555161061"
    assert verify(Crypt("x" * 8, AES_KEY, "")).status_code == 403


def test_a_question_opens_a_stream_at_once() -> None:
    reply = say(message())
    _id, finished, content = stream_of(reply)
    assert (finished, content) == (False, QUERYING)
    assert 0 < len(reply["stream"]["feedback"]["id"]) <= 256
    row = InboxMessage.objects.get()
    assert (row.channel, row.from_user, row.content) == ("aibot", "zhangyi", "P001 入组了吗?")
    assert row.stream.response_url.startswith("https://")


def test_the_same_message_again_is_the_same_stream() -> None:
    """The dedup key is the msgid; the answer carries the nonce of its own delivery."""
    asked = message()
    first = opened(post(asked, nonce="1"), "1")
    again = opened(post(asked, nonce="2"), "2")
    assert first == again
    assert InboxMessage.objects.count() == Stream.objects.count() == 1


@pytest.mark.parametrize(
    "text",
    [
        "@RobotA P001 入组了吗?",
        "P001 入组了吗? @RobotA",
        " @RobotA\nP001 入组了吗?\u2005@RobotA \n",
    ],
)
def test_in_a_group_the_name_of_the_bot_is_no_part_of_the_question(text: str) -> None:
    say(message(text, chattype="group"))
    assert InboxMessage.objects.get().content == "P001 入组了吗?"


@pytest.mark.parametrize("text", ["@张三 的受试者呢", "邮箱 @P001", "@RobotA"])
def test_in_a_single_chat_every_word_is_of_the_question(text: str) -> None:
    say(message(text))
    assert InboxMessage.objects.get().content == text


@pytest.mark.parametrize(
    ("kind", "body", "content"),
    [
        ("voice", {"content": "入组多少例"}, "入组多少例"),
        ("mixed", {"msg_item": [{"msgtype": "text", "text": {"content": "看"}}, 3]}, "看"),
        ("image", {"url": "https://x"}, ""),
        ("file", {"url": "https://x"}, ""),
        ("video", {"url": "https://x"}, ""),
        ("new", {}, ""),
    ],
)
def test_every_kind_opens_a_stream(kind: str, body: dict[str, Any], content: str) -> None:
    assert stream_of(say(message(msgtype=kind, **{kind: body})))[2] == QUERYING
    assert InboxMessage.objects.get().content == content


@pytest.mark.usefixtures("subjects")
def test_entering_is_greeted_at_once() -> None:
    assert "P001" in say(event("enter_chat"))["text"]["content"]
    assert say(event("enter_chat", user="ghost")) == {}


@pytest.mark.parametrize("name", ["feedback_event", "something_new"])
def test_other_events_get_an_empty_answer(name: str) -> None:
    assert post(event(name)).content == b""
    assert InboxMessage.objects.get().event == name


def test_a_poll_of_an_unknown_stream_is_no_row() -> None:
    assert post(message(msgtype="stream", stream={"id": "nobody"})).content == b""
    assert post(message(msgtype="stream")).content == b""
    assert not InboxMessage.objects.exists()


REFUSED = [
    (b"", 400), (b"[]", 400), (b"{}", 400), (b'{"encrypt": 5}', 400), (b"<xml/>", 400),
    (b'{"encrypt":"x"}', 403), (b"\xff", 400), (b"[" * 100_000, 400),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status"), REFUSED)
def test_a_body_that_is_not_genuine(body: bytes, status: int) -> None:
    query = f"{URL}?msg_signature={'0' * 40}&timestamp={int(time.time())}&nonce=1"
    answer = Client().post(query, body, content_type="application/json")
    assert (answer.status_code, answer.content) == (status, b"")
    assert not InboxMessage.objects.exists()


def test_other_methods_are_refused() -> None:
    assert Client().put(URL).status_code == 405


@pytest.mark.parametrize("receive_id", ["ww00000000000000de", "x"])
def test_a_receiveid_is_refused(receive_id: str) -> None:
    """The bot's is blank: what was meant for an app is not for it."""
    answer = post(message(), crypt=Crypt(TOKEN, AES_KEY, receive_id))
    assert (answer.status_code, answer.content) == (400, b"")
    assert Alert.objects.get().code == "key"


def test_without_a_bot_nothing_is_genuine(settings: Settings) -> None:
    settings.WECOM_AIBOT_TOKEN = settings.WECOM_AIBOT_AES_KEY = ""
    assert post(message()).status_code == 403
    assert verify(BOT).status_code == 403


def test_an_old_timestamp_is_refused() -> None:
    old = str(int(time.time()) - 3600)
    encrypted = BOT.encrypt(b"{}")
    signed = BOT.sign(old, "1", encrypted)
    answer = Client().post(
        f"{URL}?msg_signature={signed}&timestamp={old}&nonce=1",
        json.dumps({"encrypt": encrypted}),
        content_type="application/json",
    )
    assert answer.status_code == 403


QUARANTINED = [
    b"[]", b"null", b"{}", b"\xff", b'{"msgid":"1"}', b'{"msgid":"1","from":{"userid":"a"}}',
    b'{"from":{"userid":"a"},"msgtype":"text"}', b'{"msgid":"1","from":"a","msgtype":"text"}',
    b'{"msgid":"1","from":{"userid":"a"},"msgtype":"event"}',
]  # fmt: skip


@pytest.mark.parametrize("plain", QUARANTINED)
def test_what_is_genuine_but_not_understood_is_kept(plain: bytes) -> None:
    answer = post(plain)
    assert (answer.status_code, answer.content) == (200, b"")
    assert InboxMessage.objects.get().status == "quarantined"


def test_characters_that_no_database_keeps() -> None:
    plain = b'{"msgid":"1","from":{"userid":"zhangyi"},"msgtype":"text","text":{"content":"a\\u0000\\ud800"}}'
    assert post(plain).status_code == 200
    assert InboxMessage.objects.get().content == "a\ufffd?"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
NAMES = (
    "msgid",
    "from",
    "msgtype",
    "text",
    "event",
    "stream",
    "chattype",
    "create_time",
    "voice",
    "mixed",
)


@pytest.mark.full
@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), JSON), st.booleans())
def test_any_genuine_json_is_acknowledged(values: dict[str, Any], known: bool) -> None:
    plain = {**(message() if known else {}), **values}
    assert post(json.dumps(plain).encode()).status_code == 200


@pytest.mark.full
@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300))
def test_any_genuine_bytes_are_acknowledged(raw: bytes) -> None:
    assert post(raw).status_code == 200

"""The smart bot's callback under the same invariants: JSON instead of XML, a blank receiveid (issue 5, 1)."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from core.integrations.wecom import Crypt
from tests.wechat.bot_kit import AES_KEY, BOT, TOKEN, URL, event, message, post
from tests.wechat.working import work
from wechat.models import InboxMessage, OutboxMessage, Stream

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("people")]
GOOD = BOT.encrypt(json.dumps(message()).encode())


@pytest.fixture(autouse=True)
def _bot(settings: Settings) -> None:
    settings.WECOM_AIBOT_TOKEN, settings.WECOM_AIBOT_AES_KEY = TOKEN, AES_KEY


def deliver(body: bytes, signed: str = GOOD, crypt: Crypt = BOT) -> HttpResponse:
    """A body under a signature over `signed`."""
    stamp = str(int(time.time()))
    signature = crypt.sign(stamp, "88", signed)
    query = f"msg_signature={signature}&timestamp={stamp}&nonce=88"
    return Client().post(f"{URL}?{query}", body, content_type="application/json")  # type: ignore[return-value]


BODIES: dict[str, bytes] = {
    "nothing": b"",
    "xml": f"<xml><Encrypt>{GOOD}</Encrypt></xml>".encode(),
    "a list": json.dumps([{"encrypt": GOOD}]).encode(),
    "a text": json.dumps(GOOD).encode(),
    "null": b"null",
    "NaN": b"NaN",
    "encrypt of another spelling": json.dumps({"Encrypt": GOOD}).encode(),
    "encrypt deeper": json.dumps({"a": {"encrypt": GOOD}}).encode(),
    "encrypt as a list": json.dumps({"encrypt": [GOOD]}).encode(),
    "encrypt as null": b'{"encrypt": null}',
    "encrypt as a number": b'{"encrypt": 1e999}',
    "a huge number": b'{"encrypt": ' + b"9" * 50_000 + b"}",
    "a lone surrogate": b'{"encrypt": "\\ud800"}',
    "a NUL": b'{"encrypt": "\\u0000"}',
    "characters": json.dumps({"encrypt": "中文🫡"}).encode(),
    "deep": b"[" * 50_000 + b"]" * 50_000,
    "deep objects": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    "broken UTF-8": b'{"encrypt": "\xff\xfe"}',
    "two documents": json.dumps({"encrypt": GOOD}).encode() * 2,
    "cut off": json.dumps({"encrypt": GOOD}).encode()[:-2],
    "another ciphertext": json.dumps({"encrypt": BOT.encrypt(b"{}")}).encode(),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_that_are_no_envelope(name: str) -> None:
    answer = deliver(BODIES[name])
    assert 400 <= answer.status_code < 500
    assert answer.content == b""
    assert not InboxMessage.objects.exists()


@pytest.mark.parametrize(
    "crypt",
    [
        Crypt(TOKEN, AES_KEY, "ww00000000000000de"),
        Crypt(TOKEN, AES_KEY, "AIBOTID"),
        Crypt("x" * 8, AES_KEY, ""),
    ],
    ids=["the corp's receiveid", "the bot's id", "another token"],
)
def test_what_is_meant_for_others(crypt: Crypt) -> None:
    answer = post(message(), crypt=crypt)
    assert 400 <= answer.status_code < 500
    assert answer.content == b""
    assert not InboxMessage.objects.exists()


@pytest.mark.parametrize("method", ["put", "patch", "delete", "head", "options", "trace"])
def test_methods(method: str) -> None:
    answer = getattr(Client(), method)(URL)
    assert (answer.status_code, answer.content) == (405, b"")


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in message().items() if key != name}


ODD: dict[str, Any] = {
    "nothing": b"",
    "xml": b"<xml><FromUserName>zhangyi</FromUserName></xml>",
    "null": b"null",
    "a list": [message()],
    "not UTF-8": b'{"msgid": "\xff"}',
    "no msgid": without("msgid"),
    "a msgid that is a number": {**message(), "msgid": 5},
    "no sender": without("from"),
    "a sender that is a text": {**message(), "from": "zhangyi"},
    "a long sender": message(user="x" * 65),
    "a sender that grows in lower case": message(user="İ" * 64),
    "everybody as a sender": message(user="@all"),
    "two senders in one": message(user="zhangyi|admin"),
    "no kind": without("msgtype"),
    "a kind that is a list": {**message(), "msgtype": ["text"]},
    "a text that is a text": {**message(), "text": "P001"},
    "a content that is an object": {**message(), "text": {"content": {"a": 1}}},
    "a content with NUL and surrogate": message("a\0b"),
    "mixed without items": message(msgtype="mixed", mixed={"msg_item": None}),
    "mixed with a thousand items": message(
        msgtype="mixed", mixed={"msg_item": [{"text": {"content": "a"}}] * 1000}
    ),
    "an unknown kind": message(msgtype="hologram"),
    "a poll of nothing": message(msgtype="stream"),
    "a poll of somebody else's": message(msgtype="stream", stream={"id": "x" * 5000}),
    "an event without a name": message(msgtype="event", event={}),
    "an event that is a list": message(msgtype="event", event=[1]),
    "a vote for nothing": event("feedback_event"),
    "a vote of strings": event("feedback_event", id=5, type="2", inaccurate_reason_list="2,4"),
    "a vote of a huge type": event("feedback_event", id="x" * 900, type=10**30),
    "a vote with a thousand reasons": event(
        "feedback_event", id="x", type=2, inaccurate_reason_list=list(range(1000))
    ),
    "a click on nothing": event("template_card_event", task_id="review_1@1", event_key="approve"),
    "a click with broken choices": event(
        "template_card_event", task_id="t", selected_items={"selected_item": [1, None, {}]}
    ),
    "a response_url that is an object": message(response_url={"a": 1}),
    "a response_url elsewhere": message(response_url="http://169.254.169.254/latest"),
    "an unknown event": event("enter_galaxy"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_sealed_is_acknowledged_and_kept_once(name: str) -> None:
    for nonce in ("1", "2", "3"):
        assert post(ODD[name], nonce=nonce).status_code == 200
    assert InboxMessage.objects.count() <= 1
    assert Stream.objects.count() <= 1
    assert not OutboxMessage.objects.exists()


@pytest.mark.parametrize(
    "name", [name for name in ODD if name.startswith(("a vote", "a click", "an "))]
)
def test_odd_events_break_no_worker(name: str) -> None:
    post(ODD[name])
    work()
    assert not InboxMessage.objects.filter(
        status__in=[*InboxMessage.UNFINISHED, InboxMessage.Status.FAILED]
    ).exclude(msg_type="hologram")


@pytest.mark.parametrize("name", ["everybody as a sender", "two senders in one"])
def test_a_sender_who_is_several_gets_no_reply(name: str) -> None:
    """message/send would bring it to each of them."""
    post(ODD[name])
    work()
    assert InboxMessage.objects.get().status == InboxMessage.Status.QUARANTINED
    assert not OutboxMessage.objects.exists()


def test_the_old_pair_is_taken_while_it_is_rotated(settings: Settings) -> None:
    old = Crypt("oldBot", "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C", "")
    assert post(message(), crypt=old).status_code == 403
    settings.WECOM_AIBOT_TOKEN_OLD = "oldBot"
    settings.WECOM_AIBOT_AES_KEY_OLD = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
    answer = post(message(), crypt=old)
    assert answer.status_code == 200
    sealed = json.loads(answer.content)
    parts = sealed["msgsignature"], str(sealed["timestamp"]), "88", sealed["encrypt"]
    assert old.is_signed(*parts)

"""Signed and sealed, and still odd: acknowledged, kept, never an error, at most one job each (issue 5, 1)."""

from __future__ import annotations

import pytest
from django.test import Client

from projects.models import Member
from tests.wechat.callback_kit import CRYPT, Callback, event, plaintext
from tests.wechat.working import outgoing, work
from wechat.models import Alert, InboxMessage

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("people")]
Status = InboxMessage.Status

UNREADABLE = {
    "nothing": b"",
    "json": b'{"msgid":"1","from":{"userid":"zhangyi"},"msgtype":"text"}',
    "a number": b"1616140317555161061",
    "not UTF-8": plaintext(Content="中文").encode("gbk"),
    "UTF-16": plaintext().encode("utf-16"),
    "NUL bytes": plaintext().encode() + b"\0",
    "NUL inside": plaintext(Content="a\0b").encode(),
    "cut off": plaintext().encode()[:-4],
    "twice": plaintext().encode() * 2,
    "no sender": plaintext(FromUserName=None).encode(),
    "a blank sender": plaintext(FromUserName=" ").encode(),
    "a long sender": plaintext(FromUserName="x" * 65).encode(),
    "a sender that grows in lower case": plaintext(FromUserName="İ" * 64).encode(),
    "everybody as a sender": plaintext(FromUserName="@all").encode(),
    "everybody in capitals": plaintext(FromUserName="@ALL").encode(),
    "two senders in one": plaintext(FromUserName="zhangyi|admin").encode(),
    "no kind": plaintext(MsgType=None).encode(),
    "no time": plaintext(CreateTime=None).encode(),
    "a time before time": plaintext(CreateTime=-1).encode(),
    "a time in words": plaintext(CreateTime="now").encode(),
    "a time in Arabic digits": plaintext(CreateTime="١٧").encode(),
    "a time of a hundred digits": plaintext(CreateTime="9" * 100).encode(),
    "an event without a name": plaintext("event").encode(),
    "everything one level deeper": f"<a>{plaintext()}</a>".encode(),
    "a DOCTYPE": b"<!DOCTYPE xml>" + plaintext().encode(),
    "an entity": b'<!DOCTYPE x [<!ENTITY e "P001">]>' + plaintext(Content="&e;").encode(),
    "a file": b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    + plaintext(Content="&e;").encode(),
    "an unknown entity": plaintext(Content="&nbsp;").encode(),
    "bare markup": plaintext(Content="1 < 2 & 3").encode(),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_quarantined_and_told(client: Client, name: str) -> None:
    call = Callback(UNREADABLE[name])
    for _delivery in range(3):
        answer = call.post(client)
        assert (answer.status_code, answer.content) == (200, b"")
    row = InboxMessage.objects.get()
    assert row.status == Status.QUARANTINED
    assert Alert.objects.filter(code=Alert.Code.NOT_UNDERSTOOD, cleared_at=None).exists()
    work()
    assert not outgoing()


ODD = {
    "a huge MsgId": plaintext(MsgId="9" * 4000),
    "a MsgId in words": plaintext(MsgId="none"),
    "no MsgId": plaintext(MsgId=None),
    "a negative MsgId": plaintext(MsgId="-1"),
    "no agent": plaintext(AgentID=None),
    "the letter case of another sender": plaintext(FromUserName="ZHANGYI"),
    "doubled elements": plaintext().replace("</xml>", "<FromUserName>admin</FromUserName></xml>"),
    "unknown elements": plaintext(Extra="<a><b/></a>"),
    "no content": plaintext(Content=None),
    "blanks": plaintext(Content=" \n "),
    "a long content": plaintext(Content="重" * 100_000),
    "control characters": plaintext(Content="a\x7f\u0085\u200f\u202eb"),
    "half a CDATA end": plaintext(Content="<![CDATA[a]]]]><![CDATA[>b]]>"),
    "an unknown kind": plaintext("hologram"),
    "a kind of a thousand letters": plaintext("k" * 1000),
    "an event of a thousand letters": event("e" * 1000),
    "an unknown event": event("sys_approval_change"),
    "a click on nothing": event("template_card_event", TaskId="nope@1", EventKey="approve"),
    "a click without a card": event("template_card_event"),
    "a click with a broken task": event("template_card_event", TaskId="review_x@y", EventKey="k"),
    "a click with a thousand choices": event(
        "template_card_event",
        SelectedItems="<SelectedItem><QuestionKey>q</QuestionKey></SelectedItem>" * 1000,
    ),
    "a menu click on anything": event("click", EventKey="x" * 5000),
    "a place": event("LOCATION", Latitude="NaN", Longitude="-9e999"),
    "a command with a huge number": plaintext(Content="同意 " + "9" * 5000),
    "a command with a bidi mark": plaintext(Content="\u202e同意 1"),
    "templates and tags": plaintext(Content="$userName=admin$ &lt;a href='x'&gt;"),
    "a declared encoding": '<?xml version="1.0" encoding="utf-8"?>' + plaintext(),
    "a comment": plaintext().replace("<Content>", "<!-- --><Content>"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_odd_is_one_row(client: Client, name: str) -> None:
    for number in range(3):
        answer = Callback(ODD[name], crypt=CRYPT, nonce=str(number)).post(client)
        assert answer.status_code == 200
    assert InboxMessage.objects.get().status == Status.NEW
    assert not outgoing()


@pytest.mark.parametrize("name", sorted(name for name in ODD if "click" in name or "event" in name))
def test_odd_events_end_without_a_word(client: Client, name: str) -> None:
    Callback(ODD[name]).post(client)
    work()
    assert InboxMessage.objects.get().status == Status.DONE
    assert not outgoing()


def test_only_the_sender_inside_counts(client: Client, people: dict[str, Member]) -> None:
    """What the envelope says is not signed (1.2)."""
    call = Callback(plaintext("image", FromUserName="ghost", MsgId="5"))
    call.body = (
        f"<xml><ToUserName>x</ToUserName><AgentID>1</AgentID><FromUserName>admin</FromUserName>"
        f"<Encrypt>{call.encrypted}</Encrypt></xml>"
    ).encode()
    assert call.post(client).status_code == 200
    assert InboxMessage.objects.get().from_user == "ghost"

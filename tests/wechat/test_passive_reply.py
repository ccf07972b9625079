"""The first feedback travels in the callback's own response (reference/wecom.md 1.8; decisions.md)."""

from __future__ import annotations

import pytest
from django.test import Client

from projects.models import Member
from tests.wechat.callback_kit import CORP, Callback, event, open_reply, plaintext
from wechat.inbound import callback
from wechat.inbound.parse import read_xml

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "question",
    ["P001 入组了吗?", "现在入组了多少例?", "入组标准是什么?", "质控一下P001", "👍 P001 入组了吗?"],
)
def test_a_question_that_starts_a_query_is_acknowledged_in_words(
    client: Client, people: dict[str, Member], question: str
) -> None:
    reply = open_reply(Callback(plaintext(Content=question)).post(client))
    assert reply["Content"] == "🫡 正在查询,请稍候..."
    assert (reply["ToUserName"], reply["FromUserName"]) == ("ZhangYi", CORP)
    assert reply["MsgType"] == "text"


@pytest.mark.parametrize(
    "words", ["同意 42", "驳回 42 数据不对", "👍", "👎 太长", "谢谢", "今天天气怎么样", " "]
)
def test_no_query_no_words(client: Client, people: dict[str, Member], words: str) -> None:
    answer = Callback(plaintext(Content=words)).post(client)
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize("name", ["enter_agent", "template_card_event", "subscribe", "unknown"])
def test_events_get_no_words(client: Client, people: dict[str, Member], name: str) -> None:
    assert Callback(event(name)).post(client).content == b""


def test_a_stranger_is_not_told_that_we_are_querying(
    client: Client, people: dict[str, Member]
) -> None:
    assert Callback(plaintext(FromUserName="ghost")).post(client).content == b""
    Member.objects.filter(wecom_userid="zhangyi").update(is_active=False)
    assert Callback(plaintext()).post(client).content == b""


def test_a_detector_that_fails_costs_only_the_words(
    client: Client, people: dict[str, Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(text: str) -> None:
        raise RuntimeError(text)

    monkeypatch.setattr(callback, "detect", broken)
    answer = Callback(plaintext()).post(client)
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize("text", ["]]>", "a]]>b]]>", "]]", "<x>&amp;"])
def test_an_end_mark_inside_cdata_is_split(text: str) -> None:
    root = read_xml(f"<x><![CDATA[{callback.cdata(text)}]]></x>")
    assert root.text == text

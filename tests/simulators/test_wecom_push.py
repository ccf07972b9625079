"""The pusher: form, retries, passive replies, verification (reference/wecom.md 1.4 to 1.9)."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from demo.simulators.http import Response
from demo.simulators.wecom.xml import parse
from tests.simulators.wecom_kit import (
    AGENT,
    CORP,
    Inbound,
    Kit,
    passive,
    passive_text,
    serve_wecom,
)

FEEDBACK = "🫡 正在查询,请稍候..."


@pytest.fixture
def kit() -> Iterator[Kit]:
    with serve_wecom() as found:
        yield found


def test_a_text_arrives_as_wecom_sends_it(kit: Kit) -> None:
    done = kit.push(user="ZhangYi", text="入组标准是什么？🫡 ]]> <a>")
    (row,) = done["deliveries"]
    assert (row["status"], row["body"], done["reply"]) == (200, "", None)
    (message,) = kit.receiver.seen
    names = ("ToUserName", "FromUserName", "MsgType", "Content", "MsgId", "AgentID")
    assert [message.text(name) for name in names] == [
        CORP, "ZhangYi", "text", "入组标准是什么？🫡 ]]> <a>", done["msgid"], str(AGENT),
    ]  # fmt: skip
    assert message.content_type == "text/xml"
    assert message.plain.startswith("<xml><ToUserName><![CDATA[")
    assert int(message.text("MsgId")) < 2**63


def test_message_ids_differ_and_can_be_chosen(kit: Kit) -> None:
    first, second = (kit.push(user="ZhangYi", text="a")["msgid"] for _ in range(2))
    assert first != second
    kit.push(user="ZhangYi", text="a", msgid=77, create_time=1700000000)
    assert kit.receiver.seen[-1].text("MsgId") == "77"
    assert kit.receiver.seen[-1].text("CreateTime") == "1700000000"


@pytest.mark.full
@pytest.mark.parametrize(("total", "expected"), [(3, 3), (4, 4)])
def test_an_error_is_retried_with_the_same_message(kit: Kit, total: int, expected: int) -> None:
    kit.switch(deliveries_total=total)
    kit.receiver.answer = lambda _: Response.text("", 503)
    done = kit.push(user="ZhangYi", text="a")
    assert [row["status"] for row in done["deliveries"]] == [503] * expected
    assert len({message.plain for message in kit.receiver.seen}) == 1
    assert len({message.params["nonce"] for message in kit.receiver.seen}) == expected
    assert len(set(kit.receiver.bodies)) == expected


def test_the_retry_ends_with_the_first_200(kit: Kit) -> None:
    answers = [Response.text("", 500), Response.text("success")]
    kit.receiver.answer = lambda _: answers.pop(0)
    done = kit.push(user="ZhangYi", text="a")
    assert [row["status"] for row in done["deliveries"]] == [500, 200]
    assert done["reply"] is None


def test_errors_need_not_be_retried(kit: Kit) -> None:
    kit.switch(retry_on_non200=False)
    kit.receiver.answer = lambda _: Response.text("", 500)
    assert len(kit.push(user="ZhangYi", text="a")["deliveries"]) == 1


def test_a_slow_answer_is_cut_and_retried(kit: Kit) -> None:
    kit.configure(push_timeout_s=0.2)
    kit.switch(retry_on_non200=False)
    release = threading.Event()

    def slow(_: Inbound) -> Response:
        release.wait(10)
        return Response.text("")

    kit.receiver.answer = slow
    done = kit.push(user="ZhangYi", text="a")
    release.set()
    assert [row["error"] for row in done["deliveries"]] == ["ReadTimeout"] * 3
    assert len({message.text("MsgId") for message in kit.receiver.wait_for(3)}) == 1


def test_nobody_listens(kit: Kit) -> None:
    kit.configure(callback_url="http://127.0.0.1:9/")
    done = kit.push(user="ZhangYi", text="a")
    assert [(row["status"], row["error"]) for row in done["deliveries"]] == [
        (None, "ConnectError")
    ] * 3


@pytest.mark.full
@pytest.mark.parametrize("reuse", [True, False])
def test_forced_duplicates(kit: Kit, reuse: bool) -> None:
    kit.push(user="ZhangYi", text="a", deliveries=4, reuse_nonce=reuse)
    assert len(kit.receiver.seen) == 4
    assert len({message.params["nonce"] for message in kit.receiver.seen}) == (1 if reuse else 4)
    assert len(set(kit.receiver.bodies)) == (1 if reuse else 4)


def test_the_switch_reuses_the_nonce(kit: Kit) -> None:
    kit.switch(retry_reuse_nonce=True)
    kit.receiver.answer = lambda _: Response.text("", 500)
    kit.push(user="ZhangYi", text="a")
    assert len(set(kit.receiver.bodies)) == 1


def test_any_xml_can_be_pushed(kit: Kit) -> None:
    plain = "<xml><MsgType>event</MsgType><Event>inactive_alert</Event></xml>"
    assert kit.push(xml=plain)["msgid"] is None
    assert kit.receiver.seen[0].plain == plain
    kit.push(xml="not xml at all")
    assert kit.receiver.seen[1].plain == "not xml at all"


def test_a_passive_reply_is_shown_once(kit: Kit) -> None:
    kit.receiver.answer = lambda _: passive_text("ZhangYi", FEEDBACK)
    done = kit.push(user="ZhangYi", text="P001?", deliveries=2)
    assert done["reply"] == FEEDBACK
    (row,) = kit.sent()
    found = (row["to"], row["type"], row["content"], row["msgid"])
    assert found == ("ZhangYi", "passive_text", FEEDBACK, None)


def test_a_long_passive_reply_is_cut(kit: Kit) -> None:
    kit.receiver.answer = lambda _: passive_text("ZhangYi", "字" * 700)
    assert kit.push(user="ZhangYi", text="a")["reply"] == "字" * 682


@pytest.mark.full
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Response.text("hello"), "XML"),
        (passive_text("ZhangYi", "x", token="wrong"), "-40001"),
        (passive_text("wanghushi", "x"), "ToUserName"),
        (passive_text("ZhangYi", "x", sender="wwother"), "FromUserName"),
        (Response.text('<!DOCTYPE x [<!ENTITY a "b">]><xml/>'), "XML"),
    ],
)
def test_a_bad_passive_reply_is_not_shown(kit: Kit, answer: Response, said: str) -> None:
    kit.receiver.answer = lambda _: answer
    done = kit.push(user="ZhangYi", text="a")
    assert done["reply"] is None
    assert said in done["deliveries"][0]["reply_error"]
    assert kit.sent() == []


def test_other_passive_kinds_are_not_texts(kit: Kit) -> None:
    image = "<MsgType>image</MsgType><Image><MediaId>m</MediaId></Image>"
    kit.receiver.answer = lambda _: passive("ZhangYi", image)
    assert kit.push(user="ZhangYi", text="a")["reply"] is None


@pytest.mark.full
@pytest.mark.parametrize(("event", "shown"), [("enter_agent", True), ("batch_job_result", False)])
def test_which_events_may_be_answered(kit: Kit, event: str, shown: bool) -> None:
    kit.receiver.answer = lambda _: passive_text("ZhangYi", "欢迎")
    plain = (
        f"<xml><ToUserName>{CORP}</ToUserName><FromUserName>ZhangYi</FromUserName>"
        f"<MsgType>event</MsgType><Event>{event}</Event></xml>"
    )
    assert (kit.push(xml=plain)["reply"] == "欢迎") is shown


def test_verification(kit: Kit) -> None:
    done = kit.control("wecom/verify")
    assert (done["ok"], done["status"]) == (True, 200)
    assert kit.receiver.seen[0].method == "GET"
    assert done["body"] == kit.receiver.seen[0].plain
    assert done["body"].isdigit()


def test_verification_fails_without_a_listener(kit: Kit) -> None:
    kit.configure(callback_url="http://127.0.0.1:9/")
    assert kit.control("wecom/verify")["ok"] is False


def test_the_stand_in_itself_refuses_dtds() -> None:
    with pytest.raises(ValueError, match="XML"):
        parse('<!DOCTYPE x SYSTEM "file:///etc/passwd"><xml/>')

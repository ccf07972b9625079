"""message/send: texts, recipients, limits and recall (reference/wecom.md 3.2, 3.5, section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.simulators.wecom_kit import AGENT, Kit, serve_wecom


@pytest.fixture
def kit() -> Iterator[Kit]:
    with serve_wecom() as found:
        yield found


def test_a_text_is_delivered(kit: Kit) -> None:
    answer = kit.text("P001 的 ECOG 是 1\n请核对")
    assert (answer["errcode"], answer["errmsg"]) == (0, "ok")
    assert "response_code" not in answer
    (row,) = kit.sent()
    assert row["content"] == "P001 的 ECOG 是 1\n请核对"
    assert (row["to"], row["type"], row["dropped"]) == ("ZhangYi", "text", False)
    assert row["msgid"] == answer["msgid"]


def test_ids_are_compared_without_case(kit: Kit) -> None:
    assert kit.text(touser="ZHANGYI|zhangyi")["errcode"] == 0
    assert [row["to"] for row in kit.sent()] == ["ZhangYi"]


def test_partial_failure_still_sends(kit: Kit) -> None:
    answer = kit.text(touser="wanghushi|Nobody|HIDDEN|nolicence", toparty="9", totag="8")
    assert answer["errcode"] == 0
    assert answer["invaliduser"] == "nobody|hidden"
    assert answer["unlicenseduser"] == "nolicence"
    assert (answer["invalidparty"], answer["invalidtag"]) == ("9", "8")
    assert [row["to"] for row in kit.sent()] == ["wanghushi"]


def test_everybody_and_parties_and_tags(kit: Kit) -> None:
    kit.configure(parties={"2": ["wanghushi"]}, tags={"44": ["ZhangYi"]})
    assert kit.text("a", touser="@all")["errcode"] == 0
    assert kit.text("b", touser="", toparty="2", totag="44")["errcode"] == 0
    assert [(r["content"], r["to"]) for r in kit.sent()] == [
        ("a", "ZhangYi"), ("a", "wanghushi"), ("b", "wanghushi"), ("b", "ZhangYi"),
    ]  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"msgtype": "telepathy"}, 40008),
        ({"msgtype": None}, 40008),
        ({"agentid": None}, 41011),
        ({"agentid": str(AGENT)}, 40056),
        ({"agentid": True}, 40056),
        ({"agentid": 999}, 40056),
        ({"touser": ""}, 82001),
        ({"touser": "|".join(f"u{n}" for n in range(1001))}, 40032),
        ({"toparty": "|".join(str(n) for n in range(101))}, 82002),
        ({"totag": "|".join(str(n) for n in range(101))}, 82003),
        ({"touser": "nobody|nolicence"}, 81013),
        ({"text": {"content": ""}}, 44004),
        ({"text": {}}, 44004),
        ({"text": {"content": 5}}, 44004),
        ({"text": "x"}, 40058),
        ({"msgtype": "markdown", "markdown": {"content": ""}}, 44004),
    ],
)
def test_what_it_refuses(kit: Kit, body: dict[str, Any], code: int) -> None:
    assert kit.send(**{"msgtype": "text", "text": {"content": "x"}, **body})["errcode"] == code
    assert kit.sent() == []


@pytest.mark.full
@pytest.mark.parametrize(("text", "kept"), [("字" * 682 + "ab", 2048), ("字" * 683, 2046)])
def test_a_long_text_is_cut_between_characters(kit: Kit, text: str, kept: int) -> None:
    assert kit.text(text)["errcode"] == 0
    (row,) = kit.sent()
    assert len(row["content"].encode()) == kept
    assert text.startswith(row["content"])
    assert row["truncated"] is (len(text.encode()) > 2048)


def test_overflow_switches(kit: Kit) -> None:
    long = "x" * 2049
    markdown = {"msgtype": "markdown", "markdown": {"content": long}}
    assert kit.send(**markdown)["errcode"] == 45002
    kit.switch(text_overflow=45002, md_overflow="truncate")
    assert kit.text(long)["errcode"] == 45002
    assert kit.send(**markdown)["errcode"] == 0
    assert [(r["type"], len(r["content"])) for r in kit.sent()] == [("markdown", 2048)]


def test_textcard(kit: Kit) -> None:
    card = {"title": "t" * 200, "description": "d", "url": "https://host/review"}
    assert kit.send(msgtype="textcard", textcard=card)["errcode"] == 0
    assert kit.sent()[0]["content"]["title"] == "t" * 128
    for name, code in (("title", 41016), ("description", 40063), ("url", 42028)):
        bad = {**card, name: ""}
        assert kit.send(msgtype="textcard", textcard=bad)["errcode"] == code
    bad = {**card, "url": "host/review"}
    assert kit.send(msgtype="textcard", textcard=bad)["errcode"] == 42028


def test_more_than_thirty_a_minute_are_dropped_silently(kit: Kit) -> None:
    answers = [kit.text(f"第{n}条") for n in range(31)]
    assert {answer["errcode"] for answer in answers} == {0}
    assert [row["dropped"] for row in kit.sent()] == [False] * 30 + [True]
    assert kit.text("别人", touser="wanghushi")["errcode"] == 0
    kit.control("clock", {"advance_s": 61})
    assert kit.text("又可以了")["errcode"] == 0
    assert [row["dropped"] for row in kit.sent()[-2:]] == [False, False]


@pytest.mark.full
def test_more_than_a_thousand_an_hour_are_dropped(kit: Kit) -> None:
    for _ in range(34):
        for n in range(30):
            kit.text(str(n))
        kit.control("clock", {"advance_s": 61})
    rows = kit.sent()
    assert sum(not row["dropped"] for row in rows) == 1000
    assert all(row["dropped"] for row in rows[1000:])


def test_the_daily_limit_of_the_app(kit: Kit) -> None:
    kit.configure(account_limit=0)
    assert kit.text()["errcode"] == 45009


def test_an_identical_send_within_the_interval_is_delivered_once(kit: Kit) -> None:
    more = {"enable_duplicate_check": 1, "duplicate_check_interval": 60}
    first, again = kit.text("同一条", **more), kit.text("同一条", **more)
    assert again == first
    assert kit.text("另一条", **more)["msgid"] != first["msgid"]
    kit.control("clock", {"advance_s": 61})
    assert kit.text("同一条", **more)["msgid"] != first["msgid"]
    assert [row["content"] for row in kit.sent()] == ["同一条", "另一条", "同一条"]


def test_without_the_check_it_is_delivered_twice(kit: Kit) -> None:
    kit.text("同一条")
    kit.text("同一条")
    assert len(kit.sent()) == 2


def test_anybody_is_a_member_while_none_are_configured() -> None:
    with serve_wecom(users=[]) as kit:
        assert kit.text(touser="SomeBody")["errcode"] == 0
        assert kit.sent()[0]["to"] == "SomeBody"


def test_recall(kit: Kit) -> None:
    kit.configure(apps=[{"agent_id": 7, "secret": "s-7"}])
    first, second = kit.text("撤回我")["msgid"], kit.text("太晚了")["msgid"]
    other = kit.gettoken("s-7")["access_token"]
    assert kit.post("message/recall", {"msgid": first}, other)["errcode"] == 40058
    assert kit.post("message/recall", {"msgid": first})["errcode"] == 0
    assert kit.post("message/recall", {"msgid": "unknown"})["errcode"] == 40058
    kit.control("clock", {"advance_s": 86401})
    fresh = kit.gettoken()["access_token"]
    assert kit.post("message/recall", {"msgid": second}, fresh)["errcode"] == 40058
    chat = kit.http.get(f"{kit.url}/simulator/state?user=zhangyi&wait=0").json()["entries"]
    assert [entry["type"] for entry in chat] == ["recalled", "text"]

"""The phone page's files and JSON endpoints."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from demo.simulators.http import Response
from tests.simulators.wecom_kit import AGENT, Inbound, Kit, passive_text, review_card, serve_wecom


@pytest.fixture
def kit() -> Iterator[Kit]:
    with serve_wecom() as found:
        yield found


def get(kit: Kit, path: str, **params: Any) -> httpx.Response:
    return kit.http.get(f"{kit.url}/simulator/{path}", params=params)


def state(kit: Kit, user: str = "ZhangYi", **params: Any) -> dict[str, Any]:
    found: dict[str, Any] = get(kit, "state", **{"user": user, "wait": 0, **params}).json()
    return found


def post(kit: Kit, path: str, body: Any) -> httpx.Response:
    return kit.http.post(f"{kit.url}/simulator/{path}", json=body)


@pytest.mark.full
@pytest.mark.parametrize(
    ("path", "kind"),
    [("", "text/html"), ("phone.js", "text/javascript"), ("phone.css", "text/css")],
)
def test_the_page_stands_under_a_strict_policy(kit: Kit, path: str, kind: str) -> None:
    answer = get(kit, path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(kind)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_every_address_is_relative_and_nothing_is_inline(kit: Kit) -> None:
    html = get(kit, "").text
    for address in re.findall(r'(?:src|href)="([^"]+)"', html):
        assert "/" not in address
        assert get(kit, address).status_code == 200
    assert not re.search(r"<style|\son\w+=|style=", html)
    assert re.findall(r"<script[^>]*>(.*?)</script>", html) == [""]
    for script in ("phone.js", "card.js", "text.js"):
        assert not re.search(r"(?:fetch|from)\s*\(?[\"'`](?:/|http)", get(kit, script).text)


@pytest.mark.full
def test_the_page_says_what_it_is(kit: Kit) -> None:
    html = get(kit, "").text
    assert "模拟器" in html
    assert "大模型也是一个小替身" in html


@pytest.mark.parametrize("path", ["nope", "../service.py", "%2e%2e/service.py", "service.py"])
def test_other_files_are_not_served(kit: Kit, path: str) -> None:
    assert get(kit, path).status_code == 404


def test_members_are_the_visible_ones(kit: Kit) -> None:
    found = get(kit, "members").json()
    assert found["app"]
    assert [m["userid"] for m in found["members"]] == ["ZhangYi", "wanghushi", "nolicence"]
    assert found["members"][0] == {"userid": "ZhangYi", "name": "张一", "title": "PI"}


def test_without_configured_members_there_is_still_one() -> None:
    with serve_wecom(users=[]) as kit:
        assert [m["userid"] for m in get(kit, "members").json()["members"]] == ["guest"]
        kit.text(touser="somebody")
        assert [m["userid"] for m in get(kit, "members").json()["members"]] == ["somebody"]


def test_a_sent_text_is_shown_and_pushed(kit: Kit) -> None:
    kit.receiver.answer = lambda _: passive_text("ZhangYi", "请稍候")
    assert post(kit, "send", {"user": "ZhangYi", "text": "入组多少例"}).json() == {"ok": True}
    (message,) = kit.receiver.wait_for(1)
    assert (message.text("FromUserName"), message.text("Content")) == ("ZhangYi", "入组多少例")
    rows = state(kit, wait=10)["entries"]
    while [row.get("status") for row in rows] != ["sent", None]:
        after = max(row["seq"] for row in rows)
        state(kit, after=after, wait=10)
        rows = state(kit)["entries"]
    shown = [(row["side"], row["type"], row["content"]) for row in rows]
    assert shown == [("me", "text", "入组多少例"), ("bot", "passive_text", "请稍候")]


def test_texts_of_one_member_keep_their_order(kit: Kit) -> None:
    first = threading.Event()

    def slow_at_first(_: Inbound) -> Response:
        if not first.is_set():
            first.set()
            kit.state.stopping.wait(0.2)
        return Response.text("")

    kit.receiver.answer = slow_at_first
    for number in range(5):
        post(kit, "send", {"user": "ZhangYi", "text": str(number)})
    seen = kit.receiver.wait_for(5)
    assert [message.text("Content") for message in seen] == list("01234")


def test_an_unreachable_assistant_is_marked(kit: Kit) -> None:
    kit.configure(callback_url="http://127.0.0.1:9/")
    kit.push(user="ZhangYi", text="在吗")
    assert [row["status"] for row in state(kit)["entries"]] == ["failed"]


def test_after_gives_only_what_is_new_or_changed(kit: Kit) -> None:
    code = kit.card(review_card())["response_code"]
    kit.text("第二条")
    before = state(kit)
    assert state(kit, after=before["seq"])["entries"] == []
    body = {"agentid": AGENT, "response_code": code, "atall": 1, "button": {"replace_name": "完"}}
    kit.post("message/update_template_card", body)
    (changed,) = state(kit, after=before["seq"])["entries"]
    assert changed["id"] == before["entries"][0]["id"]
    assert changed["content"]["replace_text"] == "完"


def test_the_long_poll_wakes_up(kit: Kit) -> None:
    answers: list[dict[str, Any]] = []
    waiting = threading.Thread(target=lambda: answers.append(state(kit, wait=20)))
    waiting.start()
    kit.text("来了")
    waiting.join(10)
    assert [row["content"] for row in answers[0]["entries"]] == ["来了"]


def test_nobody_reads_another_chat(kit: Kit) -> None:
    kit.text("给张一")
    found = state(kit, "wanghushi")
    assert found["entries"] == []
    assert found["latest"] == {"zhangyi": 1}


def test_a_reset_starts_the_page_over(kit: Kit) -> None:
    kit.text("旧")
    old = state(kit)
    kit.control("reset")
    kit._token = ""
    kit.text("新")
    fresh = state(kit, after=old["seq"], epoch=old["epoch"])
    assert fresh["epoch"] != old["epoch"]
    assert [row["content"] for row in fresh["entries"]] == ["新"]


def test_a_click_goes_the_same_way(kit: Kit) -> None:
    kit.card(review_card())
    order = {"user": "ZhangYi", "task_id": "review_42@1", "key": "reject"}
    assert post(kit, "click", {**order, "selected": {"reason": ["r_err"]}}).status_code == 200
    (event,) = kit.receiver.wait_for(1)
    assert event.text("EventKey") == "reject"
    assert post(kit, "click", {**order, "key": "nope"}).status_code == 409


@pytest.mark.full
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("send", {"user": "ZhangYi", "text": "  "}),
        ("send", {"user": "ZhangYi"}),
        ("send", {"user": "ZhangYi", "text": "字" * 683}),
        ("send", []),
        ("click", {"user": "ZhangYi"}),
    ],
)
def test_bad_orders(kit: Kit, path: str, body: Any) -> None:
    assert post(kit, path, body).status_code == 400


def test_the_page_is_not_in_the_request_log(kit: Kit) -> None:
    get(kit, "members")
    assert kit.http.get(f"{kit.url}/_control/requests").json() == []
    kit.control("configure", {"phone": {}})
    kit.control("phone/anything", {}, 404)

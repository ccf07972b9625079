"""update_template_card and clicks (reference/wecom.md 1.8, 1.9, 3.4, section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from demo.simulators.http import Response
from tests.simulators.wecom_kit import AGENT, Kit, passive, review_card, serve_wecom

CLICK = {"user": "ZhangYi", "task_id": "review_42@1", "key": "approve"}


@pytest.fixture
def kit() -> Iterator[Kit]:
    with serve_wecom() as found:
        yield found


def update(kit: Kit, code: str, **more: Any) -> dict[str, Any]:
    base = {"agentid": AGENT, "response_code": code, "atall": 1}
    return kit.post("message/update_template_card", {**base, **more})


def grey(kit: Kit, code: str, **more: Any) -> dict[str, Any]:
    return update(kit, code, **{"button": {"replace_name": "已同意"}, **more})


def chat(kit: Kit, user: str = "zhangyi") -> list[dict[str, Any]]:
    found = kit.http.get(f"{kit.url}/simulator/state?user={user}&wait=0").json()
    entries: list[dict[str, Any]] = found["entries"]
    return entries


def test_greying_the_button_for_all(kit: Kit) -> None:
    code = kit.card(review_card(), touser="ZhangYi|wanghushi")["response_code"]
    assert grey(kit, code) == {"errcode": 0, "errmsg": "ok"}
    rows = [row for row in kit.sent() if row["type"] == "update_template_card"]
    assert [(row["to"], row["msgid"]) for row in rows] == [("ZhangYi", None), ("wanghushi", None)]
    assert rows[0]["content"]["replace_text"] == "已同意"
    assert [entry["active"] for entry in chat(kit)] == [False]
    kit.control("wecom/click", CLICK, 409)


def test_replacing_the_card_for_one(kit: Kit) -> None:
    code = kit.card(review_card(), touser="ZhangYi|wanghushi")["response_code"]
    new = review_card(main_title={"title": "已由 张一 同意"}, replace_text="已提交")
    del new["task_id"]
    assert update(kit, code, atall=0, userids=["ZHANGYI"], template_card=new)["errcode"] == 0
    assert chat(kit)[0]["content"]["main_title"]["title"] == "已由 张一 同意"
    assert [entry["active"] for entry in chat(kit, "wanghushi")] == [True]


def test_strangers_are_listed_and_the_update_still_runs(kit: Kit) -> None:
    code = kit.card(review_card())["response_code"]
    answer = grey(kit, code, atall=0, userids=["zhangyi", "wanghushi"])
    assert answer == {"errcode": 0, "errmsg": "ok", "invaliduser": ["wanghushi"]}
    assert chat(kit)[0]["active"] is False


def test_a_response_code_works_once_and_for_72_hours(kit: Kit) -> None:
    first = kit.card(review_card())["response_code"]
    second = kit.card(review_card("review_43@1"))["response_code"]
    assert [grey(kit, first)["errcode"] for _ in range(2)] == [0, 60140]
    kit.control("clock", {"advance_s": 72 * 3600 + 1})
    kit._token = ""
    assert grey(kit, second)["errcode"] == 60140
    assert grey(kit, "made-up")["errcode"] == 60140


@pytest.mark.full
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"agentid": None}, 41011),
        ({"response_code": ""}, 40063),
        ({"button": {}}, 42020),
        ({"button": None, "template_card": {"card_type": "x"}}, 42031),
        ({"userids": "zhangyi"}, 40058),
        ({"userids": ["u"] * 1001}, 40058),
        ({}, 82001),
    ],
)
def test_what_it_refuses(kit: Kit, body: dict[str, Any], code: int) -> None:
    valid = kit.card(review_card())["response_code"]
    answer = grey(kit, valid, **{"atall": 0, **body})
    assert answer["errcode"] == code


def test_another_app_may_not_use_the_code(kit: Kit) -> None:
    kit.configure(apps=[{"agent_id": 7, "secret": "s-7"}])
    code = kit.card(review_card())["response_code"]
    token = kit.gettoken("s-7")["access_token"]
    body = {"agentid": 7, "response_code": code, "atall": 1, "button": {"replace_name": "x"}}
    assert kit.post("message/update_template_card", body, token)["errcode"] == 42015


def test_a_click_pushes_the_event_with_a_fresh_code(kit: Kit) -> None:
    sent_code = kit.card(review_card())["response_code"]
    done = kit.control("wecom/click", {**CLICK, "selected": {"reason": "r_err"}})
    assert [row["status"] for row in done["deliveries"]] == [200]
    (event,) = kit.receiver.seen
    names = ("MsgType", "Event", "EventKey", "TaskId", "CardType", "FromUserName", "MsgId")
    assert [event.text(name) for name in names] == [
        "event", "template_card_event", "approve", "review_42@1", "button_interaction", "ZhangYi",
        "",
    ]  # fmt: skip
    item = event.xml.find("SelectedItems/SelectedItem")
    assert item is not None
    assert item.findtext("QuestionKey") == "reason"
    assert [option.text for option in item.findall("OptionIds/OptionId")] == ["r_err"]
    fresh = event.text("ResponseCode")
    assert fresh == done["response_code"] != sent_code
    assert [grey(kit, code)["errcode"] for code in (fresh, sent_code)] == [0, 0]


def test_what_is_not_selected_is_not_sent(kit: Kit) -> None:
    kit.card(review_card())
    kit.control("wecom/click", CLICK)
    kit.control("wecom/click", {**CLICK, "selected": {"reason": ["r_ok", "r_err"]}})
    first, second = kit.receiver.seen
    assert first.xml.find("SelectedItems") is None
    assert len(second.xml.findall(".//OptionId")) == 2


@pytest.mark.full
@pytest.mark.parametrize(
    "order", [{"user": "wanghushi"}, {"task_id": "other"}, {"key": "no_such_button"}]
)
def test_nobody_clicks_what_is_not_there(kit: Kit, order: dict[str, str]) -> None:
    kit.card(review_card())
    assert kit.control("wecom/click", {**CLICK, **order}, 409)["error"]
    assert kit.receiver.seen == []


def test_a_click_needs_user_task_and_key(kit: Kit) -> None:
    kit.control("wecom/click", {"user": "ZhangYi"}, 400)


def test_the_menu_of_a_notice(kit: Kit) -> None:
    menu = {"desc": "评价", "action_list": [{"text": "👍", "key": "up"}]}
    link = {"type": 1, "url": "https://host/x"}
    notice = {"card_type": "text_notice", "task_id": "a_1", "sub_title_text": "答"}
    kit.card({**notice, "card_action": link, "action_menu": menu})
    kit.control("wecom/click", {"user": "ZhangYi", "task_id": "a_1", "key": "up"})
    (event,) = kit.receiver.seen
    assert event.text("Event") == "template_card_menu_event"
    assert event.xml.find("SelectedItems") is None


BUTTON = "<MsgType>update_button</MsgType><Button><ReplaceName>已同意</ReplaceName></Button>"
CARD = (
    "<MsgType>update_template_card</MsgType><TemplateCard>"
    "<CardType>button_interaction</CardType><MainTitle><Title>换了</Title></MainTitle>"
    "<HorizontalContentList><KeyName>项目</KeyName></HorizontalContentList>"
    "<ReplaceText>已提交</ReplaceText></TemplateCard>"
)


@pytest.mark.full
@pytest.mark.parametrize("honored", [False, True])
@pytest.mark.parametrize(("middle", "text"), [(BUTTON, "已同意"), (CARD, "已提交")])
def test_a_passive_card_update_is_ignored_unless_switched_on(
    kit: Kit, middle: str, text: str, honored: bool
) -> None:
    kit.switch(honor_passive_card_update=honored)
    kit.receiver.answer = lambda _: passive("ZhangYi", middle)
    kit.card(review_card())
    assert kit.control("wecom/click", CLICK)["reply"] is None
    (entry,) = chat(kit)
    assert entry["active"] is not honored
    assert (entry["content"].get("replace_text") == text) is honored


def test_a_passive_text_to_a_click_is_ignored(kit: Kit) -> None:
    middle = "<MsgType>text</MsgType><Content>收到</Content>"
    kit.receiver.answer = lambda _: passive("ZhangYi", middle)
    kit.card(review_card())
    assert kit.control("wecom/click", CLICK)["reply"] is None
    assert [row["type"] for row in kit.sent()] == ["template_card"]


def test_a_failing_callback_is_reported(kit: Kit) -> None:
    kit.receiver.answer = lambda _: Response.text("", 500)
    kit.card(review_card())
    done = kit.control("wecom/click", CLICK)
    assert [row["status"] for row in done["deliveries"]] == [500, 500, 500]

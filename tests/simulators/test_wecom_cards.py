"""What a template card may hold (reference/wecom.md 3.3, 3.6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.simulators.wecom_kit import Kit, review_card, serve_wecom

Card = dict[str, Any]
LINK = {"type": 1, "url": "https://host/x"}
TITLE = {"main_title": {"title": "标题"}}
OPTIONS = [{"id": "a", "text": "甲"}, {"id": "b", "text": "乙"}]


@pytest.fixture(scope="module")
def kit() -> Iterator[Kit]:
    with serve_wecom() as found:
        yield found


@pytest.fixture(autouse=True)
def _fresh(kit: Kit) -> None:
    kit.control("reset")
    kit._token = ""


def text_notice(**more: Any) -> Card:
    return {"card_type": "text_notice", **TITLE, "card_action": LINK, **more}


def news_notice(**more: Any) -> Card:
    image = {"url": "https://host/a.png"}
    return {"card_type": "news_notice", **TITLE, "card_action": LINK, "card_image": image, **more}


def vote(**more: Any) -> Card:
    box = {"question_key": "q", "mode": 1, "option_list": OPTIONS}
    submit = {"text": "提交", "key": "submit"}
    base = {"card_type": "vote_interaction", "task_id": "vote_1", "checkbox": box}
    return {**base, **TITLE, "submit_button": submit, **more}


def multiple(**more: Any) -> Card:
    lists = [{"question_key": "q1", "title": "问", "option_list": OPTIONS}]
    submit = {"text": "提交", "key": "submit"}
    base = {"card_type": "multiple_interaction", "task_id": "multi_1", "select_list": lists}
    return {**base, **TITLE, "submit_button": submit, **more}


def menu(*keys: str) -> Card:
    return {"desc": "更多", "action_list": [{"text": "做", "key": key} for key in keys]}


@pytest.mark.parametrize(
    ("card", "updatable"),
    [
        (text_notice(), False),
        (text_notice(main_title={}, sub_title_text="只有正文"), False),
        (text_notice(task_id="t_1", action_menu=menu("up", "down")), True),
        (news_notice(), False),
        (news_notice(card_image=None, image_text_area={"title": "图文"}), False),
        (review_card(), True),
        (vote(), True),
        (multiple(), True),
    ],
)
def test_all_five_kinds_are_delivered(kit: Kit, card: Card, updatable: bool) -> None:
    answer = kit.card(card)
    assert answer["errcode"] == 0, answer
    assert ("response_code" in answer) is updatable
    assert kit.sent()[0]["content"] == card
    assert kit.sent()[0]["type"] == "template_card"


def _row(**more: Any) -> Card:
    return {"horizontal_content_list": [{"keyname": "项目", "value": "x", **more}]}


def _button(**more: Any) -> Card:
    return {"button_list": [{"text": "同意", "key": "approve", **more}]}


def _selection(**more: Any) -> Card:
    return {"button_selection": {"question_key": "reason", "option_list": OPTIONS, **more}}


@pytest.mark.full
@pytest.mark.parametrize(
    ("card", "code"),
    [
        (None, 41016),
        ({}, 42031),
        (review_card(card_type="poster"), 42031),
        (review_card(main_title={}), 42033),
        (text_notice(main_title={}), 42033),
        (text_notice(card_action=None), 42045),
        (text_notice(card_action={"type": 0}), 42045),
        (text_notice(card_action={"type": 1, "url": "host/x"}), 42028),
        (text_notice(card_action={"type": 2}), 42030),
        (news_notice(card_image={}), 42044),
        (news_notice(vertical_content_list=[{"title": "x"}] * 5), 42036),
        (review_card(horizontal_content_list=[{"keyname": "a"}] * 7), 42035),
        (review_card(horizontal_content_list="x"), 42035),
        (review_card(**_row(keyname="")), 42027),
        (review_card(**_row(type=1)), 42028),
        (review_card(**_row(type=2)), 42029),
        (review_card(**_row(type=3)), 42050),
        (review_card(**_row(type=4)), 40058),
        (review_card(jump_list=[{"title": "x"}] * 4), 42042),
        (review_card(jump_list=[{"title": "x", "type": 1}]), 42028),
        (review_card(quote_area={"type": 2}), 42030),
        (review_card(source={"desc_color": 9}), 40058),
        (review_card(button_list=[]), 40058),
        (review_card(button_list=[{"text": "x", "key": str(n)} for n in range(7)]), 40058),
        (review_card(**_button(text="")), 42038),
        (review_card(**_button(key="")), 42039),
        (review_card(**_button(key="k" * 1025)), 42039),
        (review_card(**_button(type=1)), 42028),
        (review_card(**_button(style=5)), 40058),
        (review_card(button_list=[{"text": "x", "key": "k"}, {"text": "y", "key": "k"}]), 42039),
        (review_card(**_selection(question_key="")), 42043),
        (review_card(**_selection(option_list=[])), 42037),
        (review_card(**_selection(option_list=OPTIONS * 2)), 42040),
        (review_card(**_selection(option_list=[{"id": "a" * 129, "text": "x"}])), 42040),
        (review_card(**_selection(option_list=[{"id": "a"}])), 42041),
        (vote(checkbox=None), 42043),
        (vote(submit_button={"key": "k"}), 42049),
        (vote(submit_button={"text": "x"}), 42046),
        (vote(checkbox={"question_key": "q", "mode": 2, "option_list": OPTIONS}), 40058),
        (multiple(select_list=[]), 42047),
        (multiple(select_list=[{"question_key": "q", "option_list": OPTIONS}] * 2), 42043),
        (text_notice(task_id="t", action_menu=menu("a", "a")), 42051),
        (text_notice(task_id="t", action_menu=menu()), 40058),
        (text_notice(action_menu=menu("a")), 42014),
        (review_card(task_id=None), 42014),
        (review_card(task_id="有中文"), 42014),
        (review_card(task_id="a" * 129), 42014),
    ],
)
def test_what_it_refuses(kit: Kit, card: Any, code: int) -> None:
    assert kit.card(card)["errcode"] == code
    assert kit.sent() == []


def test_a_task_id_is_used_once(kit: Kit) -> None:
    assert kit.card(review_card())["errcode"] == 0
    assert kit.card(review_card())["errcode"] == 42014
    assert kit.card(review_card("review_42@2"))["errcode"] == 0


def test_without_a_callback_url_no_interactive_card(kit: Kit) -> None:
    state = kit.http.get(f"{kit.url}/_control/sent").status_code
    assert state == 200
    with serve_wecom() as other:
        other.configure(callback_url="")
        assert other.card(review_card())["errcode"] == 43012
        assert other.card(text_notice())["errcode"] == 0

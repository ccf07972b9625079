"""Cards keep within WeCom's limits and are stored before they are sent (reference/wecom.md 3.3)."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
import time_machine
from django.utils.timezone import now

from projects.models import Member, Project
from tests.wecom_standin import UPDATE, WecomSim
from wechat.models import Card, OutboxMessage
from wechat.outbound import cards, feedback_cards, sender
from wechat.reviews import review_cards

pytestmark = pytest.mark.django_db


def close(**shown: str) -> None:
    """As a decision in the console does."""
    card = Card.objects.get()
    for one in cards.close(kind=card.kind, ref=card.ref, up_to=card.version):
        cards.show_closed(one, **shown)


def offer(project: Project, to: list[str], ref: str = "7") -> None:
    cards.send(
        kind="feedback",
        ref=ref,
        version=1,
        project=project,
        to=to,
        content=feedback_cards.feedback_card(),
        fallback="in words",
    )


def test_a_card_is_stored_and_queued_once(project: Project) -> None:
    offer(project, ["ZhangYi", "admin"])
    offer(project, ["somebody", "else"])
    card = Card.objects.get()
    assert (card.task_id, card.to_user, card.state) == ("feedback_7@1", "admin|zhangyi", "open")
    assert OutboxMessage.objects.get().to_user == "admin|zhangyi"


def test_a_card_for_nobody_is_none(project: Project) -> None:
    offer(project, [])
    assert not Card.objects.exists()


def test_one_message_reaches_several(project: Project, wecom: WecomSim) -> None:
    offer(project, ["zhangyi", "admin"])
    sender.send_lane("admin|zhangyi")
    assert sorted(row["to"] for row in wecom.delivered()) == ["admin", "zhangyi"]
    assert Card.objects.get().response_code


def test_an_update_by_the_code_of_the_send_call(project: Project, wecom: WecomSim) -> None:
    offer(project, ["zhangyi", "admin"])
    close(note="done", button="Closed", key="k")
    sender.send_lane("admin|zhangyi")
    assert Card.objects.get().state == "closed"
    updates = [row for row in wecom.delivered() if row["type"] == "update_template_card"]
    assert sorted(row["to"] for row in updates) == ["admin", "zhangyi"]
    assert updates[0]["content"]["replace_text"] == "Closed"


@pytest.mark.full
def test_an_update_of_a_card_that_never_arrived_becomes_a_text(
    project: Project, wecom: WecomSim
) -> None:
    wecom.errcode("message/send", 42031)
    offer(project, ["zhangyi", "admin"])
    close(note="done", button="Closed", key="k", fallback="decided")
    sender.send_lane("admin|zhangyi")
    for user in ("admin", "zhangyi"):
        sender.send_lane(user)
        assert wecom.texts(user) == ["in words", "decided"]


@pytest.mark.parametrize("fault", ["timeout_after", "reset"])
def test_an_unanswered_update_is_done_when_its_code_is_used_up(
    project: Project, wecom: WecomSim, fault: str
) -> None:
    offer(project, ["zhangyi"])
    sender.send_lane("zhangyi")
    wecom.fault("message/update_template_card", fault, 0.0)
    close(note="done", button="Closed", key="k", fallback="decided")
    sender.send_lane("zhangyi")
    with time_machine.travel(now() + timedelta(seconds=5)):
        sender.send_lane("zhangyi")
    assert OutboxMessage.objects.get(kind="card_update").status == "sent"
    updates = [row for row in wecom.delivered() if row["type"] == "update_template_card"]
    assert len(updates) == 1
    assert not wecom.texts()


@pytest.mark.parametrize(
    "fault", [("status", 500), ("status", 502), ("status", 503), ("body", ""), ("body", "<html>")]
)
def test_an_update_behind_a_gateway_that_stammers_may_have_been_made(
    project: Project, wecom: WecomSim, fault: tuple[str, object]
) -> None:
    """WeCom has made it and the gateway lost the answer: the card is changed, and nobody is told in words."""
    offer(project, ["zhangyi"])
    sender.send_lane("zhangyi")
    wecom.fault(UPDATE, *fault)
    close(note="done", button="Closed", key="k", fallback="decided")
    sender.send_lane("zhangyi")
    wecom.client().update_template_card(
        wecom.bodies(UPDATE)[0]
    )  # what it had made of the first call
    with time_machine.travel(now() + timedelta(seconds=5)):
        sender.send_lane("zhangyi")
        sender.send_lane("zhangyi")
    assert OutboxMessage.objects.get(kind="card_update").status == "sent"
    assert not wecom.texts()


@pytest.mark.parametrize("plain_text", [False, True])
def test_words_in_place_of_a_card_are_shown_as_their_reader_can_see_them(
    project: Project, people: dict[str, Member], wecom: WecomSim, plain_text: bool
) -> None:
    wecom.errcode(UPDATE, 42031)
    offer(project, ["zhangyi"])
    sender.send_lane("zhangyi")
    people["zhangyi"].plain_text = plain_text
    people["zhangyi"].save()
    close(note="done", button="Closed", key="k", fallback="**decided**")
    sender.send_lane("zhangyi")
    sender.send_lane("zhangyi")
    told = OutboxMessage.objects.get(key__startswith="fallback:")
    shown = ("text", "decided") if plain_text else ("markdown", "**decided**")
    assert (told.kind, json.loads(told.payload)["message"][told.kind]["content"]) == shown


def test_text_of_a_model_on_a_card_is_harmless_and_needs_no_escape() -> None:
    """Errcode 40033; O18."""
    asked = "请\x07核对\x1b\n<a href='x'>P001</a> $userName=admin$"
    assert cards.fit_card(asked, "sub_title") == "请核对 ＜a href='x'>P001＜/a> ＄userName=admin$"


@pytest.mark.parametrize(("name", "most"), cards.CARD_CHARS.items())
def test_texts_are_cut_to_what_is_shown(name: str, most: int) -> None:
    assert cards.fit_card("短", name) == "短"
    assert len(cards.fit_card("长" * 500, name)) == most
    assert cards.fit_card("a\n b", name) == "a b"


def test_option_ids_and_task_ids_have_the_right_form() -> None:
    assert re.fullmatch(r"[0-9A-Za-z_\-@]{1,128}", cards.task_id("review", 42, 3))
    assert cards.task_id("review", 42, 3) == "review_42@3"
    assert {"r_ok", "r_src", "r_err"} <= set(review_cards.reasons())
    assert set(feedback_cards.reasons()) == {"too_long", "inaccurate", "unclear"}

"""A question back with readings to choose from: numbered, a button each; a tap counts as its number would."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
import time_machine
from django.utils.timezone import now
from pytest_django import Settings

from memory.models import ConversationHistory
from projects.models import Member
from tests.support.study import Study
from tests.wechat.bot_kit import AES_KEY, TOKEN, message, post
from tests.wechat.working import click, outgoing, payloads, receive, said, work
from wechat.models import Card
from wechat.outbound import choice_cards

pytestmark = pytest.mark.django_db
USER, VAGUE = "wanghushi", "P001的指标咋样"
CLOSED = "This question is no longer open: please ask again."


def asked(text: str = VAGUE) -> Card:
    """A message that is asked back, and the card under the reply."""
    receive(text, user=USER)
    work()
    return Card.objects.filter(kind=choice_cards.KIND).latest("pk")


def tap(card: Card, at: int = 1, user: str = USER) -> str:
    key = json.loads(card.content)["button_list"][at - 1]["key"]
    click(card.task_id, key, user)
    work()
    return outgoing(user)[-1]


@pytest.mark.full
def test_a_tap_is_answered_as_the_number_is(study: Study) -> None:
    card = asked()
    question = outgoing(USER)[-1]
    shown = payloads("card")[-1]["template_card"]
    first = question.splitlines()[1].removeprefix("1. ")
    assert shown["sub_title_text"].startswith("1. ")
    assert first.startswith(shown["sub_title_text"].split("; ")[0].removeprefix("1. "))
    assert [one["text"] for one in shown["button_list"]] == [
        str(at) for at in range(1, len(question.splitlines()))
    ]
    tapped = tap(card).splitlines()[0]
    asked()
    receive("1", user=USER)
    work()
    assert outgoing(USER)[-1].splitlines()[0] == tapped != question


@pytest.mark.full
def test_a_tap_counts_once(study: Study) -> None:
    card = asked()
    tap(card)
    [update] = payloads("card_update")
    card.refresh_from_db()
    assert card.response_code, "of the tap, for the update"
    assert update["template_card"]["replace_text"]
    talk = ConversationHistory.objects.count()
    assert tap(card) == said(CLOSED)
    assert ConversationHistory.objects.count() == talk


@pytest.mark.full
def test_the_next_message_closes_it_as_it_does_the_number(study: Study) -> None:
    card = asked()
    receive("入组多少例", user=USER)
    work()
    card.refresh_from_db()
    assert card.state == Card.State.CLOSED
    assert tap(card) == said(CLOSED)


@pytest.mark.full
def test_a_message_to_the_smart_bot_closes_it_too(study: Study, settings: Settings) -> None:
    settings.WECOM_AIBOT_TOKEN, settings.WECOM_AIBOT_AES_KEY = TOKEN, AES_KEY
    card = asked()
    assert post(message("入组多少例", user=USER)).status_code == 200
    work()
    card.refresh_from_db()
    assert card.state == Card.State.CLOSED


def test_it_is_its_readers_alone_and_runs_out(study: Study) -> None:
    card = asked()
    assert tap(card, user="zhangyi") == said("This card is meant for somebody else.")
    with time_machine.travel(now() + timedelta(minutes=31), tick=True):
        assert tap(card) == said(CLOSED)


@pytest.mark.full
def test_who_sees_no_cards_has_the_numbers_alone(study: Study) -> None:
    Member.objects.filter(wecom_userid=USER).update(plain_text=True)
    receive(VAGUE, user=USER)
    work()
    assert "1. " in outgoing(USER)[-1]
    assert not Card.objects.filter(kind=choice_cards.KIND).exists()

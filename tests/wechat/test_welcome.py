"""The welcome, its tappable examples, and the menu (issue 5, Inbound)."""

from __future__ import annotations

import json

import pytest

from memory.models import ConversationHistory
from projects.models import Member
from study.models import Subject
from tests.support.study import Study
from tests.wechat.working import click, deliver, outgoing, payloads, receive_event, said, work
from wechat.models import Card, InboxMessage
from wechat.outbound.welcome import examples

pytestmark = pytest.mark.django_db


def named(study: Study, **now: bool) -> str:
    """The subject that zhangyi's examples are about."""
    return Subject.objects.for_member(study["zhangyi"]).filter(**now)[0].record_id


def key(card: Card, label: str) -> str:
    """What the button of this name brings back."""
    buttons = json.loads(card.content)["button_list"]
    (found,) = [button["key"] for button in buttons if button["text"] == said(label)]
    return str(found)


def test_entering_shows_examples_to_tap(study: Study) -> None:
    receive_event("enter_agent")
    work()
    deliver()
    (sent,) = [row for row in study.stand_ins.sent() if row["type"] == "template_card"]
    buttons = sent["content"]["button_list"]
    shown = [label for label, _asked in examples(study.members["zhangyi"]).values()]
    assert [button["text"] for button in buttons] == shown
    assert sent["to"] == "zhangyi"


@pytest.mark.full
def test_a_tapped_example_is_answered_like_a_question(study: Study) -> None:
    receive_event("enter_agent")
    work()
    card = Card.objects.get(kind="welcome")
    row = click(card.task_id, key(card, "A subject"), "zhangyi")
    work()
    assert named(study) in outgoing("zhangyi")[-1]
    row.refresh_from_db()
    assert (row.status, row.project) == (InboxMessage.Status.DONE, study.project)
    click(card.task_id, key(card, "Enrolment"), "zhangyi")  # the card can be tapped again
    work()
    assert len(outgoing("zhangyi")) == 2
    assert not payloads("card_update")


def test_a_tap_asks_what_the_card_showed_whatever_the_roster_says_since(study: Study) -> None:
    receive_event("enter_agent")
    work()
    card, shown = Card.objects.get(kind="welcome"), named(study)
    Subject.objects.filter(record_id=shown).update(is_present=False)
    assert named(study, is_present=True) != shown
    click(card.task_id, key(card, "A subject"), "zhangyi")
    work()
    asked = ConversationHistory.objects.filter(user_id="zhangyi", role="user").latest("created_at")
    assert shown in asked.content


def test_the_same_tap_delivered_twice_is_answered_once(study: Study) -> None:
    receive_event("enter_agent")
    work()
    card = Card.objects.get(kind="welcome")
    for _ in range(3):
        click(card.task_id, key(card, "A subject"), "zhangyi", code="same", CreateTime=1700000000)
    work()
    assert len(outgoing("zhangyi")) == 1


def test_a_forwarded_welcome_answers_nobody_else(study: Study) -> None:
    receive_event("enter_agent")
    work()
    card = Card.objects.get(kind="welcome")
    click(card.task_id, key(card, "A subject"), "crc_b")
    work()
    assert len(outgoing("crc_b")) == 1
    assert "P001" not in outgoing("crc_b")[0]


def test_a_welcome_that_is_tapped_after_leaving_speaks_of_no_review(study: Study) -> None:
    receive_event("enter_agent")
    work()
    card = Card.objects.get(kind="welcome")
    Member.objects.filter(wecom_userid="zhangyi").update(is_active=False)
    click(card.task_id, key(card, "A subject"), "zhangyi")
    work()
    assert outgoing("zhangyi") == [said("This card is meant for somebody else.")]


def test_the_examples_name_a_subject_that_the_reader_sees(
    people: dict[str, Member], subjects: dict[str, Subject]
) -> None:
    for user, record in (("wanghushi", "P001"), ("crc_b", "P002")):
        asked = " ".join(words for _label, words in examples(people[user]).values())
        assert asked.count(record) == 3
        assert asked.count("P00") == 3


def test_where_no_subject_is_seen_none_is_named(
    people: dict[str, Member], subjects: dict[str, Subject]
) -> None:
    Subject.objects.filter(record_id="P002").update(is_present=False)
    asked = [words for _label, words in examples(people["crc_b"]).values()]
    assert len(set(asked)) == 5
    assert "P00" not in " ".join(asked)


@pytest.mark.usefixtures("subjects")
def test_who_sees_no_cards_reads_the_welcome(people: dict[str, Member]) -> None:
    Member.objects.filter(wecom_userid="zhangyi").update(plain_text=True)
    receive_event("enter_agent")
    work()
    (text,) = outgoing("zhangyi")
    assert "P001" in text
    assert text.count("\n· ") == 5


@pytest.mark.parametrize("key", ["ask_subject", "ask:P001 入组了吗?"])
def test_a_menu_click_asks_its_question(study: Study, key: str) -> None:
    receive_event("click", EventKey=key)
    work()
    assert ("P001" if "P001" in key else named(study)) in outgoing("zhangyi")[-1]


@pytest.mark.parametrize(
    ("key", "user"), [("V1001", "zhangyi"), ("ask:", "zhangyi"), ("ask_subject", "ghost")]
)
def test_other_menu_clicks_are_recorded_only(
    people: dict[str, Member], key: str, user: str
) -> None:
    row = receive_event("click", user=user, EventKey=key)
    work()
    row.refresh_from_db()
    assert row.status == InboxMessage.Status.DONE
    assert outgoing() == []

"""The card under an answer: a vote, a thank-you, one question after a bare 👎 (decisions.md, "feedback")."""

from __future__ import annotations

import pytest

from memory.models import ConversationHistory
from tests.support.study import Study
from tests.wechat.working import click, outgoing, payloads, receive, said, work
from wechat.models import Card
from wechat.outbound import feedback_cards

pytestmark = pytest.mark.django_db
USER = "zhangyi"


@pytest.fixture
def card(study: Study, monkeypatch: pytest.MonkeyPatch) -> Card:
    """The card under an answer."""
    monkeypatch.setattr(feedback_cards, "LEAST_CHARS", 1)
    receive("P001 入组了吗?", user=USER)
    work()
    return Card.objects.get(kind=feedback_cards.KIND)


def told(card: Card, key: str, selected: str = "") -> list[str]:
    """What a click is answered with in words."""
    before = len(outgoing(USER))
    click(card.task_id, key, USER, selected=selected)
    work()
    return outgoing(USER)[before:]


def vote(card: Card) -> tuple[str | None, str | None]:
    row = ConversationHistory.objects.get(pk=card.ref)
    return row.feedback, row.feedback_reason


@pytest.mark.parametrize(("key", "selected"), [("up", ""), ("down", "too_long"), ("up", "unclear")])
def test_a_vote_is_thanked_for_on_the_card_alone(card: Card, key: str, selected: str) -> None:
    assert told(card, key, selected) == []
    reason = selected if key == "down" else None
    assert vote(card) == (f"thumbs_{key}", reason)
    [update] = payloads("card_update")
    assert update["template_card"]["sub_title_text"] == said("Thank you for your feedback.")


@pytest.mark.full
def test_a_bare_thumb_down_is_asked_for_its_reason_once(card: Card) -> None:
    [question] = told(card, "down")
    assert "👎 太长" in question
    assert vote(card) == ("thumbs_down", None)

    receive("👎 太长", user=USER)
    work()
    assert vote(card) == ("thumbs_down", "too_long")
    assert said("Thank you for your feedback.") in outgoing(USER)[-1]


def test_a_vote_on_an_answer_that_is_gone_is_not_thanked_for(card: Card) -> None:
    ConversationHistory.objects.filter(pk=card.ref).delete()
    assert told(card, "down") == []
    [update] = payloads("card_update")
    shown = update["template_card"]["sub_title_text"]
    assert shown == said("There is no answer of mine to rate yet.")


def test_it_is_not_asked_again(card: Card) -> None:
    told(card, "down")
    receive("👎", user=USER)
    work()
    assert "👎 太长" not in outgoing(USER)[-1]

"""Conversations as threads; who reads them stands in the trail (design.md 9.2)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils.timezone import now

from memory.log.flow_log import Turn, append, set_feedback
from memory.models import ConversationHistory
from projects.models import AuditEntry
from tests.support.study import Study

LIST = "/admin/memory/conversationhistory/"


def said(study: Study, text: str, minutes_ago: int, user_id: str = "zhangyi") -> None:
    append(
        project=study.project,
        user_id=user_id,
        turn=Turn(text, f"答:{text}", "general_chat", {}),
        at=now() - timedelta(minutes=minutes_ago),
    )


def thread(client: Client, text: str) -> list[str]:
    pk = next(row.pk for row in ConversationHistory.objects.all() if row.content == text)
    answer = client.get(f"{LIST}{pk}/change/")
    assert answer.status_code == 200
    return [row.content for row in answer.context["thread"]]


def reads(actor: str) -> list[dict[str, object]]:
    rows = AuditEntry.objects.filter(action="conversation.read", actor=actor)
    return [row.new for row in rows.order_by("number")]


def test_a_message_stands_within_its_conversation(
    as_user: Callable[..., Client], study: Study
) -> None:
    said(study, "很久以前", 300)
    said(study, "第一句", 20)
    said(study, "第二句", 10)
    said(study, "别人的", 10, "wanghushi")
    client = as_user("admin")
    assert thread(client, "第二句") == ["第一句", "答:第一句", "第二句", "答:第二句"]
    assert thread(client, "很久以前") == ["很久以前", "答:很久以前"]


def test_feedback_is_told_where_it_belongs(as_user: Callable[..., Client], study: Study) -> None:
    said(study, "第一句", 5)
    set_feedback(
        project=study.project, user_id="zhangyi", feedback="thumbs_down", reason="too_long"
    )
    client = as_user("admin")
    pk = ConversationHistory.objects.filter(user_id="zhangyi").first().pk  # type: ignore[union-attr]
    page = client.get(f"{LIST}{pk}/change/").content.decode()
    assert "Not helpful: Too long" in page[page.index('data-test="thread"') :]


@pytest.mark.full
def test_reading_the_words_of_others_is_in_the_trail(
    as_user: Callable[..., Client], study: Study
) -> None:
    said(study, "第一句", 5)
    client = as_user("admin")
    client.get(LIST)
    assert reads("admin") == [{"count": 2, "people": ["zhangyi"]}]
    thread(client, "第一句")
    assert len(reads("admin")) == 2
    assert "第一句" not in str(reads("admin"))


def test_ones_own_words_are_not(as_user: Callable[..., Client], study: Study) -> None:
    said(study, "第一句", 5, "wanghushi")
    client = as_user("wanghushi")
    client.get(LIST)
    thread(client, "第一句")
    assert reads("wanghushi") == []


@pytest.mark.full
def test_a_list_without_rows_is_no_reading(as_user: Callable[..., Client], study: Study) -> None:
    as_user("admin").get(LIST)
    assert reads("admin") == []

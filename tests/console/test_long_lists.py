"""A list of many messages: its count ends, a page far behind opens, a period holds what lies in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils.timezone import get_current_timezone

from memory.models import ConversationHistory
from projects import long_lists

LIST = "/admin/memory/conversationhistory/"
NOW = datetime(2026, 3, 31, 23, 30, tzinfo=get_current_timezone())


@pytest.fixture
def said(study: Any) -> Callable[..., None]:
    """Messages of one person, so many, a minute apart, the newest first."""

    def say(count: int, at: datetime = NOW) -> None:
        ConversationHistory.objects.bulk_create(
            ConversationHistory(
                project=study.project,
                user_id="zhangyi",
                role="user",
                content=f"问题 {number}",
                entities={},
                created_at=at - timedelta(minutes=number),
            )
            for number in range(count)
        )

    return say


def listed(client: Client, query: str = "") -> Any:
    return client.get(f"{LIST}?{query}").context["cl"]


@pytest.mark.full
def test_a_count_that_was_not_ended_says_so(
    as_user: Callable[..., Client], said: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_lists.LongPaginator, "most", 60)
    client = as_user("zhangyi")
    said(60)
    assert str(listed(client).result_count) == "60"
    said(1)
    shown = listed(client)
    assert str(shown.result_count) == "60+"
    assert "60+" in client.get(LIST).content.decode()


@pytest.mark.full
def test_every_row_is_on_one_page_in_order(
    as_user: Callable[..., Client], said: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_lists, "AHEAD", 10)
    said(170)
    pages = [listed(as_user("zhangyi"), f"p={number}") for number in (1, 2, 3, 4)]
    assert [row.content for page in pages for row in page.result_list] == [
        f"问题 {number}" for number in range(170)
    ]
    assert pages[3].result_count == 170


@pytest.mark.parametrize("page", ["9" * 400, "-1", "0", "x", "5"])
def test_a_page_that_is_none_leads_back(
    as_user: Callable[..., Client], said: Callable[..., None], page: str
) -> None:
    said(170)
    assert as_user("zhangyi").get(f"{LIST}?p={page}").status_code in (200, 302)


@pytest.mark.parametrize(
    ("period", "count"),
    [
        ("", 7),
        ("1", 1),
        ("7", 3),
        ("30", 4),
        ("2026-03", 4),
        ("2026-02", 2),
        ("2025-04", 0),
        ("2026", 6),
        ("2025", 1),
    ],
)
def test_a_period_holds_what_lies_in_it(
    as_user: Callable[..., Client], said: Callable[..., None], period: str, count: int
) -> None:
    for day in ("2026-03-31", "2026-03-30", "2026-03-25", "2026-03-02", "2026-02-28", "2026-02-01"):
        said(1, datetime.fromisoformat(f"{day}T00:00:00+08:00"))
    said(1, datetime.fromisoformat("2025-03-31T23:59:59+08:00"))
    with time_machine.travel(NOW, tick=False):
        assert listed(as_user("zhangyi"), f"period={period}").result_count == count


@pytest.mark.full
def test_no_row_lies_in_a_period_that_is_none(
    as_user: Callable[..., Client], said: Callable[..., None]
) -> None:
    said(3)
    assert [
        listed(as_user("zhangyi"), f"period={one}").result_count
        for one in ("2026-13", "x", "365", "2016-01")
    ] == [0, 0, 0, 0]

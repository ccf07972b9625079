"""Two things that happen to one user's memories in the same instant: none is lost, none comes back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection, connections
from django.utils.timezone import now
from pytest_django import Settings

from memory import tasks
from memory.models import MemoryTurn, UserMemory, UserProfile
from memory.people import extraction, turns
from memory.people.extraction import Heard
from memory.people.grounding import Item
from tests.engines.chat.kit import ask
from tests.memory.agent.kit import kept
from tests.support.stand_ins import StandIns
from tests.support.study import seed_study

pytestmark = pytest.mark.django_db(transaction=True)


def started(call: Callable[[], Any]) -> threading.Thread:
    def work() -> None:
        try:
            call()
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_two_messages_about_one_memory_are_both_kept(
    stand_ins: StandIns, settings: Settings
) -> None:
    settings.MEMORY_SCHEMA = "immigration"
    study = seed_study(stand_ins)
    both = threading.Barrier(2, timeout=20)
    told = {"我是博士": ("education", "博士"), "我是学计算机专业的": ("major", "计算机")}

    def reader(_member: object, _schema: object, message: str, _known: object) -> Heard:
        field, value = told[message]
        both.wait()
        item = Item(field=field, value=value, quote=message, of_speaker=True, stated=True)
        return Heard(message, [item], lambda: None)

    with patch.object(extraction, "read_message", reader):
        threads = [
            started(
                lambda text=text: turns.work(  # type: ignore[misc]
                    MemoryTurn.objects.create(
                        project=study.project, user_id="zhangyi", user_message=text
                    ).pk
                )
            )
            for text in told
        ]
        for thread in threads:
            thread.join(60)
    assert kept("zhangyi") == ["计算机博士毕业"]


@pytest.mark.full
def test_what_is_forgotten_while_it_is_summarized_is_not_in_the_summary(
    stand_ins: StandIns,
) -> None:
    study = seed_study(stand_ins)
    UserMemory.objects.create(
        project=study.project,
        user_id="zhangyi",
        memory_type="FACT",
        importance=70,
        field="department",
        value="心内科",
        content="科室:心内科",
    )
    UserProfile.objects.create(
        project=study.project, user_id="zhangyi", last_at=now() - timedelta(hours=1)
    )
    threads: list[threading.Thread] = []

    def meanwhile(execute: Any, sql: str, *more: Any) -> Any:
        result = execute(sql, *more)
        if not threads and 'ORDER BY "iit_user_memory"."created_at"' in sql:
            threads.append(started(lambda: ask("zhangyi", "忘掉我的科室")))
            threads[0].join(1)
        return result

    with connection.execute_wrapper(meanwhile):
        tasks.summarize_sessions()
    threads[0].join(60)
    assert not UserMemory.objects.exists()
    assert "心内科" not in UserProfile.objects.get(user_id="zhangyi").narrative

"""`POST chat/`: a question is stored and worked out by a worker; the answer is for who chat_queue."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils.timezone import now
from pytest_django import Settings
from rest_framework.test import APIClient

from core.house.leases import LEASE
from engines.assistant import chat_queue
from engines.models import Question
from engines.tasks import answer_question, sweep_runs
from memory.models import ConversationHistory
from projects.models import AuditEntry, Member
from tests.api.conftest import Login
from tests.house.kit import together, until
from tests.support.chat import URL, chat, work
from tests.support.study import Study
from tests.support.tasks import drain

pytestmark = pytest.mark.django_db
TEXT = "P001 入组了吗?"
KEYS = {"reply", "intents", "record_ids", "conversation_id"}


def ask(client: APIClient, text: str = TEXT) -> str:
    """Leave a question that nobody has time for yet; where its answer will be."""
    answer = client.post(URL, {"text": text}, format="json")
    assert (answer.status_code, set(answer.json())) == (202, {"conversation_id"})
    return f"{URL}{answer.json()['conversation_id']}/"


def later(seconds: float) -> Any:
    return time_machine.travel(now() + timedelta(seconds=seconds))


def answers() -> int:
    return ConversationHistory.objects.filter(role="assistant").count()


def test_the_web_process_answers_nothing(study: Study, login: Login) -> None:
    ask(login("zhangyi"))
    assert study.stand_ins.requests("llm") == []
    assert answers() == 0


def test_the_answer_is_there_as_often_as_it_is_asked_for(study: Study, login: Login) -> None:
    client = login("zhangyi")
    url = ask(client)
    assert (client.get(url).status_code, set(client.get(url).json())) == (202, {"conversation_id"})
    work()
    first, again = client.get(url), client.get(url)
    assert (first.status_code, first.content) == (200, again.content)
    body = first.json()
    assert body.keys() == KEYS
    assert body["record_ids"] == ["P001"]
    assert url == f"{URL}{body['conversation_id']}/"
    assert str(ConversationHistory.objects.get(role="assistant").pk) == body["conversation_id"]
    assert answers() == 1


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_who_waits_gets_the_answer(study: Study, login: Login, settings: Settings) -> None:
    """The question is committed and a worker woken before the web process waits."""
    settings.CHAT_WAIT_S = 60.0
    client = login("zhangyi")
    answer, ran = together(
        lambda: client.post(URL, {"text": TEXT}, format="json"),
        lambda: until(drain),
    )
    assert ran == ["engines.tasks.answer_question"]
    assert (answer.status_code, answer.json().keys()) == (200, KEYS)  # type: ignore[attr-defined]


@pytest.mark.parametrize("other", ["wanghushi", "admin", "crc_b"])
def test_nobody_else_finds_it(other: str, study: Study, login: Login) -> None:
    """ "Not yours" and "does not exist" read the same, before and after the answer."""
    url = ask(login("zhangyi"))
    missing = login(other).get(f"{URL}00000000-0000-0000-0000-000000000000/")
    for _ in range(2):
        found = login(other).get(url)
        assert (found.status_code, found.content) == (404, missing.content)
        work()
    assert APIClient().get(url).status_code == 401


def test_who_left_the_study_does_not_find_it_any_more(study: Study, login: Login) -> None:
    client = login("zhangyi")
    url = ask(client)
    work()
    Member.objects.filter(wecom_userid="zhangyi").update(is_active=False)
    assert client.get(url).status_code == 404


def test_a_moved_login_does_not_bring_the_questions_along(study: Study, login: Login) -> None:
    """Nor does the one that comes to the person find them."""
    client = login("zhangyi")
    url = ask(client)
    work()
    one, other = study["zhangyi"].person, study["crc_b"].person
    one.user, other.user, users = None, None, (one.user, other.user)
    one.save(), other.save()
    other.user, one.user = users
    one.save(), other.save()
    assert client.get(url).status_code == 404
    assert login("crc_b").get(url).status_code == 404


@pytest.mark.full
def test_what_a_login_orders_is_in_the_trail_with_it(study: Study, login: Login) -> None:
    from django.contrib.auth.models import User

    User.objects.filter(username="wanghushi").update(username="wang")
    chat(login("wang"), text="对P002做质控")
    entry = AuditEntry.objects.get(action="run.start")
    assert (entry.actor, entry.login) == ("wanghushi", "wang")


Faults = Callable[[pytest.MonkeyPatch], None]


def _dies(patch: pytest.MonkeyPatch) -> None:
    """The process is gone before anything is written."""

    def killed(*_: Any) -> None:
        raise SystemExit

    patch.setattr(chat_queue, "_answer", killed)


def _dies_at_the_end(patch: pytest.MonkeyPatch) -> None:
    """It is gone in its last transaction."""

    def killed(*_: Any) -> None:
        raise SystemExit

    patch.setattr(chat_queue, "_close", killed)


@pytest.mark.full
@pytest.mark.parametrize("fault", [_dies, _dies_at_the_end], ids=lambda one: one.__name__)
def test_a_killed_worker_loses_and_doubles_nothing(
    fault: Faults, study: Study, login: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = login("zhangyi")
    url = ask(client)
    with monkeypatch.context() as patch:
        fault(patch)
        with pytest.raises(SystemExit):
            work()
    assert answers() == 0
    work()  # the lease still holds
    assert client.get(url).status_code == 202
    with later(LEASE.total_seconds() + 11):
        sweep_runs()
        assert "engines.tasks.answer_question" in drain()
        assert client.get(url).status_code == 200
    assert answers() == 1


@pytest.mark.full
def test_a_lost_wake_is_found_by_the_sweeper(study: Study, login: Login) -> None:
    """In a test nothing is committed, so no wake was sent."""
    client = login("zhangyi")
    url = ask(client)
    sweep_runs()
    assert client.get(url).status_code == 202
    with later(11):
        sweep_runs()
        drain()
        assert client.get(url).status_code == 200


def test_a_task_that_is_delivered_twice_answers_once(study: Study, login: Login) -> None:
    ask(login("zhangyi"))
    pk = Question.objects.get().pk
    answer_question(pk)
    answer_question(pk)
    assert answers() == 1


@pytest.mark.full
def test_one_persons_questions_are_answered_in_order(study: Study, login: Login) -> None:
    client = login("zhangyi")
    first, second = ask(client), ask(client, "他多大年龄?")
    older, newer = Question.objects.order_by("pk")
    assert chat_queue.answer_question(newer.pk) is None
    assert client.get(second).status_code == 202
    assert chat_queue.answer_question(older.pk) == newer.pk
    chat_queue.answer_question(newer.pk)
    assert client.get(first).json()["record_ids"] == ["P001"]
    assert client.get(second).status_code == 200


def test_a_question_that_cannot_be_answered_gets_its_one_reply(
    study: Study, login: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(chat_queue, "answer_message", broken)
    client = login("zhangyi")
    url = ask(client)
    for seconds in (0, 3, 20):
        with later(seconds):
            work()
    body = client.get(url).json()
    assert "处理失败" in body["reply"]
    assert body.keys() == KEYS


@pytest.mark.full
def test_it_is_forgotten_after_a_day(study: Study, login: Login) -> None:
    client = login("zhangyi")
    url = ask(client)
    with later(2 * 86400):
        sweep_runs()
        assert client.get(url).status_code == 202
        work()
    with later(3 * 86400 + 60):
        sweep_runs()
        assert client.get(url).status_code == 404


def test_it_lies_encrypted(study: Study, login: Login) -> None:
    from django.db import connection

    ask(login("zhangyi"))
    work()
    with connection.cursor() as cursor:
        cursor.execute("SELECT text, reply FROM iit_chat_questions")
        stored = "".join(cursor.fetchone())
    assert "P001" not in stored
    assert "入组" not in stored

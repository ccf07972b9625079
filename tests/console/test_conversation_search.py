"""Encrypted texts are searched by decrypting what the reader may see of the last ninety days."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils.timezone import now

from core.house import sealed_search
from engines.models import AgentTrace
from memory.log.flow_log import Turn, append
from tests.api.conftest import login as api
from tests.support.study import Study

LIST = "/admin/memory/conversationhistory/"
AsUser = Callable[..., Client]
pytestmark = pytest.mark.django_db


def say(study: Study, user: str, text: str, at: datetime | None = None) -> None:
    turn = Turn(text, f"答复: {text}", "general_chat", {"intents": []}, record_id="P001")
    append(project=study.project, user_id=user, turn=turn, at=at or now())


def by_console(user: str, query: str, as_user: AsUser) -> str:
    return as_user(user).get(LIST, {"q": query}).content.decode()


def by_api(user: str, query: str, as_user: AsUser) -> str:
    return api(user).get("/api/v1/conversations/", {"search": query}).content.decode()


DOORS = [by_console, by_api]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("query", ["血压计", "Omron", "omron 血压计", '"血压计 omron"'])
def test_words_of_the_text_are_found(
    study: Study, as_user: AsUser, door: Callable[..., str], query: str
) -> None:
    say(study, "zhangyi", "新的血压计 OMRON 到了")
    say(study, "zhangyi", "下周开会")
    page = door("zhangyi", query, as_user)
    assert "到了" in page
    assert "下周开会" not in page


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("query", ["血压仪", "血压计 下周", "%", "_"])
def test_other_words_find_nothing(
    study: Study, as_user: AsUser, door: Callable[..., str], query: str
) -> None:
    say(study, "zhangyi", "新的血压计到了")
    say(study, "zhangyi", "下周开会")
    page = door("zhangyi", query, as_user)
    assert "到了" not in page
    assert "下周开会" not in page


@pytest.mark.parametrize("door", DOORS)
def test_what_others_said_is_not_found(
    study: Study, as_user: AsUser, door: Callable[..., str]
) -> None:
    say(study, "wanghushi", "血压计在二楼")
    assert "二楼" not in door("crc_b", "血压计", as_user)
    assert "二楼" in door("wanghushi", "血压计", as_user)


@pytest.mark.full
@pytest.mark.parametrize("door", DOORS)
def test_older_texts_are_not_searched_and_the_page_says_so(
    study: Study, as_user: AsUser, door: Callable[..., str]
) -> None:
    back = timedelta(days=sealed_search.DAYS)
    say(study, "zhangyi", "血压计旧的", now() - back - timedelta(hours=1))
    say(study, "zhangyi", "血压计新的", now() - back + timedelta(hours=1))
    page = door("zhangyi", "血压计", as_user)
    assert "血压计新的" in page
    assert "血压计旧的" not in page
    if door is by_console:
        assert "the last 90 days" in page
        assert "血压计旧的" in door("zhangyi", "P001", as_user)
        assert "the last 90 days" not in as_user("zhangyi").get(LIST).content.decode()


def test_the_newest_rows_are_searched_first(
    study: Study, as_user: AsUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealed_search, "MOST", 2)
    say(study, "zhangyi", "血压计旧的", now() - timedelta(hours=2))
    say(study, "zhangyi", "血压计新的")
    page = by_api("zhangyi", "血压计", as_user)
    assert "血压计新的" in page
    assert "血压计旧的" not in page


def test_questions_of_traces_are_searched_where_they_are_shown(
    study: Study, as_user: AsUser
) -> None:
    fields = {"project": study.project, "user_id": "wanghushi", "trace": [], "success": True}
    AgentTrace.objects.create(query="血压计在哪里", **fields)
    page = "/admin/engines/agenttrace/"
    assert "血压计在哪里" in as_user("admin").get(page, {"q": "血压计"}).content.decode()
    said = as_user("wanghushi").get(page, {"q": "血压计"})
    assert "agenttrace/" not in said.content.decode().partition("result_list")[2]


@pytest.mark.full
def test_ciphertext_is_no_order(study: Study, as_user: AsUser) -> None:
    shown = as_user("admin").get("/admin/projects/auditentry/").context["cl"].sortable_by
    assert {"show_at", "show_actor"} <= {*shown}
    assert not {"label", "reason"} & {*shown}

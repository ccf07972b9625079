"""Administrators of the whole study see what was not understood, and teach the study's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils.translation import override

from engines.models import AgentTrace
from projects.models import Member, Role
from tests.engines.chat.kit import ask
from tests.wechat.working import receive, work

PAGE = "/admin/engines/openquestion/"


@pytest.mark.full
def test_a_word_that_was_not_understood_is_added_as_a_synonym(
    as_user: Callable[..., Client], study: Any
) -> None:
    ask("wanghushi", "P006抽烟吗")
    ask("wanghushi", "P006的BMI多少")
    client = as_user("admin")
    page = client.get(PAGE).content.decode()
    assert "P006抽烟吗" in page
    assert "P006的BMI多少" not in page
    link = next(part for part in page.split('"') if part.startswith("/admin/study/synonym/add/?"))
    assert parse_qs(urlsplit(link.replace("&amp;", "&")).query)["word"] == ["抽烟"]
    form = client.get(link.replace("&amp;", "&"))
    assert form.context["adminform"].form.initial["word"] == "抽烟"
    given = {"project": str(study.project.pk), "word": "抽烟", "meaning": "ecog_score"}
    assert client.post(link, given).status_code == 302
    assert "ECOG" in ask("wanghushi", "P006抽烟几分").text


def test_it_holds_no_identifier(as_user: Callable[..., Client], study: Any) -> None:
    ask("zhangyi", "测试己一抽烟吗")
    assert AgentTrace.objects.get(is_open=True).query == "P006抽烟吗"
    assert "测试己一" not in as_user("admin").get(PAGE).content.decode()


@pytest.mark.parametrize("person", ["zhangyi", "wanghushi", "crc_b", "auditor"])
def test_others_do_not_see_it(as_user: Callable[..., Client], person: str) -> None:
    assert as_user(person).get(PAGE).status_code == 403


@pytest.mark.full
def test_an_administrator_of_one_site_does_not_see_it(
    as_user: Callable[..., Client], study: Any
) -> None:
    ask("crc_b", "P023抽烟吗")
    Member.objects.filter(person__user__username="zhangyi").update(role=Role.ADMIN)
    assert "P023抽烟吗" in as_user("zhangyi").get(PAGE).content.decode()
    Member.objects.filter(person__user__username="zhangyi").update(site="site_b")
    assert as_user("zhangyi").get(PAGE).status_code == 403


def whys(client: Client, **more: str) -> dict[str, str]:
    """Question -> why it is on the page."""
    page = client.get(PAGE, more).context["cl"]
    with override("en"):
        return {row.query: page.model_admin.show_why(row) for row in page.queryset}


@pytest.mark.full
@pytest.mark.parametrize(
    ("words", "why"),
    [("👎", "👎"), ("👎 太长", "Too long"), ("不对,你弄错了", "Inaccurate"), ("看不懂", "Unclear")],
)
def test_an_answer_that_its_reader_objects_to_is_there(
    as_user: Callable[..., Client], study: Any, words: str, why: str
) -> None:
    client, question = as_user("admin"), "P001 入组了吗?"
    ask("zhangyi", question)
    assert question not in whys(client)
    receive(words, user="zhangyi")
    work()
    assert whys(client)[question] == f"its reader objected: {why}"
    assert question in whys(client, why="wrong")
    assert question not in whys(client, why="open")
    receive("👍", user="zhangyi")
    work()
    assert question not in whys(client)


@pytest.mark.full
def test_an_objection_of_somebody_else_changes_nothing(
    as_user: Callable[..., Client], study: Any
) -> None:
    ask("zhangyi", "P001 入组了吗?")
    ask("wanghushi", "P002 入组了吗?")
    receive("👎", user="wanghushi")
    work()
    assert [*whys(as_user("admin"))] == ["P002 入组了吗?"]


@pytest.mark.full
@pytest.mark.parametrize("text", ["记住"])
def test_what_was_asked_back_is_there(
    as_user: Callable[..., Client], study: Any, text: str
) -> None:
    ask("wanghushi", text)
    assert whys(as_user("admin")) == {text: "asked back, or not collected"}

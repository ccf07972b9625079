"""Administrators of the whole study see what was not understood, and teach the study's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from engines.models import AgentTrace
from projects.models import Member, Role
from tests.engines.chat.kit import ask

PAGE = "/admin/engines/openquestion/"


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


def test_an_administrator_of_one_site_does_not_see_it(
    as_user: Callable[..., Client], study: Any
) -> None:
    ask("crc_b", "P023抽烟吗")
    Member.objects.filter(person__user__username="zhangyi").update(role=Role.ADMIN)
    assert "P023抽烟吗" in as_user("zhangyi").get(PAGE).content.decode()
    Member.objects.filter(person__user__username="zhangyi").update(site="site_b")
    assert as_user("zhangyi").get(PAGE).status_code == 403

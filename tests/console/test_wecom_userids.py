"""The button beside a person that asks WeCom whether it knows the userid; the same in the wizard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from projects.models import Member, Person
from tests.support.study import Study

pytestmark = pytest.mark.django_db
Login = Callable[..., Client]
USERS = [
    {"userid": "zhangyi"},
    {"userid": "wanghushi", "visible": False},
    {"userid": "crc_b", "status": 4},
]


@pytest.fixture
def corp(study: Study) -> Study:
    study.stand_ins.post("configure", {"wecom": {"users": USERS}})
    return study


def button(member: Member) -> str:
    return reverse("admin:projects_member_ask_wecom_after", args=[member.pk])


def said(answer: Any) -> list[tuple[str, str]]:
    return [(str(one.level_tag), str(one)) for one in get_messages(answer.wsgi_request)]


@pytest.mark.parametrize(
    ("userid", "level", "words"),
    [
        ("zhangyi", "success", "应用可以联系到"),
        ("wanghushi", "warning", "可见范围"),
        ("crc_b", "warning", "尚未激活"),
        ("admin", "warning", "没有此 userid"),
    ],
)
def test_the_button_says_what_wecom_says(
    corp: Study, as_user: Login, userid: str, level: str, words: str
) -> None:
    client = as_user("admin", "zh-hans")
    page = f"/admin/projects/member/{corp[userid].pk}/change/"
    answer = client.get(button(corp[userid]))
    assert answer["Location"] == page
    [(found, text)] = said(answer)
    assert (found, userid in text, words in text) == (level, True, True), text


@pytest.mark.full
def test_the_button_stands_beside_members_and_people(corp: Study, as_user: Login) -> None:
    member = corp["crc_b"]
    assert (
        button(member)
        in as_user("admin").get(f"/admin/projects/member/{member.pk}/change/").content.decode()
    )
    asked = reverse("admin:projects_person_ask_wecom_after", args=[member.person_id])
    client = as_user("admin")
    page = f"/admin/projects/person/{member.person_id}/change/"
    assert asked in client.get(page).content.decode()
    assert client.get(asked)["Location"] == page


def test_several_at_once_and_none_beyond_ones_studies(corp: Study, as_user: Login) -> None:
    rows = [corp["zhangyi"].pk, corp["crc_b"].pk]
    chosen = {"action": "ask_wecom", "_selected_action": rows}
    answer = as_user("admin").post("/admin/projects/member/", chosen)
    assert sorted(level for level, _text in said(answer)) == ["success", "warning"]
    for name in ("zhangyi", "wanghushi", "auditor", "charlie"):
        before = len(corp.stand_ins.requests("wecom"))
        assert as_user(name).get(button(corp["zhangyi"])).status_code in (302, 403)
        assert len(corp.stand_ins.requests("wecom")) == before, name


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"errcode": 60020, "errmsg": "not allow"}, "60020"),
        ({"errcode": 48002, "errmsg": "api forbidden"}, "拒绝"),
        ({"errcode": 99999, "errmsg": "strange"}, "99999"),
        (None, "稍后再试"),
    ],
)
def test_what_hinders_is_told_once_in_the_readers_language(
    corp: Study, as_user: Login, fault: dict[str, Any] | None, words: str
) -> None:
    kind, value = ("body", fault) if fault else ("status", 502)
    corp.stand_ins.fault("wecom", kind, value, path="user/get", times=None)
    client = as_user("admin", "zh-hans")
    rows = [one.pk for one in Person.objects.exclude(wecom_userid=None)]
    chosen = {"action": "ask_wecom", "_selected_action": rows}
    [(level, text)] = said(client.post("/admin/projects/person/", chosen))
    assert level == "warning"
    assert words in text
    assert "forbidden" not in text
    assert "strange" not in text


@pytest.mark.full
def test_the_wizard_asks_after_all_members(corp: Study, as_user: Login) -> None:
    url = reverse("admin:projects_project_setup", args=[corp.project.pk])
    answer = as_user("admin").post(url, {"test": "members"})
    told = {line.text.partition(":")[0]: line.ok for line in answer.context["lines"]}
    assert told["zhangyi"] is True
    assert told["wanghushi"] is told["crc_b"] is told["admin"] is False

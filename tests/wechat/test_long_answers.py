"""Over N parts: the first ones, then a page of the console for the one reader (issue 5, Outbound)."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from projects.models import Member, Project
from tests.wechat.working import outgoing
from wechat.models import Answer, OutboxMessage
from wechat.outbound.outbox import enqueue, enqueue_text
from wechat.outbound.splitting import split

pytestmark = pytest.mark.django_db
LINK = re.compile(r"http://127\.0\.0\.1:8000(/wechat/answers/[0-9a-f-]{36}/)")


@pytest.fixture
def readers(people: dict[str, Member]) -> dict[str, Client]:
    """A browser for each member, logged in."""
    found = {}
    for name, member in people.items():
        member.person.user = user = User.objects.create_user(name)
        member.person.save()
        found[name] = Client()
        found[name].force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return found


def long_answer(project: Project | None, to: str = "ZhangYi") -> str:
    text = "**结论** <script>alert(1)</script>\n\n" + "受试者情况稳定。" * 2000
    enqueue(to_user=to, project=project, kind=OutboxMessage.Kind.TEXT, content=text, key="k")
    return text


def path() -> str:
    found = LINK.search(outgoing("zhangyi")[-1])
    assert found
    return found[1]


def test_the_first_parts_and_the_link(project: Project, settings: Settings) -> None:
    settings.WECOM_MOST_PARTS = 4
    text = long_answer(project)
    parts = outgoing("zhangyi")
    assert [part[:6] for part in parts] == ["(1/4) ", "(2/4) ", "(3/4) ", "(4/4) "]
    assert text.startswith("".join(part[6:] for part in parts[:3]))
    assert all(len(part.encode()) <= 2048 for part in parts)
    assert LINK.search(parts[3])


def test_the_page_shows_the_whole_to_its_reader(
    project: Project, readers: dict[str, Client]
) -> None:
    long_answer(project)
    page = readers["zhangyi"].get(path())
    assert page.status_code == 200
    body = page.content.decode()
    assert body.count("受试者情况稳定。") == 2000
    assert "<strong>结论</strong>" in body
    assert "<script>alert" not in body
    assert page["Cache-Control"].startswith("max-age=0")


@pytest.mark.parametrize("name", ["wanghushi", "admin"])
def test_nobody_else_finds_it(project: Project, readers: dict[str, Client], name: str) -> None:
    long_answer(project)
    assert readers[name].get(path()).status_code == 404


@pytest.mark.full
def test_who_left_finds_it_no_more(project: Project, readers: dict[str, Client]) -> None:
    long_answer(project)
    Member.objects.filter(wecom_userid="zhangyi").update(is_active=False)
    assert readers["zhangyi"].get(path()).status_code == 404


def test_a_login_is_asked_for(project: Project, client: Client) -> None:
    long_answer(project)
    answer = client.get(path())
    assert answer.status_code == 302
    assert "/login/" in answer["Location"]
    assert client.post(path()).status_code == 405


def test_it_is_stored_once_and_encrypted(project: Project) -> None:
    from django.db import connection

    long_answer(project)
    long_answer(project)
    assert Answer.objects.count() == 1
    with connection.cursor() as cursor:
        cursor.execute("SELECT text FROM iit_wechat_answers")
        assert "受试者" not in cursor.fetchone()[0]


def test_what_fits_has_no_page(project: Project) -> None:
    """O15: 5000 characters are eight parts, and nothing is lost."""
    text = "字" * 5000
    enqueue_text(to_user="zhangyi", project=project, content=text, key="k")
    parts = outgoing("zhangyi")
    assert len(parts) == len(split(text)) == 8
    assert "".join(part[6:] for part in parts) == text
    assert not Answer.objects.exists()

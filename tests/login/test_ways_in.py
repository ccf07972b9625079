"""Local passwords switched off, the link made on the server, and WeCom's scan."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from projects.models import Person
from tests.login import kit

pytestmark = [pytest.mark.django_db, pytest.mark.full]
WORD = "gentle-Harbour-71"


@pytest.fixture
def ann(db: None) -> User:
    return User.objects.create_superuser("ann", password=WORD)


def made(name: str) -> str:
    out = StringIO()
    call_command("login_link", name, stdout=out)
    return "/account/link/" + out.getvalue().strip().rpartition("/account/link/")[2]


@pytest.mark.smoke
def test_local_passwords_can_be_switched_off(ann: User, settings: Settings) -> None:
    settings.LOCAL_PASSWORDS = False
    client = Client()
    assert 'name="password"' not in client.get("/admin/login/").content.decode()
    answer = client.post("/admin/login/", {"username": "ann", "password": WORD})
    assert answer.status_code == 403
    assert not kit.is_in(client)
    assert not client.login(username="ann", password=WORD)


def test_a_superusers_link_lets_in_once(ann: User, settings: Settings) -> None:
    settings.LOCAL_PASSWORDS = False
    link, client = made("ann"), Client()
    assert client.get(link).status_code == 200
    assert not kit.is_in(client)
    client.post(link)
    assert kit.is_in(client)
    assert kit.last("login.link").label == "ann"
    late = Client()
    assert late.post(link).status_code == 403
    assert not kit.is_in(late)


def test_a_link_is_for_superusers_and_asks_for_the_second_factor(ann: User) -> None:
    User.objects.create_user("bob", is_staff=True)
    with pytest.raises(CommandError):
        made("bob")
    kit.give_app(ann)
    client = Client()
    assert client.post(made("ann"))["Location"] == "/account/second/authenticate/"


def scan(client: Client, stand_ins: Any, who: str) -> Any:
    page = client.post("/account/wecom/").content.decode()
    state = re.search(r"state=(\w+)", page)
    assert state
    assert "login_type=CorpApp" in page
    code = stand_ins.post("wecom/scan", {"user": who})["code"]
    return client.get(f"/account/wecom/callback/?code={code}&state={state[1]}")


@pytest.fixture
def _scan(settings: Settings, stand_ins: Any) -> None:
    settings.WECOM_SCAN = True
    settings.WECOM_API_BASE = f"{stand_ins.url}/wecom/cgi-bin"


@pytest.mark.usefixtures("_scan")
def test_a_scan_opens_the_login_that_a_superuser_linked(ann: User, stand_ins: Any) -> None:
    Person.objects.create(wecom_userid="annwx", user=ann)
    Person.objects.create(wecom_userid="nologin")
    client = Client()
    assert scan(client, stand_ins, "AnnWX")["Location"] == "/admin/"
    assert kit.is_in(client)
    for who in ("nologin", "unknown"):
        other = Client()
        assert scan(other, stand_ins, who).status_code == 403
        assert not kit.is_in(other)
        assert kit.last("login.failed").new["userid"] == who
    outside = Client()
    assert scan(outside, stand_ins, "").status_code == 403
    assert not kit.is_in(outside)
    # The link is moved: the next scan opens the new one, and no copy of the old.
    Person.objects.filter(wecom_userid="annwx").update(user=None)
    later = Client()
    assert scan(later, stand_ins, "annwx").status_code == 403


@pytest.mark.usefixtures("_scan")
def test_a_scan_needs_its_own_state(ann: User, stand_ins: Any) -> None:
    Person.objects.create(wecom_userid="annwx", user=ann)
    code = stand_ins.post("wecom/scan", {"user": "annwx"})["code"]
    client = Client()
    answer = client.get(f"/account/wecom/callback/?code={code}&state=made-up")
    assert answer.status_code == 403
    assert not kit.is_in(client)

"""Log-in by the hospital's own provider, over HTTP: who is let in, what is refused in words and trail."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib.auth.models import User
from django.test import Client

from projects.models import AuditEntry
from tests.login import kit

pytestmark = [pytest.mark.django_db, pytest.mark.full]
IN_THE_TRAIL = ("unknown subject", "linked otherwise", "login", "nonce")


@pytest.fixture(autouse=True)
def _known(settings: Any, stand_ins: Any) -> None:
    kit.configure(settings, stand_ins)


@pytest.fixture
def wang(db: None) -> User:
    return User.objects.create_user("wang", email="wang@hospital.test", is_staff=True)


def refused(answer: Any, reason: str) -> str:
    """What the page says; the trail has it, and nobody is in."""
    assert answer.status_code == 403, answer
    assert "_auth_user_id" not in answer.client.session
    if reason in IN_THE_TRAIL:
        assert kit.last("login.failed").new["reason"] == reason
    else:  # nobody was vouched for: whoever sends made-up answers does not fill it
        assert not AuditEntry.objects.filter(action="login.failed").exists()
    assert 'data-test="refusal"' in answer.content.decode()
    return str(answer.content.decode())


@pytest.mark.smoke
def test_a_verified_mail_links_once_then_the_subject_counts(wang: User) -> None:
    client = Client()
    answer = kit.come(client, "u-1")
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert kit.is_in(client)
    assert kit.last("login").label == "wang"
    linked = kit.last("login.linked")
    assert (linked.label, linked.new["subject"]) == ("wang", "u-1")
    wang.email = "another@hospital.test"
    wang.save()
    again = Client()
    kit.come(again, "u-1")
    assert kit.is_in(again)
    assert AuditEntry.objects.filter(action="login.linked").count() == 1


def test_nobody_makes_a_login_for_themselves(wang: User) -> None:
    before = User.objects.count()
    said = refused(kit.come(Client(), "u-2"), "unknown subject")
    assert "请联系管理员" in said
    entry = kit.last("login.failed")
    assert (entry.new["subject"], entry.new["provider"]) == ("u-2", "oidc")
    assert (User.objects.count(), SocialAccount.objects.count()) == (before, 0)
    kit.come(Client(), "u-2")
    assert AuditEntry.objects.filter(action="login.failed").count() == 1
    for path in ("/account/signup/", "/accounts/signup/", "/account/social/signup/"):
        assert Client().get(path).status_code == 404


def test_a_mail_that_is_not_verified_or_that_two_have_links_nobody(wang: User) -> None:
    refused(kit.come(Client(), "u-3"), "unknown subject")
    User.objects.create_user("twin", email="Wang@hospital.test", is_staff=True)
    refused(kit.come(Client(), "u-1"), "unknown subject")


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("wang@hospital.test", "wang@ho\u017fpital.test"),  # ſ, folded to s
        ("\u212aate@hospital.test", "kate@hospital.test"),  # the sign of Kelvin
        ("王@hospital.test", "王@hospital.test"),
    ],
)
def test_an_address_that_only_looks_the_same_links_nobody(
    wang: User, stand_ins: Any, here: str, there: str
) -> None:
    User.objects.filter(pk=wang.pk).update(email=here)
    people = [{"sub": "u-8", "name": "王", "email": there, "email_verified": True}]
    stand_ins.post("configure", {"oidc": {"people": people}})
    refused(kit.come(Client(), "u-8"), "unknown subject")


def test_a_login_that_is_closed_is_no_twin(wang: User) -> None:
    User.objects.create_user("former", email="wang@hospital.test", is_active=False)
    kit.come(Client(), "u-1")
    assert SocialAccount.objects.get().user == wang


def test_a_second_subject_does_not_take_a_linked_login(wang: User) -> None:
    kit.come(Client(), "u-1")
    refused(kit.come(Client(), "u-4"), "linked otherwise")
    assert SocialAccount.objects.count() == 1


@pytest.mark.parametrize("lost", ["is_active", "is_staff"])
def test_a_login_that_opens_nothing_is_refused(wang: User, lost: str) -> None:
    kit.come(Client(), "u-1")
    setattr(wang, lost, False)
    wang.save()
    refused(kit.come(Client(), "u-1"), "login")


def test_a_claim_of_the_settings_names_the_login(wang: User, settings: Any, stand_ins: Any) -> None:
    settings.OIDC_LOGIN_CLAIM = "employee"
    refused(kit.come(Client(), "u-1"), "unknown subject")
    people = [{"sub": "u-9", "name": "王", "employee": "wang"}]
    stand_ins.post("configure", {"oidc": {"people": people}})
    client = Client()
    kit.come(client, "u-9")
    assert kit.is_in(client)


SPOILT = {
    "nonce": ({"nonce": "another"}, "nonce"),
    "none": ({"nonce": None}, "nonce"),
    "issuer": ({"iss": "https://elsewhere.test"}, "OAuth2Error"),
    "audience": ({"aud": "another-house"}, "OAuth2Error"),
    "over": ({"exp": 1}, "OAuth2Error"),
    "signature": ({"sign": True}, "OAuth2Error"),
    "userinfo": ({"userinfo": True}, "OAuth2Error"),
}


@pytest.mark.parametrize("spoilt", SPOILT)
def test_a_token_that_is_not_right_opens_nothing(wang: User, stand_ins: Any, spoilt: str) -> None:
    claims, reason = SPOILT[spoilt]
    stand_ins.post("oidc/spoil", claims)
    refused(kit.come(Client(), "u-1"), reason)
    stand_ins.post("oidc/spoil", {})
    client = Client()
    kit.come(client, "u-1")
    assert kit.is_in(client)


def test_the_state_is_this_browsers_and_good_once(wang: User) -> None:
    """An answer that another browser began, and one that is brought a second time."""
    mine, other = Client(), Client()
    address = kit.back(kit.lead(mine), "u-1")
    refused(other.get(address), "unknown")
    assert mine.get(address).status_code == 302
    refused(Client().get(address), "unknown")
    refused(Client().get("/account/oidc/callback/?code=x"), "unknown")


def test_it_begins_with_a_form_of_the_house_alone(wang: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/account/oidc/").status_code == 403
    asked = Client().get("/account/oidc/")
    assert asked.status_code == 200
    assert "/oidc/authorize" not in asked.content.decode()


def test_where_it_leads_is_the_houses_own_page(wang: User) -> None:
    client = Client()
    answer = client.get(kit.back(kit.lead(client, "/admin/engines/review/"), "u-1"))
    assert answer["Location"] == "/admin/engines/review/"
    for foreign in ("https://elsewhere.test/", "//elsewhere.test/"):
        client = Client()
        answer = client.get(kit.back(kit.lead(client, foreign), "u-1"))
        assert answer["Location"] == "/admin/"


def test_nothing_is_connected_by_who_is_in(wang: User) -> None:
    """allauth would link an account to the session's login (`process`)."""
    other = User.objects.create_user("other", is_staff=True)
    client = Client()
    client.force_login(other, "django.contrib.auth.backends.ModelBackend")
    page = client.post("/account/oidc/?process=connect")
    address = kit.html.unescape(kit.re.search(r'href="(http[^"]+)"', page.content.decode())[1])  # type: ignore[index]
    assert client.get(kit.back(address, "u-2")).status_code == 403
    assert not SocialAccount.objects.exists()


def test_what_is_kept_is_who_it_is(wang: User) -> None:
    kit.come(Client(), "u-1")
    kept = SocialAccount.objects.get()
    assert set(kept.extra_data) == {"iss", "sub"}
    assert not SocialToken.objects.exists()
    assert not SocialApp.objects.exists()


def test_without_its_settings_there_is_none(settings: Any) -> None:
    settings.OIDC_ISSUER = ""
    assert Client().post("/account/oidc/").status_code == 404
    assert 'data-test="ways"' not in Client().get("/admin/login/").content.decode()


def test_a_provider_that_is_down_is_told(wang: User, stand_ins: Any) -> None:
    stand_ins.fault("oidc", "status", 503, times=None)
    answer = Client().post("/account/oidc/")
    stand_ins.post("faults", [])
    assert answer.status_code == 403
    assert "没有成功" in answer.content.decode()

"""Second factors: asked at the log-in, demanded by role, good for a signature, sealed in the table."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils.timezone import now
from pytest_django import Settings

from core.house import crypto
from engines.models import Review
from projects.login.adapters import FRESH_S
from projects.models import AuditEntry, Person
from tests.engines.sop import doors
from tests.engines.sop.kit import review_of, run_qc
from tests.login import kit
from tests.wechat.working import said

pytestmark = [pytest.mark.django_db, pytest.mark.full]
WORD = "gentle-Harbour-71"
DEMANDED = "Your role demands a second factor: set one up in the console first."


@pytest.fixture
def ann(db: None) -> User:
    return User.objects.create_superuser("ann", password=WORD)


def first_step(client: Client) -> Any:
    return client.post("/admin/login/", {"username": "ann", "password": WORD})


@pytest.mark.smoke
def test_the_password_alone_opens_nothing(ann: User) -> None:
    kit.give_app(ann)
    client = Client()
    assert first_step(client)["Location"] == "/account/second/authenticate/"
    assert not kit.is_in(client)
    assert not AuditEntry.objects.filter(action="login").exists()
    wrong = client.post("/account/second/authenticate/", {"code": "000000"})
    assert wrong.status_code == 200
    assert kit.last("login.failed").label == "ann"
    right = client.post("/account/second/authenticate/", {"code": kit.code()})
    assert right["Location"] == "/admin/"
    assert kit.is_in(client)
    assert kit.last("login").label == "ann"


def test_a_code_is_taken_once(ann: User) -> None:
    kit.give_app(ann)
    shown = kit.code()
    for expected in (302, 200):
        client = Client()
        first_step(client)
        answer = client.post("/account/second/authenticate/", {"code": shown})
        assert answer.status_code == expected


def test_the_code_that_set_it_up_is_used(ann: User) -> None:
    client, other = Client(), Client()
    first_step(client)
    secret = kit.offered(client)
    shown = kit.code(secret)
    client.post("/account/second/totp/activate/", {"code": shown})
    first_step(other)
    assert other.post("/account/second/authenticate/", {"code": shown}).status_code == 200
    assert not kit.is_in(other)


def test_wrong_codes_lock_out_as_wrong_passwords_do(ann: User, settings: Settings) -> None:
    settings.AXES_ENABLED, settings.AXES_FAILURE_LIMIT = True, 3
    kit.give_app(ann)
    client = Client()
    first_step(client)
    for _time in range(3):
        client.post("/account/second/authenticate/", {"code": "000000"})
    client.post("/account/second/authenticate/", {"code": kit.code()})
    assert not kit.is_in(client)
    assert kit.last("login.failed").new["locked_out"] is True


def test_who_comes_from_the_provider_is_asked_too(
    ann: User, settings: Settings, stand_ins: Any
) -> None:
    kit.configure(settings, stand_ins)
    ann.email = "wang@hospital.test"
    ann.save()
    kit.give_app(ann)
    client = Client()
    assert kit.come(client, "u-1")["Location"] == "/account/second/authenticate/"
    assert not kit.is_in(client)
    client.post("/account/second/authenticate/", {"code": kit.code()})
    assert kit.is_in(client)


def test_it_is_set_up_sealed_and_taken_away(ann: User) -> None:
    client = Client()
    first_step(client)
    secret = kit.offered(client)
    answer = client.post("/account/second/totp/activate/", {"code": kit.code(secret)})
    assert answer.status_code == 302
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored
    assert crypto.decrypt(Authenticator.objects.get(type="totp").data["secret"]) == secret
    assert kit.last("login.factor.add").label == "ann"
    codes = client.get("/account/second/recovery-codes/").context["unused_codes"]
    other = Client()
    first_step(other)
    other.post("/account/second/authenticate/", {"code": codes[0]})
    assert kit.is_in(other)
    again = Client()
    first_step(again)
    again.post("/account/second/authenticate/", {"code": codes[0]})
    assert not kit.is_in(again)


def test_before_it_is_taken_away_somebody_says_who_they_are(ann: User) -> None:
    kit.give_app(ann)
    client = Client()
    first_step(client)
    client.post("/account/second/authenticate/", {"code": kit.code()})
    answer = client.post("/account/second/totp/deactivate/")
    assert "/account/second/reauthenticate/" in answer["Location"]
    assert Authenticator.objects.exists()
    client.post("/account/confirm/", {"password": WORD})
    client.post("/account/second/totp/deactivate/")
    assert Authenticator.objects.exists()
    client.post("/account/second/reauthenticate/", {"code": kit.code(later=1)})
    client.post("/account/second/totp/deactivate/")
    assert not Authenticator.objects.exists()
    assert kit.last("login.factor.remove").label == "ann"


def test_who_is_locked_out_is_not_asked_again_either(ann: User, settings: Settings) -> None:
    settings.AXES_ENABLED, settings.AXES_FAILURE_LIMIT = True, 3
    kit.give_app(ann)
    client = Client()
    first_step(client)
    client.post("/account/second/authenticate/", {"code": kit.code()})
    for _time in range(3):
        client.post("/account/second/reauthenticate/", {"code": "000000"})
    right = {"code": kit.code(later=1)}
    assert client.post("/account/second/reauthenticate/", right).status_code == 200
    client.post("/account/second/totp/deactivate/")
    assert Authenticator.objects.exists()


def test_new_keys_seal_it_anew(ann: User, settings: Settings) -> None:
    kit.give_app(ann)
    old = Authenticator.objects.get().data["secret"]
    settings.FIELD_ENCRYPTION_KEYS = ["b" * 43 + "=", *settings.FIELD_ENCRYPTION_KEYS]
    call_command("rekey")
    new = Authenticator.objects.get().data["secret"]
    assert new != old
    assert crypto.place(new) == 0
    assert crypto.decrypt(new) == kit.SECRET


@pytest.mark.parametrize(("roles", "is_led"), [(["CRC"], True), (["PI"], False), ([], False)])
def test_a_role_demands_one(study: Any, settings: Settings, roles: list[str], is_led: bool) -> None:
    settings.MFA_ROLES = roles
    user = User.objects.get(username="wanghushi")
    client = Client()
    client.force_login(user, "django.contrib.auth.backends.ModelBackend")
    page, api = client.get("/admin/engines/review/"), client.get("/api/v1/projects/")
    if not is_led:
        assert (page.status_code, api.status_code) == (200, 200)
        return
    assert page["Location"] == "/account/second/"
    assert client.get("/account/second/").status_code == 200
    assert (api.status_code, api.json()["code"]) == (403, "second_factor_missing")
    assert doors.api("wanghushi").get("/api/v1/projects/").status_code == 200
    client.post("/account/second/totp/activate/", {"code": kit.code(kit.offered(client))})
    assert client.get("/admin/engines/review/").status_code == 200
    kit.factors_of(user).delete()
    assert client.get("/admin/engines/review/")["Location"] == "/account/second/"


def test_a_factor_that_was_added_elsewhere_opens_no_older_session(
    ann: User, settings: Settings
) -> None:
    """Whoever stole the password waits at the page of second factors until its owner sets one up."""
    settings.MFA_ROLES = ["SUPERUSER"]
    thief, owner = Client(), Client()
    for client in (thief, owner):
        first_step(client)
    secret = kit.offered(owner)
    owner.post("/account/second/totp/activate/", {"code": kit.code(secret)})
    assert kit.is_in(owner)
    assert not kit.is_in(thief)
    assert "_auth_user_id" not in thief.session


def test_a_session_that_has_shown_no_factor_is_asked_for_it(ann: User, settings: Settings) -> None:
    settings.MFA_ROLES = ["SUPERUSER"]
    kit.give_app(ann)
    client = Client()
    client.force_login(ann, "django.contrib.auth.backends.ModelBackend")
    assert client.get("/admin/")["Location"] == "/account/second/reauthenticate/"
    assert client.get("/api/v1/projects/").json()["code"] == "second_factor_missing"
    client.post("/account/second/reauthenticate/", {"code": kit.code()})
    assert kit.is_in(client)


@pytest.mark.parametrize("page", ["totp/activate/", "webauthn/add/"])
def test_where_nothing_can_be_asked_only_a_new_session_adds_the_first(
    ann: User, settings: Settings, page: str
) -> None:
    settings.LOCAL_PASSWORDS = False
    client = Client()
    client.force_login(ann, "django.contrib.auth.backends.ModelBackend")
    assert client.get(f"/account/second/{page}").status_code == 200
    with time_machine.travel(now() + timedelta(seconds=FRESH_S + 1), tick=True):
        answer = client.get(f"/account/second/{page}")
        assert answer.status_code == 403
        told = said("Please log out and in again to set up a second factor.")
        assert told in answer.content.decode()
        secret = client.session.get("mfa.totp.secret", kit.SECRET)
        client.post("/account/second/totp/activate/", {"code": kit.code(secret)})
    assert not Authenticator.objects.exists()


@pytest.mark.parametrize("door", doors.WITHOUT.values(), ids=doors.WITHOUT.keys())
def test_without_the_one_that_is_demanded_nothing_is_decided_through_wecom(
    study: Any, settings: Settings, door: doors.Door
) -> None:
    settings.MFA_ROLES, settings.PUBLIC_URL = ["CRC"], "https://iit.example"
    nurse = study["wanghushi"].person
    user, review = nurse.user, review_of(run_qc(study, "P012"))
    link = f"https://iit.example/admin/engines/review/{review.pk}/change/"
    for login in (user, None):  # who has no login has no factor either
        Person.objects.filter(pk=nurse.pk).update(user=login)
        told = door(review, doors.Said())
        review.refresh_from_db()
        assert review.status == Review.Status.OPEN
        assert f"{said(DEMANDED)} {link}" in told
        assert kit.last("wechat.decision_refused").actor == "wanghushi"
    Person.objects.filter(pk=nurse.pk).update(user=user)
    kit.give_app(user)
    door(review, doors.Said())
    review.refresh_from_db()
    assert review.status == Review.Status.APPROVED


def test_superusers_are_a_role_too(ann: User, settings: Settings) -> None:
    settings.MFA_ROLES = ["SUPERUSER"]
    client = Client()
    first_step(client)
    assert client.get("/admin/")["Location"] == "/account/second/"


def test_a_code_signs_a_decision_once(study: Any) -> None:
    study.project.requires_signature = True
    study.project.save()
    user = User.objects.get(username="wanghushi")
    kit.give_app(user)
    review, shown = review_of(run_qc(study, "P012")), kit.code()
    doors.by_api(review, doors.Said(password="000000"))
    review.refresh_from_db()
    assert review.status == Review.Status.OPEN
    told = doors.by_api(review, doors.Said(password=shown))
    review.refresh_from_db()
    assert review.status == Review.Status.APPROVED, told
    assert AuditEntry.objects.get(action="review.approve").new["signed"] is True
    other = review_of(run_qc(study, "P002"))
    doors.by_api(other, doors.Said(password=shown))
    other.refresh_from_db()
    assert other.status == Review.Status.OPEN

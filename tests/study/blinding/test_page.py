"""Project → Blinding in the console, and what a broken code leaves behind."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from projects.models import AuditEntry, Member
from study.models import BlindedField, CodeBreak
from tests.login import kit
from tests.study.blinding import twins
from tests.study.blinding.conftest import Open
from tests.support.study import Study
from wechat.models import OutboxMessage

PASSWORD = "a-good-long-word"


def client(name: str) -> Client:
    user = User.objects.get(username=name)
    user.set_password(PASSWORD)
    user.save()
    found = Client()
    found.cookies["django_language"] = "en"
    found.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return found


def page(study: Study) -> str:
    return f"/admin/projects/project/{study.project.pk}/blinding/"


def sent(name: str, study: Study, **fields: Any) -> str:
    answer = client(name).post(page(study), fields, follow=True)
    return str(answer.content.decode())


def broken(name: str, study: Study, **fields: Any) -> str:
    told = {"do": "break", "record_id": "P001", "reason": "severe rash", "password": PASSWORD}
    return sent(name, study, **(told | fields))


@pytest.mark.full
def test_an_administrator_blinds_the_study_and_ends_it_with_a_reason(open_twin: Open) -> None:
    study = open_twin("a")
    assert "Open: everybody" in client("admin").get(page(study)).content.decode()
    names, kinds = [*twins.BLINDED, ""], [*twins.BLINDED.values(), "arm"]
    given = {"do": "fields", "field": names, "kind": kinds, "words": ["甲药\r\n乙药", "", "", ""]}
    assert "The study is blinded." in sent("admin", study, **given)
    study.project.refresh_from_db()
    assert study.project.blinded_since
    assert BlindedField.objects.get(field="arm").words == "甲药\n乙药"
    assert "Please say why." in sent("admin", study, do="off", password=PASSWORD)
    assert "password is wrong" in sent("admin", study, do="off", password="x", reason="end")
    assert "The study is open." in sent("admin", study, do="off", password=PASSWORD, reason="end")
    study.project.refresh_from_db()
    assert study.project.blinded_since is None
    actions = AuditEntry.objects.filter(action__startswith="blinding.")
    assert [*actions.order_by("number").values_list("action", flat=True)] == [
        "blinding.on",
        "blinding.off",
    ]


@pytest.mark.full
def test_a_field_that_redcap_does_not_know_is_refused(study: Study) -> None:
    given = {"do": "fields", "field": ["armm"], "kind": ["arm"], "words": [""]}
    assert "armm" in sent("admin", study, **given)
    assert BlindedField.objects.count() == len(twins.BLINDED)


@pytest.mark.full
def test_nobody_unblinds_themselves(study: Study) -> None:
    mine, other = str(study["admin"].pk), str(study["crc_b"].pk)
    assert "their own membership" in sent("admin", study, do="members", unblinded=[mine])
    assert "Saved." in sent("admin", study, do="members", unblinded=[other])
    assert [*Member.objects.filter(is_unblinded=True)] == [study["crc_b"]]


@pytest.mark.full
@pytest.mark.parametrize("wrong", [{"password": ""}, {"password": "x"}, {"reason": " "}])
def test_a_code_is_not_broken_without_password_and_reason(
    study: Study, wrong: dict[str, str]
) -> None:
    assert twins.kit_of("P001", "a") not in broken("zhangyi", study, **wrong)
    assert not CodeBreak.objects.exists()


@pytest.mark.full
def test_where_passwords_are_off_the_code_of_the_app_opens_it(
    study: Study, settings: Settings
) -> None:
    settings.LOCAL_PASSWORDS = False
    kit.give_app(User.objects.get(username="zhangyi"))
    assert "The code of your app is wrong." in broken("zhangyi", study)
    assert twins.kit_of("P001", "a") in broken("zhangyi", study, password=kit.code())
    assert CodeBreak.objects.get().member == study["zhangyi"]


@pytest.mark.full
def test_who_can_sign_nothing_is_told_to_set_up_an_app(study: Study, settings: Settings) -> None:
    settings.LOCAL_PASSWORDS = False
    assert "set up an app with codes" in broken("zhangyi", study)
    assert "set up an app with codes" in sent(
        "admin", study, do="off", password=PASSWORD, reason="end"
    )
    assert not CodeBreak.objects.exists()


@pytest.mark.full
def test_wrong_passwords_of_the_page_lock_out(study: Study, settings: Settings) -> None:
    settings.AXES_ENABLED, settings.AXES_FAILURE_LIMIT = True, 2
    for _time in range(2):
        broken("zhangyi", study, password="x")
    assert "Too many wrong passwords" in broken("zhangyi", study)
    assert not CodeBreak.objects.exists()


@pytest.mark.full
def test_a_broken_code_is_shown_to_one_kept_and_told_without_the_arm(study: Study) -> None:
    shown = broken("zhangyi", study)
    arm = twins.ARMS[twins.arm_of("P001", "a")]
    assert twins.kit_of("P001", "a") in shown
    assert arm in shown
    entry = AuditEntry.objects.get(action="blinding.break")
    assert (entry.actor, entry.record_id, entry.reason) == ("zhangyi", "P001", "severe rash")
    told = OutboxMessage.objects.get(key__startswith="code-break:").payload
    assert "P001" in told
    assert "severe rash" in told
    assert arm not in told
    for reader in ("admin", "zhangyi"):
        assert "severe rash" in client(reader).get(page(study)).content.decode()
    others = client("admin").get(f"{page(study)}?subject=P001").content.decode()
    assert twins.kit_of("P001", "a") not in others


@pytest.mark.full
@pytest.mark.parametrize("name", ["wanghushi", "crc_b"])
def test_who_neither_administers_nor_investigates_has_no_page(study: Study, name: str) -> None:
    assert client(name).get(page(study)).status_code in {403, 404}
    assert client(name).post(page(study), {"do": "break"}).status_code in {403, 404}


def test_a_pi_sets_nothing_up(study: Study) -> None:
    assert client("zhangyi").post(page(study), {"do": "members"}).status_code == 403

"""Passwords that whoever knows their owner would try are refused, others pass."""

from __future__ import annotations

import string

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from projects.models import Person
from tests.house.kit import make_member, make_project

GUESSABLE = [
    "crc_b2026",
    "crc_b20262027",
    "CRC-B_2026!",
    "2026.crc_b.!!!",
    "b_crc19991231",
    "ｃｒｃ＿ｂ２０２６２０２７",
    "lung-iit2026",
    "LUNGIIT@2026#",
    "zhaoliu.w2026",
    "2026zhaoliu",
    "赵六医生2026年0101",
    "crc_bPassword",
    "crc_b2026qwertyuiop",
    "crc_b12345678",
    "4820193756",
    "password123",
    "aaaaaaaaaaaa",
    "k7#mQ2xW9",
    "crc_b_2026_lung-iit",
]
GOOD = [
    "k7#mQ2xW9p",
    "blue tram over Suzhou",
    "a!9#Q@w$2%",
    "crc_b likes boiled turnips",
    "今晚九点去江边散步吧哈",
]


@pytest.fixture
def crc(db: None) -> User:
    member = make_member(make_project("LUNG-IIT"), "crc_b", site="site_b")
    member.display_name = "赵六医生"
    member.save()
    Person.objects.filter(pk=member.person_id).update(wecom_userid="zhaoliu.w")
    return User.objects.get(username="crc_b")


@pytest.mark.parametrize("password", GUESSABLE)
def test_guessable_ones_are_refused(crc: User, password: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(password, crc)


@pytest.mark.parametrize("password", GOOD)
def test_others_pass(crc: User, password: str) -> None:
    validate_password(password, crc)


@pytest.mark.full
@pytest.mark.django_db
@given(st.data())
def test_what_is_known_counts_for_nothing(data: st.DataObject) -> None:
    """Login and year, however they are put together and whatever few characters go with them."""
    login = data.draw(st.text(string.ascii_lowercase, min_size=4, max_size=12))
    year = str(data.draw(st.integers(1900, 2099)))
    filling = data.draw(st.text(string.ascii_letters + "!_-. ", max_size=3))
    parts = data.draw(st.permutations([login.upper(), year, filling]))
    user = User(username=login)
    user._state.adding = False
    with pytest.raises(ValidationError):
        validate_password("".join(parts), user)


@pytest.mark.full
@pytest.mark.django_db
def test_whoever_makes_a_login_is_told_in_chinese() -> None:
    make_project("LUNG-IIT")
    client = Client()
    root = User.objects.create_superuser("root")
    client.force_login(root, backend="django.contrib.auth.backends.ModelBackend")
    form = {"username": "wang", "usable_password": "true", "is_staff": "on"}

    def post(password: str) -> str:
        said = form | {"password1": password, "password2": password}
        return client.post("/admin/auth/user/add/", said).content.decode()

    assert "认识账号主人的人太容易猜到这个密码" in post("Lung-IIT-2026")
    assert "认识账号主人的人太容易猜到这个密码" in post("wang20260101")
    assert "10 个字符" in post("k7#mQ2xW")
    assert not User.objects.filter(username="wang").exists()
    post("k7#mQ2xW9p")
    assert User.objects.get(username="wang").check_password("k7#mQ2xW9p")


def test_nobody_learns_of_another_study(crc: User) -> None:
    """A refusal would tell that there is one of this name."""
    make_project("HEART-IIT")
    validate_password("heart-iit-sailing", crc)
    validate_password("heart-iit-2026-oak", crc)

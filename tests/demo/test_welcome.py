"""What `make run` prints when the house is up."""

from __future__ import annotations

import unicodedata

import pytest
from django.utils.translation import override

from demo import house
from tests.support.study import Study

pytestmark = pytest.mark.django_db


def column(line: str) -> int:
    """Where the value begins, in columns of a terminal."""
    name, value = line.split(":", 1)
    begin = name + ":" + value[: len(value) - len(value.lstrip())]
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in begin)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_addresses_stand_in_one_column(study: Study, language: str) -> None:
    with override(language):
        lines = house.welcome().splitlines()
    rows = [line for line in lines if ":" in line and line.startswith("  ")]
    assert len(rows) == 4
    assert len({column(line) for line in rows}) == 1


def test_every_login_is_printed(study: Study) -> None:
    text = house.welcome()
    for name, login in study.run["logins"].items():
        assert name in text
        assert login["password"] in text

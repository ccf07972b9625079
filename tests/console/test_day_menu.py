"""The menu: what a role's day is made of stands first, the rest is folded, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from iit_manager.menu import DAY
from projects.models import Member, Project
from tests.support.study import Study

pytestmark = pytest.mark.django_db
PERSONS = {"zhangyi": "PI", "wanghushi": "CRC", "admin": "ADMIN", "auditor": "AUDITOR"}


def groups(client: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/admin/").context["sidebar_navigation"]
    for group in found:
        group["names"] = [one["name"] for one in group["items"] if one["has_permission"]]
    return found


@pytest.mark.parametrize("person", PERSONS)
def test_the_day_of_a_role_comes_first_and_the_rest_is_folded(
    as_user: Callable[..., Client], study: Study, person: str
) -> None:
    day, *rest = groups(as_user(person))
    assert not day["collapsible"]
    assert day["names"] == ["index", *DAY[PERSONS[person]]]
    assert all(group["collapsible"] for group in rest)
    others = [name for group in rest for name in group["names"]]
    assert not {*day["names"]} & {*others}
    assert len(others) == len({*others})
    if person == "admin":
        assert len(others) + len(day["names"]) > 40


@pytest.mark.full
def test_two_roles_have_both_days(as_user: Callable[..., Client], study: Study) -> None:
    other = Project.objects.create(code="OTHER", name="o", start_date="2026-01-01")
    Member.objects.create(project=other, person=study["zhangyi"].person, role="ADMIN")
    day, *_rest = groups(as_user("zhangyi"))
    # WeCom's alerts are the house's: they open for superusers.
    assert {*day["names"]} == {"index", *DAY["PI"], *DAY["ADMIN"]} - {"wechat_alert"}

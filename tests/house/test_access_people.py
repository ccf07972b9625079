"""Who somebody is in a study: memberships, roles, user ids (projects.access)."""

from __future__ import annotations

import uuid

import pytest
from django.contrib.auth.models import AnonymousUser, User

from projects.access import has_role, member_in
from projects.models import Member, Project
from projects.scoping import memberships
from tests.house.kit import make_member, make_project

pytestmark = pytest.mark.django_db


def test_only_active_memberships_of_active_users_count() -> None:
    alpha, beta = make_project("ALPHA"), make_project("BETA")
    member = make_member(alpha, "zhangyi", "PI")
    make_member(beta, "zhangyi", "CRC", is_active=False)
    assert member.user is not None
    assert [found.project for found in memberships(member.user)] == [alpha]
    member.user.is_active = False
    assert not memberships(member.user).exists()
    assert not memberships(AnonymousUser()).exists()


def test_the_membership_in_a_study() -> None:
    alpha, beta = make_project("ALPHA"), make_project("BETA")
    member = make_member(alpha, "zhangyi", "PI")
    assert member.user is not None
    assert member_in(member.user, alpha.pk) == member
    assert member_in(member.user, str(alpha.pk)) == member
    assert member_in(member.user, beta.pk) is None
    assert member_in(member.user, uuid.uuid4()) is None


@pytest.mark.parametrize("role", ["PI", "CRC", "ADMIN", "AUDITOR"])
def test_a_role_holds_in_its_study_only(role: str) -> None:
    alpha, beta = make_project("ALPHA"), make_project("BETA")
    user = make_member(alpha, "zhangyi", role).user
    assert user is not None
    assert has_role(user, alpha.pk, role, "X")
    assert not has_role(user, alpha.pk, *{"PI", "CRC", "ADMIN", "AUDITOR"} - {role})
    assert not has_role(user, beta.pk, role)


def test_who_left_holds_no_role() -> None:
    member = make_member(make_project(), "zhangyi", "PI", is_active=False)
    assert member.user is not None
    assert not has_role(member.user, member.project_id, "PI")


def test_a_superuser_holds_all_roles_while_active() -> None:
    project = make_project()
    root = User.objects.create(username="root", is_superuser=True)
    assert has_role(root, project.pk, "ADMIN")
    root.is_active = False
    assert not has_role(root, project.pk, "ADMIN")


def test_userids_are_compared_without_case() -> None:
    alpha, beta = make_project("ALPHA"), make_project("BETA")
    make_member(alpha, "ZhangYi", "PI")
    make_member(beta, "zhangyi", "PI", is_active=False)
    for spelled in ("zhangyi", "ZHANGYI", "ZhangYi"):
        assert [found.project.code for found in Member.objects.active_of(spelled)] == ["ALPHA"]
    assert not Member.objects.active_of("zhang").exists()


def test_a_member_sees_one_project_a_user_all_of_theirs() -> None:
    alpha, beta = make_project("ALPHA"), make_project("BETA")
    make_project("GAMMA")
    first, second = make_member(alpha, "zhangyi", "PI"), make_member(beta, "zhangyi", "PI")
    assert first.user is not None
    assert [*Project.objects.for_user(first.user)] == [alpha, beta]
    assert [*Project.objects.for_member(second)] == [beta]

"""A userid is what WeCom takes for one: nobody is added who only looks like somebody else."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client

from projects import people, services
from projects.models import Member, Person
from tests.house.kit import make_member, make_project

pytestmark = pytest.mark.django_db
LOOK_ALIKE = [
    "wang\u200bhushi",
    "ｗanghushi",
    "wаnghushi",
    "wanghushi\u00ad",
    " wanghushi\u2060",
    "_wanghushi",
    "wang hushi",
    "wanghushi|zhangyi",
    "@all",
    "王护士",
]


@pytest.fixture
def chief(db: None) -> Client:
    project = make_project()
    make_member(project, "wanghushi")
    make_member(project, "chief", "ADMIN")
    User.objects.create_superuser("root")
    User.objects.update(is_staff=True)
    return browser("chief")


def browser(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name), "django.contrib.auth.backends.ModelBackend")
    return client


@pytest.mark.full
@pytest.mark.parametrize("userid", LOOK_ALIKE)
def test_none_becomes_a_person(chief: Client, userid: str) -> None:
    """Variants: a study's form, the house's form, the services."""
    before = Person.objects.count()
    project = Member.objects.first()
    assert project
    fields = {
        "project": project.project_id,
        "role": "CRC",
        "site": "",
        "all_sites": "on",
        "language": "en",
    }
    chief.post("/admin/projects/member/add/", fields | {"wecom_userid": userid, "is_active": "on"})
    browser("root").post("/admin/projects/person/add/", {"wecom_userid": userid, "user": ""})
    root = User.objects.get(username="root")
    with pytest.raises(ValidationError):
        people.link(person=Person(wecom_userid=userid), actor=root)
    member = Member(project=project.project, wecom_userid=userid, role="CRC")
    with pytest.raises(ValidationError):
        services.save_member(member=member, actor=root)
    assert Person.objects.count() == before


@pytest.mark.parametrize("userid", ["li.na-2_x@b", "7", "WangHuShi2"])
def test_what_wecom_takes_is_taken(chief: Client, userid: str) -> None:
    project = Member.objects.filter(wecom_userid="chief").get().project
    fields = {"project": project.pk, "role": "CRC", "site": "", "all_sites": "on", "language": "en"}
    chief.post("/admin/projects/member/add/", fields | {"wecom_userid": userid, "is_active": "on"})
    assert Member.objects.filter(wecom_userid=userid.lower()).exists()


def test_somebody_without_wecom_is_known_by_their_login(chief: Client) -> None:
    Person.objects.create(user=User.objects.create(username="监查员"))
    project = Member.objects.filter(wecom_userid="chief").get().project
    fields = {
        "project": project.pk,
        "role": "AUDITOR",
        "site": "",
        "all_sites": "on",
        "language": "en",
    }
    chief.post(
        "/admin/projects/member/add/", fields | {"wecom_userid": "监查员", "is_active": "on"}
    )
    assert Member.objects.filter(person__user__username="监查员").exists()

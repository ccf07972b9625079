"""Who is in no study: refused, and the administrators are told (issue 5, Inbound)."""

from __future__ import annotations

import pytest
import time_machine

from projects.models import Member, Project, Role
from tests.wechat.working import outgoing, receive, receive_event, work

pytestmark = pytest.mark.django_db


def test_an_administrator_is_told_once_a_day(people: dict[str, Member]) -> None:
    receive("P001 入组了吗?", user="ghost")
    receive("陈建国的血压", user="ghost")
    work()
    (told,) = outgoing("admin")
    assert "ghost" in told
    assert "P001" not in told
    assert "LUNG-IIT" not in outgoing("ghost")[0]
    with time_machine.travel("2099-01-02T10:00:00+08:00", tick=True):
        receive("在吗", user="ghost", CreateTime=4070995200)
        work()
    assert len(outgoing("admin")) == 2


def test_who_left_is_told_to_the_administrators_of_that_study_only(
    people: dict[str, Member],
) -> None:
    other = Project.objects.create(
        code="OTHER",
        name="另一项",
        start_date=people["admin"].project.start_date,
        target_enrolment=1,
    )
    Member.objects.create(
        project=other, wecom_userid="chief", role=Role.ADMIN, display_name="主任", language="en"
    )
    Member.objects.filter(wecom_userid="crc_b").update(is_active=False)
    receive("你好", user="crc_b")
    receive("你好", user="ghost")
    work()
    assert [text for text in outgoing("admin") if "crc_b" in text and "LUNG-IIT" in text]
    assert [text for text in outgoing("chief") if "ghost" in text and "no study" in text]
    assert not [text for text in outgoing("chief") if "crc_b" in text]


def test_an_administrator_is_not_told_of_studies_of_others(people: dict[str, Member]) -> None:
    for code, admins in (("OTHER", ["chief"]), ("THIRD", ["chief", "admin"])):
        other = Project.objects.create(
            code=code,
            name=code,
            start_date=people["admin"].project.start_date,
            target_enrolment=1,
        )
        for name in admins:
            Member.objects.create(project=other, wecom_userid=name, role=Role.ADMIN)
        Member.objects.create(project=other, wecom_userid="crc_b", role=Role.CRC, is_active=False)
    Member.objects.filter(wecom_userid="crc_b").update(is_active=False)
    receive("你好", user="crc_b")
    work()
    (mine,), (theirs,) = outgoing("admin"), outgoing("chief")
    assert "LUNG-IIT, THIRD" in mine
    assert "OTHER" not in mine
    assert "OTHER, THIRD" in theirs
    assert "LUNG-IIT" not in theirs


def test_members_and_mere_visits_are_no_news(people: dict[str, Member]) -> None:
    receive_event("enter_agent", user="ghost")
    receive_event("unsubscribe", user="crc_b")
    work()
    assert not outgoing("admin")

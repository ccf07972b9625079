"""Session memory: three rounds, per project and user (seed 003, 5)."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils.timezone import now

from memory import session
from projects.models import Member, Person, Project


@pytest.fixture
def member(db: None) -> Member:
    project = Project.objects.create(code="A", name="甲", start_date="2026-01-06")
    return Member.objects.create(project=project, wecom_userid="Li", role="PI")


def talk(member: Member, rounds: int) -> None:
    for number in range(rounds):
        session.remember(member, question=f"问{number}", answer=f"答{number}", record_ids=[])


def test_nothing_was_said(member: Member) -> None:
    empty = session.load(member)
    assert empty.messages == []
    assert empty.text == ""


def test_the_last_three_rounds_in_the_documented_form(member: Member) -> None:
    talk(member, 5)
    assert session.load(member).text == "\n\n".join(
        ["用户: 问2", "AI: 答2", "用户: 问3", "AI: 答3", "用户: 问4", "AI: 答4"]
    )


def test_subjects_are_kept_until_others_are_named(member: Member) -> None:
    session.remember(member, question="a", answer="b", record_ids=["P001"])
    session.remember(member, question="a", answer="b", record_ids=[])
    assert session.load(member).record_ids == ["P001"]
    session.remember(member, question="a", answer="b", record_ids=["P002"])
    assert session.load(member).record_ids == ["P002"]


def test_thirty_minutes(member: Member) -> None:
    talk(member, 1)
    with time_machine.travel(now() + timedelta(minutes=29), tick=False):
        assert session.load(member).messages
    with time_machine.travel(now() + timedelta(minutes=31), tick=False):
        assert session.load(member).messages == []
        assert session.last_project(member.person) is None


def test_another_project_is_another_session(member: Member) -> None:
    talk(member, 1)
    other = Project.objects.create(code="B", name="乙", start_date="2026-01-06")
    there = Member.objects.create(project=other, wecom_userid="li", role="PI")
    assert session.load(there).messages == []
    assert session.last_project(member.person) == str(member.project_id)


def test_a_choice_is_taken_once(member: Member) -> None:
    session.ask_project(member.person, "几例", ["A", "B"])
    assert session.chosen_project(member.person, 3) is None
    assert session.chosen_project(member.person, 2) == ("几例", "B")
    assert session.chosen_project(member.person, 2) is None


def test_nobody_answers_for_another(member: Member) -> None:
    """Nor do two people share a question who have no WeCom userid."""
    one, other = Person.objects.create(), Person.objects.create()
    session.ask_project(one, "几例", ["A", "B"])
    assert session.chosen_project(other, 1) is None
    assert session.chosen_project(member.person, 1) is None

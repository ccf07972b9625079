"""A membership counts once its person has accepted it, and no study's texts catch another's messages.

The attack: an administrator of another study adds somebody, and names her study so that any message names it.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from engines.assistant.chat import members as routing
from memory import session
from projects import invitations
from projects.models import AuditEntry, Member, Project
from tests.house.kit import make_member, make_project, make_subject
from tests.wechat.working import click, outgoing, receive, said, work
from wechat.models import Card, InboxMessage

pytestmark = pytest.mark.django_db
MEMBERS = "/admin/projects/member/"
QUESTION = "P001的电话13800000001对吗"


@pytest.fixture
def evil(people: dict[str, Member]) -> Project:
    """Another study with its own administrator, who has added a coordinator of ours."""
    project = make_project("EVIL", name="的", record_id_pattern=r".+")
    make_member(project, "chief", "ADMIN")
    User.objects.filter(username="chief").update(is_staff=True)
    make_subject(project, "P001", "")
    add(project, "wanghushi")
    return project


def browser(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name), "django.contrib.auth.backends.ModelBackend")
    return client


def add(project: Project, userid: str, name: str = "chief") -> None:
    fields = {
        "project": project.pk,
        "wecom_userid": userid,
        "role": "CRC",
        "site": "",
        "all_sites": "on",
    }
    browser(name).post(f"{MEMBERS}add/", fields | {"language": "zh-hans", "is_active": "on"})


def invited(project: Project, userid: str = "wanghushi") -> Member:
    return Member.objects.get(project=project, wecom_userid=userid)


def studies_of(text: str, userid: str = "wanghushi") -> list[str]:
    """The study that a message is filed in, or those that its sender is asked to choose from."""
    person = Member.objects.filter(wecom_userid=userid)[0].person
    chosen = routing.choose_member(person, text, None)
    if chosen.member:
        return [chosen.member.project.code]
    return [line for line in chosen.question.splitlines() if line[0].isdigit()]


# --- nothing before the person has said yes --------------------------------------------------------


def test_who_was_added_is_asked_and_has_no_part_yet(evil: Project) -> None:
    assert studies_of(QUESTION) == ["LUNG-IIT"]
    assert studies_of("EVIL 入组了多少例") == ["LUNG-IIT"]
    assert not Member.objects.active_of("wanghushi").filter(project=evil)
    assert Card.objects.get(kind="invitation").to_user == "wanghushi"
    receive(QUESTION, user="wanghushi")
    work()
    assert InboxMessage.objects.get().project_id != evil.pk


@pytest.mark.parametrize("again", ["ticked", "left", "role"])
def test_no_form_of_hers_makes_it_count(evil: Project, again: str) -> None:
    """Variants: the page of the invitation, somebody who left, somebody of whom the role is changed."""
    row = invited(evil)
    if again == "left":
        invitations.settle(member=row, accept=True, actor=row)
        Member.objects.filter(pk=row.pk).update(is_active=False)
    fields = {
        "role": "PI" if again == "role" else "CRC",
        "site": "",
        "all_sites": "on",
        "language": "zh-hans",
    }
    browser("chief").post(f"{MEMBERS}{row.pk}/change/", fields | {"is_active": "on"})
    row.refresh_from_db()
    assert (row.is_active, bool(row.invited_at)) == (False, True)
    assert studies_of(QUESTION) == ["LUNG-IIT"]


def test_the_invited_cannot_be_written_active(evil: Project) -> None:
    from django.db import IntegrityError, transaction

    with pytest.raises(IntegrityError), transaction.atomic():
        Member.objects.filter(pk=invited(evil).pk).update(is_active=True)


# --- the ways to say yes or no ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "accepts"),
    [
        ("接受 evil", True),
        ("接受邀请", True),
        ("tap", True),
        ("拒绝 EVIL", False),
        ("tap no", False),
    ],
)
def test_an_answer_in_chat(evil: Project, way: str, accepts: bool) -> None:
    if way.startswith("tap"):
        card = Card.objects.get(kind="invitation")
        click(card.task_id, "accept" if accepts else "decline", "wanghushi")
    else:
        receive(way, user="wanghushi")
    work()
    row = invited(evil)
    assert (row.is_active, row.invited_at) == (accepts, None)
    action = "member.accept" if accepts else "member.decline"
    assert AuditEntry.objects.get(action=action, project=evil).actor == "wanghushi"
    assert "EVIL" in outgoing("wanghushi")[-1]


@pytest.mark.full
def test_nobody_else_answers(evil: Project, people: dict[str, Member]) -> None:
    card = Card.objects.get(kind="invitation")
    for userid in ("zhangyi", "chief", "ghost"):
        click(card.task_id, "accept", userid)
        receive("接受 EVIL", user=userid)
    work()
    page = browser("chief").post(
        f"{MEMBERS}invitations/", {"member": invited(evil).pk, "answer": "accept"}
    )
    assert page.status_code == 404
    assert invited(evil).invited_at


@pytest.mark.parametrize(
    "text", ["接受", "可以接受邀请吗 P001", "我接受 EVIL 的安排", "拒绝", "EVIL"]
)
def test_other_words_are_no_answer(evil: Project, text: str) -> None:
    receive(text, user="wanghushi")
    work()
    assert invited(evil).invited_at


def test_an_invited_stranger_is_told_how(evil: Project) -> None:
    add(evil, "newcomer")
    receive("你好", user="newcomer")
    work()
    assert "接受 EVIL" in outgoing("newcomer")[-1]
    assert not outgoing("chief")


@pytest.mark.full
def test_in_the_console(evil: Project) -> None:
    user = User.objects.create(username="wh", is_staff=True)
    person = invited(evil).person
    person.user = user
    person.save()
    client = browser("wh")
    assert "/admin/projects/member/invitations/" in client.get("/admin/").content.decode()
    page = client.get(f"{MEMBERS}invitations/").content.decode()
    assert "EVIL" in page
    client.post(f"{MEMBERS}invitations/", {"member": invited(evil).pk, "answer": "accept"})
    assert invited(evil).is_active
    assert AuditEntry.objects.get(action="member.accept").login == "wh"


def test_a_superuser_accepts_in_their_place_and_they_are_told(evil: Project) -> None:
    User.objects.create(username="root", is_superuser=True, is_staff=True)
    chosen: dict[str, Any] = {"action": "accept_for", "_selected_action": [str(invited(evil).pk)]}
    assert browser("chief").post(MEMBERS, chosen).status_code in (200, 302)
    assert not invited(evil).is_active
    browser("root").post(MEMBERS, chosen)
    assert invited(evil).is_active
    add(evil, "crc_b", "root")
    assert invited(evil, "crc_b").is_active
    assert [text for text in outgoing("crc_b") if "EVIL" in text]


@pytest.mark.full
def test_an_invitation_is_taken_back(evil: Project) -> None:
    row = invited(evil)
    fields = {"role": "CRC", "site": "", "all_sites": "on", "language": "zh-hans"}
    browser("chief").post(f"{MEMBERS}{row.pk}/change/", fields)
    receive("接受 EVIL", user="wanghushi")
    work()
    row.refresh_from_db()
    assert (row.is_active, row.invited_at) == (False, None)


# --- once it counts: whose message is it ----------------------------------------------------------


@pytest.fixture
def in_both(evil: Project) -> Member:
    row = invited(evil)
    invitations.settle(member=row, accept=True, actor=row)
    return row


@pytest.mark.parametrize("name", ["的", "P001", "电话", "对吗", "1380000"])
@pytest.mark.parametrize("pattern", [r".+", r"P\d+"])
def test_no_text_of_a_study_catches_a_message(in_both: Member, name: str, pattern: str) -> None:
    """Neither its name nor its pattern and subjects; the reader is asked where nothing was said lately."""
    Project.objects.filter(code="EVIL").update(
        name=name, record_id_pattern=pattern, synonyms={"电话": ["的"]}
    )
    assert len(studies_of(QUESTION)) == 2
    ours = Member.objects.get(wecom_userid="wanghushi", project__code="LUNG-IIT")
    session.remember(ours, question="q", answer="a", record_ids=[])
    assert studies_of(QUESTION) == ["LUNG-IIT"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("EVIL入组了多少例", "EVIL"),
        ("lung-iit 入组了多少例", "LUNG-IIT"),
        ("ＬＵＮＧ－ＩＩＴ:P001", "LUNG-IIT"),
        ("胃癌免疫治疗研究入组了多少例", "EVIL"),
    ],
)
def test_a_code_or_a_whole_name_tells_the_study(in_both: Member, text: str, code: str) -> None:
    Project.objects.filter(code="EVIL").update(name="胃癌免疫治疗研究")
    other = Member.objects.exclude(project__code=code).get(wecom_userid="wanghushi")
    session.remember(other, question="q", answer="a", record_ids=[])
    assert studies_of(text) == [code]


@pytest.mark.parametrize(
    "text", ["EVIL-2的P001", "DEVIL入组", "EVIL和LUNG-IIT各入组多少", "xevil_1"]
)
def test_part_of_a_word_and_two_studies_name_none(in_both: Member, text: str) -> None:
    assert len(studies_of(text)) == 2


@pytest.mark.full
def test_a_study_is_not_renamed_by_its_administrator(evil: Project) -> None:
    """Code and name tell messages apart in the whole house: a superuser gives them."""
    page = browser("chief").get(f"/admin/projects/project/{evil.pk}/change/").content.decode()
    assert 'name="code"' not in page
    assert 'name="name"' not in page


def test_a_vote_is_for_the_study_that_answered(in_both: Member) -> None:
    receive("👎 太长", user="wanghushi")
    work()
    assert outgoing("wanghushi")[-1] == said("There is no answer of mine to rate yet.")
    assert InboxMessage.objects.latest("pk").project is None

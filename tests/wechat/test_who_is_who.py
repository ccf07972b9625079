"""A person has one identity in the house: what a study's administrator writes into her members' rows
opens nobody else's doors (design.md 3, iit_people).

Generated: whom she names × what she claims of them × on which page × through which door she then comes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from engines import sop
from engines.models import AgentTrace, Review, TaskRun
from memory.models import ConversationHistory
from projects.models import AuditEntry, Member, Project
from skills.models import Skill
from tests.engines.sop.kit import tell
from tests.house.kit import make_member, make_project, make_subject
from tests.support.chat import chat
from tests.support.study import Study
from tests.wechat.working import click, outgoing, receive, work
from wechat.models import Card

pytestmark = pytest.mark.django_db
MEMBERS = "/admin/projects/member/"
# The PI is a stranger in the attacker's study; the CRC takes part in it, so her page offered the login.
VICTIMS = ("zhangyi", "wanghushi")
CLAIMS = ("userid", "login", "both")
PAGES = ("add", "own row", "another's row")
EVERY = [*product(VICTIMS, CLAIMS, PAGES)]
RECORD = "P002"
QUESTION = f"LUNG-IIT {RECORD} 的年龄是多少"
ASK = {"start_node": "ask", "nodes": {"ask": {"type": "human_review", "description": "请核对"}}}


@dataclass
class House:
    """LUNG-IIT with a review that waits for wanghushi, and the study of `zzboss`: her rows sort last."""

    study: Study
    own: Project
    boss: Member
    aide: Member
    review: Review
    console: Client


@pytest.fixture
def house(study: Study) -> House:
    own = make_project("OTHER-IIT")
    make_subject(own, RECORD, "")
    boss, aide = make_member(own, "zzboss", "ADMIN"), make_member(own, "aide")
    make_member(own, "wanghushi", "AUDITOR")
    User.objects.update(is_staff=True)
    review = _waiting(study)
    console = Client()
    console.force_login(User.objects.get(username="zzboss"), backend=BACKEND)
    return House(study, own, boss, aide, review, console)


BACKEND = "django.contrib.auth.backends.ModelBackend"


def _waiting(study: Study) -> Review:
    skill = Skill.objects.create(
        project=study.project,
        skill_type="qc_process:who",
        name="who",
        config={"name": "who", **ASK},
    )
    run = sop.start(
        project=study.project, skill=skill, record_id=RECORD, triggered_by="zhangyi", wake=False
    )
    sop.drive(run.pk)
    tell()
    found = sop.open_review(run)
    assert found
    return found


def claim(house: House, victim: str, what: str, page: str) -> None:
    """The administrator posts the form; whether it is refused or ignored is not the question here."""
    row = {"add": None, "own row": house.boss, "another's row": house.aide}[page]
    mine = row.wecom_userid if row else "somebody"
    logins = {name: User.objects.get(username=name).pk for name in (victim, "zzboss")}
    form = {
        "project": house.own.pk,
        "display_name": "x",
        "wecom_userid": mine if what == "login" else victim,
        "user": logins["zzboss" if what == "userid" else victim],
        "role": "ADMIN",
        "site": "",
        "language": "zh-hans",
        "is_active": "on",
    }
    house.console.post(f"{MEMBERS}{row.pk}/change/" if row else f"{MEMBERS}add/", form)


def through_api_chat(house: House) -> None:
    for body in ({"text": QUESTION}, {"text": QUESTION, "project": "LUNG-IIT"}):
        chat(house.console, **body)


def through_api(house: House) -> None:
    lists = ("task-runs", "pending-actions", "conversations", "agent-traces", "user-memory")
    for name in lists:
        rows = house.console.get(f"/api/v1/{name}/").json()["results"]
        assert not [row for row in rows if row["project"] == "LUNG-IIT"], name
    codes = [row["code"] for row in house.console.get("/api/v1/projects/").json()["results"]]
    assert codes == ["OTHER-IIT"]
    order = {"project": "LUNG-IIT", "skill_type": "qc_process:who", "record_id": RECORD}
    assert house.console.post("/api/v1/task-runs/start/", order, JSON).status_code == 404
    decision = {"seen": house.review.seen, "reason": "x"}
    url = f"/api/v1/task-runs/{house.review.task_run_id}/approve/"
    assert house.console.post(url, decision, JSON).status_code == 404


JSON = "application/json"


def through_command(house: House) -> None:
    for code in (None, "LUNG-IIT"):
        out = StringIO()
        with suppress(SystemExit):
            call_command("ask", QUESTION, user="zzboss", project=code, json=True, stdout=out)
        assert json.loads(out.getvalue())["sources"] == []


def through_messages(house: House) -> None:
    for text in (QUESTION, f"同意 {house.review.pk}"):
        receive(text, user="zzboss")
        work()
    assert outgoing("zzboss")


def through_a_card(house: House) -> None:
    card = Card.objects.get(kind="review", ref=str(house.review.pk))
    click(card.task_id, "approve", "zzboss")
    work()


def through_the_console(house: House) -> None:
    run = f"/admin/engines/taskrun/{house.review.task_run_id}/"
    assert house.console.get(f"{run}change/").status_code in (302, 404)
    house.console.post(
        f"{run}decide/", {"approve": "1", "reason": "已核对", "seen": house.review.seen}
    )
    for page in ("engines/taskrun", "engines/review", "study/subject", "engines/agenttrace"):
        assert "LUNG-IIT" not in house.console.get(f"/admin/{page}/").content.decode(), page


DOORS: tuple[Callable[[House], None], ...] = (
    through_api_chat,
    through_api,
    through_command,
    through_messages,
    through_a_card,
    through_the_console,
)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize(("victim", "what", "page"), EVERY)
def test_no_claim_opens_a_door(
    victim: str, what: str, page: str, door: Callable[[House], None], house: House
) -> None:
    """Whatever she writes, she stays in her study: nothing of the other one is read, started or decided."""
    before = _traces_of(house.study.project)
    claim(house, victim, what, page)
    door(house)
    assert _traces_of(house.study.project) == before
    house.review.refresh_from_db()
    assert house.review.status == Review.Status.OPEN


def _traces_of(project: Project) -> dict[str, Any]:
    """What anybody's talk and deeds leave behind in a study; refusals are told to it, and are no deeds."""
    deeds = AuditEntry.objects.filter(project=project).exclude(action="wechat.decision_refused")
    counted = (TaskRun, ConversationHistory, AgentTrace)
    return {
        "deeds": deeds.count(),
        **{one.__name__: one.objects.filter(project=project).count() for one in counted},
    }


@pytest.mark.full
@pytest.mark.parametrize(("victim", "what", "page"), EVERY)
def test_no_claim_moves_a_login(victim: str, what: str, page: str, house: House) -> None:
    """Each login still leads to the memberships of its own person, whatever was written into the rows."""
    claim(house, victim, what, page)
    for name in (*VICTIMS, "zzboss", "aide"):
        client = Client()
        client.force_login(User.objects.get(username=name), backend=BACKEND)
        listed = client.get("/api/v1/projects/").json()["results"]
        own = Member.objects.filter(wecom_userid=name, is_active=True)
        assert {row["code"] for row in listed} == {one.project.code for one in own}, name

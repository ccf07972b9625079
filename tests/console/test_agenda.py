"""The agenda of each role: the first page shows the rows, chat words them, and both are the same rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.utils.timezone import now

from core.house import clock
from engines.agenda import Kind, agenda
from engines.models import PendingAction, TaskRun
from projects.models import Member
from study import readings
from study.models import Dictionary, ReadingState, Subject
from study.visits import due
from tests.console.conftest import SITE_A
from tests.engines.chat.kit import ask, mute
from tests.support.study import Study

AsUser = Callable[..., Client]


def part(page: str, name: str) -> str:
    """The text of a card of the first page."""
    found = re.search(rf'<article[^>]*data-test="{name}">(.*?)</article>', page, re.DOTALL)
    assert found, name
    return found[1]


def text(markup: str) -> str:
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", markup)))


def rows(page: str) -> dict[str, str]:
    """Kind → the figure, as the card shows it."""
    card = part(page, "agenda")
    found = re.findall(
        r'<li data-test="(\w+)">.*?class="iit-figure">\s*([^<\s]+)\s*<', card, re.DOTALL
    )
    return dict(found)


@pytest.fixture
def read(study: Study) -> Study:
    mute(study)
    readings.read_all(study.project)
    return study


def expected(study: Study, member: Member) -> dict[str, str]:
    schedule = due.schedule(study.project, member)
    found = agenda(study.project, member, schedule)
    return {str(row.kind): str(row.count) for row in found}


@pytest.mark.full
def test_each_role_is_shown_its_own_day(as_user: AsUser, read: Study, run_a: TaskRun) -> None:
    today = clock.today(read.project.timezone)
    PendingAction.objects.update(due_on=today, assignee="wanghushi")
    for name in ("wanghushi", "zhangyi", "admin"):
        page = as_user(name).get("/admin/").content.decode()
        assert rows(page) == expected(read, read[name]), name
    crc = rows(as_user("wanghushi").get("/admin/").content.decode())
    assert (crc["reviews"], crc["due"], crc["mine"]) == ("1", "1", "1")
    assert int(crc["overdue"]) >= 1
    admin = rows(as_user("admin").get("/admin/").content.decode())
    assert admin["reviews"] == "1"
    assert "today" not in admin
    watcher = rows(as_user("auditor").get("/admin/").content.decode())
    assert "reviews" not in watcher
    assert watcher["due"] == "1"


@pytest.mark.full
def test_its_links_lead_to_as_many_rows(as_user: AsUser, read: Study, run_a: TaskRun) -> None:
    today = clock.today(read.project.timezone)
    PendingAction.objects.update(due_on=today - timedelta(days=1), assignee="wanghushi")
    TaskRun.objects.create(
        project=read.project, skill=run_a.skill, record_id=SITE_A, status="FAILED", config={}
    )
    for name in ("wanghushi", "zhangyi", "admin"):
        client = as_user(name)
        card = part(client.get("/admin/").content.decode(), "agenda")
        links = re.findall(
            r'data-test="(\w+)">.*?href="([^"]+)".*?iit-figure">\s*(\d+)', card, re.DOTALL
        )
        assert links
        for kind, link, count in links:
            answer = client.get(unescape(link))
            assert answer.status_code == 200, (name, kind, link)
            listed = (getattr(answer, "context_data", None) or {}).get("cl")
            if listed is not None and kind != Kind.READING:
                assert listed.result_count == int(count), (name, kind)


@pytest.mark.full
def test_a_site_is_told_of_its_own_subjects(as_user: AsUser, read: Study, run_a: TaskRun) -> None:
    card = text(part(as_user("crc_b").get("/admin/").content.decode(), "agenda"))
    named = {*re.findall(r"P\d{3}", card)}
    own = Subject.objects.filter(project=read.project, site="site_b")
    assert named <= {*own.values_list("record_id", flat=True)}
    assert "reviews" not in rows(as_user("crc_b").get("/admin/").content.decode())


@pytest.mark.full
def test_what_could_not_be_read_is_no_quiet_day(as_user: AsUser, read: Study) -> None:
    ReadingState.objects.all().delete()
    found = rows(as_user("wanghushi").get("/admin/").content.decode())
    assert found["overdue"] == "?"
    Dictionary.objects.all().delete()
    read.stand_ins.fault("redcap", "status", 500, times=None)
    assert "REDCap" in ask("wanghushi", "今天我要干什么").text


@pytest.mark.full
def test_an_outage_tells_as_of_when(read: Study) -> None:
    ReadingState.objects.update(read_at=now() - timedelta(hours=1))
    read.stand_ins.fault("redcap", "status", 500, times=None)
    told = ask("wanghushi", "今天我要干什么").text
    assert "数据截至" in told
    assert "P005" in told


@pytest.mark.full
@pytest.mark.parametrize(
    "question",
    ["今天我要干什么", "有什么等着我", "今天要做什么", "我手上还有哪些事要处理", "今天有啥活"],
)
def test_chat_tells_the_same_rows(read: Study, run_a: TaskRun, question: str) -> None:
    told = ask("wanghushi", question).text
    for row in agenda(
        read.project, read["wanghushi"], due.schedule(read.project, read["wanghushi"])
    ):
        assert re.search(rf"{row.kind.label}[^\n]* {row.count}(?!\d)", told), (row, told)
    # There is no room for all that is known of each, but for whom it is about.
    assert SITE_A in told
    assert "P005 V3" in told


@pytest.mark.full
def test_chat_counts_the_readers_own_reviews(
    read: Study, suspended: Callable[[str], TaskRun]
) -> None:
    suspended(SITE_A)
    for question in ("我这儿还有几个复核", "还有几条审核等我处理"):
        told = ask("wanghushi", question).text
        assert "1" in told
        assert SITE_A in told
        # The node asks a CRC: a PI sees the review and has none to decide.
        assert SITE_A not in ask("zhangyi", question).text


@pytest.mark.parametrize(
    "question", ["P002今天要做什么检查", "今天有哪些访视", "今天入组了几个", "明天要做什么"]
)
def test_other_questions_are_no_agenda(read: Study, run_a: TaskRun, question: str) -> None:
    assert str(Kind.REVIEWS.label) not in ask("wanghushi", question).text

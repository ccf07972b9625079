"""Who read whose data, at every door, in the trail once a person, subject and hour (issue E 12)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from engines.assistant.chat import answer_message
from engines.assistant.say.answer import Table
from engines.models import AgentTrace
from projects import reads
from projects.models import AuditEntry, Person, Read
from projects.tasks import write_reads
from tests.engines.sop.kit import review_of, run_qc
from tests.house.kit import together
from tests.support.study import Study
from wechat.outbound import answers

pytestmark = pytest.mark.django_db
NINE = "2026-11-02T09:10:00+00:00"
API = "/api/v1"


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NINE, tick=False) as clock:
        yield clock


def console(study: Study, who: str) -> Client:
    client = Client()
    client.force_login(study[who].user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def program(study: Study, who: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {study.run['logins'][who]['token']}")
    return client


def noted() -> list[tuple[str, str, str, str]]:
    rows = Read.objects.order_by("pk").values_list("actor", "login", "record_id", "door")
    return [tuple(row) for row in rows]


def entries() -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(action="record.read").order_by("number"))


def pages(study: Study) -> dict[str, str]:
    """The console's pages about P012: subject, run, review, finding."""
    run = run_qc(study, "P012")
    review = review_of(run)
    finding = run.findings.first()
    subject = study.project.subjects.get(record_id="P012")
    return {
        "subject": f"/admin/study/subject/{subject.pk}/change/",
        "run": f"/admin/engines/taskrun/{run.pk}/change/",
        "opened": f"/admin/engines/review/{review.pk}/opened/",
        "finding": f"/admin/engines/pendingaction/{finding.pk}/change/",
    }


@pytest.mark.full
@pytest.mark.parametrize("page", ["subject", "run", "opened", "finding"])
def test_a_page_of_the_console(study: Study, page: str) -> None:
    address = pages(study)[page]
    assert console(study, "wanghushi").get(address).status_code == 200
    assert noted() == [("wanghushi", "wanghushi", "P012", "console")]


@pytest.mark.full
@pytest.mark.parametrize("page", ["subject", "run", "opened", "finding"])
def test_who_is_shown_nothing_has_read_nothing(study: Study, page: str) -> None:
    address = pages(study)[page]
    assert console(study, "crc_b").get(address).status_code in (302, 403, 404)
    assert noted() == []


@pytest.mark.full
def test_a_closed_review_is_shown_as_it_was(study: Study) -> None:
    run = run_qc(study, "P012")
    review = review_of(run)
    said = {"approve": "1", "reason": "已核对", "seen": review.seen}
    client = console(study, "wanghushi")
    client.post(f"/admin/engines/taskrun/{run.pk}/decide/", said)
    Read.objects.all().delete()
    assert client.get(f"/admin/engines/review/{review.pk}/change/").status_code == 200
    assert noted() == [("wanghushi", "wanghushi", "P012", "console")]


@pytest.mark.full
def test_the_api(study: Study) -> None:
    run = run_qc(study, "P012")
    client = program(study, "zhangyi")
    for address in (f"task-runs/{run.pk}/", f"pending-actions/{run.findings.first().pk}/"):
        assert client.get(f"{API}/{address}").status_code == 200
    assert client.get(f"{API}/visits/?record_id=P001").status_code == 200
    assert noted() == [
        ("zhangyi", "zhangyi", "P012", "api"),
        ("zhangyi", "zhangyi", "P012", "api"),
        ("zhangyi", "zhangyi", "P001", "api"),
    ]
    assert program(study, "crc_b").get(f"{API}/task-runs/{run.pk}/").status_code == 404
    assert len(noted()) == 3


def ask(userid: str, text: str) -> str:
    return answer_message(person=Person.objects.of(userid), text=text).text


def test_an_answer_in_chat(study: Study) -> None:
    ask("wanghushi", "P001 入组了吗?")
    assert set(noted()) == {("wanghushi", "", "P001", "chat")}


@pytest.mark.full
def test_an_answer_about_nobody_is_no_read(study: Study) -> None:
    """Neither a question about the protocol nor one about another site's subject."""
    ask("wanghushi", "SAE 多久内要报告?")
    ask("wanghushi", "P022 入组了吗?")
    assert noted() == []


@pytest.mark.full
def test_the_trail_has_one_entry_a_person_subject_and_hour(
    study: Study, clock: time_machine.Traveller
) -> None:
    run = run_qc(study, "P012")
    page = f"/admin/engines/taskrun/{run.pk}/change/"
    for who, times in (("wanghushi", 3), ("zhangyi", 1)):
        for _time in range(times):
            console(study, who).get(page)
    program(study, "wanghushi").get(f"{API}/task-runs/{run.pk}/")
    clock.shift(timedelta(hours=1))
    console(study, "wanghushi").get(page)
    write_reads()
    first = [(one.actor, one.login, one.record_id, one.new) for one in entries()]
    hour = {"hour": "2026-11-02T09:00:00+00:00"}
    assert first == [
        ("wanghushi", "wanghushi", "P012", hour | {"count": 4, "doors": {"console": 3, "api": 1}}),
        ("zhangyi", "zhangyi", "P012", hour | {"count": 1, "doors": {"console": 1}}),
    ]
    write_reads()
    assert len(entries()) == 2, "the running hour waits"
    clock.shift(timedelta(hours=1))
    write_reads()
    assert [one.new["count"] for one in entries()] == [4, 1, 1]
    assert not Read.objects.exists()
    assert {one.project_id for one in entries()} == {study.project.pk}


@pytest.mark.full
def test_a_page_costs_one_row_and_no_transaction(study: Study) -> None:
    client, page = console(study, "wanghushi"), pages(study)["subject"]
    client.get(page)
    with CaptureQueriesContext(connection) as told:
        client.get(page)
    writes = [q["sql"] for q in told if not q["sql"].lstrip().upper().startswith("SELECT")]
    assert len(writes) == 1, writes
    assert "iit_reads" in writes[0]


def test_reads_within_a_transaction_go_with_it(study: Study) -> None:
    from core.house.db import atomic

    def undone() -> None:
        with atomic():
            reads.note(actor="x", project=study.project, record_ids=["P001"], door="chat")
            raise LookupError

    with pytest.raises(LookupError):
        undone()
    assert noted() == []


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_two_workers_write_each_read_once(study: Study, clock: time_machine.Traveller) -> None:
    records = [f"P{number:03}" for number in range(1, 21)]
    for _time in range(3):
        reads.note(actor="zhangyi", project=study.project, record_ids=records, door="chat")
    clock.shift(timedelta(hours=2))
    outcomes = together(*[reads.write] * 4)
    assert not [one for one in outcomes if isinstance(one, Exception)]
    while Read.objects.exists():
        reads.write()
    assert sorted(one.record_id for one in entries()) == records
    assert {one.new["count"] for one in entries()} == {3}


def test_what_failed_half_way_is_written_by_the_next(
    study: Study, clock: time_machine.Traveller
) -> None:
    """The entries and the end of the notes are one transaction."""
    reads.note(actor="zhangyi", project=study.project, record_ids=["P001"], door="chat")
    clock.shift(timedelta(hours=2))

    def broken(execute: Callable[..., Any], sql: str, *more: Any) -> Any:
        if "iit_audit" in sql and not sql.startswith("SELECT"):
            raise RuntimeError("the database is gone")
        return execute(sql, *more)

    with connection.execute_wrapper(broken), pytest.raises(RuntimeError):
        reads.write()
    assert (len(noted()), entries()) == (1, [])
    assert reads.write() == 1
    assert (noted(), len(entries())) == ([], 1)


@pytest.mark.full
def test_lists_that_hold_the_record_are_reads(study: Study) -> None:
    """Of the API: runs with the review's snapshot, findings; of nobody who is not on the page."""
    run_qc(study, "P012")
    client = program(study, "zhangyi")
    for address in ("task-runs", "pending-actions"):
        Read.objects.all().delete()
        assert client.get(f"{API}/{address}/?record_id=P012").json()["results"]
        assert {row[2] for row in noted()} == {"P012"}
        Read.objects.all().delete()
        client.get(f"{API}/{address}/?record_id=P013")
        assert noted() == []
    assert program(study, "crc_b").get(f"{API}/task-runs/").status_code == 200
    assert "P012" not in {row[2] for row in noted()}


@pytest.mark.full
def test_traces_are_reads_of_whom_they_name(study: Study) -> None:
    """Listed, one by one, and in the console; who is shown less has read less."""
    ask("zhangyi", "P001 和 P012 的年龄")
    trace = AgentTrace.objects.get()
    Read.objects.all().delete()
    admin = program(study, "admin")
    for address in ("agent-traces/", f"agent-traces/{trace.pk}/"):
        Read.objects.all().delete()
        assert admin.get(f"{API}/{address}").status_code == 200
        assert {row[2] for row in noted()} == {"P001", "P012"}
    Read.objects.all().delete()
    console(study, "admin").get(f"/admin/engines/agenttrace/{trace.pk}/change/")
    assert {(row[2], row[3]) for row in noted()} == {("P001", "console"), ("P012", "console")}


@pytest.mark.full
def test_the_page_of_an_answer_is_a_read(study: Study) -> None:
    text = "P001 的谷丙转氨酶为 185;P0012 不在其中"
    path = answers.keep(
        text=text,
        to_user="wanghushi",
        project=study.project,
        table=Table(header=("受试者",), rows=(("P012",),)),
    )
    client = console(study, "wanghushi")
    for address in (path, f"{path}xlsx/"):
        Read.objects.all().delete()
        assert client.get(address).status_code == 200
        assert {row[2] for row in noted()} == {"P001", "P012"}
    Read.objects.all().delete()
    assert console(study, "crc_b").get(path).status_code == 404
    assert noted() == []

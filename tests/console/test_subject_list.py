"""The list of subjects: status, next visit and open findings, by a constant number of statements."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engines.models import PendingAction, TaskRun
from study import dictionary, readings
from study.models import ReadingState, Subject
from study.visits import due
from tests.console.conftest import SITE_A
from tests.support.study import Study

AsUser = Callable[..., Client]
PAGE = "/admin/study/subject/"


def cells(client: Client, query: str = "") -> dict[str, dict[str, str]]:
    """Subject → column → what the list shows."""
    page = client.get(PAGE + query).content.decode()
    found = {}
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", page, re.DOTALL):
        named = re.findall(r'class="[^"]*field-(\w+)[^"]*"[^>]*>(.*?)</t[dh]>', row, re.DOTALL)
        told = {
            name: unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", cell))).strip()
            for name, cell in named
        }
        if "record_id" in told:
            found[told["record_id"]] = told
    return found


def finding(run: TaskRun, number: int) -> None:
    mine = PendingAction.objects.filter(task_run=run).first()
    assert mine is not None
    mine.pk, mine.open_key, mine._state.adding = None, f"another {number}", True
    mine.save()


@pytest.mark.full
def test_it_tells_status_next_visit_and_findings(
    as_user: AsUser, study: Study, run_a: TaskRun
) -> None:
    readings.read_all(study.project)
    finding(run_a, 1)
    rows = cells(as_user("wanghushi"))
    assert rows[SITE_A]["show_findings"] == "2"
    metadata = dictionary.load(study.project)
    assert {row["show_status"] for row in rows.values()} <= {
        *metadata.choices("subject_status").values(), "-",
    }  # fmt: skip
    assert {row["show_site"] for row in rows.values()} == {metadata.sites["site_a"]}
    schedule = due.schedule(study.project, study["wanghushi"])
    for subject in ("P005", "P008"):
        coming = schedule.next_of(subject)
        assert coming is not None
        assert rows[subject]["show_next"].startswith(f"{coming.visit} ")
        assert str(coming.close) in rows[subject]["show_next"]


@pytest.mark.full
def test_its_links_lead_to_the_page_and_to_the_findings(
    as_user: AsUser, study: Study, run_a: TaskRun
) -> None:
    client = as_user("wanghushi")
    page = client.get(PAGE).content.decode()
    subject = Subject.objects.get(record_id=SITE_A)
    assert f"/admin/study/subject/{subject.pk}/page/" in page
    link = re.search(r'href="(/admin/engines/pendingaction/\?[^"]*record_id[^"]*)"', page)
    assert link
    listed = client.get(unescape(link[1])).context_data["cl"]  # type: ignore[attr-defined]
    assert {row.record_id for row in listed.result_list} == {SITE_A}


def test_what_was_never_read_is_not_known(as_user: AsUser, study: Study) -> None:
    ReadingState.objects.all().delete()
    rows = cells(as_user("wanghushi"))
    assert {row["show_status"] for row in rows.values()} == {"?"}
    assert {row["show_next"] for row in rows.values()} == {"?"}


@pytest.mark.full
def test_its_statements_do_not_grow_with_the_rows(
    as_user: AsUser, study: Study, run_a: TaskRun
) -> None:
    readings.read_all(study.project)
    client = as_user("admin")
    counts = []
    for query in ("?q=P002", ""):
        client.get(PAGE + query)
        with CaptureQueriesContext(connection) as told:
            client.get(PAGE + query)
        counts.append(sum("SAVEPOINT" not in one["sql"] for one in told))
    assert counts[0] == counts[1]


@pytest.mark.full
def test_a_file_holds_the_same_without_markup(
    as_user: AsUser, study: Study, run_a: TaskRun
) -> None:
    readings.read_all(study.project)
    answer: Any = as_user("wanghushi").get(f"{PAGE}export/", follow=True)
    text = b"".join(answer.streaming_content).decode("utf-8-sig")
    rows = {row[0]: row for row in csv.reader(io.StringIO(text))}
    assert "<" not in text
    assert rows[SITE_A][4] == "1"
    assert rows["P005"][3].startswith("V3 ")

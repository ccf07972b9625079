"""One count of the enrolled: first page, list, project's page, weekly report, chat and API say the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from core.house import clock
from engines import work
from memory.reports import job, report_store, weeks
from study import readings
from study.enrolment_stats import study_figures
from tests.engines.chat.kit import ask, mute
from tests.support.chat import chat

WHO = [("zhangyi", ""), ("crc_b", "site_b")]


@pytest.fixture
def read(study: Any) -> Any:
    """The study after its first reading; the model says nothing, so that figures are the house's own."""
    mute(study)
    readings.read_all(study.project)
    return study


def shown(client: Client) -> int:
    """The figure on the first page."""
    found = re.search(r'data-test="enrolled">(\d+)<', client.get("/admin/").content.decode())
    assert found
    return int(found[1])


@pytest.mark.full
@pytest.mark.parametrize(("name", "site"), WHO)
def test_home_list_project_and_chat_agree(
    name: str, site: str, read: Any, as_user: Callable[..., Client]
) -> None:
    client = as_user(name)
    count = study_figures(read.project, read[name]).enrolled
    assert count
    assert shown(client) == count
    listed = client.get("/admin/study/subject/?enrolled=yes").context_data["cl"]
    assert listed.result_count == count
    page = client.get(f"/admin/projects/project/{read.project.pk}/change/").content.decode()
    assert re.search(rf'data-test="enrolled"[^>]*>{count}<', page)
    told = {
        ask(name, "现在入组了多少例?").text,
        chat(client, text="现在入组了多少例?").json()["reply"],
    }
    for text in told:
        assert re.search(rf"(?<!\d){count}(?!\d)", text), text


def test_the_weekly_report_counts_the_same(read: Any, as_user: Callable[..., Client]) -> None:
    count = study_figures(read.project, None).enrolled
    week = weeks.week_of(read.project, clock.today(read.project.timezone))
    assert week is not None
    draft = job.so_far(read.project, week, work.week_figures)
    assert draft.figures.values["enrolled_total"] == count == shown(as_user("zhangyi"))
    report, _new = report_store.store(project=read.project, draft=draft, author="test")
    api = as_user("zhangyi").get(f"/api/v1/weekly-reports/{report.pk}/").json()
    assert api["metrics"]["enrolled_total"] == count

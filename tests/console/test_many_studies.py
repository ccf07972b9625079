"""A house with many studies: pages and sweeps stay as they are with few, and a study is found by search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engines.sop import events
from engines.tasks import fire_missed_skills, sweep_runs
from memory.hot import distill
from memory.tasks import distil_days
from projects import switcher
from projects.models import Project
from tests.bench import _many
from tests.support.tasks import drain
from wechat.tasks import sweep

pytestmark = [pytest.mark.django_db, pytest.mark.full]
SWEEPS = (sweep, sweep_runs, fire_missed_skills)
PAGES = ("/admin/", "/admin/study/subject/", "/admin/engines/pendingaction/")


def statements(work: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as told:
        work()
    return len(told)


def costs(clients: list[Client]) -> list[int]:
    pages = [lambda c=c, p=p: c.get(p) for c in clients for p in PAGES]  # type: ignore[misc]
    works: list[Callable[[], object]] = [*pages, *SWEEPS]
    for work in works:
        work()
    return [statements(work) for work in works]


def test_pages_and_sweeps_take_the_same_with_forty_studies(as_user: Callable[..., Client]) -> None:
    clients = [as_user("wanghushi"), as_user("zhangyi")]
    _many.add(1)
    few = costs(clients)
    _many.add(38)
    assert costs(clients) == few


def test_a_superusers_list_of_subjects_takes_the_same_with_ten_more_studies(study: Any) -> None:
    User.objects.create_superuser("root")
    client = Client()
    client.force_login(
        User.objects.get(username="root"), backend="django.contrib.auth.backends.ModelBackend"
    )
    page = PAGES[1]
    _many.add(2)
    client.get(page)
    few = statements(lambda: client.get(page))
    _many.add(10)
    client.get(page)
    assert statements(lambda: client.get(page)) == few


def test_every_study_is_distilled_once_and_asked_for_in_one_statement(study: Any) -> None:
    _many.add(3)
    Project.objects.exclude(pk=study.project.pk).update(status=Project.Status.CLOSED)
    distil_days()
    drain()
    assert distill.is_done(study.project, _yesterday(study))
    with CaptureQueriesContext(connection) as few:
        distil_days()
    Project.objects.update(status=Project.Status.CLOSED)
    with CaptureQueriesContext(connection) as none:
        distil_days()
    assert len(few) == len(none)


def _yesterday(study: Any) -> Any:
    from datetime import timedelta

    from core.house import clock

    return clock.today(study.project.timezone) - timedelta(days=1)


def test_a_missed_firing_of_each_study_is_found_once(study: Any) -> None:
    from datetime import timedelta

    from django.utils.timezone import now

    from skills.models import Skill

    _many.add(4)
    Skill.objects.filter(skill_type="daily_briefing").update(
        cron_schedule="* * * * *", updated_at=now() - timedelta(hours=1)
    )
    behind = events.unfired()
    assert len(behind) >= 5
    assert len(behind) == len({*behind})


def test_a_superuser_finds_a_study_among_many(as_user: Callable[..., Client]) -> None:
    root = as_user("admin", "zh-hans")
    _superuser("admin")
    _many.add(switcher.MOST + 10)
    page = root.get("/admin/").content.decode()
    assert 'data-test="many-studies"' in page
    assert 'data-test="study"' not in page
    assert "MANY-001" in page
    assert "MANY-021" not in page
    assert "MANY-021" in root.get("/admin/", {"p": "2"}).content.decode()
    found = root.get("/admin/", {"studies": "many-02"}).content.decode()
    assert "MANY-021" in found
    assert "MANY-001" not in found
    assert (
        "没有编号或名称包含此内容的" in root.get("/admin/", {"studies": "nosuch"}).content.decode()
    )
    root.post("/admin/study/", {"study": "MANY-021", "next": "/admin/"})
    page = root.get("/admin/").content.decode()
    assert 'data-test="study"' in page
    assert 'data-test="many-studies"' not in page
    assert "MANY-021" in page


def _superuser(name: str) -> None:
    from django.contrib.auth.models import User

    User.objects.filter(username=name).update(is_superuser=True, is_staff=True)

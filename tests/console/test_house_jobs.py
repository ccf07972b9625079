"""What the house does by itself, in words: no name of a job, a rule or an end stands on a page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from core.house import cron, heartbeat
from core.house.db import atomic
from core.house.models import CronFiring
from engines.models import TaskRun
from engines.sop.findings import VERDICT
from projects import audit
from projects.admin import beat_words
from projects.models import AuditEntry
from wechat import housekeeping

STUDY = "0d3ad5e4-5a0b-4b57-9a52-3a8d1ad1d2c5"
KEYED = [f"{name}:{STUDY}" for name in ("skill", "distil", "day", "feedback")]
LIST = "/admin/house/cronfiring/"
TRAIL = "/admin/projects/auditentry/"


@pytest.fixture
def root(db: None) -> Client:
    """Sees the tables of the house, in Chinese."""
    user = User.objects.create_superuser("root", password="a-good-long-word")
    client = Client()
    client.cookies["django_language"] = "zh-hans"
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_every_job_has_words() -> None:
    assert {*settings.CELERY_BEAT_SCHEDULE} <= {*beat_words.JOBS}
    assert {*housekeeping.JOBS} <= {*beat_words.FIRED}


@pytest.mark.full
@pytest.mark.parametrize("job", [*housekeeping.JOBS, *KEYED])
def test_a_firing_is_told_in_words(job: str, root: Client) -> None:
    assert cron.claim(job, datetime(2026, 11, 23, tzinfo=UTC))
    told = str(beat_words.fired(job))
    assert told != job
    for path in (LIST, f"{LIST}{CronFiring.objects.get().pk}/change/"):
        page = root.get(path).content.decode()
        assert job not in page, path
    assert "2026-11-23" in page


def test_a_job_of_nobody_is_told_as_it_is(root: Client) -> None:
    assert beat_words.fired("other.thing:1") == "other.thing:1"


@pytest.mark.full
def test_a_runs_page_tells_its_findings_in_words(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    client = as_user("wanghushi", "zh-hans")
    context: Any = client.get(f"/admin/engines/taskrun/{run_a.pk}/change/").context
    [one] = context["open_findings"]
    [ground] = context["review"]["evidence"].grounds
    assert str(one["finding"].pk) == ground.finding.id
    assert [value.label for value in ground.read] == ["年龄"]
    assert one["finding"].field == "age_calculated"
    assert "age_calculated" not in one["place"]
    assert "年龄" in one["place"]


@pytest.mark.full
def test_the_trail_tells_rules_and_ends_in_words(
    as_user: Callable[..., Client], study: Any
) -> None:
    said = {"rule": VERDICT, "final_state": "end_with_violation"}
    with atomic():
        audit.record("finding.open", actor="system", project=study.project, new=said)
    [entry] = AuditEntry.objects.filter(action="finding.open")
    client = as_user("admin", "zh-hans")
    for path in (TRAIL, f"{TRAIL}{entry.pk}/change/"):
        page = client.get(path).content.decode()
        assert "模型判断" in page, path
        assert "发现违背" in page, path
        assert [word for word in (VERDICT, "end_with_violation") if word in page] == []
    assert "finding.open" not in page


@pytest.mark.parametrize(("process", "told"), [("worker", "工作进程"), ("beat", "调度进程")])
def test_a_process_has_a_name(process: str, told: str, root: Client) -> None:
    heartbeat.note(process)
    page = root.get("/admin/house/heartbeat/").content.decode()
    assert told in page

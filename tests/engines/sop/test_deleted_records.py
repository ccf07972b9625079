"""A record deleted in REDCap takes its findings out of every count and brings them back with it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.integrations.redcap.export import SITE
from engines import tasks
from engines.agenda import Kind, agenda
from engines.models import PendingAction
from engines.sop import finding_life
from engines.sop.events import data_changed
from skills.models import Skill
from study import change_handlers, sync
from study.records import RecordData, read_record
from tests.engines.sop.kit import hard, new_skill, rule, run_of
from tests.support.chat import chat
from tests.support.study import Study

pytestmark = pytest.mark.django_db
NEVER = {"==": [{"var": "sex"}, "9"]}


@pytest.fixture
def found(study: Study) -> PendingAction:
    """A queried finding of P001, beside one of P002."""
    Skill.objects.filter(project=study.project).update(is_active=False)
    sync.sweep(study.project)
    change_handlers.handle_changes(study.project, data_changed)
    PendingAction.objects.all().delete()
    never = rule(id="N", field="sex", logic=NEVER, message="sex")
    skill = new_skill(study, {"a": hard(rules=[never], on_fail="end_bad")})
    for record in ("P001", "P002"):
        run_of(study, skill, record)
    finding = PendingAction.objects.get(record_id="P001")
    finding_life.assign(finding=finding, assignee="admin", due_on=None, actor="admin")
    return finding_life.move(finding=finding, step="query", actor="admin", reason="please check")


def counts(study: Study) -> dict[str, Any]:
    """How many findings are open: by the list, the API, chat and the first page."""
    client = Client()
    client.force_login(
        User.objects.get(username="admin"), backend="django.contrib.auth.backends.ModelBackend"
    )
    page = client.get("/admin/engines/pendingaction/", {"waits": "yes"}).context["cl"]
    states = ("open", "confirmed", "queried", "answered", "data_changed")
    asked = [client.get("/api/v1/pending-actions/", {"state": state}).json() for state in states]
    told = chat(client, text="现在有几个未关闭的疑点?", project=study.project.code).json()["reply"]
    rows = agenda(study.project, study["admin"], None)
    return {
        "list": page.result_count,
        "api": sum(one["count"] for one in asked),
        "chat": told,
        "home": next((row.count for row in rows if row.kind is Kind.MINE), 0),
    }


def enter(study: Study, data: RecordData) -> None:
    """Somebody enters the record again as it was."""
    where = ("redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance")
    rows = [
        {
            "record": data.record_id,
            "event": row.get(where[0], ""),
            "instrument": row.get(where[1], ""),
            "instance": row.get(where[2]) or None,
            "values": {n: v for n, v in row.items() if v and n not in {*where, SITE, "record_id"}},
        }
        for row in data.rows
    ]
    study.stand_ins.post("redcap/records", rows)


def read_again(study: Study) -> None:
    sync.sweep(study.project)
    assert change_handlers.handle_changes(study.project, data_changed).left == 0


@pytest.mark.full
def test_every_place_counts_the_same_before_between_and_after(
    study: Study, found: PendingAction
) -> None:
    before = counts(study)
    assert (before["list"], before["api"], before["home"]) == (2, 2, 1)
    kept = read_record(project=study.project, record_id="P001")
    assert kept
    study.stand_ins.post("redcap/records", [{"record": "P001", "delete": True}])
    read_again(study)
    found.refresh_from_db()
    assert (found.state, [e.what for e in found.events.all()][-1]) == ("gone", "gone")
    between = counts(study)
    assert (between["list"], between["api"], between["home"]) == (1, 1, 0)
    assert between["chat"] != before["chat"]
    read_again(study)
    assert found.events.filter(what="gone").count() == 1

    enter(study, kept)
    read_again(study)
    found.refresh_from_db()
    assert (found.state, found.events.filter(what="back").count()) == ("queried", 1)
    assert counts(study) == before


def test_a_record_that_came_and_went_between_two_readings_is_missed_all_the_same(
    study: Study, found: PendingAction
) -> None:
    kept = read_record(project=study.project, record_id="P001")
    assert kept
    passing = RecordData("P900", kept.site, kept.rows, kept.read_at, kept.missing_columns, True)
    enter(study, passing)
    run_of(study, found.task_run.skill, "P900")
    finding = PendingAction.objects.get(record_id="P900")
    study.stand_ins.post("redcap/records", [{"record": "P900", "delete": True}])
    read_again(study)
    finding.refresh_from_db()
    assert finding.state == "open", "no version of a reading tells of its end"

    tasks.sweep_runs()
    tasks.sweep_runs()
    finding.refresh_from_db()
    assert (finding.state, finding.events.filter(what="gone").count()) == ("gone", 1)
    found.refresh_from_db()
    assert found.state == "queried"

    enter(study, passing)
    read_again(study)
    finding.refresh_from_db()
    assert finding.state == "open"

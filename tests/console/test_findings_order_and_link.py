"""Findings come the gravest and oldest first, and each leads to its very field in REDCap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from django.test import Client
from django.utils.timezone import now

from engines.models import PendingAction, TaskRun
from study import dictionary
from study.client import field_link
from tests.console.conftest import SITE_A
from tests.support.study import Study

LIST = "/admin/engines/pendingaction/"
AsUser = Callable[..., Client]


def made(run: TaskRun, name: str, severity: str, days: int, **more: Any) -> None:
    """An open finding of so many days."""
    given = {"open_key": name, "action_type": "warning", "message": name} | more
    row = PendingAction.objects.create(
        project=run.project, task_run=run, record_id=SITE_A, severity=severity, **given
    )
    PendingAction.objects.filter(pk=row.pk).update(created_at=now() - timedelta(days=days))


@pytest.mark.full
def test_the_gravest_come_first_and_of_these_the_oldest(as_user: AsUser, run_a: TaskRun) -> None:
    PendingAction.objects.all().delete()
    made(run_a, "info old", "info", 9)
    made(run_a, "error new", "error", 1)
    made(run_a, "warning", "warning", 5)
    made(run_a, "error old", "error", 3)
    made(run_a, "closed error", "error", 30, open_key=None, state="closed")
    client = as_user("wanghushi")
    listed = client.get(LIST).context_data["cl"]  # type: ignore[attr-defined]
    order = [row.message for row in listed.result_list]
    assert order == ["error old", "error new", "warning", "info old", "closed error"]
    first = listed.result_list[0]
    page = client.get(f"{LIST}{first.pk}/change/").content.decode()
    assert "1 / 5" in page


@pytest.mark.full
def test_it_leads_to_the_field_in_redcap(as_user: AsUser, study: Study, run_a: TaskRun) -> None:
    finding = PendingAction.objects.get(record_id=SITE_A)
    client = as_user("wanghushi")
    to = f"{LIST}{finding.pk}/redcap/"
    assert to in client.get(LIST).content.decode()
    assert to in client.get(f"{LIST}{finding.pk}/change/").content.decode()
    answer = client.get(to)
    assert answer.status_code == 302
    url = urlsplit(answer["Location"])
    assert url.path.endswith("/DataEntry/index.php")
    assert parse_qs(url.query) == {
        "pid": ["101"], "id": [SITE_A], "event_id": ["401"], "page": ["demographics"],
        "fldfocus": ["age_calculated"],
    }  # fmt: skip
    assert as_user("crc_b").get(to).status_code == 404
    assert client.post(to).status_code == 405


@pytest.mark.parametrize(
    ("field", "event", "instance", "expected"),
    [
        ("ae_term", "log_arm_1", "2", "page=ae&event_id=409&instance=2&fldfocus=ae_term"),
        (
            "exclusion___3",
            "screening_arm_1",
            "",
            "page=eligibility&event_id=401&fldfocus=exclusion",
        ),
        ("labs_complete", "v2_arm_1", "", "page=labs&event_id=404"),
        ("labs", "v2_arm_1", "", "page=labs&event_id=404"),
        # Whose form or event cannot be named leads to the subject.
        ("alt", "gone_arm_1", "", ""),
        ("gone_field", "v2_arm_1", "", ""),
        ("", "", "", ""),
    ],
)
def test_a_place_as_redcap_addresses_it(
    study: Study, field: str, event: str, instance: str, expected: str
) -> None:
    metadata = dictionary.load(study.project)
    url = urlsplit(field_link(study.project, metadata, "P 01&x", field, event, instance))
    asked = {name: values[0] for name, values in parse_qs(url.query).items()}
    assert asked == {"pid": "101", "id": "P 01&x"} | dict(parse_qsl(expected))
    assert url.path.endswith("index.php" if expected else "record_home.php")


def test_a_classic_project_needs_no_event(study: Study) -> None:
    found = dictionary.load(study.project)
    classic = replace(found, events=[], mapping=[], project=found.project | {"is_longitudinal": 0})
    url = urlsplit(field_link(study.project, classic, "1", "alt"))
    asked = {name: values[0] for name, values in parse_qs(url.query).items()}
    assert asked == {"pid": "101", "id": "1", "page": "labs", "fldfocus": "alt"}


@pytest.mark.full
def test_nobody_is_led_where_redcap_is_not_known(
    as_user: AsUser, study: Study, run_a: TaskRun
) -> None:
    finding = PendingAction.objects.get(record_id=SITE_A)
    study.project.redcap_url = ""
    study.project.save()
    client = as_user("wanghushi")
    assert f"{finding.pk}/redcap/" not in client.get(LIST).content.decode()
    assert client.get(f"{LIST}{finding.pk}/redcap/").status_code == 302
    metadata = dictionary.load(study.project)
    assert field_link(study.project, metadata, "P001", "alt", "v2_arm_1") == ""

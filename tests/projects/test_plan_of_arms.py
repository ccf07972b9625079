"""Visits that the wizard proposes for a study of several arms: each for the arm that REDCap tells."""

from __future__ import annotations

from datetime import date

import pytest

from projects.models import Project
from study.admin.setup import plan_rows
from study.models import Dictionary
from study.setup import plan
from tests.support.dictionaries import arms

pytestmark = pytest.mark.django_db


def test_visits_of_one_name_are_proposed_for_each_arm_in_the_order_of_days() -> None:
    project = Project.objects.create(code="ARMS", name="Arms", start_date=date(2026, 1, 1))
    Dictionary.objects.create(project=project, content=arms().content, digest="arms")
    found = [row for row in plan.proposed_visits(project) if row.field == "check_date"]

    assert [(row.arm, row.event, row.day) for row in found] == [
        ("arm_1", "arm_2_start_arm_1", 0),
        ("arm_1", "check_arm_1", 14),
        ("arm_1", "check_arm_1b", 28),
        ("arm_2", "start_arm_2", 0),
        ("arm_2", "check_arm_2b", 14),
        ("arm_2", "check_arm_2", 28),
    ]
    typed = {"anchor": "enrolled_on"}
    for row in plan.proposed_visits(project):
        if row.event in {"check_arm_1", "check_arm_2b"} and row.field == "check_date":
            shown = {"take": "on", "visit": row.visit, "day": row.day, "minus": 0, "plus": 0}
            typed |= {f"{name}-{row.key}": str(value) for name, value in shown.items()}
    entries = plan_rows(typed, project)
    assert [(one.visit, one.arm, one.event) for one in entries] == [
        ("复查", "arm_1", "check_arm_1"),
        ("复查", "arm_2", "check_arm_2b"),
    ]

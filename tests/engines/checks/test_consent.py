"""The consent as the standard checks judge it: a date that cannot be read is told, and closes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.utils.timezone import now

from demo.planted import CHECKS
from engines.models import PendingAction
from engines.sop.checks.kinds import Kind
from engines.sop.checks.switch import switch
from engines.sop.dry import walk
from engines.sop.findings import Observation
from projects.models import Project
from study.models import BlindedField, FieldRole, VisitPlanEntry
from study.records import RecordData
from tests.engines.checks.made import classic_of, project_of
from tests.engines.sop.kit import change, run_of
from tests.support.dictionaries import item
from tests.support.study import Study

pytestmark = pytest.mark.django_db
CONSENT, TYPE = str(Kind.CONSENT), str(Kind.TYPE)
NAMES = ("first_dose", "v1_date")


def study_of(signed: str, check: str = "") -> tuple[Project, RecordData]:
    """Two procedures on 2024-03-01; `check`: how REDCap validates the date of consent."""
    fields = [
        item("base", "record_id", "Record"),
        item("base", "signed", "Signed on", check=check),
        item("visit", "first_dose", "First dose", check="date_ymd"),
        item("visit", "v1_date", "V1", check="date_ymd"),
    ]
    kind, data = classic_of(fields, {"signed": signed, **dict.fromkeys(NAMES, "2024-03-01")})
    project = project_of(replace(kind, project={"missing_data_codes": "UNK, Unknown"}))
    FieldRole.objects.create(project=project, role=FieldRole.Role.CONSENT, field="signed")
    VisitPlanEntry.objects.create(
        project=project,
        position=0,
        visit="V1",
        anchor_field="first_dose",
        date_field="v1_date",
        day=1,
        minus=0,
        plus=0,
    )
    return project, data


def seen_of(project: Project, data: RecordData, *checks: str) -> list[Observation]:
    """What the checks say, passes included."""
    node = {"type": "hard_rule", "checks": {check: {} for check in checks}}
    config = {"start_node": "standard", "nodes": {"standard": node}}
    return walk(project=project, config=config, data=data).observations


@pytest.mark.parametrize("check", ["", "date_ymd"])
@pytest.mark.parametrize("signed", ["9/3/2024", "已签", "2024-02-30"])
def test_a_consent_that_is_no_date_is_undecided_once_and_nothing_passes(
    signed: str, check: str
) -> None:
    [seen] = seen_of(*study_of(signed, check), CONSENT)
    assert (seen.rule_key, seen.outcome, seen.reason) == (
        "std.consent.signed",
        "UNKNOWN",
        "type_mismatch",
    )
    assert (seen.field, seen.severity) == ("signed", "error")


@pytest.mark.parametrize("check", ["", "date_ymd"])
def test_one_check_tells_a_consent_that_is_no_date(check: str) -> None:
    seen = seen_of(*study_of("9/3/2024", check), CONSENT, TYPE)
    told = [one.rule_key for one in seen if one.field == "signed" or "consent" in one.rule_key]
    assert told == ["std.type.signed" if check else "std.consent.signed"]


@pytest.mark.parametrize(
    ("signed", "outcomes"),
    [
        ("2024年3月9日", {"FAIL"}),
        ("2024-03-09", {"FAIL"}),
        ("2024-02-09", set()),
        ("2024-03", {"UNKNOWN"}),
        ("UNK", {"FAIL"}),
        ("", {"FAIL"}),
    ],
)
def test_a_consent_that_can_be_read_is_compared(signed: str, outcomes: set[str]) -> None:
    seen = seen_of(*study_of(signed), CONSENT)
    assert {one.outcome for one in seen} - {"PASS", "NOT_APPLICABLE"} == outcomes
    assert "type_mismatch" not in {one.reason for one in seen}


@pytest.mark.parametrize("hidden", ["first_dose", "signed"])
@pytest.mark.parametrize("kind", [BlindedField.Kind.LAB, BlindedField.Kind.RANDOMISATION])
def test_what_is_blinded_is_neither_named_nor_called_impossible(hidden: str, kind: str) -> None:
    """By its shape a blinded date is masked in texts, the consent's among them: then it is not seen either."""
    project, data = study_of("2024-03-09")
    BlindedField.objects.create(project=project, field=hidden, kind=kind)
    project.blinded_since = now()
    project.save()
    seen = seen_of(project, data, CONSENT)
    is_seen = hidden != "signed" and kind == BlindedField.Kind.LAB
    bad = [one.rule_key for one in seen if one.outcome not in {"PASS", "NOT_APPLICABLE"}]
    assert bad == ["std.consent.v1_date" if is_seen else "std.consent.study"]
    label = {"first_dose": "First dose", "signed": "Signed on"}[hidden]
    assert not [one for one in seen if hidden in (one.field, one.message) or label in one.message]


@pytest.mark.full
@pytest.mark.parametrize("checks", [CHECKS, {CONSENT: {}}])
def test_a_consent_that_cannot_be_read_closes_no_finding(
    study: Study, checks: dict[str, dict[str, object]]
) -> None:
    """Be it told by the type of its field or by this check."""
    skill = switch(project=study.project, checks=checks, actor="admin")
    assert skill
    run_of(study, skill, "P009")
    late = PendingAction.objects.get(record_id="P009", rule_key="std.consent.icf_date")
    change(study, "P009", "screening_arm_1", icf_date="9/3/2024")
    run_of(study, skill, "P009")
    late.refresh_from_db()
    assert late.state == PendingAction.State.OPEN

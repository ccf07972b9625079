"""Standard checks (issue I, must show 1): what was planted is found, and nothing else."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from core.house import clock
from demo.planted import CHECKS, CLEAN, PLANTED
from engines.sop.checks.kinds import HELP, Kind, kind_of
from engines.sop.dry import walk
from engines.sop.findings import Observation
from skills import graph
from study import records
from study.design import design_of
from study.models import Dictionary
from study.records import RecordData
from tests.engines.checks.mutator import Error, Mutator
from tests.engines.sop.kit import change, findings, new_skill, run_of
from tests.support.study import Study

pytestmark = pytest.mark.django_db
SEED, ERRORS = 20261123, 500
CONFIG = {"start_node": "standard", "nodes": {"standard": {"type": "hard_rule", "checks": CHECKS}}}


def failures(study: Study, data: RecordData) -> list[Observation]:
    done = walk(project=study.project, config=CONFIG, data=data)
    return [seen for seen in done.observations if seen.outcome == "FAIL"]


def is_it(error: Error, seen: Observation) -> bool:
    """A consent that is later than several procedures is told at its own date, a visit's order at the visit."""
    if kind_of(seen.rule_key) != error.kind:
        return False
    here = (seen.event, seen.instrument, seen.instance) == error.place and seen.field == error.field
    return here or error.kind in {"consent", "visit_order"}


def follows(error: Error, seen: Observation, study: Any) -> bool:
    """What is wrong in the same place, or is hidden, calculated, dated or explained by what was changed."""
    row = study.metadata.fields[seen.field]
    read = f"{row['branching_logic']} {row['select_choices_or_calculations']}"
    is_same = (seen.field, seen.event) == (error.field, error.place[0])
    is_date = error.field.endswith("_date") and kind_of(seen.rule_key) in {
        Kind.CONSENT,
        Kind.VISIT_WINDOW,
        Kind.VISIT_ORDER,
    }
    is_event = error.field.startswith("ae_") and kind_of(seen.rule_key) is Kind.LAB_AE
    is_taken = error.field == "cm_name" and kind_of(seen.rule_key) is Kind.AE_MEDICATION
    return is_same or is_date or is_event or is_taken or f"[{error.field}]" in read


def test_each_name_of_workflows_is_a_kind_with_its_help() -> None:
    assert {*Kind.values} == {*graph.CHECKS} == {*HELP}


@pytest.mark.full
def test_the_demo_report_finds_all(study: Study) -> None:
    out = StringIO()
    call_command("demo_report", stdout=out)
    lines = out.getvalue().splitlines()
    assert len(PLANTED) == 24
    assert lines[-1] == "24 个植入错误中发现 24 个;12 例干净受试者中误报 0 条"
    assert not [line for line in lines if "✗" in line or "  ! " in line]


def name_medications(study: Study) -> None:
    """The dictionary gets a field in which an adverse event names what was taken against it."""
    stored = Dictionary.objects.get(project=study.project)
    content = deepcopy(stored.content)
    term = next(row for row in content["metadata"] if row["field_name"] == "ae_term")
    own = {"field_name": "ae_medication", "field_label": "治疗用药", "required_field": ""}
    content["metadata"].append(term | own)
    column = {"original_field_name": "ae_medication", "export_field_name": "ae_medication"}
    content["export_field_names"].append(column | {"choice_value": ""})
    stored.content, stored.digest = content, "with ae_medication"
    stored.save()


def with_medication(data: RecordData) -> RecordData:
    """The subject's adverse events name what the subject takes, or nothing."""
    taken = [str(row["cm_name"]) for row in data.rows if row.get("cm_name")]
    rows = [
        {**row, "ae_medication": next(iter(taken), "")} if row.get("ae_term") else row
        for row in data.rows
    ]
    return replace(data, rows=tuple(rows))


@pytest.mark.full
def test_five_hundred_more(study: Study) -> None:
    name_medications(study)
    design, today = design_of(study.project), clock.today(study.project.timezone)
    read = records.read_records(project=study.project)
    clean = [with_medication(data) for data in read if data.record_id in CLEAN]
    assert not [seen for data in clean for seen in failures(study, data)]
    planted, found, right, wrong = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    missed, alarms = list[Any](), list[Any]()
    for error in Mutator(SEED, design, clean, today).errors(ERRORS):
        seen = failures(study, error.data)
        hits = [one for one in seen if is_it(error, one)]
        others = [one for one in seen if one not in hits and not follows(error, one, design)]
        planted[error.kind] += 1
        found[error.kind] += bool(hits)
        right.update(str(kind_of(one.rule_key)) for one in hits)
        wrong.update(str(kind_of(one.rule_key)) for one in others)
        missed += [] if hits else [(error.kind, error.data.record_id, error.field, error.value)]
        alarms += [(error.kind, error.field, one.rule_key, one.message) for one in others]
    print(f"seed {SEED}: {sum(planted.values())} planted")
    for kind in Kind:
        print(f"{kind}: {found[kind]}/{planted[kind]}, right {right[kind]}, wrong {wrong[kind]}")
    assert planted.keys() == {*Kind}
    for kind in Kind:
        assert found[kind] >= 0.95 * planted[kind], missed
        assert right[kind] >= 0.98 * (right[kind] + wrong[kind]), alarms


def test_a_run_keeps_what_the_checks_say(study: Study) -> None:
    """Findings carry rule, field, value, place and a Chinese message; the value of a name is not kept."""
    node = {"type": "hard_rule", "checks": CHECKS, "on_fail": "end_with_violation"}
    skill = new_skill(study, {"standard": node})
    [lab] = findings(run_of(study, skill, "P016"))
    assert (lab.rule_key, lab.field, lab.value) == ("std.lab_ae.alt", "alt", "185")
    assert (lab.event, lab.severity, lab.action_type) == ("v2_arm_1", "error", "violation")
    assert lab.message == "谷丙转氨酶ALT（U/L） 185 超过正常上限 40 的 3 倍,且没有不良事件记录"
    change(study, "P001", "screening_arm_1", birth_date="1910-01-01")
    age, birth = sorted(findings(run_of(study, skill, "P001")), key=lambda one: one.rule_key)
    assert age.rule_key == "std.calc.age_calculated"
    assert (birth.rule_key, birth.value, birth.detail) == ("std.range.birth_date", "", "")
    change(study, "P001", "v3_arm_1", lab_date="", plt="ND?")
    both = {row.rule_key for row in findings(run_of(study, skill, "P001"))}
    both -= {birth.rule_key, age.rule_key}
    assert both == {"std.required.lab_date", "std.type.plt"}
    nobody = run_of(study, skill, None)
    assert nobody.final_state != "end_success"

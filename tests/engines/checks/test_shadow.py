"""Calculations and branching worked out on our side: 20 of 20 planted disagreements, none on the clean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.house import clock
from demo.planted import CLEAN
from engines.sop.checks.asked import Asked
from engines.sop.checks.kinds import Kind, kind_of
from engines.sop.checks.shadow import shadow
from engines.sop.dry import walk
from engines.sop.study import Study as Loaded
from study import records
from study.metadata import calculations
from tests.engines.sop.kit import change, findings, new_skill, run_of
from tests.rules.support import field
from tests.support.study import Study

pytestmark = pytest.mark.django_db
SHADOW = {"calc": {}, "hidden": {}}
CONFIG = {"start_node": "shadow", "nodes": {"shadow": {"type": "hard_rule", "checks": SHADOW}}}
SCREENING = "screening_arm_1"
HIDDEN = {"pregnancy_test": "0", "childbearing": "1"}
"""Fields that a man's sex hides."""


def said(study: Study) -> list[tuple[str, str, str, str]]:
    """(subject, kind, field, event) of every disagreement of the whole study."""
    found = []
    for data in records.read_records(project=study.project):
        if data.record_id in CLEAN:
            done = walk(project=study.project, config=CONFIG, data=data)
            found += [
                (data.record_id, str(kind_of(one.rule_key)), one.field, one.event)
                for one in done.observations
                if one.outcome != "PASS" and one.outcome != "NOT_APPLICABLE"
            ]
    return sorted(found)


def disagreements(study: Study) -> list[tuple[str, str, str, str]]:
    """Twenty places of clean subjects where something is changed in REDCap."""
    read = {d.record_id: d for d in records.read_records(project=study.project)}
    clean = [read[name] for name in CLEAN]
    calc = [
        (data.record_id, "calc", name, str(row["redcap_event_name"]), str(row[name]))
        for data in clean
        for name in ("age_calculated", "bmi")
        for row in data.rows
        if row.get(name)
    ]
    men = [d.record_id for d in clean if any(row.get("sex") == "1" for row in d.rows)]
    forms = {row["field_name"]: row for row in Loaded.load(study.project).metadata.metadata}
    hidden = [(who, "hidden", name, SCREENING, value) for who in men for name, value in HIDDEN.items()
              if '[sex]' in forms[name]["branching_logic"]]  # fmt: skip
    planted = [*calc[:: max(1, len(calc) // 13)][:13], *hidden]
    assert len(planted) >= 20
    for who, kind, name, event, value in planted[:20]:
        change(study, who, event, **{name: str(float(value) + 2) if kind == "calc" else value})
    return sorted(one[:4] for one in planted[:20])


@pytest.mark.full
def test_twenty_of_twenty_are_found_and_none_on_the_clean(study: Study) -> None:
    assert said(study) == []
    planted = disagreements(study)
    assert len(set(planted)) == 20
    assert {kind for _who, kind, *_rest in planted} == {"calc", "hidden"}
    assert said(study) == planted


def test_the_finding_tells_both_values(study: Study) -> None:
    node = {"type": "hard_rule", "checks": {"calc": {}}, "on_fail": "end_with_violation"}
    skill = new_skill(study, {"shadow": node})
    [bmi] = findings(run_of(study, skill, "P017"))
    assert bmi.rule_key == "std.calc.bmi"
    assert kind_of(bmi.rule_key) is Kind.CALC
    assert bmi.message.startswith(f"体重指数BMI:REDCap 存储为 {bmi.value},按公式应为 ")
    assert "weight_kg" in bmi.detail


def shadowed(rows: list[dict[str, Any]], study: Study, **more: Any) -> list[tuple[str, str]]:
    loaded, formula = Loaded.load(study.project), "select_choices_or_calculations"
    extra = [
        {**field("grade", form="labs"), "field_annotation": "@CALCTEXT(if([hb] < 90, 'low', 'fine'))"},
        {**field("next", form="labs", validation="date_ymd"), "field_annotation": "@CALCDATE([taken], 7, 'd')"},
        {**field("total", "calc", form="labs"), formula: "sum([hb], [wbc])"},
        {**field("both", "calc", form="labs"), formula: "[hb] + [wbc]"},
        {**field("old", "calc", form="labs"), formula: "datediff([taken], 'today', 'd')"},
        {**field("odd", "calc", form="labs"), formula: "lookup([hb])"},
        *(field(name, form="labs", validation="number") for name in ("hb", "wbc")),
        field("taken", form="labs", validation="date_ymd"),
    ]  # fmt: skip
    told = replace(
        loaded.metadata,
        metadata=[field("record_id"), *extra],
        mapping=[],
        repeating=[],
        project={**loaded.metadata.project, "missing_data_codes": "NA, Not applicable"},
    )
    made = replace(loaded, metadata=told)
    if more.get("why"):
        return [(one.field, one.why_not) for one in calculations(told) if one.why_not]
    today = clock.today(study.project.timezone)
    return [(one.field, one.outcome) for one in shadow(made, Asked(made, rows, today))]


def test_texts_dates_and_blanks(study: Study) -> None:
    row = {"record_id": "1", "hb": "85", "wbc": "", "taken": "2024-03-01", "odd": "", "old": "9",
           "labs_complete": "2"}  # fmt: skip
    right = {**row, "grade": "low", "next": "2024-03-08", "total": "85", "both": ""}
    assert set(shadowed([right], study)) == {
        (n, "PASS") for n in ("grade", "next", "total", "both")
    }
    wrong = {**row, "grade": "fine", "next": "2024-03-09", "total": "", "both": "85"}
    assert set(shadowed([wrong], study)) == {
        (n, "FAIL") for n in ("grade", "next", "total", "both")
    }


def test_what_cannot_be_told_is_no_disagreement(study: Study) -> None:
    names = ("grade", "next", "total", "both")
    blank = dict.fromkeys([*names, "hb", "wbc", "taken"], "")
    untouched = {"record_id": "1", **blank, "labs_complete": "0"}
    assert {outcome for _name, outcome in shadowed([untouched], study)} == {"NOT_APPLICABLE"}
    coded = {**untouched, "hb": "NA", "wbc": "5", "taken": "2024-03", "labs_complete": "2"}
    assert dict(shadowed([coded], study)) == dict.fromkeys(names, "NOT_APPLICABLE")
    hidden = {"record_id": "1", "grade": "low", "total": "5", "labs_complete": "2"}
    assert dict(shadowed([hidden], study))["grade"] == "UNKNOWN"
    why = dict(shadowed([], study, why=True))
    assert set(why) == {"old", "odd"}
    own = calculations(Loaded.load(study.project).metadata)
    assert {(one.field, one.why_not) for one in own} == {("age_calculated", ""), ("bmi", "")}

"""Lab values, adverse events and medications: what units, limits, days or settings leave open is undecided."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import pytest

from engines.sop.checks.kinds import Kind as Check
from engines.sop.findings import Observation
from projects.models import Project
from skills.models import FieldMapping
from study.models import FieldRole, ReferenceLimit, VisitPlanEntry
from study.records import RecordData
from tests.engines.checks.made import found, project_of, record
from tests.support.dictionaries import Kind, item, row

pytestmark = pytest.mark.django_db
UNIT = item("lab", "alt_unit", "Unit of ALT")
CHOSEN = item("lab", "alt_unit", "Unit of ALT", "radio", choices="1, U/L | 2, IU/L")
NONE = item("lab", "remark", "Remark")
PLACES = {"v1_arm_1": ("base", "visit", "lab", "chem"), "ae_arm_1": ("ae", "cm")}
EVENTS = [
    {"event_name": name, "arm_num": 1, "unique_event_name": name, "day_offset": 1}
    for name in PLACES
]
MAPPING = [
    {"arm_num": 1, "unique_event_name": event, "form": form}
    for event, forms in PLACES.items()
    for form in forms
]


def fields(unit: dict[str, str]) -> list[dict[str, str]]:
    return [
        item("base", "record_id", "Record"),
        item("base", "sex", "Sex", "radio", choices="1, male | 2, female"),
        item("base", "first_dose", "First dose", check="date_ymd"),
        item("visit", "v1_date", "V1", check="date_ymd"),
        item("lab", "alt", "ALT", check="number"),
        unit,
        item("chem", "chem_date", "Day of the sample", note="YYYY-MM-DD"),
        item("chem", "ast", "AST", check="number"),
        item("ae", "ae_start", "AE start", check="date_ymd"),
        item("ae", "ae_end", "AE end", check="date_ymd"),
        item("ae", "ae_term", "AE term"),
        item("ae", "ae_drug", "Medication given"),
        item("cm", "cm_name", "Drug name"),
    ]


def study_of(
    values: Mapping[str, str], event: Mapping[str, str] | None = None, unit: dict[str, str] = NONE
) -> tuple[Project, RecordData]:
    """A study with one subject: what was entered at V1, and an adverse event with its medication."""
    dictionary = fields(unit)
    forms = {form: form for one in PLACES.values() for form in one}
    rows = [row("1", {**values}, "v1_arm_1")]
    rows += [row("1", {**event}, "ae_arm_1")] if event else []
    codes = {"missing_data_codes": "NA, Not applicable"}
    kind = Kind(
        *("made", dictionary, forms, rows, ("1",), "", frozenset()),
        events=EVENTS,
        mapping=MAPPING,
        arms=[{"arm_num": 1, "name": "Arm 1"}],
        project=codes,
    )
    return project_of(kind), record(kind, "1")


def limit(project: Project, field: str = "alt", high: str = "40", **more: str) -> None:
    ReferenceLimit.objects.create(project=project, field=field, high=Decimal(high), **more)


def said(
    project: Project, data: RecordData, check: Check, told: dict[str, object] | None = None
) -> list[tuple[str, str, str]]:
    """Field, outcome and reason of what is no pass."""
    seen: list[Observation] = found(project, data, {str(check): told or {}})
    return [(one.field, one.outcome, one.reason) for one in seen]


FAIL, PASS = [("alt", "FAIL", "")], list[tuple[str, str, str]]()
UNIT_MISSING = [("alt", "UNKNOWN", "unit_missing")]


@pytest.mark.parametrize(
    ("unit", "value", "written", "outcome"),
    [
        (CHOSEN, "500", "1", FAIL),
        (CHOSEN, "30", "1", PASS),
        (CHOSEN, "500", "", UNIT_MISSING),
        (UNIT, "500", "U/L", FAIL),
        (UNIT, "500", "u/ L", FAIL),
        (UNIT, "119", "U/L", PASS),
        (UNIT, "8", "", UNIT_MISSING),
        (UNIT, "8", "boxes", UNIT_MISSING),
        (UNIT, "", "", PASS),
        (UNIT, "NA", "", PASS),
        (NONE, "500", "", FAIL),
        (NONE, ">100", "", [("alt", "UNKNOWN", "censored")]),
        (NONE, ">500", "", FAIL),
        (NONE, "<100", "", PASS),
    ],
)
def test_units_are_those_of_a_query(
    unit: dict[str, str], value: str, written: str, outcome: list[tuple[str, str, str]]
) -> None:
    own = {} if unit is NONE else {"alt_unit": written}
    project, data = study_of({"alt": value, "v1_date": "2026-03-01"} | own, unit=unit)
    limit(project, unit="U/L")
    assert said(project, data, Check.LAB_AE) == outcome


@pytest.mark.parametrize(("value", "outcome"), [("2.0", FAIL), ("0.5", PASS)])
def test_another_unit_is_converted(value: str, outcome: list[tuple[str, str, str]]) -> None:
    """Of creatinine 1 mg/dL is 88.4 umol/L: 2 mg/dL are beyond three times 50."""
    own = UNIT | {"field_name": "alt_unit"}
    project, data = study_of({"alt": value, "alt_unit": "mg/dL"}, unit=own)
    stored = project.dictionary
    labels = {"alt": "creatinine"}
    for one in stored.content["metadata"]:
        one["field_label"] = labels.get(one["field_name"], one["field_label"])
    stored.save()
    limit(project, high="50", unit="umol/L")
    assert said(project, data, Check.LAB_AE) == outcome


@pytest.mark.parametrize(
    ("sexes", "own", "outcome"),
    [
        (("", "2"), "2", FAIL),
        (("", "2"), "1", PASS),
        (("1", "2"), "", [("alt", "UNKNOWN", "missing")]),
        (("1",), "2", PASS),
    ],
)
def test_the_limit_is_the_one_of_the_sex(
    sexes: tuple[str, ...], own: str, outcome: list[tuple[str, str, str]]
) -> None:
    project, data = study_of({"alt": "120", "sex": own})
    for sex in sexes:
        limit(project, high="35" if sex == "2" else "50", sex=sex)
    assert said(project, data, Check.LAB_AE) == outcome


COLD = {"ae_start": "2020-01-01", "ae_end": "2020-01-09", "ae_term": "cold"}


@pytest.mark.parametrize(
    ("values", "event", "outcome", "reason"),
    [
        ({}, COLD, "UNKNOWN", "missing"),
        ({"v1_date": "2026-03-01"}, COLD, "FAIL", ""),
        ({"v1_date": "2020-01-05"}, COLD, "", ""),
        ({}, None, "FAIL", ""),
        ({"chem_date": "2026-03-UN"}, COLD, "FAIL", ""),
        ({"chem_date": "2020-01-UN"}, COLD, "UNKNOWN", "partial_date"),
        ({"chem_date": "2020-01-UN"}, COLD | {"ae_end": ""}, "", ""),
        ({"chem_date": "2020-01-05", "v1_date": "2026-03-01"}, COLD, "", ""),
        ({"chem_date": "", "v1_date": "2026-03-01"}, COLD, "FAIL", ""),
    ],
)
def test_a_value_has_the_day_of_its_row_or_visit(
    values: dict[str, str], event: dict[str, str] | None, outcome: str, reason: str
) -> None:
    own = values.keys() & {"chem_date"}
    name = "ast" if own else "alt"
    project, data = study_of({name: "500", "first_dose": "2026-03-01"} | values, event)
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
    limit(project, name)
    wanted = [(name, outcome, reason)] if outcome else []
    seen = said(project, data, Check.LAB_AE)
    assert seen == wanted


@pytest.mark.parametrize(
    ("check", "told", "gone"),
    [
        (Check.LAB_AE, {"start": "gone"}, "gone"),
        (Check.LAB_AE, {"end": "gone"}, "gone"),
        (Check.LAB_AE, {"words": {"gone": ["ALT"]}}, "gone"),
        (Check.PROHIBITED, {"names": ["aspirin"], "field": "gone"}, "gone"),
        (Check.AE_MEDICATION, {"field": "gone"}, "gone"),
        (Check.AE_MEDICATION, {"medication": "gone"}, "gone"),
    ],
)
def test_a_field_that_redcap_lacks_is_told(
    check: Check, told: dict[str, object], gone: str
) -> None:
    project, data = study_of({"alt": "30"}, {"ae_term": "cold"})
    limit(project)
    assert said(project, data, check, told) == [(gone, "UNKNOWN", "not_exported")]


@pytest.mark.parametrize(
    ("check", "told", "unknown"),
    [
        (Check.PROHIBITED, {"names": ["aspirin"]}, "cm_name"),
        (Check.AE_MEDICATION, {"field": "ae_drug"}, "cm_name"),
        (Check.AE_MEDICATION, {"medication": "cm_name"}, "ae_drug"),
    ],
)
def test_where_no_field_names_medications_none_is_said_to_be_gone(
    check: Check, told: dict[str, object], unknown: str
) -> None:
    project, data = study_of({}, {"ae_term": "cold"})
    stored = project.dictionary
    for one in stored.content["metadata"]:
        if one["field_name"] == unknown:
            one |= {"field_name": "other", "field_label": "Other"}
    stored.save()
    [seen] = found(project, data, {str(check): told})
    assert (seen.rule_key, seen.field, seen.outcome) == (f"std.{check}.study", "", "UNKNOWN")
    assert not [name for name in ("study", "ae_drug", "cm_name") if name in seen.message]


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ({}, ""),
        ({"AST": ["cold"]}, ""),
        ({"AST": ["liver"]}, "FAIL"),
        ({"AST": ["liver"], "ast": ["cold"]}, ""),
    ],
)
def test_words_of_a_field_by_its_mapped_name_count(
    words: dict[str, list[str]], outcome: str
) -> None:
    event = {"ae_start": "2026-03-02", "ae_term": "cold"}
    project, data = study_of({"ast": "500", "chem_date": "2026-03-01"}, event)
    limit(project, "ast")
    FieldMapping.objects.create(project=project, actual_name="ast", alias_name="AST")
    wanted = [("ast", outcome, "")] if outcome else []
    assert said(project, data, Check.LAB_AE, {"words": words}) == wanted


@pytest.mark.parametrize("sex", ["", "1"])
def test_words_of_a_field_without_a_limit_ask_for_no_event(sex: str) -> None:
    project, data = study_of({"ast": "500", "sex": sex})
    assert said(project, data, Check.LAB_AE, {"words": {"ast": ["liver"]}}) == []


def test_a_limit_or_unit_or_consent_of_a_field_that_redcap_lacks_is_told() -> None:
    project, data = study_of({"alt": "500"})
    limit(project, "gone")
    assert said(project, data, Check.LAB_AE) == [("gone", "UNKNOWN", "not_exported")]
    ReferenceLimit.objects.all().delete()
    limit(project)
    roles = FieldRole.objects
    roles.create(project=project, role=FieldRole.Role.UNIT, of="alt", field="no_unit")
    assert said(project, data, Check.LAB_AE) == [("no_unit", "UNKNOWN", "not_exported")]
    assert said(project, data, Check.CONSENT) == []
    roles.create(project=project, role=FieldRole.Role.CONSENT, field="signed_on")
    assert said(project, data, Check.CONSENT) == [("signed_on", "UNKNOWN", "not_exported")]


@pytest.mark.parametrize(
    ("entered", "outcome"),
    [
        ("Aspirin", "FAIL"),
        ("ASPI RIN 100 mg", "FAIL"),
        ("Ibuprofen", ""),
        ("", ""),
        ("NA", ""),
    ],
)
def test_a_prohibited_name_is_found_in_any_case(entered: str, outcome: str) -> None:
    project, data = study_of({}, {"ae_term": "cold", "cm_name": entered})
    seen = said(project, data, Check.PROHIBITED, {"names": ["aspirin", "na"]})
    assert seen == ([("cm_name", outcome, "")] if outcome else [])


@pytest.mark.parametrize(
    ("drug", "taken", "outcome"),
    [
        ("Naproxen", "NA", "FAIL"),
        ("Naproxen", "", "FAIL"),
        ("Naproxen", "NAPROXEN 250", ""),
        ("NA", "", ""),
    ],
)
@pytest.mark.parametrize("kind", ["text", "yesno"])
def test_a_missing_code_is_no_medication(drug: str, taken: str, outcome: str, kind: str) -> None:
    drug = "1" if kind == "yesno" and drug != "NA" else drug
    project, data = study_of({}, {"ae_term": "cold", "ae_drug": drug, "cm_name": taken})
    stored = project.dictionary
    for one in stored.content["metadata"]:
        one["field_type"] = kind if one["field_name"] == "ae_drug" else one["field_type"]
    stored.save()
    wanted = [("ae_drug", outcome, "")] if outcome else []
    assert said(project, data, Check.AE_MEDICATION) == wanted

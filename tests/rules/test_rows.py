"""*Rows* of contracts.md: on which rows a rule is evaluated, and what a var reads there."""

from __future__ import annotations

from typing import Any

from tests.rules.support import results, var

MAPPING = [
    {"arm_num": 1, "unique_event_name": "base_arm_1", "form": "base"},
    {"arm_num": 1, "unique_event_name": "base_arm_1", "form": "ae"},
    {"arm_num": 1, "unique_event_name": "v1_arm_1", "form": "visit"},
    {"arm_num": 1, "unique_event_name": "v2_arm_1", "form": "visit"},
]
PROJECT = {
    "form_event_mapping": MAPPING,
    "repeating": [{"event_name": "base_arm_1", "form_name": "ae", "custom_form_label": ""}],
}


def row(event: str = "", instrument: str = "", instance: Any = "", **cells: str) -> dict[str, Any]:
    blank = {
        "age": "",
        "alt": "",
        "visit_alt": "",
        "visit_date": "",
        "ae_day": "",
        "ae_serious": "",
    }
    place = {
        "redcap_event_name": event,
        "redcap_repeat_instrument": instrument,
        "redcap_repeat_instance": instance,
    }
    return {"record_id": "1", **place, **blank, "first_dose": "", **cells}


RECORD = {
    "record_id": "1",
    "rows": [
        row("base_arm_1", age="50", alt="30", first_dose="2024-03-15"),
        row("base_arm_1", "ae", 1, ae_day="2024-03-20"),
        row("base_arm_1", "ae", "2", ae_day="2024-03-10"),
        row("v1_arm_1", visit_alt="40", visit_date="2024-03-16"),
        row("v2_arm_1", visit_alt="95", visit_date=""),
    ],
}


def test_only_plain_digits_are_an_instance() -> None:
    found = []
    for instance in ("²", "２", "abc", "-1", 3.5, "7", 7, 7.0):
        rows = [row("base_arm_1", "ae", instance, ae_day="2024-03-20")]
        [answer] = results({"!!": var("ae_day")}, {"rows": rows}, about="ae_day", project=PROJECT)
        found.append(answer.instance)
    assert found == [None, None, None, None, None, 7, 7, 7]


def places(logic: Any, about: str, data: Any = RECORD, project: Any = PROJECT) -> list[Any]:
    found = results(logic, data, about=about, project=project)
    return [
        (r.event, r.instrument, r.instance, str(r.outcome), r.reason and str(r.reason))
        for r in found
    ]


def applicable(*args: Any, **options: Any) -> list[Any]:
    return [place for place in places(*args, **options) if place[3] != "NOT_APPLICABLE"]


def test_a_base_form_is_checked_on_its_event_and_not_applicable_on_others() -> None:
    found = places({"<": [var("age"), 75]}, "age")
    assert found == [
        ("base_arm_1", None, None, "PASS", None),
        ("v1_arm_1", None, None, "NOT_APPLICABLE", None),
        ("v2_arm_1", None, None, "NOT_APPLICABLE", None),
    ]


def test_a_form_of_several_events_is_checked_on_each() -> None:
    found = applicable({"<": [var("visit_alt"), 60]}, "visit_alt")
    assert [(place[0], place[3]) for place in found] == [("v1_arm_1", "PASS"), ("v2_arm_1", "FAIL")]


def test_a_repeating_form_is_checked_on_its_instances_only() -> None:
    logic = {"after": [var("ae_day"), "2024-03-15"]}
    assert applicable(logic, "ae_day") == [
        ("base_arm_1", "ae", 1, "PASS", None),
        ("base_arm_1", "ae", 2, "FAIL", None),
    ]


def test_a_repeated_row_reads_other_forms_from_the_base_row_of_its_event() -> None:
    logic = {">=": [var("ae_day"), var("first_dose")]}
    found = applicable(logic, "ae_day")
    assert [place[2:4] for place in found] == [(1, "PASS"), (2, "FAIL")]
    [first, _second] = results(logic, RECORD, about="ae_day", project=PROJECT)[:2]
    assert [(d["var"], d["event"], d["instrument"], d["raw"]) for d in first.detail] == [
        ("ae_day", "base_arm_1", "ae", "2024-03-20"),
        ("first_dose", "base_arm_1", None, "2024-03-15"),
    ]


def test_a_field_that_no_row_of_the_event_holds_is_not_exported() -> None:
    found = applicable({"<": [var("visit_alt"), var("alt")]}, "visit_alt")
    assert [place[4] for place in found] == ["not_exported", "not_exported"]
    found = applicable({"is_blank": var("ae_day")}, "age")
    assert found == [("base_arm_1", None, None, "UNKNOWN", "not_exported")]


def test_across_events_reads_the_named_event() -> None:
    baseline = {"across_events": ["base_arm_1", var("alt")]}
    found = applicable({"<": [var("visit_alt"), {"*": [baseline, 3]}]}, "visit_alt")
    assert [place[3] for place in found] == ["PASS", "FAIL"]
    detail = results({"<": [var("visit_alt"), baseline]}, RECORD, about="visit_alt",
                     project=PROJECT)[-1].detail  # fmt: skip
    assert [(d["var"], d["event"]) for d in detail] == [
        ("visit_alt", "v2_arm_1"),
        ("alt", "base_arm_1"),
    ]


def test_across_events_with_a_whole_expression() -> None:
    logic = {"across_events": ["v1_arm_1", {"<": [var("visit_alt"), 60]}]}
    found = applicable(logic, "age")
    assert found == [("base_arm_1", None, None, "PASS", None)]


def test_an_event_without_a_row_is_not_exported() -> None:
    record = {"record_id": "1", "rows": RECORD["rows"][3:]}
    baseline = {"across_events": ["base_arm_1", var("alt")]}
    for logic in ({"<": [var("visit_alt"), baseline]}, {"is_blank": [baseline]}, {"!": baseline}):
        found = applicable(logic, "visit_alt", data=record)
        assert {place[4] for place in found} == {"not_exported"}
    logic = {"across_events": ["base_arm_1", {"is_blank": var("alt")}]}
    assert {p[4] for p in applicable(logic, "visit_alt", data=record)} == {"not_exported"}


def test_an_impossible_value_of_another_event_fails_the_rule_too() -> None:
    rows = [row("base_arm_1", alt="ND"), row("v1_arm_1", visit_alt="40")]
    baseline = {"across_events": ["base_arm_1", var("alt")]}
    logic = {"or": [True, {"<": [var("visit_alt"), baseline]}]}
    found = applicable(logic, "visit_alt", data={"record_id": "1", "rows": rows})
    assert found == [("v1_arm_1", None, None, "FAIL", "type_mismatch")]


def test_a_repeating_event_is_checked_on_every_instance() -> None:
    rows = [row("v1_arm_1", "", n, visit_alt=value) for n, value in ((1, "5"), (2, "99"))]
    project = {**PROJECT, "repeating": [{"event_name": "v1_arm_1", "form_name": ""}]}
    found = places(
        {"<": [var("visit_alt"), 60]}, "visit_alt", {"record_id": "1", "rows": rows}, project
    )
    assert [place[2:4] for place in found] == [(1, "PASS"), (2, "FAIL")]


def test_a_form_may_repeat_at_one_event_only() -> None:
    mapping = [*MAPPING, {"unique_event_name": "v1_arm_1", "form": "ae"}]
    project = {**PROJECT, "form_event_mapping": mapping}
    rows = [row("base_arm_1"), row("base_arm_1", "ae", 1, ae_day="2024-03-20"),
            row("v1_arm_1", ae_day="2024-03-20")]  # fmt: skip
    found = places({"!!": var("ae_day")}, "ae_day", {"record_id": "1", "rows": rows}, project)
    assert [(p[0], p[1], p[3]) for p in found] == [
        ("base_arm_1", "ae", "PASS"),
        ("v1_arm_1", None, "PASS"),
    ]


def test_a_classic_project_has_no_events() -> None:
    rows = [row(age="50"), row("", "ae", 1, ae_serious="1")]
    project = {"repeating": [{"form_name": "ae"}]}
    data = {"record_id": "1", "rows": rows}
    assert places({"<": [var("age"), 75]}, "age", data, project) == [
        (None, None, None, "PASS", None)
    ]
    assert places({"!!": var("ae_serious")}, "ae_serious", data, project) == [
        (None, "ae", 1, "PASS", None)
    ]


def test_repetition_is_recognised_without_a_project_file() -> None:
    rows = [row(age="50"), row("", "ae", 1, ae_serious="1")]
    found = places({"!!": var("ae_serious")}, "ae_serious", {"rows": rows}, {})
    assert found == [(None, "ae", 1, "PASS", None)]


def test_a_flat_row_is_a_record_of_one_row() -> None:
    flat = row("base_arm_1", "ae", 3, ae_day="2024-03-20", first_dose="2024-03-15")
    assert places({">=": [var("ae_day"), var("first_dose")]}, "ae_day", flat) == [
        ("base_arm_1", "ae", 3, "PASS", None)
    ]
    assert places({"<": [var("age"), 75]}, "age", flat) == []


def test_results_come_in_row_order_and_the_record_id_column_is_everywhere() -> None:
    logic = {"matches": [var("record_id"), "\\d+"]}
    found = applicable(logic, "visit_alt")
    assert [place[3] for place in found] == ["PASS", "PASS"]


def test_an_empty_record_has_no_results() -> None:
    assert places({"<": [var("age"), 75]}, "age", {"record_id": "1", "rows": []}) == []


def test_branching_logic_may_name_another_event() -> None:
    from tests.rules.support import DICTIONARY, field

    shown_if = "[base_arm_1][sex] = '0'"
    dictionary = [*DICTIONARY, field("hcg", form="visit", validation="number", shown_if=shown_if)]
    for sex, expected in (("0", "UNKNOWN missing"), ("1", "NOT_APPLICABLE"), ("", "UNKNOWN sex")):
        rows = [row("base_arm_1", sex=sex), row("v1_arm_1", hcg="")]
        data = {"record_id": "1", "rows": rows}
        found = results({"<": [var("hcg"), 5]}, data, about="hcg", dictionary=dictionary,
                        project=PROJECT)[-1]  # fmt: skip
        label = found.field if found.reason == "applicability_unknown" else found.reason
        assert f"{found.outcome} {label or ''}".strip() == expected


def test_branching_on_a_form_that_is_never_at_this_event_hides_the_field() -> None:
    from tests.rules.support import DICTIONARY, field

    dictionary = [*DICTIONARY, field("hcg", form="visit", shown_if="[sex] = '0'")]
    data = {"record_id": "1", "rows": [row("base_arm_1", sex="0"), row("v1_arm_1", hcg="", sex="")]}
    found = results({"!!": var("hcg")}, data, about="hcg", dictionary=dictionary, project=PROJECT)
    assert found[-1].outcome == "NOT_APPLICABLE"

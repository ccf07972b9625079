"""A condition in REDCap's logic inside a rule of ours: the operator `redcap`."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import translation

from core.rules.context import StudyContext
from core.rules.dependencies import fields_of, is_dated
from core.rules.redcap.calculation import agrees, formula_of, written
from core.rules.ruleset import compile_rule_set
from tests.fuzz.checks import validate_rules
from tests.rules.redcap.test_functions import EXTRA, PROJECT, ROWS
from tests.rules.support import DICTIONARY, field, problems, result, results, verdict


def rule(text: str) -> dict[str, Any]:
    """True in REDCap is a discrepancy."""
    return {"!": [{"redcap": [text]}]}


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [
        ("[age] < 18", {"age": "17"}, "FAIL"),
        ("[age] < 18", {"age": "18"}, "PASS"),
        ("[age] < 18", {"age": ""}, "UNKNOWN missing"),
        ("[age] < 18", {"age": "NA"}, "UNKNOWN missing_code"),
        ("[age] < 18", {}, "UNKNOWN not_exported"),
        ("[age] < 18", {"age": "x"}, "FAIL type_mismatch"),
        ("[age] = 5 and [alt] < 50", {"age": "5", "alt": "<60"}, "UNKNOWN censored"),
        ("[age] = 5 and [icf] > '2024-03-05'", {"age": "5", "icf": "2024-03"}, "UNKNOWN partial_date"),
        ("[age] = 5 and [exclusion(1)] = '1'", {"age": "5", "exclusion___1": "1"}, "FAIL"),
        ("[age] > 1 and [preg] = ''", {"age": "2", "preg": "", "sex": "1"}, "FAIL"),
        ("# why\n[age] = 5", {"age": "5"}, "FAIL"),
    ],
)  # fmt: skip
def test_a_verdict_of_its_logic(text: str, row: dict[str, str], expected: str) -> None:
    assert verdict(rule(text), {"sex": "0", **row}) == expected


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [
        ("[text] > 40", {"text": "185 U/L"}, "FAIL type_mismatch"),
        ("40 < [text]", {"text": "1,200"}, "FAIL type_mismatch"),
        ("[text] > '2024-01-01'", {"text": "2024年三月"}, "FAIL type_mismatch"),
        ("datediff([text], [icf], 'd') > 2", {"text": "2024年三月", "icf": "2024-05"}, "FAIL type_mismatch"),
        ("[weight] / ([text]^2) > 25", {"weight": "80", "text": "1.70m"}, "FAIL type_mismatch"),
        ("round([text], 1) > 5", {"text": "six"}, "FAIL type_mismatch"),
        ("[age] = 5 or [text] > 40", {"age": "6", "text": "185 U/L"}, "FAIL type_mismatch"),
        ("[age] / 0 > 25", {"age": "50"}, "ERROR"),
        ("datediff([icf], [icf], 'days') > 25", {"icf": "2024-05-01"}, "ERROR"),
        # guarded, empty, or compared as texts: as ever
        ("isnumber([text]) and [text] > 40", {"text": "185 U/L"}, "PASS"),
        ("[text] > 40", {"text": ""}, "UNKNOWN missing"),
        ("[text] > 40", {"text": "41"}, "FAIL"),
        ("[text] <> 40", {"text": "185 U/L"}, "FAIL"),
        ("[text] > 'm'", {"text": "a"}, "PASS"),
        ("[preg] + 1 > 1", {"preg": "", "sex": "1"}, "PASS"),
    ],
)  # fmt: skip
def test_what_cannot_be_computed_is_no_pass(text: str, row: dict[str, str], expected: str) -> None:
    """REDCap takes it for blank, and less than anything; the rules of a study fail or say why not."""
    assert verdict(rule(text), {"sex": "0", **row}) == expected


def test_the_detail_shows_what_the_logic_read() -> None:
    found = result(rule("[age] < 18 and [sex] = '0'"), {"age": "17", "sex": "0"})
    assert [(entry["var"], entry["raw"]) for entry in found.detail] == [("age", "17"), ("sex", "0")]


def test_each_instance_of_a_repeating_form_is_looked_at() -> None:
    rows = [
        {"record_id": "1", "age": "50"},
        *(
            {"record_id": "1", "redcap_repeat_instrument": "ae", "redcap_repeat_instance": n, "ae_term": t}
            for n, t in ((1, "a"), (2, "a"), (3, "b"))
        ),
    ]  # fmt: skip
    logic = rule("[ae_term] = [ae_term][previous-instance] and [age] > 5")
    found = results(logic, {"rows": rows}, about="ae_term")
    assert [(one.instance, str(one.outcome)) for one in found] == [
        (1, "UNKNOWN"), (2, "FAIL"), (3, "PASS"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[agee] < 18", "agee"), ("[age] < ", "ends"), ("frob([age])", "frob"),
        ("[exclusion] = '1'", "checkbox"), ("[exclusion(9)] = '1'", "exclusion___9"),
        ("[user-name] = 'x'", "user-name"), ("[v9_arm_1][age] = 1", "v9_arm_1"),
        ("[age][new-instance] = 1", "new-instance"), ("if([age] = 1, 2) = 2", "if"), ("", "ends"),
    ],
)  # fmt: skip
def test_what_could_never_be_evaluated_is_refused(text: str, part: str) -> None:
    context = StudyContext.build([*DICTIONARY, *EXTRA], PROJECT)
    rules = [{"field": "age", "logic": rule(text), "message": "m"}]
    with translation.override("en"):
        told = " ".join(one.message for one in validate_rules(rules, context))
    assert part in told


def test_what_is_written_well_is_not_refused() -> None:
    text = "[first-event-name][age] = [v2_arm_1][age] and [score][last-instance] > 1 or [arm-number] = 2"
    context = StudyContext.build([*DICTIONARY, *EXTRA], PROJECT)
    assert not validate_rules([{"field": "age", "logic": rule(text), "message": "m"}], context)
    assert not problems(rule("[age] = 1"))


@pytest.mark.parametrize(
    ("annotation", "formula"),
    [
        ("@CALCTEXT(if([a]='1', '(x', ')'))", "CALCTEXT(if([a]='1', '(x', ')'))"),
        ("@HIDDEN @CALCDATE([a], 7, 'd') @READONLY", "CALCDATE([a], 7, 'd')"),
        ("@HIDDEN", ""),
        ("@CALCTEXT(", "CALCTEXT("),
    ],
)
def test_calculations_of_text_fields(annotation: str, formula: str) -> None:
    assert formula_of({"field_type": "text", "field_annotation": annotation}) == formula


@pytest.mark.parametrize(
    ("name", "stored", "expected", "same"),
    [
        ("bmi", "24.2", "24.20", True), ("bmi", "24.2", "24.3", False), ("bmi", "", "", True),
        ("bmi", "", "24.2", False), ("bmi", "24.2", "", False),
        ("bmi", "0.333333333333333", "0.3333333333333333333333333333", True),
        ("dob", "2024-03-08", "2024-03-08 00:00:00", True), ("dob", "2024-03-09", "2024-03-08 00:00:00", False),
        ("icf_time", "2024-03-08 10:30", "2024-03-08 10:30:00", True), ("text", "m", "m", True),
        ("text", "m", "f", False),
    ],
)  # fmt: skip
def test_what_agrees_with_a_calculation(name: str, stored: str, expected: str, same: bool) -> None:
    column = StudyContext.build(DICTIONARY).columns[name]
    assert agrees(column, stored, expected) is same
    assert written(column, expected) in expected


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("[age] > [previous-event-name][weight]", {"age", "weight"}),
        ("[v1_arm_1][visit_alt] > 5", {"age", "visit_alt"}),
        ("[score][last-instance] > 5", {"age", "score"}),
        ("[base_arm_1][score][1] > 5", {"age", "score"}),
        ("[next-event-name][exclusion(1)] = '1'", {"age", "exclusion", "base_complete"}),
        ("[exclusion(1)] = '1'", {"age", "exclusion", "base_complete"}),
        ("[first-event-name][preg] = '1'", {"age", "preg", "sex"}),
        ("[later] > 5", {"age", "later", "score"}),
    ],
)
def test_a_rule_depends_on_all_fields_it_names_wherever_they_stand(
    text: str, fields: set[str]
) -> None:
    more = field("later", shown_if="[score][previous-instance] > 3")
    context = StudyContext.build([*DICTIONARY, *EXTRA, more], PROJECT)
    [compiled] = compile_rule_set(
        [{"field": "age", "logic": rule(text), "message": "m"}], context
    ).rules
    assert fields_of(context, compiled) == fields


@pytest.mark.parametrize(
    ("logic", "expected"),
    [
        (rule("datediff([icf], 'today', 'd') > 28"), True),
        (rule("[icf] > 'now'"), True),
        (rule("[fresh] = '1'"), True),
        ({"!": [{"after": [{"var": "icf"}, {"today": []}]}]}, True),
        (rule("[preg] = 'tomorrow' and [age] > 5"), False),
        ({">=": [{"var": "age"}, 18]}, False),
    ],
)
def test_whether_a_rule_can_become_another_by_a_day(logic: Any, expected: bool) -> None:
    """By itself, or by the branching logic of a field that it reads."""
    more = field("fresh", shown_if="datediff([icf], 'today', 'd') < 5")
    context = StudyContext.build([*DICTIONARY, *EXTRA, more], PROJECT)
    told = {"field": "age", "logic": logic, "message": "m"}
    [compiled] = compile_rule_set([told], context).rules
    assert is_dated(context, compiled) is expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[age] > [first-event-name][age]", ("base_arm_1", None, "64")),
        ("[age] > [previous-event-name][age]", ("v2_arm_1", None, None)),
        ("[age] > [score][last-instance]", ("v3_arm_1", None, None)),
        ("[age] > [base_arm_1][score][first-instance]", ("base_arm_1", 1, "4")),
        ("[age] > [next-event-name][age]", (None, None, None)),
    ],
)
def test_the_detail_names_what_was_read_elsewhere(
    text: str, told: tuple[str | None, int | None, str | None]
) -> None:
    found = results(
        rule(text),
        {"record_id": "P-7", "rows": ROWS},
        dictionary=[*DICTIONARY, *EXTRA],
        project=PROJECT,
    )
    [last] = [one for one in found if one.event == "v3_arm_1"]
    assert told in [(entry["event"], entry["instance"], entry["raw"]) for entry in last.detail]


def test_an_impossible_value_elsewhere_fails_the_rule() -> None:
    rows = [{**ROWS[0], "age": "x"}, ROWS[-1]]
    found = results(
        rule("[age] > [first-event-name][age]"),
        {"record_id": "P-7", "rows": rows},
        dictionary=[*DICTIONARY, *EXTRA],
        project=PROJECT,
    )
    assert [(str(one.outcome), str(one.reason)) for one in found if one.event == "v3_arm_1"] == [
        ("FAIL", "type_mismatch")
    ]

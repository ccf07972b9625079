"""Hidden fields: branching logic decides whether a rule applies (E06-E08, redcap_dify.md 1.14)."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rules.context import StudyContext
from core.rules.results import RuleResult
from core.rules.ruleset import RuleSet, compile_rule_set
from tests.fuzz.checks import agreed
from tests.rules.support import DICTIONARY, field, result, var

SHOWN, HIDDEN = "PASS", "NOT_APPLICABLE"


def outcome(shown_if: str, row: dict[str, str], *, value: str = "5", **options: Any) -> str:
    """What a rule about a field with this branching logic comes to (`value` passes the rule)."""
    dictionary = [*DICTIONARY, field("target", validation="number", shown_if=shown_if)]
    logic = {"==": [var("target"), 5]}
    cells = {**row, "target": value}
    found = result(logic, cells, about="target", dictionary=dictionary, **options)
    return f"{found.outcome} {found.reason or ''}".strip() + (
        f" {found.field}" if found.reason == "applicability_unknown" else ""
    )


@pytest.mark.parametrize(
    ("shown_if", "row", "is_shown"),
    [
        ('[sex] = "0"', {"sex": "0"}, True),
        ('[sex] = "0"', {"sex": "1"}, False),
        ("[sex]='0'", {"sex": "0"}, True),
        ("[sex]=0", {"sex": "0"}, True),
        ("[sex] <> '1'", {"sex": "0"}, True),
        ("[sex] != '1'", {"sex": "1"}, False),
        ("[age] > 50", {"age": "9"}, False),
        ("[age] >= 50 and [age] <= 60", {"age": "55"}, True),
        ("([age] < 18) or ([age] > 75)", {"age": "80"}, True),
        ("not ([sex] = '1')", {"sex": "0"}, True),
        ("[sex] = '0' AND [age] > 50", {"sex": "0", "age": "51"}, True),
        ("[exclusion(3)] = '1'", {"exclusion___3": "1"}, True),
        ("[exclusion(3)] = '1'", {"exclusion___3": "0"}, False),
        ("[med(-1)] = '1'", {"med____1": "1"}, True),
        ("[text] = ''", {"text": ""}, True),
        ("[text] <> ''", {"text": "x"}, True),
        ('[text] <> ""', {"text": " "}, False),
        ("[weight] * 2 + 1 > 100", {"weight": "50"}, True),
        ("[comma] > 10", {"comma": "6,5"}, False),
        ("[comma] > 10 and [comma] = 12.5", {"comma": "12,50"}, True),
        ("[consent] = 'NA'", {"consent": "NA"}, True),
        ("[consent] = 'UNK'", {"consent": "NA"}, False),
        ("[consent] <> ''", {"consent": "NA"}, True),
        ("[record-name] = '1'", {"record_id": "1"}, True),
        ("[event-name][sex] = '0'", {"sex": "0", "redcap_event_name": "e"}, True),
        ("[current-instance] = 2", {"redcap_repeat_instance": "2"}, True),
        ("[alt] < 60", {"alt": "<60"}, True),
        ("[alt] > 60", {"alt": "<60"}, False),
        ("60 > [alt]", {"alt": "<60"}, True),
        ("[alt] = 60", {"alt": "<60"}, False),
        ("[alt] <> 60", {"alt": "<60"}, True),
        ("[alt] >= [ast]", {"alt": ">=100", "ast": "<100"}, True),
        ("[alt] >= 100", {"alt": ">=100"}, True),
        ("[alt] < 100", {"alt": ">=100"}, False),
        ("[alt] <> ''", {"alt": "<60"}, True),
        ("[alt] = ''", {"alt": "<60"}, False),
        ("isblankormissingcode([alt])", {"alt": "<60"}, False),
        ("[alt]", {"alt": ">100"}, True),
        ("[icf] > '2024-02-29'", {"icf": "2024-03"}, True),
        ("'2024-04-01' <= [icf]", {"icf": "2024-03"}, False),
        ("[icf] <> '2024-04-01'", {"icf": "2024-03"}, True),
        ("[icf_time] < '2024-03-02 00:00'", {"icf_time": "2024-03-01"}, True),
        ("[icf_time] < [dose_time]",
         {"icf_time": "2024-03-01", "dose_time": "2024-03-02 00:00:00"}, True),
        ("[sex:value] = '0' // women only", {"sex": "0"}, True),
        ("[weight] / 2 - 5 = 20", {"weight": "50"}, True),
        ("[weight] ^ 2 = 25", {"weight": "5"}, True),
        ("-[weight] < 0", {"weight": "5"}, True),
        ("round([weight], 0) = 6", {"weight": "5.5"}, True),
        ("sum([weight],[height],1) = 6", {"weight": "2", "height": "3"}, True),
        ("abs([weight]) = 2", {"weight": "-2"}, True),
        ("min([weight], 3) = 2 and max([weight], 3) = 3", {"weight": "2"}, True),
        ("contains([note], 'Cancer')", {"note": "lung cancer"}, True),
        ("if([sex]='1', [age], 0) > 40", {"sex": "1", "age": "41"}, True),
        ("isblankormissingcode([alt])", {"alt": "NA"}, True),
        ("isblankormissingcode([alt])", {"alt": ""}, True),
        ("isblankormissingcode([alt])", {"alt": "5"}, False),
        ("datediff([icf],'today','d',true) > 5", {"icf": "2024-05-01"}, True),
        ("datediff([icf],[first_dose],'d') = 3", {"icf": "2024-01-04", "first_dose": "2024-01-01"}, True),
        ("datediff([icf],[first_dose],'d',true) = -3", {"icf": "2024-01-04", "first_dose": "2024-01-01"}, True),
        ("datediff([icf],[first_dose],'y') < 1", {"icf": "2024-01-04", "first_dose": "2023-01-05"}, True),
        ("[icf] > '2024-01-01'", {"icf": "2024-01-02"}, True),
        ("[base_complete] = '2'", {"base_complete": "2"}, True),
        ("# a comment\n[sex] = '0'", {"sex": "0"}, True),
        ("// a comment\n[sex] = '0'", {"sex": "1"}, False),
        ("[event-name] = ''", {}, True),
        ("datediff([icf],'today','fortnight') > 5", {"icf": "2024-05-01"}, False),
        ("[weight] / 0 > 1", {"weight": "5"}, False),
        ("---[weight] < 0", {"weight": "5"}, True),
        ("[sex] = '0' or [age] > 50", {"sex": "", "age": "60"}, True),
        ("[sex] = '0' and [age] > 50", {"sex": "", "age": "40"}, False),
    ],
)  # fmt: skip
def test_a_decided_branch(shown_if: str, row: dict[str, str], is_shown: bool) -> None:
    assert outcome(shown_if, row) == ("PASS" if is_shown else "FAIL hidden_with_value")
    assert outcome(shown_if, row, value="") == ("UNKNOWN missing" if is_shown else HIDDEN)


@pytest.mark.parametrize(
    ("shown_if", "row", "cause"),
    [
        ("[sex] = '0'", {"sex": ""}, "sex"),
        ("[sex] <> '0'", {"sex": ""}, "sex"),
        ("[sex] = '0'", {"sex": "UNK"}, "sex"),
        ("[sex] = '0'", {}, "sex"),
        ("[sex] = '0' and [age] > 50", {"sex": "", "age": "60"}, "sex"),
        ("[age] > 50 and [sex] = '0'", {"sex": "", "age": "60"}, "sex"),
        ("[sex] = '0' or [age] > 50", {"sex": "1", "age": ""}, "age"),
        ("not ([sex] = '0')", {"sex": ""}, "sex"),
        ("[exclusion(3)] = '1'", {"exclusion___3": "0", "base_complete": ""}, "exclusion"),
        ("[weight] * 2 > 10", {"weight": ""}, "weight"),
        ("[preg] = '1'", {"sex": "0", "preg": ""}, "preg"),
        ("[preg] = '1'", {"sex": "", "preg": ""}, "sex"),
        ("[other_event][age] > 5", {"age": "9"}, "age"),
        ("[nowhere] = '1'", {}, "nowhere"),
        ("[age] > 50", {"age": "ND"}, "age"),
        ("[alt] > 50", {"alt": "<60"}, "alt"),
        ("[alt] = 50", {"alt": "<60"}, "alt"),
        ("[alt] * 2 > 10", {"alt": ">100"}, "alt"),
        ("[alt] > [ast]", {"alt": ">100", "ast": ">90"}, "alt"),
        ("[alt]", {"alt": ">=0"}, "alt"),
        ("[icf] > '2024-03-15'", {"icf": "2024-03"}, "icf"),
        ("[icf] = '2024-03-15'", {"icf": "2024-03"}, "icf"),
        ("[icf_time] > '2024-03-01 12:00'", {"icf_time": "2024-03-01"}, "icf_time"),
        ("[current-instance] = 2", {}, "target"),
        ("[user-name] = 'x'", {}, "target"),
        ("[sex] = '0'", {"sex": "9"}, "sex"),
    ],
)
def test_an_undecided_branch_names_the_field(
    shown_if: str, row: dict[str, str], cause: str
) -> None:
    for value in ("", "5"):
        assert outcome(shown_if, row, value=value) == (f"UNKNOWN applicability_unknown {cause}")


def test_a_blank_that_is_itself_hidden_is_a_real_blank() -> None:
    assert outcome("[preg] = '1'", {"sex": "1", "preg": ""}, value="") == HIDDEN
    assert outcome("[preg] <> '1'", {"sex": "1", "preg": ""}) == SHOWN


def test_an_impossible_value_fails_even_while_the_branch_is_open() -> None:
    assert outcome("[sex] = '0'", {"sex": ""}, value="ND") == "FAIL type_mismatch"


def test_a_field_that_depends_on_itself_does_not_loop() -> None:
    assert outcome("[target] = '5' or [sex] = '1'", {"sex": "1"}) == SHOWN


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    [
        "[sex] =",
        "[sex] = '0",
        "frobnicate([sex])",
        "[sex] == ",
        "(" * 5000,
        "[a]=" + "-" * 5000,
        "[a] ? 1",
        "and",
        ")",
    ],
)
def test_logic_outside_the_subset_leaves_the_field_open(text: str) -> None:
    for value in ("", "5"):
        assert outcome(text, {"sex": "0"}, value=value) == "UNKNOWN applicability_unknown target"
    assert outcome(text, {"sex": "0"}, value="ND") == "FAIL type_mismatch"


def test_a_hidden_checkbox_is_blank_when_nothing_is_ticked() -> None:
    dictionary = [*DICTIONARY, field("box", "checkbox", choices="1, A", shown_if="[sex]='0'")]
    logic = {"!": var("box")}
    for about in ("box", "box___1"):
        found = [
            result(logic, {"sex": "1", "box___1": cell}, about=about, dictionary=dictionary)
            for cell in ("0", "", "1")
        ]
        assert [r.outcome for r in found] == ["NOT_APPLICABLE", "NOT_APPLICABLE", "FAIL"]
        assert found[2].reason == "hidden_with_value"


def test_a_hidden_field_that_was_not_exported_is_not_called_clean() -> None:
    found = result({"==": [var("preg"), 1]}, {"sex": "1"}, about="preg")
    assert (found.outcome, found.reason) == ("UNKNOWN", "not_exported")


def test_the_detail_shows_why_a_field_is_hidden() -> None:
    found = result({"==": [var("preg"), 1]}, {"sex": "1", "preg": "0"}, about="preg")
    assert [(entry["var"], entry["label"]) for entry in found.detail] == [
        ("sex", "Male"),
        ("preg", "Negative"),
    ]
    assert (found.field, found.value) == ("preg", "0")


# --- the event of a field --------------------------------------------------------------------------

CROSS = [
    "[base][sex] = '0'",
    "[base] [sex] = '0'",
    "[base][sex] = '0' and [event-name][ecog] = '1'",
    "[base][exclusion(3)] = '1'",
    "[base][preg] = '1'",
    "[base][target] = '5'",
    "[sex] = '0' or [base][age] > 50",
    "[nowhere][sex] = '0'",
    "[sex] [age] > 50",
]
MAPPING = {
    "form_event_mapping": [
        {"unique_event_name": "base", "form": "base"},
        {"unique_event_name": "v1", "form": "labs"},
    ]
}


def at_two_events(
    shown_if: str,
    base: dict[str, str],
    v1: dict[str, str],
    project: dict[str, Any] | None = None,
) -> tuple[RuleSet, list[RuleResult]]:
    """The rule set and its results on `v1`."""
    target = field("target", form="labs", validation="number", shown_if=shown_if)
    context = StudyContext.build([*DICTIONARY, target], project)
    rule = {"field": "target", "logic": {"==": [var("target"), 5]}, "message": "m"}
    rules, day = compile_rule_set([rule], context), date(2024, 6, 1)
    rows = [{**base, "redcap_event_name": "base"}, {**v1, "redcap_event_name": "v1"}]
    found = agreed(rules, rows, day)
    return rules, [r for r in found if r.event == "v1"]


def test_a_hidden_field_shows_what_hides_it_at_another_event() -> None:
    for shown_if in CROSS[:2]:
        _rules, [found] = at_two_events(shown_if, {"sex": "1"}, {"target": "5"}, MAPPING)
        assert (found.outcome, found.reason, found.value) == ("FAIL", "hidden_with_value", "5")
        assert [(e["var"], e["event"], e["raw"], e["label"]) for e in found.detail] == [
            ("sex", "base", "1", "Male"),
            ("target", "v1", "5", None),
        ]


@pytest.mark.parametrize(
    ("shown_if", "base", "field_name", "value", "entry"),
    [
        (CROSS[0], {"sex": ""}, "sex", "", ("sex", "base", "", "missing")),
        (CROSS[0], {}, "sex", None, ("sex", "base", None, "not_exported")),
        (CROSS[0], {"sex": "7"}, "sex", "7", ("sex", "base", "7", "invalid_choice")),
        ("[base][alt] > 5", {"alt": "<9"}, "alt", "<9", ("alt", "base", "<9", "censored")),
        (CROSS[7], {"sex": "0"}, "sex", None, ("sex", "nowhere", None, "not_exported")),
        (CROSS[4], {"sex": "", "preg": ""}, "sex", "", ("preg", "base", "", "missing")),
    ],
)
def test_an_undecided_branch_shows_the_field_at_its_event(
    shown_if: str, base: dict[str, str], field_name: str, value: Any, entry: Any
) -> None:
    _rules, [found] = at_two_events(shown_if, base, {"sex": "1", "target": "5"}, MAPPING)
    assert (found.outcome, found.reason) == ("UNKNOWN", "applicability_unknown")
    assert (found.field, found.value, found.event) == (field_name, value, "v1")
    first = found.detail[0]
    assert (first["var"], first["event"], first["raw"], first["reason"]) == entry


def test_a_field_at_another_event_is_another_one() -> None:
    _rules, found = at_two_events("[base][target] = '5'", {"target": ""}, {"target": "5"})
    assert [(r.outcome, r.reason, r.field, r.value) for r in found] == [
        ("UNKNOWN", "applicability_unknown", "target", "")
    ]


@pytest.mark.full
@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(CROSS),
    *(
        st.fixed_dictionaries(
            {},
            optional={
                **{n: st.sampled_from(["", "0", "1", "60"]) for n in ("sex", "ecog", "age")},
                **{n: st.sampled_from(["", "5", "NA"]) for n in ("preg", "target")},
                **{n: st.sampled_from(["", "0", "1"]) for n in ("exclusion___3", "base_complete")},
            },
        ),
    )
    * 2,
    st.sampled_from([None, MAPPING]),
)
def test_both_tiers_agree_on_fields_at_other_events(
    shown_if: str, base: dict[str, str], v1: dict[str, str], project: dict[str, Any] | None
) -> None:
    at_two_events(shown_if, base, v1, project)

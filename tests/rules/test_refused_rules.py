"""What a rule is refused for, here and on saving, with a message that points to the place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import translation

from core.rules.context import StudyContext
from core.rules.limits import RuleError
from core.rules.rule import rule_list
from core.rules.ruleset import compile_rule_set
from tests.fuzz.checks import validate_rules
from tests.rules.support import DICTIONARY, nested, problems, var

pytestmark = pytest.mark.usefixtures("_in_english")


@pytest.fixture
def _in_english() -> Iterator[None]:
    with translation.override("en"):
        yield


AGE, SEX, ICF = var("age"), var("sex"), var("icf")


@pytest.mark.parametrize(
    ("logic", "path", "words"),
    [
        ({"foo": [AGE]}, "", "foo"),
        ({"or": [True, {"method": [1]}]}, "/or/1", "method"),
        ({"log": AGE}, "", "log"),
        ({"if": [False, {"startsWith": ["a", "b"]}, True]}, "/if/1", "startsWith"),
        ({"<": [var("aeg"), 75]}, "/</0/var", "aeg"),
        ({"<": [var("banner"), 75]}, "/</0/var", "banner"),
        ({"<": [var("exclusion___9"), 75]}, "/</0/var", "exclusion___9"),
        ({"==": [var("visits_complete"), 2]}, "/==/0/var", "visits_complete"),
        ({"==": [var("redcap_event_name"), "x"]}, "/==/0/var", "redcap_event_name"),
        ({"!": {"missing": ["age", "aeg"]}}, "/!/0/missing", "aeg"),
        ({"<": [{"var": {"if": [True, "age"]}}, 5]}, "/</0/var", "age"),
        ({"<": [var(""), 5]}, "/</0/var", "chosen"),
        ({"<": [AGE, 75], ">": [AGE, 18]}, "", "2"),
        ({"and": [{}]}, "/and/0", "0"),
        (SEX, "", "sex"),
        ({"and": [SEX, True]}, "/and/0", "sex"),
        ({"if": [var("ecog"), True, False]}, "/if/0", "ecog"),
        ({"or": [var("consent"), True]}, "/or/0", "consent"),
        ({"if": [var("eligible"), True, False]}, "/if/0", "eligible"),
        ({"if": [True, var("consent"), False]}, "", "consent"),
        (var("base_complete"), "", "base_complete"),
        ({"or": [{"if": [True, SEX, SEX]}]}, "/or/0", "sex"),
        ({"filter": [var("exclusion"), var("")]}, "/filter/1", "exclusion"),
        ({"<": [AGE, "2024-01-01"]}, "/<", "2024-01-01"),
        ({"<": [AGE, "old"]}, "/<", "old"),
        ({"==": [AGE, "old"]}, "/==", "old"),
        ({"in": [AGE, [1, "old"]]}, "/in/1", "old"),
        ({"<": [ICF, 18]}, "/<", "date"),
        ({"<": [ICF, AGE]}, "/<", "date"),
        ({"==": [ICF, SEX]}, "/==", "choice"),
        ({"<": [ICF, "2024-02-30"]}, "/<", "2024-02-30"),
        ({"<": [var("wake"), ICF]}, "/<", "time"),
        ({"<": [var("wake"), "25:00"]}, "/<", "25:00"),
        ({"==": [SEX, "Male"]}, "/==", "Male"),
        ({"==": [SEX, True]}, "/==", "True"),
        ({"==": [var("grade"), 1]}, "/==", "1"),
        ({"==": [var("consent"), 1.5]}, "/==", "1.5"),
        ({">": [var("consent"), 2]}, "/>", "2"),
        ({"<": [{"<": [0, AGE]}, 1]}, "/<", "yes/no"),
        ({"<": [{"<": [0, AGE]}, {"<": [AGE, 5]}]}, "/<", "yes/no"),
        ({">": [var("ecog"), "worse"]}, "/>", "worse"),
        ({"in_window": [ICF, ICF, 1, -1, 1]}, "/in_window/3", "negative"),
        ({"in_window": [ICF, ICF, 1, 1, "-1"]}, "/in_window/4", "negative"),
        ({"<": [{"round_half_up": [AGE, 1.5]}, 1]}, "/</0/round_half_up/1", "decimals"),
        ({"<": [{"round_half_up": [AGE, True]}, 1]}, "/</0/round_half_up/1", "decimals"),
        ({"matches": [var("note"), AGE]}, "/matches/1", "text"),
        ({"matches": [var("note"), "a{2000}"]}, "/matches/1", "a{2000}"),
        ({"<": [var("grade"), "B"]}, "/<", "choice"),
        ({"==": [var("consent"), 2]}, "/==", "2"),
        ({"<": [var("note"), "abc"]}, "/<", "abc"),
        ({"<": [AGE, None]}, "/<", "null"),
        ({"==": [var("exclusion"), 3]}, "/==", "list"),
        ({"in": [SEX, "0,1"]}, "/in", "text"),
        ({"in": [AGE, var("note")]}, "/in", "list"),
        ({"in": ["1", AGE]}, "/in", "number"),
        ({"+": [ICF, 1]}, "/+/0", "date"),
        ({"<": [{"+": [var("grade"), 1]}, 3]}, "/</0/+/0", "choice"),
        ({"<": [{"days_between": [AGE, ICF]}, 3]}, "/</0/days_between/0", "number"),
        ({"before": [ICF, "soon"]}, "/before/1", "soon"),
        ({"in_window": [ICF, ICF, 0, 1, 1]}, "/in_window/2", "Day 0"),
        ({"some": [AGE, True]}, "/some/0", "list"),
        ({"some": [var("exclusion"), {"==": [AGE, 1]}]}, "/some/1/==/0/var", "age"),
        ({"matches": [var("note"), "(?=a)b"]}, "/matches/1", "(?=a)b"),
        ({"matches": [var("note"), 5]}, "/matches/1", "text"),
        ({"across_events": [5, AGE]}, "/across_events/0", "text"),
        ({"<": [{"round_half_up": [AGE, 99]}, 1]}, "/</0/round_half_up/1", "decimals"),
        ({"<": [{"to_unit": [AGE, "x", "mmol/L", "kryptonite"]}, 1]}, "/</0/to_unit/3", "kryp"),
        ({"<": [{"to_unit": [AGE, "x", "furlong", "glucose"]}, 1]}, "/</0/to_unit/2", "furlong"),
        ({"<": [AGE]}, "/<", "1"),
        ({">": [5, AGE, 1]}, "/>", "3"),
        ({"and": []}, "/and", "0"),
        ({"today": [1]}, "/today", "1"),
        ({"<": [AGE, float("nan")]}, "/</1", "finite"),
        ({"if": [{"<": [AGE, 5]}, "too young", True]}, "", "true"),
        ({"across_events": ["e1", "yes"]}, "", "true"),
        ([{"<": [AGE, 5]}], "", "list"),
        ([], "", "list"),
        ([SEX], "", "list"),
        ({"and": [[{"<": [AGE, 5]}], True]}, "/and/0", "list"),
        ({"or": [False, [True]]}, "/or/1", "list"),
        ({"if": [[{"<": [AGE, 5]}], True, False]}, "/if/0", "list"),
        ({"if": [{"<": [AGE, 5]}, [False], True]}, "", "list"),
        ({"!": [[{"<": [AGE, 5]}]]}, "/!/0", "list"),
        ({"!!": [[{"<": [AGE, 5]}]]}, "/!!/0", "list"),
        ({"all": [var("exclusion"), [{"==": [var(""), 1]}]]}, "/all/1", "list"),
        ({"filter": [[AGE], [True]]}, "/filter/1", "list"),
        ({"across_events": ["e1", [{"<": [AGE, 5]}]]}, "", "list"),
        ({"across_events": ["e1", SEX]}, "", "sex"),
        (nested(65), "", "64"),
        ({"cat": ["x" * 70_000]}, "", "64"),
    ],
)  # fmt: skip
def test_a_wrong_rule_names_its_place(logic: Any, path: str, words: str) -> None:
    found = problems(logic)
    assert [(p.path, words in p.message) for p in found[:1]] == [(f"rules/0/logic{path}", True)]


def test_all_problems_are_reported_at_once() -> None:
    found = problems({"and": [{"<": [var("aeg"), 75]}, {"foo": 1}, SEX]}, about="gea")
    assert [p.path for p in found] == [
        "rules/0/field",
        "rules/0/logic/and/0/</0/var",
        "rules/0/logic/and/1",
        "rules/0/logic/and/2",
    ]


@pytest.mark.parametrize(
    "logic",
    [
        {"!!": SEX},
        {"!": SEX},
        {"==": [SEX, None]},
        {"==": [var("base_complete"), 2]},
        {"<": [var("ecog"), 2]},
        {"==": [SEX, "UNK"]},
        {"==": [var("alt"), "NA"]},
        {"==": [var("alt"), ""]},
        {"and": [{"!!": var("consent")}, var("exclusion___3")]},
        {"==": [var("exclusion___3"), "1"]},
        {"in": [SEX, [0, 1, 9]]},
        {"<=": ["18", var("age"), "75"]},
        {"if": [{"<": [var("age"), 18]}, False, True]},
        var("exclusion"),
        {"!": var("exclusion")},
        {"and": [var("exclusion___3"), var("exclusion")]},
        {"missing": ["age", "alt"]},
        {"if": [{"missing": ["age"]}, False, {"!": {"missing_some": [1, ["age", "alt"]]}}]},
        {"!!": {"merge": [{"missing": ["age"]}, {"missing": ["alt"]}]}},
        {"filter": [[AGE, var("alt")], {"<": [var(""), 5]}]},
        {"and": [{op: [[AGE], {"<": [var(""), 5]}]} for op in ("all", "some", "none")]},
        {"in": [AGE, {"if": [{"<": [AGE, 5]}, [1, 2], [7]]}]},
        {"in": [AGE, {"across_events": ["e1", [1, 2]]}]},
        {"across_events": ["e1", var("exclusion___3")]},
        {"<": [var("icf"), var("icf_time")]},
        {"<": [var("ae_start"), var("icf")]},
        {"==": [SEX, var("consent")]},
        nested(64),
        True,
    ],
    ids=str,
)
def test_a_meaningful_rule_is_accepted(logic: Any) -> None:
    assert problems(logic) == []


def test_events_are_checked_when_the_study_lists_them() -> None:
    logic = {"<": [{"across_events": ["basline", AGE]}, 5]}
    project = {"form_event_mapping": [{"unique_event_name": "baseline", "form": "base"}]}
    assert problems(logic) == []
    assert "basline" in problems(logic, project=project)[0].message


def test_the_field_must_exist_and_the_severity_be_known() -> None:
    context = StudyContext.build(DICTIONARY)
    rule = {"field": "exclusion", "logic": True, "message": "m"}
    for field, is_fine in (("exclusion", True), ("exclusion___3", True), ("base_complete", True),
                           ("banner", False), ("exclusion___9", False), ("", False)):  # fmt: skip
        assert (validate_rules([{**rule, "field": field}], context) == []) is is_fine
    assert validate_rules([{**rule, "severity": "warning"}], context) == []
    assert validate_rules([{**rule, "severity": "fatal"}], context)[0].path == "rules/0/severity"


def test_without_a_dictionary_names_and_types_are_not_known() -> None:
    context = StudyContext.build(None)
    for logic in ({"<": [var("anything"), 5]}, {"and": [var("x")]}, {"<": [var("x"), var("y")]}):
        assert validate_rules([{"field": "f", "logic": logic}], context) == []
    assert validate_rules([{"field": "f", "logic": {"<": [var("x"), "abc"]}}], context)


def test_a_refused_set_raises_with_every_message() -> None:
    context = StudyContext.build(DICTIONARY)
    rules = [{"field": "age", "logic": {"foo": 1}}, {"field": "age", "logic": {"bar": 1}}]
    with pytest.raises(RuleError, match=r"(?s)rules/0/logic.*foo.*rules/1/logic.*bar"):
        compile_rule_set(rules, context)


def test_a_rules_file_is_a_list_or_an_object_with_rules() -> None:
    assert rule_list([1]) == rule_list({"rules": [1]}) == [1]
    for wrong in ({}, "x", None, {"rules": {}}):
        with pytest.raises(RuleError):
            rule_list(wrong)


@pytest.mark.parametrize(
    "project",
    [
        {"timezone": "Mars/Olympus"},
        {"timezone": "../../etc/passwd"},
        {"anchors": {"anchor_is_day": 2}},
        {"repeating": {"form_name": "ae"}},
        {"form_event_mapping": ["x"]},
    ],
)
def test_a_malformed_project_is_refused(project: Any) -> None:
    with pytest.raises(RuleError):
        StudyContext.build(DICTIONARY, project)

"""Smallest examples of a rule say what the evaluator says of them, and what they leave out does not matter."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rules.context import StudyContext
from core.rules.evaluation import Outcome
from core.rules.examples import examples, slots
from core.rules.limits import within_seconds
from core.rules.rule import Rule, compile_rule
from core.rules.ruleset import RuleSet
from core.rules.samples import cells

TODAY = date(2026, 3, 2)
NUMBER, DAY = "number", "date_ymd"


def row(name: str, form: str, kind: str = "text", check: str = "", **more: str) -> dict[str, str]:
    """A line of a dictionary."""
    return {
        "field_name": name, "form_name": form, "field_type": kind, "field_label": name,
        "text_validation_type_or_show_slider_number": check, **more,
    }  # fmt: skip


CHOICES = {"select_choices_or_calculations": "1, one | 2, two | 3, three"}
METADATA = [
    row("record_id", "base"),
    row("age", "base", check=NUMBER),
    row("count", "base", check="integer"),
    row("day", "base", check=DAY),
    row("later", "base", check=DAY),
    row("at", "base", check="datetime_ymd"),
    row("clock", "base", check="time"),
    row("sex", "base", "radio", **CHOICES),
    row("sure", "base", "yesno"),
    row("drugs", "base", "checkbox", **CHOICES),
    row("note", "base", "notes"),
    row("grade", "visit", "dropdown", **CHOICES),
    row("seen", "visit", check=DAY, branching_logic="[grade] = '2' and [sure_2] = '1'"),
    row("sure_2", "visit", "yesno"),
    row("ae_day", "ae", check=DAY),
    row("alone", "nowhere"),
]
PLACES = [("first", "base"), ("first", "ae"), ("second", "visit"), ("second", "ae")]
DAYS_OF = {"first": "0", "second": "9"}
PROJECT = {
    "events": [
        {"unique_event_name": one, "arm_num": "1", "day_offset": at} for one, at in DAYS_OF.items()
    ],
    "form_event_mapping": [
        {"unique_event_name": event, "form": form, "arm_num": "1"} for event, form in PLACES
    ],
    "repeating": [{"event_name": "second", "form_name": "ae"}],
}
STUDY = StudyContext.build(METADATA, PROJECT)


def var(name: str) -> dict[str, str]:
    return {"var": name}


def compiled(logic: Any, field: str = "age") -> Rule:
    rule, problems = compile_rule({"field": field, "logic": logic, "message": "m"}, "", STUDY)
    assert rule is not None, problems
    return rule


DAYS = st.sampled_from(["day", "later"])
PAIRS = st.permutations(["day", "later"])
CODES = st.sampled_from(["1", "2", "3"])
WHOLE = st.tuples(st.sampled_from(["age", "count"]), st.integers(-5, 200))
LIMITS = st.one_of(WHOLE, st.tuples(st.just("age"), st.decimals(0, 50, places=1).map(float)))
ORDER = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
CONDITIONS = st.one_of(
    st.builds(lambda sign, one: {sign: [var(one[0]), one[1]]}, ORDER, LIMITS),
    st.builds(lambda one, more: {"<=": [one[1], var(one[0]), one[1] + more]}, LIMITS, st.integers(0, 9)),
    st.builds(lambda sign: {sign: [var("age"), var("count")]}, ORDER),
    st.builds(lambda sign, pair: {sign: [*map(var, pair)]}, st.sampled_from(["before", "after", "=="]), PAIRS),
    st.builds(lambda name: {"!": [{"after": [var(name), {"today": []}]}]}, DAYS),
    st.builds(lambda sign: {sign: [var("at"), "2026-01-31 10:30"]}, ORDER),
    st.builds(lambda sign: {sign: [var("clock"), "10:30"]}, ORDER),
    st.builds(lambda code: {"==": [var("sex"), code]}, CODES),
    st.builds(lambda codes: {"in": [var("sex"), codes]}, st.lists(CODES, min_size=1, max_size=2)),
    st.builds(lambda code: {"in": [code, var("drugs")]}, CODES),
    st.builds(lambda name: {"is_blank": [var(name)]}, st.sampled_from(["age", "sex", "drugs", "note", "day"])),
    st.builds(lambda text: {"in": [text, var("note")]}, st.sampled_from(["cough", "热"])),
    st.builds(lambda code: {"across_events": ["second", {"==": [var("grade"), code]}]}, CODES),
)  # fmt: skip
RULES = st.recursive(
    CONDITIONS,
    lambda inner: st.one_of(
        st.builds(
            lambda name, parts: {name: parts},
            st.sampled_from(["and", "or"]),
            st.lists(inner, min_size=1, max_size=3),
        ),
        inner.map(lambda one: {"!": [one]}),
    ),
    max_leaves=5,
)
FITS = {
    **{"number": "7", "integer": "7", "date": "2026-03-01", "datetime": "2026-03-01 08:00"},
    **{"time": "08:00", "code": "1", "text": "x"},
}


@pytest.mark.full
@settings(max_examples=60)
@given(RULES, st.randoms(use_true_random=False))
def test_each_example_has_the_verdict_that_the_evaluator_gives_it(logic: Any, random: Any) -> None:
    rule = compiled(logic)
    for kind, example in examples(rule, STUDY, TODAY).items():
        rows = [{**one} for one in example.rows]
        found = RuleSet((rule,), STUDY).evaluate("1", rows, TODAY)
        own = next(one for one in found if one.row.data == rows[0])
        assert own.outcome is kind, (logic, example)
        # What is not shown may hold anything that it can hold.
        for name, event in {*slots(rule, STUDY)} - example.held.keys():
            column = STUDY.columns[name]
            held = random.choice(
                [FITS.get(column.kind, ("2",)), () if column.kind == "ticks" else ""]
            )
            rows[0 if event in (None, "first") else -1] |= cells(column, held)
        again = RuleSet((rule,), STUDY).evaluate("1", rows, TODAY)
        assert next(one for one in again if one.row.data == rows[0]).outcome is kind, (logic, rows)


@pytest.mark.full
@settings(max_examples=60)
@given(CONDITIONS)
def test_a_single_condition_that_can_pass_and_fail_has_both(logic: Any) -> None:
    found = examples(compiled(logic), STUDY, TODAY)
    assert {Outcome.PASS, Outcome.FAIL} <= found.keys(), logic
    assert ("is_blank" in logic) is (Outcome.UNKNOWN not in found)


@pytest.mark.parametrize(
    ("logic", "passes", "fails"),
    [
        ({">=": [var("age"), 18]}, {("age", None): "18"}, {("age", None): "17"}),
        ({"<": [var("age"), 3.5]}, {("age", None): "3.4"}, {("age", None): "3.5"}),
        (
            {"and": [{">=": [var("age"), 18]}, {"==": [var("sex"), "2"]}]},
            {("age", None): "18", ("sex", None): "2"},
            {("age", None): "17"},
        ),
        (
            {"or": [{">=": [var("age"), 18]}, {"==": [var("sex"), "2"]}]},
            {("age", None): "18"},
            {("age", None): "17", ("sex", None): ""},
        ),
        (
            {"in": ["2", var("drugs")]},
            {("drugs", None): ("2",)},
            {("drugs", None): ("1",)},
        ),
    ],
)
def test_examples_are_small_and_at_the_limit(logic: Any, passes: Any, fails: Any) -> None:
    found = examples(compiled(logic), STUDY, TODAY)
    assert found[Outcome.PASS].held == passes
    if ("sex", None) not in fails:
        assert found[Outcome.FAIL].held == fails


def test_many_conditions_are_met_one_after_the_other() -> None:
    many = [
        {">=": [var("age"), 18]},
        {"<=": [var("count"), 5]},
        {"before": [var("day"), var("later")]},
    ]
    many += [
        {"in": [var("sex"), ["2", "3"]]},
        {"==": [var("sure"), "1"]},
        {"in": ["3", var("drugs")]},
    ]
    many += [{"in": ["cough", var("note")]}, {"<": [var("clock"), "10:30"]}]
    found = examples(compiled({"and": many}), STUDY, TODAY)
    assert set(found) == {Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN}
    assert len(found[Outcome.PASS].held) == 9
    assert len(found[Outcome.FAIL].held) == 1


def test_a_field_that_is_shown_under_a_condition_is_shown_in_the_examples() -> None:
    """REDCap shows it for grade 2 alone: elsewhere the rule applies to nothing."""
    rule = compiled({"before": [var("seen"), "2026-01-01"]}, "seen")
    found = examples(rule, STUDY, TODAY)
    for kind in (Outcome.PASS, Outcome.FAIL):
        assert found[kind].held["grade", None] == "2"
        assert found[kind].held["sure_2", None] == "1"
        assert found[kind].rows[0]["redcap_event_name"] == "second"


def test_a_repeated_form_is_a_row_of_its_own() -> None:
    logic = {"!": [{"before": [var("ae_day"), {"across_events": ["first", var("day")]}]}]}
    found = examples(compiled(logic, "ae_day"), STUDY, TODAY)
    assert set(found) == {Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN}


def test_what_stands_on_no_form_of_the_visit_is_undecided_only() -> None:
    found = examples(compiled({"==": [var("grade"), "1"]}), STUDY, TODAY)
    assert set(found) == {Outcome.UNKNOWN}
    assert found[Outcome.UNKNOWN].verdict.reason == "not_exported"


def test_a_rule_that_always_holds_has_one_example() -> None:
    assert set(examples(compiled(True), STUDY, TODAY)) == {Outcome.PASS}


def test_the_search_ends_when_the_time_is_up() -> None:
    """A rule without loops never asked for the time itself."""
    rule = compiled({">=": [var("age"), 18]})
    assert {*examples(rule, STUDY, TODAY)} == {Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN}
    with within_seconds(-1):
        assert examples(rule, STUDY, TODAY) == {}

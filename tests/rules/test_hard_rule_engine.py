"""HardRuleEngine, which other programs call, and RuleSet: rows, days, keys of rules."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from core.rules.context import StudyContext
from core.rules.limits import RuleError
from core.rules.rule import rule_key
from core.rules.ruleset import compile_rule_set
from engines.hard_rules import HardRuleEngine, record_rows, resolve_today
from tests.rules.support import DICTIONARY, MISSING_CODES, field, result, var

AGE = {
    "id": "age-range",
    "field": "age",
    "logic": {"<=": [18, var("age"), 75]},
    "message": "年龄超出范围",
}
CONSENT = {
    "field": "icf",
    "logic": {"!!": var("icf")},
    "message": "缺少知情同意日期",
    "severity": "warning",
}
BROKEN = {"id": "broken", "field": "age", "logic": {"foo": 1}, "message": "m"}


def test_the_seeds_interface() -> None:
    engine = HardRuleEngine()
    assert engine.run([AGE], {"age": "50"}) == []
    assert engine.is_all_passed([AGE], {"age": "50"}, DICTIONARY)
    [found] = engine.run([AGE], {"age": "80"}, DICTIONARY)
    assert (found.field, found.message, found.severity, found.value) == (
        "age",
        "年龄超出范围",
        "error",
        "80",
    )
    assert (found.outcome, found.reason, found.rule) == ("FAIL", None, "age-range")


def test_unknown_and_error_are_listed_and_never_a_pass() -> None:
    engine = HardRuleEngine()
    found = engine.run([AGE, CONSENT, BROKEN], {"age": "", "icf": ""}, DICTIONARY)
    assert [(r.outcome, r.severity) for r in found] == [
        ("UNKNOWN", "error"),
        ("FAIL", "warning"),
        ("ERROR", "error"),
    ]
    assert "foo" in found[2].message
    assert not engine.is_all_passed([AGE], {}, DICTIONARY)


def test_a_record_of_rows_a_project_and_a_day() -> None:
    engine = HardRuleEngine({"repeating": [{"form_name": "ae"}], **MISSING_CODES})
    rule = {"field": "ae_day", "logic": {"<=": [var("ae_day"), {"today": []}]}, "message": "m"}
    rows = [
        {"record_id": "1", "redcap_repeat_instrument": "ae", "redcap_repeat_instance": n, "ae_day": d}
        for n, d in ((1, "2024-05-31"), (2, "2024-06-02"), (3, "UNK"))
    ]  # fmt: skip
    data = {"record_id": "1", "rows": rows}
    found = engine.run([rule], data, DICTIONARY, today=date(2024, 6, 1))
    assert [(r.instance, r.outcome, r.reason) for r in found] == [
        (2, "FAIL", None),
        (3, "UNKNOWN", "missing_code"),
    ]


def test_not_applicable_is_clean() -> None:
    rule = {"field": "preg", "logic": {"==": [var("preg"), 0]}, "message": "m"}
    assert HardRuleEngine().is_all_passed([rule], {"sex": "1", "preg": ""}, DICTIONARY)


def test_a_rule_set_gives_all_outcomes_in_rule_order_then_row_order() -> None:
    context = StudyContext.build(DICTIONARY, {"repeating": [{"form_name": "ae"}]})
    serious = {"id": "s", "field": "ae_serious", "logic": {"!": var("ae_serious")}, "message": ""}
    rule_set = compile_rule_set([serious, AGE], context)
    rows: list[dict[str, Any]] = [
        {"age": "5"},
        {"redcap_repeat_instrument": "ae", "redcap_repeat_instance": 2, "ae_serious": "0"},
        {"redcap_repeat_instrument": "ae", "redcap_repeat_instance": 1, "ae_serious": "1"},
    ]
    found = rule_set.evaluate("1", rows, date(2024, 6, 1))
    assert [(r.rule, r.instance, str(r.outcome)) for r in found] == [
        ("s", 2, "PASS"),
        ("s", 1, "FAIL"),
        ("age-range", None, "FAIL"),
    ]


def test_a_defect_in_one_rule_does_not_lose_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    context = StudyContext.build(DICTIONARY)
    rules = compile_rule_set([{**AGE, "logic": {"matches": [var("age"), "\\d+"]}}, AGE], context)

    def explode(*_args: Any) -> bool:
        raise ZeroDivisionError

    monkeypatch.setattr("core.rules.pattern.Pattern.fullmatch", explode)
    found = rules.evaluate("1", [{"age": "50"}], date(2024, 6, 1))
    assert [str(r.outcome) for r in found] == ["ERROR", "PASS"]
    assert "ZeroDivisionError" in found[0].message


def test_the_key_of_a_rule_is_its_id_or_the_hash_of_its_logic() -> None:
    assert rule_key(AGE) == "age-range"
    key = rule_key(CONSENT)
    assert key == rule_key({**CONSENT, "message": "other", "id": ""})
    assert key != rule_key({**CONSENT, "logic": {"!!": var("age")}})
    assert rule_key({"logic": {"a": 1, "b": 2}}) == rule_key({"logic": {"b": 2, "a": 1}})


def test_record_rows() -> None:
    context = StudyContext.build(DICTIONARY)
    assert record_rows({"record_id": "7", "age": "5"}, context)[0] == "7"
    assert record_rows({"age": "5"}, context) == (None, [{"age": "5"}])
    assert record_rows({"rows": [{"record_id": "007"}]}, context)[0] == "007"
    for rows in ([1], "x", None):
        with pytest.raises(RuleError):
            record_rows({"rows": rows}, context)


def test_the_record_id_field_is_the_first_of_the_dictionary() -> None:
    dictionary = [{**DICTIONARY[0], "field_name": "subject"}, *DICTIONARY[1:]]
    context = StudyContext.build(dictionary)
    assert record_rows({"subject": "A-001", "age": "5"}, context)[0] == "A-001"


@pytest.mark.parametrize("identity", [["a"], {"a": 1}, [], {}, False])
def test_a_rule_whose_id_is_no_name_does_not_lose_the_others(identity: Any) -> None:
    rules = [
        {"id": identity, "field": "age", "logic": {"<": [var("age"), 5]}, "message": "m"},
        {"id": "good", "field": "age", "logic": {"<": [var("age"), 5]}, "message": "m"},
    ]
    bad, good = HardRuleEngine().run(rules, {"age": "9"}, DICTIONARY)
    assert (bad.outcome, good.outcome, good.rule) == ("ERROR", "FAIL", "good")
    assert "rules/0/id" in bad.message


@pytest.mark.parametrize("identity", [{"a": 1}, ["7"], True])
def test_a_record_id_is_a_text_or_a_number(identity: Any) -> None:
    for data in (
        {"record_id": identity, "age": "5"},
        {"record_id": identity, "rows": []},
        {"rows": [{"record_id": identity}]},
    ):
        with pytest.raises(RuleError):
            record_rows(data, StudyContext.build(DICTIONARY))
    for known, text in ((7, "7"), (7.5, "7.5"), ("007", "007"), (None, None)):
        assert record_rows({"record_id": known}, StudyContext.build(None))[0] == text


@pytest.mark.parametrize("text", ["9999-12-31T23:00:00Z", "0001-01-01T00:00:00+14:00"])
def test_today_beyond_the_calendar_of_the_zone_is_refused(text: str) -> None:
    with pytest.raises(RuleError):
        resolve_today(text, StudyContext.build(None))


@pytest.mark.parametrize(
    ("logic", "raw", "value"),
    [
        ({"<": [var("x"), 75]}, "70.0", 70),
        ({"<": [18, var("x"), 75]}, " 70.5 ", 70.5),
        ({"==": [{"+": [var("x"), 1]}, 71]}, "70", 70),
        ({"before": [var("x"), "2024-06-01"]}, "2024/5/1", "2024-05-01"),
        ({">": [var("x"), "2024-01-01 10:00"]}, "2024-05-01 9:30", "2024-05-01 09:30"),
        ({"<": [var("x"), "12:00"]}, "9:30", "09:30"),
        ({"==": [var("x"), "70.0"]}, "70.0", "70.0"),
        ({"!!": var("x")}, "70.0", "70.0"),
        ({"<": [var("x"), 75]}, "<70", None),
        ({"<": [var("x"), 75]}, "ND", None),
    ],
)
def test_the_detail_of_an_untyped_var_shows_what_the_rule_took_it_for(
    logic: Any, raw: str, value: Any
) -> None:
    dictionary = [field("record_id"), field("x")]
    for known in (None, dictionary):
        found = result(logic, {"x": raw}, about="x", dictionary=known)
        assert [(entry["raw"], entry["value"]) for entry in found.detail] == [(raw, value)]


def test_today_is_the_day_of_the_house(settings: Any) -> None:
    """As it is in a run: DEMO_TODAY counts where it is set."""
    settings.DEBUG, settings.DEMO_TODAY = True, "2025-11-30"
    assert resolve_today(None, StudyContext.build(None)) == date(2025, 11, 30)


def test_resolve_today_refuses_nonsense() -> None:
    context = StudyContext.build(None)
    assert isinstance(resolve_today(None, context), date)
    for text in ("today", "2024-13-01", "01/02/2024", ""):
        with pytest.raises(RuleError):
            resolve_today(text, context)


def test_detail_names_every_var_once_with_raw_label_and_value() -> None:
    logic = {
        "and": [
            {"<": [var("alt"), 120]},
            {">": [var("alt"), 1]},
            {"==": [var("sex"), 1]},
            {"<": [var("icf"), "2025-01-01"]},
            {"in": [1, var("exclusion")]},
            {"==": [var("consent"), 1]},
            {"<": [var("wake"), "10:00"]},
            {"<": [var("icf_time"), "2025-01-01"]},
        ]
    }
    row = {
        "alt": "5.50",
        "sex": "1",
        "icf": "2024-01-05",
        "exclusion___1": "1",
        "exclusion___2": "0",
        "exclusion___3": "1",
        "consent": "1",
        "wake": "7:05",
        "icf_time": "2024-01-05 09:30",
        "age": "50",
    }
    found = result(logic, row)
    assert found.outcome == "PASS"
    assert [(d["var"], d["raw"], d["label"], d["value"]) for d in found.detail] == [
        ("alt", "5.50", None, 5.5),
        ("sex", "1", "Male", "1"),
        ("icf", "2024-01-05", None, "2024-01-05"),
        ("exclusion", ["1", "3"], "Pregnant, Allergy, severe", ["1", "3"]),
        ("consent", "1", "Yes", True),
        ("wake", "7:05", None, "07:05"),
        ("icf_time", "2024-01-05 09:30", None, "2024-01-05 09:30"),
        ("age", "50", None, 50),
    ]
    assert json.loads(json.dumps(found.as_dict()))["outcome"] == "PASS"

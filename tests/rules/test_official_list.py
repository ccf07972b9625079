"""What rules decide is what the official JSON Logic list says; types and blanks leave the rest open."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from core.rules.context import StudyContext
from core.rules.evaluation import Outcome
from core.rules.ruleset import compile_rule_set
from tests.fuzz.checks import validate_rules
from tests.rules.support import REFERENCE

LIST = REFERENCE / "jsonlogic_tests.json"
UNTYPED = StudyContext.build(None)
TYPED = [{"===": [1, "1"]}, {"!==": [1, "1"]}, {"===": [0, "0"]}]
"""Values take the type of what stands beside them: a text beside a number is one."""


def decided(logic: Any, data: Any) -> bool | None:
    """The verdict on one row; None where the rule is refused, or undecided."""
    rules = [{"field": "x", "logic": logic, "message": ""}]
    if not isinstance(data, dict | None) or validate_rules(rules, UNTYPED):
        return None
    [found] = compile_rule_set(rules, UNTYPED).evaluate("1", [data or {}], date(2024, 6, 1))
    return {Outcome.PASS: True, Outcome.FAIL: False}.get(found.outcome)


def test_what_is_decided_is_decided_as_in_the_official_list() -> None:
    if not LIST.exists():
        pytest.skip("NOT RUN: jsonlogic_tests.json is not beside this checkout")
    cases = [case for case in json.loads(LIST.read_text("utf-8")) if not isinstance(case, str)]
    found = [(logic, decided(logic, data), bool(expected)) for logic, data, expected in cases]
    known = [case for case in found if case[1] is not None]
    assert len(known) >= 160
    assert [logic for logic, ours, expected in known if ours is not expected] == TYPED

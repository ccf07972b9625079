"""The official JSON Logic list, all of it (contracts.md, Python)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engines.jsonlogic import apply
from tests.rules.support import REFERENCE

LIST = REFERENCE / "jsonlogic_tests.json"


def cases() -> list[Any]:
    return json.loads(LIST.read_text("utf-8")) if LIST.exists() else []


def test_every_case_of_the_official_list() -> None:
    if not LIST.exists():
        pytest.skip("NOT RUN: jsonlogic_tests.json is not beside this checkout")
    checked = [case for case in cases() if not isinstance(case, str)]
    wrong = [
        (logic, data, expected, apply(logic, data))
        for logic, data, expected in checked
        if json.dumps(apply(logic, data)) != json.dumps(expected)
    ]
    assert len(checked) >= 278
    assert wrong == []

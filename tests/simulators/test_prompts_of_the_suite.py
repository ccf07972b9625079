"""The check that follows every test of the suite sees an identifier where one is told."""

from __future__ import annotations

import httpx
import pytest

from tests.answers.leaks import identifiers
from tests.support.prompts import told_to_models
from tests.support.stand_ins import StandIns


@pytest.mark.parametrize(
    ("role", "is_seen"), [("user", True), ("system", True), ("tool", True), ("assistant", False)]
)
def test_an_identifier_is_seen(stand_ins: StandIns, role: str, is_seen: bool) -> None:
    """What a model said itself may come back to it."""
    value = min(identifiers())
    told = {"role": role, "content": f"受试者是 {value} 吗", "tool_call_id": "1"}
    asked = {"role": "user", "content": "P001"}
    httpx.post(
        f"{stand_ins.url}/llm/v1/chat/completions",
        json={"model": "m", "messages": [told, asked]},
        headers={"Authorization": "Bearer key"},
        trust_env=False,
    )
    found = told_to_models(stand_ins.requests("llm"))
    stand_ins.reset()
    assert found == ([value] if is_seen else [])

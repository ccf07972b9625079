"""The checks of `make fuzz` on inputs that hypothesis makes: nothing else than the named errors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import build, checks

BYTES = st.binary(max_size=300)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*build.CLINICAL, "a", "b", ""]), inner, max_size=2)
    ),
    max_leaves=12,
)
quick = settings(max_examples=150, deadline=None)


@pytest.mark.full
@quick
@given(BYTES)
def test_clinical_rules(content: bytes) -> None:
    source = build.Source(content)
    checks.clinical(build.rules(source), build.rows(source))


@pytest.mark.full
@quick
@given(JSON, st.sampled_from(["age", "box", "preg", "ae_day", "nope"]))
def test_any_json_as_a_clinical_rule(logic: Any, field: str) -> None:
    checks.clinical([{"field": field, "logic": logic, "message": "m"}], [{"age": "50"}])


@pytest.mark.parametrize("logic", [True, None, 1, "", {"==": [1, 1]}, {"today": []}])
def test_a_rule_that_reads_no_field(logic: Any) -> None:
    checks.clinical([{"field": "age", "logic": logic, "message": "m"}], [{"age": "50"}, {}])


@pytest.mark.full
@quick
@given(BYTES)
def test_workflows(content: bytes) -> None:
    checks.workflow(build.config(build.Source(content)))


@pytest.mark.full
@quick
@given(JSON)
def test_any_json_as_a_workflow(config: Any) -> None:
    checks.workflow(config)
    checks.workflow({"start_node": "a", "nodes": {"a": config}})

"""What a configuration says otherwise than another one, told in words."""

from __future__ import annotations

from typing import Any

import pytest

from skills.changes import NOTHING, changes
from tests.skills.graphs import graph, hard

ADULT = {"field": "age", "logic": {">=": [{"var": "age"}, 18]}, "message": "adult"}
OLD = {"field": "age", "logic": {"<": [{"var": "age"}, 75]}, "message": "not too old"}


def told(before: list[Any], after: list[Any]) -> list[tuple[str, bool, bool]]:
    """Of each line its label, and whether a rule stood there before and stands there now."""
    [change] = changes(
        graph(a=hard() | {"rules": before}), graph(a=hard() | {"rules": after}), None
    )
    return [(one.label, one.before != NOTHING, one.after != NOTHING) for one in change.lines]


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ([ADULT, ADULT], [ADULT], [("规则“adult”", True, False)]),
        ([ADULT], [ADULT, OLD, ADULT], [("规则“not too old”", False, True), ("规则“adult”", False, True)]),
        ([ADULT, OLD], [OLD, ADULT], [("规则", True, True)]),
        ([ADULT | {"id": "A"}, OLD], [OLD, OLD | {"id": "A"}], [("规则“not too old”", True, True)]),
    ],
    ids=["one of two alike", "one more alike", "order", "by id"],
)  # fmt: skip
def test_rules_that_came_and_went_are_counted(
    before: list[Any], after: list[Any], lines: list[tuple[str, bool, bool]]
) -> None:
    assert told(before, after) == lines

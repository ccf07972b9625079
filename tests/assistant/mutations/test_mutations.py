"""Thousands of lies made of true answers, and the same truths in other words: which reach the reader.

`python -m tests.assistant.mutations` prints the same with what came out wrong. The bounds are the
goals: 0.01 and 0.95.
"""

from __future__ import annotations

import pytest

from tests.assistant.mutations.run import mutants, parents, played, rewritings, told

MOST_LIES, LEAST_TRUE = 0.01, 0.95
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sheets")]


@pytest.fixture(scope="module")
def whose() -> frozenset[str]:
    return parents()


def test_lies_do_not_go_out(whose: frozenset[str]) -> None:
    found = mutants()
    rows = played(found, whose)
    table = told("lies that go out", rows, wanted=False)
    assert len(found) >= 3000, table
    assert sum(delivered for _one, delivered in rows) <= MOST_LIES * len(rows), table


def test_other_words_for_the_same_go_out(whose: frozenset[str]) -> None:
    rows = played(rewritings(), whose)
    table = told("rewritings that do not go out", rows, wanted=True)
    assert len(rows) >= 300, table
    assert sum(delivered for _one, delivered in rows) >= LEAST_TRUE * len(rows), table

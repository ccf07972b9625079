"""Scripted models in CI: a perfect one is read as it is meant, a noisy one seldom wrongly."""

from __future__ import annotations

import pytest

from tests.answers.judge import Sort
from tests.answers.scripted import noisy, perfect, replayed


def share(sorts: list[Sort], sort: Sort) -> float:
    return sorts.count(sort) / len(sorts)


@pytest.mark.full
def test_a_perfect_model_is_read_as_it_means() -> None:
    sorts = [row.sort for row in perfect()]
    assert len(sorts) >= 300
    assert share(sorts, Sort.USEFUL) >= 0.95


@pytest.mark.full
def test_a_noisy_model_is_held_to_the_words_of_the_message() -> None:
    rows = list(noisy())
    assert len(rows) >= 1_500
    called = [row.sort for row in rows if row.called]
    assert share(called, Sort.WRONG) <= 0.02


@pytest.mark.full
def test_a_capable_model_that_slips_is_held_to_the_words_of_the_message() -> None:
    called = [row.sort for row in replayed() if row.called]
    assert len(called) >= 20
    assert share(called, Sort.WRONG) <= 0.02

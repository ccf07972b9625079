"""How far a rule speaks of a thing, by where its words stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.protocol.excerpts.standing import (
    TITLE_ONLY,
    TITLED,
    WEIGHTS,
    Fields,
    Standing,
)

_TERMS = st.frozensets(st.sampled_from(["肝", "功", "肝功", "alt", "v2", "3"]), max_size=6)
_RULES = st.lists(st.tuples(_TERMS, _TERMS, _TERMS, _TERMS, _TERMS), max_size=4)
_NAMES = st.lists(
    st.tuples(_TERMS.filter(bool), st.sampled_from([1.0, 0.85])), min_size=1, max_size=3
)


def _fields(**places: str) -> Fields:
    text, heading, lead, above, near = (
        frozenset(places.get(name, "").split())
        for name in ("text", "heading", "lead", "above", "near")
    )
    return text, heading, lead, above, near


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (_fields(text="肝 功 肝功"), 1.0),
        (_fields(near="肝 功 肝功"), 0.2),
        (_fields(text="肝"), 1 / 3),
        (_fields(heading="肝 功 肝功"), 1.05),
        (_fields(lead="血"), 0.0),
    ],
)
def test_a_word_counts_by_its_best_place(rule: Fields, told: float) -> None:
    found = Standing([rule]).told([(frozenset({"肝", "功", "肝功"}), 1.0)])
    assert found.get(0, 0.0) == pytest.approx(told)


def test_figures_and_latin_letters_are_there_or_nothing_is() -> None:
    word = [(frozenset({"ps", "评", "分", "评分"}), 1.0)]
    rules = [_fields(text="评 分 评分"), _fields(text="ps 评")]
    assert Standing(rules).told(word) == {0: 0.0, 1: 0.5}


@given(_RULES, _NAMES)
def test_all_rules_at_once_are_told_as_each_alone(
    rules: list[Fields], names: list[tuple[frozenset[str], float]]
) -> None:
    found = Standing(rules).told(names)
    headings = Standing(rules).told(names, TITLE_ONLY)
    for at, fields in enumerate(rules):
        titled = max(TITLED * counts * _share(one, fields[1]) for one, counts in names)
        best = max(
            weight * counts * _share(one, held)
            for one, counts in names
            for weight, held in zip(WEIGHTS, fields, strict=True)
        )
        assert found.get(at, 0.0) == pytest.approx(best + titled)
        heading = max(WEIGHTS[1] * counts * _share(one, fields[1]) for one, counts in names)
        assert headings.get(at, 0.0) == pytest.approx(heading + titled)


def _share(names: frozenset[str], held: frozenset[str]) -> float:
    if any(term.isascii() for term in names - held):
        return 0.0
    return len(names & held) / len(names)

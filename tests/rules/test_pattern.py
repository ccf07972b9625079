"""The matcher behind `matches`: the same language as `re` on its subset, in linear time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rules.limits import RuleError
from core.rules.pattern import compile_pattern

ATOMS = st.sampled_from(
    ["a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", "\\d", "\\w", "\\.", "1", "^", "$", "[-b]", "\\s"]
)
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: (
        st.builds(lambda x: f"(?:{x})*", inner)
        | st.builds(lambda x: f"({x})+", inner)
        | st.builds(lambda x: f"({x})?", inner)
        | st.builds(lambda x, n: f"({x}){{1,{n}}}", inner, st.integers(1, 3))
        | st.builds(lambda x: f"({x}){{2}}", inner)
        | st.builds(lambda x: f"({x}){{1,}}?", inner)
        | st.builds(lambda a, b: f"{a}{b}", inner, inner)
        | st.builds(lambda a, b: f"({a}|{b})", inner, inner)
    ),
    max_leaves=6,
)


@pytest.mark.full
@settings(max_examples=500, deadline=None)
@given(PATTERNS, st.text("abc1.- ", max_size=6))
def test_matches_exactly_what_re_fullmatch_matches(pattern: str, text: str) -> None:
    assert compile_pattern(pattern).fullmatch(text) is (re.fullmatch(pattern, text) is not None)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 9_000 + "b"),
        ("(a|aa)+", "a" * 9_000 + "b"),
        ("(a*)*b", "a" * 9_000),
        ("(.*a){12}", "a" * 300 + "b"),
        ("(a|b)*a(a|b){14}c", "ab" * 4_000),
        ("(x+x+)+y", "x" * 9_000),
        ("(a?){500}a{500}", "a" * 9_000),
        ("(a|b)*a(a|b){700}c", "ab" * 4_000),
    ],
)
def test_a_catastrophic_pattern_answers(pattern: str, text: str) -> None:
    assert compile_pattern(pattern).fullmatch(text) is False


@pytest.mark.parametrize(
    "pattern",
    [
        *("(?=a)", "(?!a)", "(?<=a)b", "(?P<n>a)", "(a)\\1", "\\bword\\b", "a**", "a{3", "a{2,1}"),
        *(
            "(a",
            "a)",
            "[a",
            "[b-a]",
            "*a",
            "{2}",
            "a{9999}",
            "a{²}",
            "a{1,²}",
            "\\",
            "\\q",
            "(?i)a",
            "a|*",
        ),
        "((a{100}){100}){100}",
        "((((a?){200}){200}){200}){200}",
        "((((){200}){200}){200}){200}",
        "(" * 200 + ")" * 200,
        "a" * 2_000,
    ],
)
def test_a_pattern_outside_the_subset_is_refused(pattern: str) -> None:
    with pytest.raises(RuleError):
        compile_pattern(pattern)


def test_a_long_answer_may_be_limited() -> None:
    for most in (201, 255, 1_000):
        pattern = compile_pattern(f".{{1,{most}}}")
        assert [pattern.fullmatch("x" * n) for n in (0, 1, most, most + 1)] == [
            *(False, True, True, False)
        ]

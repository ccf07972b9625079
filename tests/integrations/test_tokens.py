"""Token counts offline (agents_memory.md 5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.integrations import tokens

TEXTS = [
    "P001 入组了吗?",
    "重点关注:P005 患者依从性差,需每日提醒",
    "Week 5 (2026-02-03 ~ 2026-02-09)",
    '{"record_id": "P001", "values": {"入组日期": "2026-02-05"}}',
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_estimate_is_an_upper_bound(text: str) -> None:
    assert 0 < tokens.count(text) <= tokens.upper_bound(text)


def test_a_known_count() -> None:
    assert tokens.count("") == 0
    assert 4 <= tokens.count("入组日期是2026-02-05") <= 14


def test_a_huge_text_is_estimated_not_encoded() -> None:
    text = "汉" * 300_000
    assert tokens.count(text) == 300_000


def test_lone_surrogates_are_counted() -> None:
    assert tokens.count("\ud800患者") > 0


@given(st.text(max_size=300), st.integers(1, 60))
def test_a_cut_text_fits_and_is_a_beginning(text: str, limit: int) -> None:
    cut = tokens.cut(text, limit)
    assert tokens.count(cut) <= limit
    assert text.startswith(cut)


def test_a_cut_ends_at_a_sentence_where_it_can() -> None:
    text = "第一句说明情况。第二句继续说明。" * 20
    assert tokens.cut(text, 40).endswith("。")

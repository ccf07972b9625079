"""The numbers, dates, ids and names of a text."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language.values import han_number, plain, tokens, values


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("十", 10),
        ("三", 3),
        ("十二", 12),
        ("二十三", 23),
        ("两", 2),
        ("百", 100),
        ("一百零五", 105),
        ("一万", 10_000),
        ("三四", None),
        ("十百", None),
        ("万", None),
    ],
)
def test_chinese_numerals(text: str, number: int | None) -> None:
    assert han_number(text) == number


def test_dates_in_all_spellings_are_one_date() -> None:
    for text in ("2026-03-05", "2026/3/5", "2026年3月5日", "2026.03.05", "２０２６－０３－０５"):
        assert values(text).dates == {(2026, 3, 5)}, text


def test_units_with_powers_are_no_numbers() -> None:
    assert [str(t.value) for t in tokens("WBC 5.6") if t.kind == "number"] == ["5.6"]
    assert {int(n) for n in values("血小板 210 ×10⁹/L").numbers} == {210}


def test_list_numbering_and_placeholders_are_no_values() -> None:
    assert tokens(plain("1. [任务1] 已完成\n2. [任务2] 需要确认\n[文档1] 提到[姓名#3]")) == []


def test_bare_numbers_that_name_a_subject_are_ids() -> None:
    found = tokens(plain("受试者7年龄62岁,受试者007年龄55岁"), {"7", "007"})
    assert [t.value for t in found if t.kind == "id"] == ["7", "007"]
    assert [t.value for t in found if t.kind == "number"] == [Decimal(62), Decimal(55)]


def test_a_source_holds_a_date_that_is_said_less_exactly() -> None:
    source = values("2026-03-05 的 ALT 为 185")
    assert all(source.holds(token) for token in tokens(plain("3月5日 ALT 185")))
    assert not any(source.holds(token) for token in tokens(plain("4月5日, 186")))


@given(st.text(max_size=120))
def test_any_text_is_read(text: str) -> None:
    folded = plain(text)
    assert all(folded[t.start :].startswith(t.text) for t in tokens(folded))

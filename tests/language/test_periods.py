"""Days and stretches of time as people name them (language.periods)."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language.numerals import numeral_value
from core.language.periods import Calendar, periods
from core.language.sounds import sound

# A Monday; the study began on a Tuesday, so that its weeks are not the calendar's.
CALENDAR = Calendar(date(2026, 11, 23), date(2026, 1, 6))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("昨天", "2026-11-22", "2026-11-22"),
        ("明天谁来", "2026-11-24", "2026-11-24"),
        ("上周", "2026-11-10", "2026-11-16"),
        ("上周三", "2026-11-18", "2026-11-18"),
        ("下周一共几个", "2026-11-24", "2026-11-30"),
        ("第12周", "2026-03-24", "2026-03-30"),
        ("第1年", "2026-01-06", "2027-01-04"),
        ("W12", "2026-03-24", "2026-03-30"),
        ("本月", "2026-11-01", "2026-11-30"),
        ("上个月", "2026-10-01", "2026-10-31"),
        ("上上个月", "2026-09-01", "2026-09-30"),
        ("11月16号到22号", "2026-11-16", "2026-11-22"),
        ("11月28日到12月3日", "2026-11-28", "2026-12-03"),
        ("2026-11-16", "2026-11-16", "2026-11-16"),
        ("十二月", "2025-12-01", "2025-12-31"),
        ("5月到7月", "2026-05-01", "2026-07-31"),
        ("去年", "2025-01-01", "2025-12-31"),
        ("去年10月", "2025-10-01", "2025-10-31"),
        ("第三季度", "2026-07-01", "2026-09-30"),
        ("最近两周", "2026-11-10", "2026-11-23"),
        ("未来3天", "2026-11-23", "2026-11-25"),
        ("10月以来", "2026-10-01", "2026-11-23"),
        ("11月16号之前", None, "2026-11-15"),
        ("11月16号以后", "2026-11-17", None),
        ("2月29号", None, None),
        ("最近一次", None, None),
        ("最近0天", None, None),
        ("11月22号到16号", None, None),
        ("7月到5月", "2026-07-01", "2027-05-31"),
    ],
)
def test_a_stretch_of_time(text: str, first: str | None, last: str | None) -> None:
    found = [
        (p.first and p.first.isoformat(), p.last and p.last.isoformat())
        for p in periods(text.lower(), CALENDAR)
    ]
    assert found == ([(first, last)] if first or last else [])


@given(
    st.text(st.sampled_from("今明昨天上下本周月年第一二12三0季度到号日最近以前后-"), max_size=30)
)
def test_whatever_is_typed_stretches_do_not_overlap(text: str) -> None:
    found = list(periods(text, CALENDAR))
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(p.first is None or p.last is None or p.first <= p.last for p in found)


@pytest.mark.parametrize(
    ("said", "value"), [("十二", 12), ("三十", 30), ("一百零五", 105), ("零一三", 13), ("两", 2)]
)
def test_numbers_in_words(said: str, value: int) -> None:
    assert numeral_value(said) == value


def test_what_sounds_alike_is_one_and_what_does_not_is_not() -> None:
    assert sound("入阻多少历") == sound("入组多少例")
    assert sound("肌肝") == sound("肌酐")
    assert sound("主") == sound("组")
    assert sound("血压") != sound("血糖")
    assert sound("ALT") == "ALT"

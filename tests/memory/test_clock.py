"""The parts of the day that an hour is said with (seed 004, 最佳通知时间)."""

from __future__ import annotations

from datetime import time

import pytest

from core.language.clock_times import exact, parse


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("深夜11点", time(23)),
        ("深夜十二点半", time(0, 30)),
        ("深夜1点", time(1)),
        ("午夜十二点", time(0)),
        ("零点", time(0)),
        ("零时三十分", time(0, 30)),
        ("晚上零点", time(0)),
        ("24点", time(0)),
        ("夜间10点", time(22)),
        ("夜里2点", time(2)),
        ("半夜11点", time(23)),
        ("后半夜三点", time(3)),
        ("凌晨2点", time(2)),
        ("晚上1点", time(1)),
        ("晚间9点", time(21)),
        ("今夜11点", time(23)),
        ("傍晚6点半", time(18, 30)),
        ("中午一点", time(13)),
        ("中午11点半", time(11, 30)),
        ("正午12点", time(12)),
        ("午后两点", time(14)),
        ("八点零五分", time(8, 5)),
    ],
)
def test_the_part_of_the_day_tells_which_half_is_meant(text: str, clock: time) -> None:
    assert exact(f"以后{text}通知我") == clock


@pytest.mark.parametrize(
    ("text", "clock"),
    [("深夜", time(22)), ("午夜", time(0)), ("晚间", time(19)), ("午后", time(14))],
)
def test_a_part_alone_has_its_first_hour(text: str, clock: time) -> None:
    assert exact(text) is None
    assert parse(text) == clock


@pytest.mark.parametrize("text", ["25点", "二十五点", "108点", "24:30", "晚25点"])
def test_no_clock_has_such_an_hour(text: str) -> None:
    assert parse(text) is None

"""Limits in field notes."""

from __future__ import annotations

from decimal import Decimal

import pytest

from core.language.limits import limits


@pytest.mark.parametrize(
    ("note", "low", "high"),
    [
        ("正常上限 40", None, "40"),
        ("正常上限:1.2 mg/dL", None, "1.2"),
        ("参考范围 3.5-9.5", "3.5", "9.5"),
        ("正常值:115~150 g/L", "115", "150"),
        ("normal range 3.9 to 6.1", "3.9", "6.1"),
        ("下限 100,上限 300", "100", "300"),
        ("ULN 35", None, "35"),
        ("≤ 1.5", None, "1.5"),
    ],
)
def test_a_note_that_tells_limits(note: str, low: str | None, high: str | None) -> None:
    told = tuple(None if limit is None else Decimal(limit) for limit in (low, high))
    assert limits(note) == told


@pytest.mark.parametrize(
    "note",
    ["", "单位:mmol/L", "YYYY-MM-DD", "基线与V1不填", "如 V2.1", "10-20 min 内测量", "不低于 80"],
)
def test_a_note_that_tells_none(note: str) -> None:
    assert limits(note) is None

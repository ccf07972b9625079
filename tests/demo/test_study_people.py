"""The subjects of the demo study are plainly invented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.demo.study_files import STUDY, records


def check_digit(first_seventeen: str) -> str:
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(int(c) * w for c, w in zip(first_seventeen, weights, strict=True))
    return "10X98765432"[total % 11]


def test_id_cards_are_valid_unique_and_plainly_synthetic() -> None:
    seen = set()
    for row in records():
        if card := row["values"].get("id_card"):
            birth = row["values"]["birth_date"].replace("-", "")
            assert card[:17] == f"110101{birth}000"
            assert card[17] == check_digit(card[:17]), row["record"]
            seen.add(card)
    assert len(seen) == 38


def test_names_are_plainly_synthetic() -> None:
    names = [v for row in records() if (v := row["values"].get("subject_name"))]
    assert len(set(names)) == 38
    assert all(name.startswith(("测试", "示例")) for name in names)


@pytest.mark.parametrize("path", sorted(p for p in STUDY.rglob("*") if p.is_file()), ids=str)
def test_no_file_holds_a_mobile_number_of_somebody(path: Path) -> None:
    found = re.findall(r"(?<!\d)1[3-9]\d{9}(?!\d)", path.read_text(encoding="utf-8"))
    assert all(number.startswith("1380000") for number in found)

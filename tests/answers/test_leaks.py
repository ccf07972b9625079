"""What counts as a leak into a prompt, and what has to stand there."""

from __future__ import annotations

import pytest

from tests.answers.leaks import identifiers, leaks


@pytest.mark.parametrize(
    ("user", "asked", "prompt", "leaked"),
    [
        ("wanghushi", "入组", "[F1] P016 · ALT = 185", False),
        ("wanghushi", "入组", "[F1] P020 · 年龄 = 76", True),
        ("zhangyi", "入组", "[F1] P020 · 年龄 = 76", False),
        ("wanghushi", "P020的年龄", "P020 · 无此受试者", False),
        ("crc_b", "编号", "[D1] 编号为P加三位数字（如 P001）", False),
        ("crc_b", "趋势", "[W5] P001 于2月5日入组", True),
        ("zhangyi", "P001", "P001 测试甲一", True),
        ("zhangyi", "P001", "电话 13800000001", True),
        ("zhangyi", "P001", "P001 · EGFR基因突变 = 野生型", True),
        ("zhangyi", "突变", "[D1] 按照 EGFR 基因突变状态描述", False),
    ],
)
def test_what_leaks(user: str, asked: str, prompt: str, leaked: bool) -> None:
    assert bool(list(leaks(user, asked, prompt))) is leaked


def test_all_identifiers_are_looked_for() -> None:
    assert {"测试甲一", "110101196201010008", "1962-01-01", "ZY9000001"} <= identifiers()

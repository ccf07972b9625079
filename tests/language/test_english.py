"""English answers in the words of the house; what is not English stays as it is."""

from __future__ import annotations

import pytest

from language.english import in_chinese, is_english


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("P008's V2 was done on 20 October 2026", "P008 V2 已完成 2026年10月20日"),
        ("the window is open from 16 to 30 November", "窗口 开放 11月16日至11月30日"),
        ("It opens on November 24, 2026", "开放 2026年11月24日"),
        ("P016's hemoglobin rose from 131 at V2", "P016 血红蛋白 上升 V2 131"),
        ("Site A has enrolled 15 subjects", "A中心 已入组 15 例"),
        ("a grade 2 rash that has not been done yet", "2级 皮疹 未完成"),
        ("P023 has completed five visits so far", "P023 已完成 5个访视 至今"),
    ],
)
def test_an_english_answer_is_told_in_the_words_of_the_house(said: str, told: str) -> None:
    assert in_chinese(said).strip() == told


@pytest.mark.parametrize(
    "said", ["P016 的 ALT 在 V2 升至 185 U/L", "RECIST 1.1", "每周四下午集中处理 Query 和 CRF"]
)
def test_a_chinese_answer_is_none(said: str) -> None:
    assert not is_english(said)


def test_three_words_are_english() -> None:
    assert is_english("P016's ALT was 185 U/L at V2")


def test_what_is_not_known_stays_to_be_judged() -> None:
    assert "cirrhosis" in in_chinese("P016 has had cirrhosis since last year")

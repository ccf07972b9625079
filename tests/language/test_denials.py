"""Whether a free text denies what it names."""

from __future__ import annotations

import pytest

from core.language.denials import denies


@pytest.mark.parametrize(
    ("text", "word", "denied"),
    [
        ("否认间质性肺炎、活动性感染、严重心血管疾病。", "活动性感染", True),
        ("2019年诊断间质性肺炎。否认活动性感染。", "间质性肺炎", False),
        ("No history of asthma", "asthma", True),
        ("高血压病史8年,未见糖尿病", "高血压", False),
        ("高血压病史8年,未见糖尿病", "糖尿病", True),
        ("既往体健", "糖尿病", False),
    ],
)
def test_a_word_is_denied_where_its_part_of_the_sentence_denies_it(
    text: str, word: str, denied: bool
) -> None:
    assert denies(text, word) is denied


def test_a_word_that_is_denied_once_and_told_once_is_told() -> None:
    assert not denies("否认肺炎史;2021年因肺炎住院", "肺炎")

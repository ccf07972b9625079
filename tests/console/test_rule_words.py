"""A rule as a sentence: labels instead of codes, and nothing of the rule left out."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import translation

from skills.rule_words import in_words
from study import dictionary

AGE = {"var": "age"}


@pytest.mark.parametrize(
    ("logic", "parts"),
    [
        ({"<=": [18, AGE, 75]}, ["18 ≤ ", " ≤ 75"]),
        ({"and": [{">=": [AGE, 18]}, {"<": [AGE, 80]}]}, ["≥ 18，且 ", "< 80"]),
        ({"!": [{"is_blank": [{"var": "icf_date"}]}]}, ["知情同意", "已填写"]),
        ({"is_blank": [{"var": "icf_date"}]}, ["知情同意", "未填写"]),
        ({"!": [{"before": [{"var": "enroll_date"}, {"var": "icf_date"}]}]}, ["不早于"]),
        ({"!": [{">": [AGE, 75]}]}, ["并非（", "> 75）"]),
        ({"made_up": [AGE, 1]}, ["made_up(", "1)"]),
        ({"==": [{"var": "gone"}, ""]}, ["gone = 空"]),
        ({"if": [{">": [AGE, 75]}, True, False]}, ["若 ", "则 是", "否则 否"]),
        ({"var": []}, ["var("]),
    ],
)
def test_words(study: Any, logic: object, parts: list[str]) -> None:
    with translation.override("zh-hans"):
        told = in_words(logic, dictionary.load(study.project))
    assert [part for part in parts if part not in told] == [], told


def test_a_choice_stands_with_its_label_and_an_event_with_its_name(study: Any) -> None:
    metadata = dictionary.load(study.project)
    coded = next(name for name in metadata.fields if metadata.fields[name]["field_type"] == "radio")
    code, label = next(iter(metadata.choices(coded).items()))
    event = metadata.events[0]
    rule = {"across_events": [event["unique_event_name"], {"==": [{"var": coded}, code]}]}
    told = in_words(rule, metadata)
    assert label in told
    assert metadata.label(coded) in told
    assert event["event_name"] in told

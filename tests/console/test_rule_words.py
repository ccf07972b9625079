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


def a_field(metadata: Any, kind: str) -> str:
    return next(name for name, row in metadata.fields.items() if row["field_type"] == kind)


def test_what_asks_for_a_tick_says_so(study: Any) -> None:
    """`!` and `!!` of boxes and of yes or no are not about what was filled in."""
    metadata = dictionary.load(study.project)
    yesno, boxes = a_field(metadata, "yesno"), a_field(metadata, "checkbox")
    box = next(name for name, (field, code) in metadata.columns.items() if code and field == boxes)
    with translation.override("zh-hans"):
        for column, on, off in (
            (yesno, "= 是", "≠ 是"),
            (boxes, "= 已勾选", "= 未勾选"),
            (box, "= 已勾选", "= 未勾选"),
            ("age", "已填写", "未填写"),
        ):
            for sign, end in (("!!", on), ("!", off)):
                rule = {sign: [{"var": column}]}
                assert in_words(rule, metadata).endswith(end), (column, sign)
                other = off if end == on else on
                assert in_words({"!": [rule]}, metadata).endswith(other), (column, sign)
            there = {"!!": [{"across_events": ["nowhere", {"var": column}]}]}
            assert in_words(there, metadata).endswith(on), column
        assert "已填写" not in in_words({"!!": [{">": [AGE, 1]}]}, metadata)


OLD, TRUE = {">": [AGE, 75]}, {"==": [{"var": "gone"}, "x"]}


@pytest.mark.parametrize(
    ("logic", "told"),
    [
        ({"if": [OLD, TRUE]}, "若 A > 75，则 gone = x；否则 不成立"),
        ({"<": [{"if": [OLD, 1]}, 2]}, "(若 A > 75，则 1；否则 空) < 2"),
        (
            {"and": [{"if": [OLD, TRUE, False]}, TRUE]},
            "(若 A > 75，则 gone = x；否则 否)，且 gone = x",
        ),
        (
            {"if": [OLD, TRUE, TRUE, OLD]},
            "若 A > 75，则 gone = x；否则 若 gone = x，则 A > 75；否则 不成立",
        ),
        ({"==": [{"var": "gone"}, None]}, "gone = 空"),
        ({"==": [{"var": "gone"}, ""]}, "gone = 空文本"),
        ({"across_events": ["e", AGE]}, "e的A"),
        ({"across_events": ["e", {"<": [AGE, {"var": "gone"}]}]}, "e的(A < gone)"),
        ({"across_events": ["e", {"or": [OLD, TRUE]}]}, "e的(A > 75，或 gone = x)"),
    ],
)
def test_the_sentence_is_what_is_computed(study: Any, logic: object, told: str) -> None:
    metadata = dictionary.load(study.project)
    with translation.override("zh-hans"):
        assert in_words(logic, metadata).replace(metadata.label("age"), "A") == told

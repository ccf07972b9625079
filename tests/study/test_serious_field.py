"""Which code of which field says that an event is serious: as set, else as its label says, else nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from engines.papers.figures import Measures, Span
from study.design import StudyDesign
from tests.study.query.studies import small, text


def design(choices: str, kind: str = "radio") -> StudyDesign:
    fields = [
        text("record_id", "base"),
        text("ae_start", "ae", kind="date_ymd", label="不良事件开始日期"),
        text("ae_serious", "ae", kind=kind, choices=choices, label="是否严重不良事件"),
    ]
    return small(fields, {}).design


@pytest.mark.parametrize(
    ("choices", "code"),
    [
        ("1, 是 | 0, 否", "1"),
        ("1, 否 | 2, 是", "2"),
        ("1, No | 2, Yes", "2"),
        ("0, 无 | 1, 有", "1"),
        ("Y, 是（SAE） | N, 否", "Y"),
        ("1, 是否待定 | 2, 是", "2"),
        ("1, 轻 | 2, 重", ""),
        ("1, 非严重 | 2, 严重", ""),
        ("1, 有关 | 2, 无关", ""),
        ("1, 是，导致住院 | 2, 是，危及生命 | 3, 否", ""),
    ],
)
def test_the_label_says_yes_and_not_the_number(choices: str, code: str) -> None:
    assert design(choices).serious == (("ae_serious", code) if code else ("", ""))


def test_what_was_set_comes_first() -> None:
    shown = design("1, 否 | 2, 是 | 3, 非严重")
    assert replace(shown, serious_set=("ae_serious", "3")).serious == ("ae_serious", "3")
    assert replace(shown, serious_set=("ae_serious", "9")).serious == ("", ""), "no such choice"


def test_where_nothing_tells_it_nothing_is_counted() -> None:
    span = Span(date(2026, 1, 1), date(2026, 1, 31))
    for choices, is_known in (("1, 轻 | 2, 重", False), ("1, 否 | 2, 是", True)):
        asked = [*Measures(design(choices), span, is_checked=True).events()]
        assert [one.query is not None for one in asked] == [
            True,
            is_known,
            is_known,
            True,
            is_known,
            is_known,
        ]
        assert all(one.why for one in asked)

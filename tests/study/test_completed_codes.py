"""Who completed the study: by codes as set, else as their labels say, else by the last visit of the plan."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from engines.papers.figures import Measure, Measures, Span
from tests.study.query.studies import Study, small, text

CODES = "1, 筛选中 | 2, 完成筛选 | 3, 未完成 | 4, 已完成 | 5, Completed"
SPAN = Span(date(2026, 1, 1), date(2026, 6, 30))


def study(choices: str = CODES, *visits: dict[str, str | int], **more: object) -> Study:
    """A subject for each code of the status, named after it."""
    fields = [
        text("record_id", "base"),
        text("subject_status", "base", kind="radio", choices=choices, label="受试者状态"),
        text("gone", "base", kind="yesno", label="是否做完全部访视"),
        text("consented", "base", kind="date_ymd"),
        text("v2_date", "base", kind="date_ymd"),
        text("left_on", "base", kind="date_ymd", label="退出日期"),
    ]
    codes = [part.partition(",")[0].strip() for part in choices.split("|")]
    records: dict[str, list[dict[str, object]]] = {
        f"P{code}": [{"subject_status": code}] for code in codes
    }
    for who, values in more.items():
        records[who][0].update(values)  # type: ignore[call-overload]
    return small(fields, records, visits=visits, status_field="subject_status")


def measured(of: Study) -> Measure:
    (one,) = Measures(of.design, SPAN, is_checked=True).completed()
    return one


def counted(of: Study) -> set[str]:
    query = measured(of).query
    assert query is not None
    assert query["aggregate"] == "count"
    return {*of.subjects(*query["where"])}


@pytest.mark.parametrize(
    ("label", "says"),
    [
        *((one, True) for one in ("完成", "已完成", "研究完成", "正常完成", "完成研究", "Completed")),
        *((one, True) for one in ("Study completed", "completion of study", "试验完成(按方案)")),
        *((one, False) for one in ("完成筛选", "完成入组", "筛选已完成", "Screening completed")),
        *((one, False) for one in ("未完成", "未能按方案完成", "Not completed", "Incomplete")),
        *((one, False) for one in ("脱落/退出", "Enrolment complete", "随访中", "Did not complete")),
    ],
)  # fmt: skip
def test_a_label_says_so_wherever_the_word_stands(label: str, says: bool) -> None:
    told = study(f"1, {label} | 2, 进行中").design.completed
    assert told == ({"subject_status": frozenset("1")} if says else {})


def test_codes_are_counted_that_say_so() -> None:
    assert counted(study()) == {"P4", "P5"}


def test_what_was_set_comes_first_and_may_be_of_another_field() -> None:
    of = study(CODES, P1={"gone": "1"}, P2={"gone": "0"})
    for told, expected in (
        ({"subject_status": frozenset("2")}, {"P2"}),
        ({"gone": frozenset("1")}, {"P1"}),
        ({"gone": frozenset("1"), "subject_status": frozenset("5")}, {"P1", "P5"}),
        ({"subject_status": frozenset("59")}, {"P5"}),  # there is no 9 any more
    ):
        assert counted(replace(of, design=replace(of.design, completed_set=told))) == expected


VISITS = (
    {"visit": "V1", "anchor_field": "consented", "date_field": "consented", "day": 1},
    {"visit": "V2", "anchor_field": "consented", "date_field": "v2_date", "day": 29},
)


def plan(*arms: str) -> list[dict[str, str | int]]:
    return [
        one | {"minus": 0, "plus": 7, "event": "", "arm": arm}
        for one, arm in zip(VISITS, arms or ("", ""), strict=True)
    ]


def test_else_the_last_visit_of_the_plan_is_and_that_is_said() -> None:
    done = {"consented": "2026-01-01", "v2_date": "2026-01-30"}
    of = study(
        "1, 在研 | 2, 脱落 | 3, 筛选 | 4, 结束",
        *plan(),
        P1=done,
        P2=done | {"left_on": "2026-02-01"},
        P3={"consented": "2026-01-01"},
        P4={"consented": "2026-06-01", "v2_date": "2026-07-01"},
    )
    of.design = replace(
        of.design, plan=of.design.plan.model_copy(update={"withdraw_field": "left_on"})
    )
    assert counted(of) == {"P1"}
    assert "V2" in measured(of).said


def test_where_arms_end_with_different_visits_nothing_is_counted() -> None:
    for arms, is_known in ((("1", "2"), False), (("", "2"), False), (("1", "1"), True)):
        told = measured(study("1, 在研 | 2, 脱落", *plan(*arms)))
        assert (told.query is not None) is is_known, arms
        assert told.why or is_known
    assert measured(study("1, 在研 | 2, 脱落")).query is None

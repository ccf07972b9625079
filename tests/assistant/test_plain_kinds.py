"""What is said of facts that the demo study does not have: work, doubts, codes, partial dates, plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from engines.assistant.answer import Reader, told
from engines.assistant.understand.types import Asked, Shape, Slots, Topic
from study.facts import Answer, Basis, Fact, Flag, Group, Kind, Limit, Undecided
from tests.assistant.test_plain_answers import NOW, said
from tests.study.query.studies import Study, demo, small

ROWS: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]] = {
    "findings": {
        "P007": [
            {
                "rule": "EL01",
                "text": "年龄 17 岁,小于 18 岁",
                "status": "open",
                "opened": "2026-11-20",
                "age": 3,
            }
        ],
        "P013": [
            {"rule": "VW2", "text": "V2 超窗 4 天", "status": "open", "opened": "2026-11-21"},
            {"rule": "AE1", "text": "已关", "status": "closed", "opened": "2026-11-01"},
        ],
    },
    "reviews": {
        "P002": [{"question": "能否入组?", "waiting_for": "张医生", "since": "2026-11-22"}]
    },
    "runs": {
        "P020": [{"status": "FAILED", "ended": "2026-11-22", "reason": "年龄大于75岁"}],
        "P002": [{"status": "SUSPENDED"}],
    },
}


def worked() -> Study:
    """The demo study with findings, reviews and runs."""
    return replace(demo(), work=lambda kind: ROWS[kind])


def reader(study: Study | None = None, **more: Any) -> Reader:
    """Who may see all of a study."""
    return Reader((study or demo()).design, NOW, ("P001", "P007"), **more)


def asked(shape: Shape, *select: str, **slots: Any) -> Asked:
    """A question as understanding gives it."""
    query = {k: v for k, v in slots.items() if k in ("subjects", "where", "aggregate", "by")}
    return Asked(
        ({"select": list(select), **query},),
        shape,
        select,
        "",
        Slots(shape=shape, select=select, **slots),
    )


def fact(value: Any, text: str = "", **more: Any) -> Fact:
    """A reading of P001."""
    known = {
        "kind": Kind.VALUE,
        "subject": "P001",
        "field": "alt",
        "instrument": "labs",
        "event": "v2_arm_1",
    }
    return Fact(
        "F1",
        **known | {"value": value, "text": text or ("" if value is None else str(value))} | more,
    )


def answer(*facts: Fact, **more: Any) -> Answer:
    """Facts of one subject, all of whom were looked at."""
    return Answer(facts, **{"basis": Basis(1, len(facts), 0)} | more)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("P007有什么问题", "P007 疑点 1 条:年龄 17 岁,小于 18 岁(2026-11-20 起)"),
        ("P013还有哪些疑点没关", "P013 疑点 1 条:V2 超窗 4 天(2026-11-21 起)"),
        ("还有几条质疑没解决", "未关闭疑点:2 条(2 例)"),
        ("有哪些审核在等我", "待审核 1 条:P002 能否入组?(等待 张医生,2026-11-22 起)"),
        ("P002的质控跑完了吗", "质控:P002 待复核"),
        ("P020质控为什么没过", "质控:P020 失败(2026-11-22,年龄大于75岁)"),
    ],
)
def test_work_is_told_line_by_line(question: str, wanted: str) -> None:
    assert said(worked(), [question]) == wanted


def test_what_is_to_be_done_has_a_line_for_each_kind_of_work() -> None:
    visits, reviews, findings = said(worked(), ["我今天要做些什么"], limit=300).split("\n")
    assert visits.startswith("访视:P005 V3(已超窗 13 天)、")
    assert reviews.startswith("待审核 1 条:P002")
    assert findings.startswith("疑点 2 条:P007 ")


def test_of_whom_nothing_could_be_told_is_said_with_the_reason() -> None:
    found = answer(
        fact(Decimal(90)),
        undecided=(Undecided("P007", "unit_missing"), Undecided("P009", "missing")),
    )
    text = told(asked(Shape.LIST, "alt"), [found], reader())
    assert text.endswith(";无法判断 1 例:P007 缺单位、1 例无数据")


def test_what_was_left_out_is_counted() -> None:
    text = told(asked(Shape.LIST, "alt"), [answer(fact(Decimal(90)), left_out=3)], reader())
    assert text.startswith("共 4 例:P001")
    assert text.endswith("另有 3 项未列出")


@pytest.mark.parametrize(
    ("reading", "wanted"),
    [
        (fact(None, "UNK (未知)", flags=frozenset({Flag.MISSING_CODE})), "UNK (未知)"),
        (fact(None, "<5", unit="U/L"), "<5"),
        (fact(None, "", kind=Kind.BLANK), "未填写"),
        (fact(None, "2026-05", field="ae_start", flags=frozenset({Flag.PARTIAL})), "2026-05"),
        (
            fact("2026-12-01", field="enroll_date", flags=frozenset({Flag.FUTURE})),
            "2026-12-01(计划，尚未进行)",
        ),
        (fact(Decimal(30), flags=frozenset({Flag.CONFLICTING})), "30(读数不一致)"),
    ],
)
def test_a_value_is_told_as_it_stands(reading: Fact, wanted: str) -> None:
    reading = (
        replace(reading, kind=reading.kind) if reading.text != "None" else replace(reading, text="")
    )
    text = told(asked(Shape.VALUE, reading.field, subjects=("P001",)), [answer(reading)], reader())
    assert text.split(" ", 2)[2].removesuffix("(V2)") == wanted


def test_beyond_a_limit_the_limit_and_the_multiple_are_told() -> None:
    high = fact(
        Decimal(185), unit="U/L", limit=Limit(None, Decimal(40)), flags=frozenset({Flag.HIGH})
    )
    question = asked(Shape.VALUE, "alt", subjects=("P001",))
    assert "185 U/L(V2),为正常上限 40 的 4.63 倍" in told(question, [answer(high)], reader())
    within = replace(high, value=Decimal(20), text="20", flags=frozenset())
    assert "倍" not in told(question, [answer(within)], reader())
    low = replace(high, limit=Limit(Decimal(200), None), flags=frozenset({Flag.LOW}))
    assert "低于正常下限 200" in told(question, [answer(low)], reader())


def test_the_multiple_of_a_limit_comes_with_the_value_where_both_are_known() -> None:
    ratio = fact(Decimal("4.625"), label="谷丙转氨酶ALT：比值")
    question = asked(Shape.RATIO_TO_LIMIT, "alt", subjects=("P001",), change="limit:high")
    text = told(question, [answer(fact(Decimal(185), unit="U/L"), ratio)], reader())
    assert text == "P001 谷丙转氨酶ALT 185 U/L(V2),为正常上限的 4.63 倍"


def test_groups_without_a_name_are_those_not_filled_in() -> None:
    rows = (Group(("1",), ("P001",), 1, 1, Decimal(1)), Group((None,), ("P007",), 1, 1, Decimal(1)))
    labels = ("男", "–")
    facts = tuple(
        Fact("", Kind.AGGREGATE, label=label, value=Decimal(1), text="1") for label in labels
    )
    question = asked(Shape.GROUPS, aggregate="count", by=("sex",))
    found = Answer(facts, rows, basis=Basis(2, 2, 0))
    assert told(question, [found], reader()) == "男 1 例、未填写 1 例"


def test_a_missing_code_of_another_study_is_told_with_its_label() -> None:
    fields = [
        {"field_name": "id", "form_name": "base", "field_type": "text", "field_label": "编号"},
        {
            "field_name": "k",
            "form_name": "base",
            "field_type": "text",
            "field_label": "血钾（mmol/L）",
            "text_validation_type_or_show_slider_number": "number",
        },
    ]
    study = small(fields, {"S1": [{"k": "UNK"}]})
    found = study.ask(subjects=["S1"], select=["k"])
    question = asked(Shape.VALUE, "k", subjects=("S1",))
    assert told(question, [found], reader(study)) == "S1 血钾 UNK (未知)"


def test_a_target_that_is_reached_is_told_as_reached() -> None:
    count = Fact("", Kind.AGGREGATE, value=Decimal(32), text="32")
    plan = Fact("", Kind.PROJECT, field="@project.target", value=Decimal(30), text="30")
    question = asked(Shape.TARGET_LEFT, topic=Topic.TARGET)
    assert told(question, [answer(count), answer(plan)], reader()).startswith("已达目标")


def test_the_same_values_do_not_differ() -> None:
    both = answer(fact(Decimal(30)), fact(Decimal(30), subject="P007"))
    both = replace(both, basis=Basis(2, 2, 0))
    question = asked(Shape.DIFFERENCE, "alt", subjects=("P001", "P007"))
    assert told(question, [both], reader()).endswith("P001(30) 与 P007(30) 相同")


def test_of_who_was_named_and_cannot_be_judged_neither_yes_nor_no_is_said() -> None:
    told = said(demo(), ["P004的肌酐超过上限了吗"])
    assert told.startswith("P004 肌酐Cr")
    assert told.endswith("无法判断 1 例:P004 缺数值或界值")


def test_many_lines_stand_whole_as_far_as_they_fit() -> None:
    *lines, rest = said(demo(), ["所有AE列一下"], limit=120).split("\n")
    assert lines[:3] == ["7 腹泻", "P001 皮疹", "P003 不良事件 2 条:急性阑尾炎（住院手术）、乏力"]
    assert rest == f"另有 {18 - len(lines)} 项未列出"


@pytest.mark.parametrize(
    ("subject", "name", "op", "bound", "wanted"),
    [
        (
            "P023",
            "tbil",
            ">",
            {"ref": "high"},
            "没有,P023 总胆红素TBIL均未高于正常上限(共 5 次,最高 1.0 mg/dL)",
        ),
        ("P020", "temperature", ">", 38, "没有,P020 体温均未高于38(共 6 次,最高 36.8℃)"),
        ("P001", "plt", "<", 100, "没有,P001 血小板PLT均未低于100(共 6 次,最低 180 ×10⁹/L)"),
        ("P012", "alt", ">", 40, "P012 没有谷丙转氨酶ALT的记录"),
    ],
)
def test_a_no_says_over_which_readings(
    subject: str, name: str, op: str, bound: Any, wanted: str
) -> None:
    where = ({"field": name, "op": op, "value": bound},)
    one = asked(Shape.YES_NO, name, subjects=(subject,), where=where)
    everything = {"subjects": [subject], "select": [name]}
    found = [demo().ask(**everything, where=list(where)), demo().ask(**everything)]
    assert told(replace(one, queries=(one.query, everything)), found, reader()) == wanted


def test_of_findings_of_many_the_subjects_stay_where_there_is_little_room() -> None:
    told = said(worked(), ["有疑点的是谁"], limit=30)
    assert told == "疑点 2 条:P007、P013"
    assert "V2 超窗 4 天" in said(worked(), ["P013的疑点"], limit=30)


def test_a_check_that_came_to_its_end_says_with_what() -> None:
    ends = {"P009": "end_with_violation", "P001": "end_success"}
    rows = {i: [{"status": "COMPLETED", "final_state": end}] for i, end in ends.items()}
    study = replace(demo(), work=lambda kind: rows if kind == "runs" else {})
    assert said(study, ["P009的质控跑完了吗"]) == "质控:P009 结束，发现违背"
    assert said(study, ["P001的质控跑完了吗"]) == "质控:P001 通过"

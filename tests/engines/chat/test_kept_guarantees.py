"""What every answer keeps to, whichever way it was read: scope, what is withheld, what was not looked at."""

from __future__ import annotations

import re

import pytest
from django.utils.timezone import now

from engines.models import Review
from study.models import Subject
from tests.engines.chat.kit import ask, silenced
from tests.engines.sop.kit import review_of, run_qc
from tests.support.study import Study

PLAN = "V2 的窗口期是多少天?"
ELSEWHERE = ["A中心入组了几例", "site_a入组了几例", "演示医院A入组了几例", "A中心和B中心哪家入组多"]


@pytest.fixture
def silent(study: Study) -> Study:
    """No model helps."""
    silenced(study)
    return study


def own(site: str) -> set[str]:
    return set(Subject.objects.filter(site=site).values_list("record_id", flat=True))


@pytest.mark.full
@pytest.mark.parametrize(
    "question",
    ["每个受试者的入组日期都列出来", "所有受试者的基线ALT", "列出全部受试者的年龄和体重"],
)
def test_the_table_of_a_site_has_its_own_subjects_alone(silent: Study, question: str) -> None:
    told = ask("crc_b", question)
    named = {row[0] for row in told.table.rows} if told.table else set()
    assert named <= own("site_b")
    assert not own("site_a") & set(re.findall(r"P\d{3}", told.text))


@pytest.mark.full
def test_a_list_too_long_for_a_message_has_a_table_of_the_site(silent: Study) -> None:
    ask("crc_b", "记住:回复我不要超过60个字")
    told = ask("crc_b", "每个受试者的入组日期都列出来")
    assert len(told.text) <= 60
    assert told.table
    assert {row[0] for row in told.table.rows} <= own("site_b")
    assert len(told.table.rows) > 10
    whole = ask("zhangyi", "每个受试者的入组日期都列出来").table
    assert whole
    assert {row[0] for row in whole.rows} & own("site_a")


@pytest.mark.parametrize("hidden", ["EGFR", "电话", "身份证号", "姓名"])
@pytest.mark.parametrize(
    "form", ["P003的入组日期和{}", "P003的{}和入组日期", "P003的入组日期、{}是多少"]
)
def test_what_is_withheld_does_not_hide_what_is_told(silent: Study, hidden: str, form: str) -> None:
    text = ask("zhangyi", form.format(hidden)).text
    assert "2026-01-22" in text
    assert "不能提供" in text or f"“{hidden}”没有听懂" in text


@pytest.mark.full
def test_a_hidden_field_reads_like_one_that_is_not_there(silent: Study) -> None:
    hidden, absent = (ask("zhangyi", f"P003的入组日期和{name}").text for name in ("EGFR", "鞋码"))
    assert hidden.replace("EGFR", "鞋码") == absent


@pytest.mark.parametrize(
    "question",
    [
        "{}的ALT和AST",
        "{}和P020的ALT",
        "{}最近怎么样",
        "{}能不能入组",
        "{}的V2什么时候做,超窗了吗",
        "{}为什么没过质控",
        "{}上次复核以来改了什么",
        "{}的鞋码和年龄",
    ],
)
def test_not_yours_is_said_as_not_there_but_for_what_was_typed(
    silent: Study, question: str
) -> None:
    yours, absent = (ask("crc_b", question.format(one)) for one in ("P001", "P999"))
    assert yours.text.replace("P001", "P999") == absent.text
    assert (yours.intents, yours.asked_back) == (absent.intents, absent.asked_back)
    assert "P001" not in str(yours.sources)


@pytest.mark.full
@pytest.mark.parametrize("question", ELSEWHERE)
def test_whose_site_is_another_is_told_which_they_see(silent: Study, question: str) -> None:
    told = ask("crc_b", question)
    assert told.text == "您只能查看演示医院B的数据。"
    assert ask("crc_b", re.sub("A中心|site_a|医院A", "火星中心", question)).text == told.text


def test_no_model_is_asked_of_a_site_that_is_not_the_readers(study: Study) -> None:
    ask("crc_b", ELSEWHERE[0])
    assert study.stand_ins.requests("llm") == []


@pytest.mark.full
def test_an_own_site_is_answered(silent: Study) -> None:
    assert "12" in ask("crc_b", "演示医院B入组了几例").text


@pytest.mark.full
def test_a_question_of_the_plan_is_of_nobody(silent: Study) -> None:
    ask("wanghushi", "P001 入组了吗?")
    told = ask("wanghushi", PLAN)
    assert "Day 28" in told.text
    assert "P001" not in told.text
    assert told.record_ids == []


def test_the_visit_of_who_was_spoken_of_is_still_theirs(silent: Study) -> None:
    ask("wanghushi", "P001 入组了吗?")
    assert "P001" in ask("wanghushi", "V2什么时候做的").text


@pytest.mark.parametrize(
    ("record_id", "value", "rule"),
    [("P004", "ECOG评分 3分", "0～2 分"), ("P020", "年龄 76 岁", "18～75 周岁")],
)
def test_eligibility_that_nobody_checked_is_not_called_clean(
    silent: Study, record_id: str, value: str, rule: str
) -> None:
    text = ask("zhangyi", f"{record_id}能不能进组").text
    assert f"{record_id} 尚未做过入组质控" in text
    assert "没有未关闭的疑点" not in text
    assert re.search(rf"{value}\(.*{rule}", text), text


@pytest.mark.full
def test_eligibility_that_was_checked_is_not_called_unchecked(silent: Study) -> None:
    run_qc(silent, "P012")
    assert "尚未做过入组质控" not in ask("zhangyi", "P012能不能入组").text


def test_a_value_within_its_criterion_is_no_reason(silent: Study) -> None:
    assert "§" not in ask("zhangyi", "P008能不能入组").text


@pytest.mark.full
def test_that_nothing_changed_since_a_review_is_said_of_changes(silent: Study) -> None:
    first = ask("zhangyi", "上次复核以来有什么变化").text
    assert "没有读到数据改动" in first
    review = review_of(run_qc(silent, "P012"))
    Review.objects.filter(pk=review.pk).update(decided_at=now())
    later = ask("zhangyi", "上次复核以来有什么变化").text
    assert later.startswith("上次复核(")
    assert "审核" not in first + later

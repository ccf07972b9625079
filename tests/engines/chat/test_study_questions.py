"""Questions about the study's data are understood offline and told from facts: no model words them."""

from __future__ import annotations

import json

import pytest

from engines.models import AgentTrace, TaskRun
from memory import session
from study import readings
from study.models import Synonym
from tests.engines.chat.kit import ask, silenced, trace
from tests.support.study import Study


def test_the_trace_holds_what_was_asked_of_the_study(study: Study) -> None:
    ask("zhangyi", "P016的ALT最高到过多少")
    asked = [item for item in trace().trace if item["thought"] == "study.query"]
    query = json.loads(asked[0]["action"])
    assert query == {"subjects": ["P016"], "select": ["alt"], "rows": "highest"}


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    [
        "P004的质控卡在哪了",
        "P007有什么问题",
        "为什么没过",
        "跑完了吗",
        "质控跑完没",
        "P020质控为什么没过",
        "P003质控进度",
        "全部受试者质控情况如何",
        "我今天要做什么",
    ],
)
def test_a_question_about_a_result_starts_nothing(study: Study, text: str) -> None:
    before = TaskRun.objects.count()
    reply = ask("wanghushi", text)
    assert reply.text
    assert not reply.task_run_ids
    assert TaskRun.objects.count() == before


@pytest.mark.parametrize("text", ["质控P003", "跑一下P003的质控", "能不能质控一下P003?", "P003 QC"])
def test_an_order_is_still_one(study: Study, text: str) -> None:
    assert len(ask("wanghushi", text).task_run_ids) == 1


@pytest.mark.full
def test_a_follow_up_changes_parts_of_the_question(study: Study) -> None:
    ask("wanghushi", "P016的ALT多少")
    assert "88" in ask("wanghushi", "那AST呢").text
    assert "P018" in ask("wanghushi", "P018呢").text


@pytest.mark.full
def test_those_who_were_listed_can_be_spoken_of(study: Study) -> None:
    assert "3" in ask("zhangyi", "发生过SAE的有几例").text
    listed = ask("zhangyi", "都是谁").text
    assert all(record in listed for record in ("P003", "P010", "P011"))
    ages = ask("zhangyi", "他们多大年纪").text
    assert all(record in ages for record in ("P003", "P010", "P011"))


FOREIGN = [
    "{}的ALT多少",
    "{}的皮疹好了没",
    "{}情况怎么样",
    "{}下次访视什么时候",
    "{}有什么问题",
    "{}质控为什么没过",
    "{}血钾多少",
    "{}的身份证号",
    "{}做过基因检测没",
    "{}和P099谁年纪大",
]


@pytest.mark.full
@pytest.mark.parametrize("text", FOREIGN)
def test_a_subject_of_another_site_reads_like_none(study: Study, text: str) -> None:
    session.end(study["crc_b"].person)
    mine = ask("crc_b", text.format("P001"))
    session.end(study["crc_b"].person)
    none = ask("crc_b", text.format("P098"))
    assert mine.text.replace("P001", "P098") == none.text
    assert mine.sources == none.sources
    assert mine.record_ids == ["P001", *none.record_ids[1:]]
    follow = ask("crc_b", "那AST呢").text
    session.end(study["crc_b"].person)
    ask("crc_b", text.format("P001"))
    assert ask("crc_b", "那AST呢").text.replace("P001", "P098") == follow


def test_another_site_reads_like_none(study: Study) -> None:
    other, none = (ask("crc_b", f"{site}中心入组了几例").text for site in ("A", "C"))
    assert other.replace("A中心", "C中心") == none
    assert "15" not in other


@pytest.mark.full
def test_an_outage_answers_from_what_was_read_and_says_when(study: Study) -> None:
    readings.read_all(study.project)
    study.stand_ins.fault("redcap", "status", 503, times=None)
    reply = ask("zhangyi", "P016的ALT最高到过多少")
    assert "185" in reply.text
    assert not reply.outside_down


def test_an_outage_before_the_first_reading_tells_no_figure(study: Study) -> None:
    study.stand_ins.fault("redcap", "status", 503, times=None)
    reply = ask("zhangyi", "入组几例了")
    assert reply.outside_down
    assert "0" not in reply.text


@pytest.mark.full
def test_what_is_not_collected_is_said_and_can_be_taught(study: Study) -> None:
    before = ask("wanghushi", "P006抽烟吗")
    assert "抽烟" in before.text
    asked = AgentTrace.objects.get(is_open=True)
    assert any("抽烟" in str(item.get("observation")) for item in asked.trace)
    Synonym.objects.create(project=study.project, word="抽烟", meaning="bmi")
    assert "26.8" in ask("wanghushi", "P006抽烟多少").text
    assert AgentTrace.objects.filter(is_open=True).count() == 1


def test_what_a_follow_up_refers_to_names_nobody(study: Study) -> None:
    ask("zhangyi", "得过测试丙二的有谁")
    kept = json.dumps(session.load(study["zhangyi"]).talk, ensure_ascii=False)
    assert "测试丙二" not in kept


@pytest.mark.full
def test_asked_about_ones_wishes_the_memory_answers(study: Study) -> None:
    assert "100" in ask("zhangyi", "我对你回复的字数有什么要求").text
    ask("wanghushi", "记住我每周五下午在门诊,别安排电话")
    assert "周五" in ask("wanghushi", "我星期几下午在门诊来着").text


def test_what_is_remembered_of_a_subject_is_told(study: Study) -> None:
    assert "依从性" in ask("zhangyi", "P005这个病人要特别注意啥").text


@pytest.mark.full
def test_a_list_that_is_cut_comes_whole_as_a_sheet(study: Study) -> None:
    told = ask("zhangyi", "每个受试者的入组日期都列出来")
    assert told.table
    assert len({row[0] for row in told.table.rows}) > 25
    assert {len(row) for row in told.table.rows} == {len(told.table.header)}
    assert not ask("zhangyi", "P001入组了吗").table


@pytest.mark.full
def test_the_dictionary_names_no_field_that_is_hidden(study: Study) -> None:
    told = ask("zhangyi", "基本信息表有哪些字段").text
    assert "筛选日期" in told
    assert not any(word in told for word in ("姓名", "身份证", "电话", "住址", "出生"))
    withheld, invented = (ask("zhangyi", f"{name}有哪些选项").text for name in ("EGFR", "KRAS"))
    assert "L858R" not in withheld + invented


@pytest.mark.parametrize("text", ["A组有几个人", "V2数据录好了吗", "电话随访多久一次"])
def test_what_no_query_can_say_is_never_counted(study: Study, text: str) -> None:
    reply = ask("zhangyi", text).text
    assert "37" not in reply
    assert "38" not in reply


@pytest.mark.full
def test_a_text_that_denies_something_counts_for_nobody(study: Study) -> None:
    told = ask("zhangyi", "谁有过敏史").text
    assert "P003" in told
    assert "P001" not in told


@pytest.mark.full
@pytest.mark.parametrize(
    ("first", "text"),
    [
        ("P016的AST", "ECOG 3分放不放宽,当初怎么定的"),
        ("入组几例", "交通补贴涨到200是什么时候定的"),
        ("入组几例", "ALT超过5倍上限要不要停药"),
        ("入组几例", "血小板低于75有没有必要停药"),
        ("入组几例", "ALT升高到180要停药吗"),
    ],
)
def test_history_and_rules_are_still_theirs_after_data(study: Study, first: str, text: str) -> None:
    silenced(study)
    ask("zhangyi", first)
    assert not {source["kind"] for source in ask("zhangyi", text).sources} & {"redcap"}


@pytest.mark.full
def test_windows_that_close_soon_are_somebodys_and_no_plan(study: Study) -> None:
    silenced(study)
    told = ask("crc_b", "快要关窗的访视").text
    assert "P035 V1" in told
    assert "Day 28" not in told

"""The five questions of seed 003 and the three of seed 000, with the demo study's true data."""

from __future__ import annotations

import re

import pytest

from memory.hot.save import save_memory
from memory.models import ProjectMemory
from study.records import read_records
from tests.engines.chat.kit import ask, mute, record, sent, trace
from tests.support.study import Study


@pytest.fixture(params=["honest", "mute"])
def hospital(request: pytest.FixtureRequest, study: Study) -> Study:
    """Once with the stand-in's answers, once with empty content."""
    if request.param == "mute":
        mute(study)
    return study


def test_is_p001_enrolled(hospital: Study) -> None:
    reply = ask("zhangyi", "P001 入组了吗?")
    assert "P001" in reply.text
    assert "2026-02-05" in reply.text
    assert reply.intents == ["query_record"]
    assert reply.record_ids == ["P001"]
    assert reply.sources[0]["record_id"] == "P001"
    assert not reply.outside_down


@pytest.mark.full
def test_record_seven_is_not_double_o_seven(hospital: Study) -> None:
    seven, other = record(hospital, "7"), record(hospital, "007")
    reply = ask("wanghushi", "查询ID 7的患者情况")
    assert seven["enroll_date"] in reply.text or f"年龄:{seven['age_calculated']}" in reply.text
    assert seven["screening_date"] != other["screening_date"]
    assert other["screening_date"] not in reply.text
    assert "007" not in reply.text


@pytest.mark.full
def test_how_many_are_enrolled(hospital: Study) -> None:
    records = read_records(project=hospital.project, fields=["enroll_date"])
    enrolled = [r for r in records if any(str(row.get("enroll_date", "")) for row in r.rows)]
    reply = ask("zhangyi", "目前有多少位患者入组?")
    assert re.search(rf"(?<!\d){len(enrolled)}(?!\d)", reply.text)


def test_exclusion_criteria(hospital: Study) -> None:
    reply = ask("wanghushi", "这个研究的排除标准是什么?")
    assert reply.intents == ["query_protocol"]
    assert "排除" in reply.text
    assert reply.sources[0]["kind"] == "document"


def test_what_the_crf_asks_for(hospital: Study) -> None:
    reply = ask("wanghushi", "CRF里血常规要填哪些指标?")
    assert "血常规" in reply.text


def test_the_aim_of_the_study(hospital: Study) -> None:
    reply = ask("zhangyi", "这个研究的目的是什么?")
    assert re.search("非小细胞肺癌|有效|安全|目的", reply.text)


def test_what_was_tried_against_slow_enrolment(hospital: Study) -> None:
    mute(hospital)
    reply = ask("wanghushi", "最近入组太慢了,我们之前有没有讨论过怎么解决?")
    assert "W12" in reply.text
    assert "补贴" in reply.text


def test_why_was_screening_paused(hospital: Study) -> None:
    reply = ask("zhangyi", "我们之前为什么暂停筛选?")
    assert "暂停筛选" in reply.text
    assert "超温" in reply.text


def test_the_rule_told_before_comes_from_hot_memory_alone(hospital: Study) -> None:
    reply = ask("zhangyi", "我上次跟你说的那个只要看结果的规矩,你记得吗?")
    assert "只看结论" in reply.text
    assert "[History Context]" not in sent(hospital)
    assert hospital.stand_ins.requests("redcap") == [] or "[W1" not in sent(hospital)


def test_present_questions_carry_no_history(study: Study) -> None:
    ask("zhangyi", "P001 入组了吗?")
    ask("zhangyi", "大家最近都在忙些啥")
    assert "[Hot Memory]" in sent(study)
    assert "[History Context]" not in sent(study)


@pytest.mark.full
def test_a_deleted_rule_is_gone_with_the_next_message(study: Study) -> None:
    ask("zhangyi", "大家最近都在忙些啥")
    assert "严禁在未授权情况下删除数据" in sent(study)
    memory = ProjectMemory.objects.get(project=study.project)
    text = memory.content.replace("- 严禁在未授权情况下删除数据\n", "")
    save_memory(project=study.project, content=text, actor="admin", base_version=memory.version)
    study.stand_ins.reset()
    ask("zhangyi", "大家最近都在忙些啥")
    assert "严禁在未授权情况下删除数据" not in sent(study)


def test_passages_are_cited_with_their_relevance(study: Study) -> None:
    ask("wanghushi", "这个研究的排除标准是什么?")
    found = [item for item in trace().trace if item["thought"] == "search_protocol"]
    assert re.search(r"\d+\.\d%", found[0]["observation"])


@pytest.mark.full
def test_a_trend_names_its_months(hospital: Study) -> None:
    reply = ask("wanghushi", "回顾下去年的入组趋势")
    assert re.search(r"202\d-\d\d", reply.text)


@pytest.mark.full
def test_due_visits_are_listed_by_subject(hospital: Study) -> None:
    mute(hospital)
    reply = ask("wanghushi", "哪些受试者这周该访视")
    assert re.search(r"P\d{3} V\d", reply.text)
    assert len(reply.text) <= 150

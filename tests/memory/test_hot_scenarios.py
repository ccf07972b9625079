"""Seed 000's three scenarios and its isolation rules, through the chat, with the requests recorded."""

from __future__ import annotations

import re

import pytest

from memory.models import WeeklyReport
from tests.engines.chat.kit import UNREAD, ask, mute, prompts, sent
from tests.memory.hot_kit import LINES, base, without, write
from tests.support.study import Study

HOT, HISTORY = "[Hot Memory]", "[History Context]"


def lead(study: Study) -> str:
    text = prompts(study)[-1]["messages"][0]["content"]
    assert isinstance(text, str)
    return text


def asked(study: Study) -> str:
    text = prompts(study)[-1]["messages"][-1]["content"]
    assert isinstance(text, str)
    return text


def test_scenario_1_the_present(study: Study) -> None:
    """ "P001 入组了吗?": live data; no history is read, and what a model is asked carries hot memory."""
    reply = ask("zhangyi", "P001 入组了吗?")
    assert reply.intents == ["query_record"]
    assert "2026-02-05" in reply.text
    assert study.stand_ins.requests("redcap")
    assert HISTORY not in sent(study)
    ask("zhangyi", UNREAD)
    assert HOT in lead(study)
    assert HISTORY not in sent(study)


def test_scenario_2_the_past(study: Study) -> None:
    """ "我们之前有没有讨论过怎么解决?": hot memory and the lines of the reports."""
    mute(study)
    reply = ask("zhangyi", "最近入组太慢了,我们之前有没有讨论过怎么解决?")
    assert "query_history" in reply.intents
    assert HOT in lead(study)
    lines = asked(study).splitlines()
    assert lines[0] == HISTORY
    for week in ("[W12", "[W15"):
        assert any(line.startswith(week) for line in lines)
    assert "补贴" in reply.text
    assert "W12" in reply.text
    assert "W15" in reply.text


def test_scenario_3_the_rule(study: Study) -> None:
    """ "我上次跟你说的那个规矩": hot memory alone; no reports, no log, no record."""
    base(study)
    question = "我上次跟你说的那个只要看结果的规矩,你记得吗?"
    reply = ask("zhangyi", question)
    assert reply.intents == ["remember"]
    assert "只要看结果" in reply.text
    assert HISTORY not in sent(study)
    assert "【REDCap数据查询结果】" not in sent(study)
    assert study.stand_ins.requests("dify") == []
    write(study, *without(LINES[3]))
    assert "只要看结果" not in ask("zhangyi", question).text


@pytest.mark.parametrize(
    "question",
    [
        "目前有多少位患者入组?",
        "这个研究的排除标准是什么?",
        "P003 的 V2 什么时候做",
        "生成本周周报",
        "你好",
        "这是什么项目?",
        "帮我查下最近那个爱抱怨的病人是谁",
        "把P003的ECOG改成1",
    ],
)
def test_other_questions_carry_no_history(study: Study, question: str) -> None:
    ask("zhangyi", question)
    assert HISTORY not in sent(study)
    for body in prompts(study):
        assert HOT in str(body["messages"])


def test_a_question_of_the_past_carries_both(study: Study) -> None:
    ask("zhangyi", "我们之前为什么暂停筛选?")
    texts = [str(body["messages"]) for body in prompts(study)]
    assert any(HISTORY in text and HOT in text for text in texts)


@pytest.mark.full
def test_a_trend_is_counted_from_the_data(study: Study) -> None:
    reply = ask("zhangyi", "回顾下去年的入组趋势")
    assert reply.intents == ["analyze_trend"]
    assert "2025-12" in reply.text
    assert prompts(study) == []


@pytest.mark.full
def test_at_most_the_newest_fifty_weeks(study: Study) -> None:
    last = WeeklyReport.objects.filter(project=study.project).order_by("-week_number")[0]
    for number in range(last.week_number + 1, last.week_number + 61):
        WeeklyReport.objects.create(
            project=study.project,
            week_number=number,
            week_start=last.week_start,
            week_end=last.week_end,
            summary=f"关键决策:暂停筛选第{number}批,等待到货",
            created_by="system_scheduler",
        )
    newest = last.week_number + 60
    ask("zhangyi", "我们之前为什么暂停筛选?")
    found = {int(number) for number in re.findall(r"\[W(\d+)", asked(study))}
    # A year's digest is marked like a week that no study reaches.
    weeks = {number for number in found if number < 1000}
    assert weeks
    assert weeks <= set(range(newest - 49, newest + 1))
    study.stand_ins.reset()
    older = ask("zhangyi", "第3周的周报里说了什么?").text
    assert prompts(study) == []
    assert "50" in older, "it is there, and not among those that are read"


@pytest.mark.full
def test_quality_control_never_sees_history(study: Study) -> None:
    from tests.support.tasks import drain

    ask("zhangyi", "对P001进行入排质控")
    drain()
    ask("zhangyi", "为什么之前暂停筛选,同时对P001进行入排质控")
    drain()
    for body in prompts(study):
        text = str(body["messages"])
        if "质控专家" in text or "指令:" in text:
            assert HISTORY not in text
            assert not re.search(r"\[W\d", text)

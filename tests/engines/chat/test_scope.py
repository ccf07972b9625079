"""A member with a site sees only that site (design.md 9.7, edge case E43)."""

from __future__ import annotations

import re

import pytest

from memory.models import ConversationHistory
from study.models import Subject
from tests.engines.chat.kit import ask, mute, prompts, say, sent
from tests.support.study import Study

EVERY_INTENT = [
    "P001 入组了吗?",
    "目前有多少位患者入组?",
    "这个研究的排除标准是什么?",
    "这是什么项目?",
    "P005 的 V2 什么时候做",
    "哪些受试者这周该访视",
    "对P001进行入排质控",
    "全部受试者跑一遍质控",
    "我们之前为什么暂停筛选?",
    "回顾下去年的入组趋势",
    "生成本周周报",
    "帮我查下最近那个爱抱怨的病人是谁",
    "把P003的ECOG改成1",
    "我上次跟你说的那个规矩你记得吗?",
    "P005 依从性怎么样,需要每天提醒吗",
    "你好",
    "写首关于P001的诗",
    "P003 SAE 最后怎么判的",
]


def of_site(study: Study, site: str) -> set[str]:
    rows = Subject.objects.filter(project=study.project, site=site)
    return set(rows.values_list("record_id", flat=True))


@pytest.mark.full
@pytest.mark.parametrize(
    "question",
    [
        "{} 入组了吗?",
        "{} 的 ECOG 是几分",
        "{} 的 V2 什么时候做",
        "查询ID {}的患者情况",
        "对{}进行质控",
    ],
)
def test_not_yours_and_not_there_read_the_same(study: Study, question: str) -> None:
    yours = ask("crc_b", question.format("P001"))
    absent = ask("crc_b", question.format("P999"))
    assert yours.text.replace("P001", "P999") == absent.text
    assert yours.text
    assert yours.outside_down == absent.outside_down
    assert yours.sources == absent.sources
    assert yours.task_run_ids == absent.task_run_ids == []


@pytest.mark.full
def test_the_same_for_everybody_where_nothing_is(study: Study) -> None:
    absent = ask("zhangyi", "P999 入组了吗?").text
    assert absent == ask("crc_b", "P001 入组了吗?").text.replace("P001", "P999")


@pytest.mark.full
@pytest.mark.parametrize("silent", [False, True])
def test_no_request_and_no_reply_names_the_other_sites_subjects(study: Study, silent: bool) -> None:
    if silent:
        mute(study)
    hidden = [i for i in of_site(study, "site_a") if not i.isdigit()]
    assert len(hidden) > 10
    for question in EVERY_INTENT:
        reply = ask("crc_b", question)
        # What was typed may be repeated.
        told = re.sub("|".join(re.findall(r"P\d{3}", question)) or "-", "", reply.text)
        named = [i for i in hidden if re.search(rf"(?<![A-Z0-9]){i}(?!\d)", told)]
        assert named == [], question
    for service in ("llm", "dify"):
        wire = sent(study, service)
        assert [
            (i, wire[max(0, wire.index(i) - 60) : wire.index(i) + 60])
            for i in hidden
            if re.search(rf"(?<![A-Z0-9]){i}(?!\d)", wire)
        ] == []


@pytest.mark.full
def test_hot_memory_and_reports_leave_out_hidden_lines(study: Study) -> None:
    ask("crc_b", "我们之前为什么暂停筛选?")
    lead = prompts(study)[0]["messages"][0]["content"]
    assert "P005" not in lead
    assert "当前阶段" in lead
    ask("zhangyi", "我们之前为什么暂停筛选?")
    assert "P005 患者依从性差" in prompts(study)[-1]["messages"][0]["content"]


@pytest.mark.full
def test_counts_are_of_the_own_site(study: Study) -> None:
    mute(study)
    mine = of_site(study, "site_b")
    reply = ask("crc_b", "目前一共有多少例受试者?")
    assert str(len(mine)) in reply.text
    total = len(mine) + len(of_site(study, "site_a"))
    assert str(total) not in reply.text


@pytest.mark.full
def test_a_name_of_the_other_site_is_like_an_unknown_one(study: Study) -> None:
    import json

    subject = Subject.objects.get(project=study.project, record_id="P001")
    name = json.loads(subject.identifiers)["subject_name"]
    study.stand_ins.script(*[say("没有找到。")] * 4)
    known = ask("crc_b", f"{name}入组了吗?").text
    unknown = ask("crc_b", "测试丙九入组了吗?").text
    assert known.replace(name, "") == unknown.replace("测试丙九", "")
    assert name not in sent(study)


def test_the_log_keeps_what_was_really_said(study: Study) -> None:
    ask("crc_b", "P001 入组了吗?")
    row = ConversationHistory.objects.get(role="user")
    assert row.content == "P001 入组了吗?"
    assert row.record_id == "P001"
    assert row.user_id == "crc_b"
